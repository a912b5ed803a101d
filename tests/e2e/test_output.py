# SPDX-License-Identifier: Apache-2.0
"""Output without a terminal, in every form, to pipes that close and disks that are full."""
import csv
import io
import json
import os
import signal
import subprocess
import time

from lab import A, B, BIN, Case, NOBODY, QUIET, Squall, TMP, main, minus, sent, sh, squall, until

GOOD = ("send", "-i", "qa", *QUIET, "--count", 50, "--pps", "10k")


def shell(script, **kw):
    """A line of shell in A, with $S for the program."""
    return subprocess.run(["ip", "netns", "exec", A, "bash", "-c", script], capture_output=True, text=True, env={**os.environ, "S": BIN}, **kw)


class Forms(Case):
    def test_text(self):
        run = squall(A, "send", "-i", "qa", *QUIET, "--pps", "10k", "--count", 12_000, form=None)
        self.assertEqual(run.rc, 0)
        self.assertEqual(run.err, "")
        self.assertFalse([c for c in run.out if (ord(c) < 32 and c != "\n") or ord(c) == 127], "control characters")
        for word in ("qa", "10.78.0.2", "10 kpps", "L1", "L2", "12000"):
            self.assertIn(word, run.out)
        quiet = squall(A, *GOOD, "--quiet", form=None)
        self.assertLess(len(quiet.out.splitlines()), len(run.out.splitlines()))

    def test_json_has_every_key(self):
        run = self.ok(squall(A, *GOOD))
        self.assertRegex(run.json["squall"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(run.json["config"]["pps"], "10k")
        self.assertEqual(run.json["start"]["verb"], "send")
        self.assertAlmostEqual(run.json["start"]["time"] / 1e9, time.time(), delta=60)
        end = run.end_record
        self.assertEqual(set(end), {"seconds", "reason", "tx", "rx", "difference", "queues", "streams", "loop", "reflect", "respond", "capture", "floor_ns", "pcap", "measure", "latency_ns", "pdv_ns", "ipdv_ns", "jitter_ns", "gap_ns", "flows", "flows_rest", "device_drops", "cpu", "warnings", "thresholds"})
        for key in "packets bytes_l2 pps bps_l1 bps_l2 queued completed dropped errors requested_pps unsent".split():
            self.assertIn(key, end["tx"])
        self.assertEqual((end["tx"]["requested_pps"], end["rx"], end["loop"], end["pcap"], end["device_drops"]),
                         (10_000, None, None, None, {}))
        self.assertEqual(set(end["cpu"]), {"user_s", "system_s", "irq_s", "softirq_s", "steal_s"})
        received = self.ok(squall(B, "recv", "-i", "qb", "-d", "50ms")).end_record
        for key in "packets bytes_l2 pps bps_l1 bps_l2 dropped filtered first_ns last_ns classes".split():
            self.assertIn(key, received["rx"])

    def test_json_lines(self):
        run = squall(A, "send", "-i", "qa", *QUIET, "--pps", "10k", "--count", 20_000, "--interval", "200ms", form="--json-stream")
        lines = [json.loads(line) for line in run.out.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["begin", *["interval"] * (len(lines) - 2), "end"])
        self.assertGreaterEqual(len(lines), 6)
        self.assertEqual(lines[-1]["end"]["tx"]["packets"], 20_000)

    def test_lines_come_as_they_happen(self):
        run = Squall(A, "send", "-i", "qa", *QUIET, "--pps", "10", "-d", "60s", "--interval", "100ms", form="--json-stream")
        run.wait_for("begin", "out", 5)
        run.wait_for('"interval"', "out", 5)
        run.signal()
        self.assertEqual(run.end().rc, 0)

    def test_csv(self):
        run = squall(A, "send", "-i", "qa", *QUIET, "--pps", "10k", "--count", 20_000, "--interval", "200ms", form="--csv")
        rows = list(csv.DictReader(io.StringIO(run.out)))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual([row["row"] for row in rows], ["interval"] * (len(rows) - 1) + ["total"])
        self.assertGreaterEqual(len(rows), 5)
        self.assertEqual((rows[-1]["tx_packets"], rows[-1]["tx_bytes_l2"], rows[-1]["rx_packets"]), ("20000", "1280000", ""))

    def test_a_failure_in_every_form(self):
        bad = ("send", "-i", "nosuch0", *QUIET)
        lines = [json.loads(line) for line in squall(A, *bad, form="--json-stream").out.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["begin", "end"])
        self.error_object(lines[-1]["error"], 2)
        self.assertIsNone(lines[-1]["end"])
        text = squall(A, *bad, form=None)
        self.assertEqual((text.rc, text.out), (2, ""))
        self.assertRegex(text.err, r"^squall: .*nosuch0")
        self.assertEqual(len(squall(A, *bad, form="--csv").out.splitlines()), 1)

    def test_names_that_are_no_text(self):
        # Bytes that are no UTF-8 on the command line: the document stays one.
        run = subprocess.run([BIN, "send", "-i", b"q\xff\"\\\n", "--dst-ip", "10.0.0.1", "--json"], capture_output=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("q", json.loads(run.stdout)["config"]["interface"])


class WithoutATerminal(Case):
    def test_nothing_to_hold_on_to(self):
        out = os.path.join(TMP, "out")
        for script in (f"env -u TERM $S {' '.join(map(str, GOOD))} </dev/null >{out} 2>&1", f"setsid -w $S {' '.join(map(str, GOOD))} </dev/null >{out} 2>&1",
                       f"setsid -w nohup $S {' '.join(map(str, GOOD))} </dev/null >{out} 2>{out}.err", f"env -i $S {' '.join(map(str, GOOD))} <&- >{out} 2>&-"):
            with self.subTest(script=script):
                self.assertEqual(shell(script).returncode, 0)
                with open(out, encoding="utf-8") as f:
                    self.assertRegex(f.read(), r"tx +50 ")

    def test_in_the_background_of_a_script(self):
        run = shell(f"$S {' '.join(map(str, GOOD))} --json >{TMP}/bg & wait $!")
        self.assertEqual(run.returncode, 0)
        with open(f"{TMP}/bg", encoding="utf-8") as f:
            self.assertEqual(json.load(f)["end"]["tx"]["packets"], 50)


class LostOutput(Case):
    """The run ends with 1 and a sentence, and what was sent is what the interface says."""

    def test_a_full_disk(self):
        for form in ("", "--json", "--json-stream", "--csv"):
            for verb in (" ".join(map(str, GOOD)), "devices" if form != "--csv" else "recv -i qa -d 100ms"):
                with self.subTest(form=form, verb=verb):
                    run = shell(f"$S {verb} {form} >/dev/full")
                    self.assertEqual(run.returncode, 1, run.stderr)
                    self.assertIn("No space left", run.stderr)

    def test_a_plan_that_nobody_gets(self):
        for more in ("--dry-run", "--dry-run --json", f"--count 9 --write {TMP}/unsaid.pcap"):
            with self.subTest(more=more):
                run = shell(f"$S {' '.join(map(str, GOOD))} {more} >/dev/full")
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn("cannot write the report: standard output: No space left", run.stderr)

    def test_a_full_disk_in_the_middle(self):
        sh("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.small())
        try:
            at = time.monotonic()
            run = shell(f"$S send -i qa {' '.join(QUIET)} --pps 1k -d 60s --interval 10ms --json >{self.small()}/out")
            self.assertLess(time.monotonic() - at, 20)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("No space left", run.stderr)
        finally:
            sh("umount", self.small())

    def small(self):
        path = os.path.join(TMP, "small")
        os.makedirs(path, exist_ok=True)
        return path

    def test_a_reader_that_leaves(self):
        before = sent(A, "qa")
        at = time.monotonic()
        run = shell(f"$S send -i qa {' '.join(QUIET)} --pps 10k -d 60s --interval 50ms --json-stream | head -1; echo ${{PIPESTATUS[0]}}")
        self.assertLess(time.monotonic() - at, 5)
        first, code = run.stdout.splitlines()
        self.assertEqual(json.loads(first)["event"], "begin")
        self.assertEqual(code, "1")
        self.assertIn("Broken pipe", run.stderr)
        self.assertGreater(minus(sent(A, "qa"), before)[0], 0)

    def test_a_closed_output(self):
        for script in (f"$S {' '.join(map(str, GOOD))} --json >&-", f"$S {' '.join(map(str, GOOD))} <&- >&-", "$S devices >&-", "$S --version >&-"):
            before = sent(A, "qa")
            run = shell(script)
            self.assertEqual(run.returncode, 1, script)
            self.assertIn("cannot write", run.stderr)
            self.assertEqual(sent(A, "qa"), before)

    def test_a_pipe_that_nobody_reads(self):
        """The report waits for its reader, also after the first signal: then it is whole, or the second signal ends it."""
        for second in (False, True):
            read, write = os.pipe()
            run = Squall(A, "send", "-i", "qa", *QUIET, "--pps", "1k", "-d", "60s", "--interval", "10ms", form="--json", stdout=write)
            os.close(write)
            until(lambda: "pipe_write" in run.proc("wchan"), what="a full pipe")
            run.signal(signal.SIGINT)
            time.sleep(0.3)
            self.assertIsNone(run.process.poll())
            with os.fdopen(read) as f:
                if second:
                    run.signal(signal.SIGINT)
                    self.assertEqual(run.end(5).rc, 130)
                else:
                    self.assertEqual(json.loads(f.read())["end"]["reason"], "signal")
                    self.assertEqual(run.end(5).rc, 0, run.err)


class Privilege(Case):
    def test_none(self):
        drop = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all")
        for args, where in (((*GOOD, "--dst-mac", NOBODY), A), (GOOD, A), (("recv", "-i", "qb"), B)):
            self.refused(*args, rc=6, where=where, names=["CAP_NET_RAW"], before=drop)
        run = squall(A, "devices", before=drop)
        self.assertEqual(run.rc, 0, run.err)
        self.assertIn("CAP_NET_RAW", run.out)

    def test_one_capability_is_enough_to_send(self):
        keep = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=+net_raw", "--ambient-caps=+net_raw")
        self.assertEqual(self.ok(squall(A, *GOOD, before=keep)).end_record["tx"]["packets"], 50)
        self.ok(squall(B, "recv", "-i", "qb", "-d", "50ms", before=keep))


if __name__ == "__main__":
    main()
