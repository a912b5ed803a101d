# SPDX-License-Identifier: Apache-2.0
"""A list of streams in a file: what is on the wire of each, when, and what the program says of it."""
import collections
import os
import shutil
import signal
import subprocess
import time

from frames import Tap, parse
from lab import A, B, BIN, Case, NOBODY, TMP, Squall, best_of_three, mac, main, minus, sent, squall, until
from test_write import TSHARK, BAD, read

# Two that share by 3 to 1, over IPv4 and IPv6, and one that has a rate of its own.
THREE = """
interface: qa
dst-mac: "02:00:00:00:00:09"
pps: 20k
duration: 1s
streams:
  - name: four
    src-ip: 10.78.0.1
    dst-ip: 10.78.1.0/24
    flows: 10
    share: 3
  - name: six
    src-ip: fd78::1
    dst-ip: fd78::1:0/120
    flows: 7
    vlan: 5
    mode: imix
    imix: "70:1,594:1"
  - name: own
    src-ip: 10.78.0.1
    dst-ip: 10.78.2.1
    packet-size: 300
    pps: 100
"""


class Lists(Case):
    backend = ""

    def file(self, text):
        text = text.replace("interface: qa", f"interface: {self.backend}qa")
        path = f"{TMP}/streams-{time.monotonic_ns()}.yaml"
        with open(path, "w") as f:
            f.write(text)
        return path

    def send(self, text, *args, rc=0, **kw):
        return self.ok(squall(A, "send", "--config", self.file(text), *args, "--no-tui", **kw), rc)

    def on_the_wire(self, text, *args, expect):
        with Tap(B, "qb") as tap:
            run = self.send(text, *args)
            frames = tap.frames(mac(A, "qa"), expect=expect, timeout=10)
        self.books(run.end_record["tx"])
        self.assertEqual(len(frames), run.end_record["tx"]["packets"])
        for f in frames:
            self.assertTrue(f.udp and f.ip.ok and f.udp.ok, f"a wrong length or checksum: {f}")
        return run, frames

    def by_stream(self, frames):
        out = {"four": [], "six": [], "own": []}
        for f in frames:
            out["six" if f.ip.version == 6 else "own" if f.ip.dst == "10.78.2.1" else "four"].append(f)
        return out

    def queued(self, run):
        return {s["name"]: s["queued"] for s in run.end_record["streams"]}


class Wire(Lists):
    def with_counts(self, four, six, own):
        """Each sends so many and the run ends by that: what a busy machine holds up is made up for, whatever it takes."""
        text = THREE.replace("duration: 1s\n", "duration: 0\ncatch-up: 1h\n")
        for after, n in (("share: 3\n", four), ('imix: "70:1,594:1"\n', six), ("pps: 100\n", own)):
            text = text.replace(after, f"{after}    burst-profile: {n}\n")
        return text

    def test_shares_and_a_rate_of_its_own(self):
        run, frames = self.on_the_wire(self.with_counts(6000, 2000, 40), expect=8040)
        got = self.by_stream(frames)
        self.assertEqual({k: len(v) for k, v in got.items()}, {"four": 6000, "six": 2000, "own": 40})
        self.assertEqual(self.queued(run), {"four": 6000, "six": 2000, "own": 40})
        self.assertEqual((run.end_record["tx"]["unsent"], run.end_record["reason"]), (0, "count"))
        # Each flow of each as often as the others of its stream.
        self.assertEqual(set(collections.Counter((f.ip.dst, f.udp.src) for f in got["four"]).values()), {600})
        six = collections.Counter((f.ip.dst, f.udp.src) for f in got["six"])
        self.assertEqual((len(six), set(six.values())), (7, {285, 286}))
        self.assertEqual(collections.Counter(f.length for f in got["six"]), {66: 1000, 590: 1000})
        self.assertEqual({f.length for f in got["own"]}, {296})
        self.assertEqual({tuple(f.tags) for f in got["six"]}, {((0x8100, 5),)})
        # Out of any four in a row that share, three are the one's; and its own is each 200th of the others.
        shared = ["46"[f.ip.version == 6] for f in frames if f.ip.dst != "10.78.2.1"]
        self.assertEqual({shared[i:i + 4].count("4") for i in range(0, len(shared), 4)}, {3})
        own = [i for i, f in enumerate(frames) if f.ip.dst == "10.78.2.1"]
        self.assertEqual({b - a for a, b in zip(own, own[1:])}, {201})

    def test_a_start_delay(self):
        text = self.with_counts(12_000, 1000, 55)
        text = text.replace("    vlan: 5\n", "    vlan: 5\n    start-delay: 500ms\n").replace("    pps: 100\n", "    pps: 100\n    start-delay: 250ms\n")
        run, frames = self.on_the_wire(text, expect=13_055)
        self.assertEqual(self.queued(run), {"four": 12_000, "six": 1000, "own": 55})
        self.assertEqual(run.end_record["tx"]["unsent"], 0)
        # The others' rates stay what they are: nobody has the turns of the one that is not there yet.
        kinds = ["six" if f.ip.version == 6 else "own" if f.ip.dst == "10.78.2.1" else "four" for f in frames]
        self.assertAlmostEqual(kinds[:kinds.index("six")].count("four"), 15_000 * 0.5, delta=1)
        self.assertAlmostEqual(kinds[:kinds.index("own")].count("four"), 15_000 * 0.25, delta=1)

    @best_of_three
    def test_a_start_is_at_its_time(self):
        text = THREE.replace("    pps: 100\n", "    pps: 100\n    start-delay: 250ms\n")
        got = self.by_stream(self.on_the_wire(text, "-d", "600ms", expect=1000)[1])
        # When each began, by the packet of it that was least late.
        four = min(f.ns - k * 1e9 / 15_000 for k, f in enumerate(got["four"]))
        own = min(f.ns - k * 1e9 / 100 for k, f in enumerate(got["own"]))
        self.assertAlmostEqual((own - four) / 1e6, 250, delta=2)

    def test_a_count_is_dealt(self):
        text = THREE[:THREE.index("  - name: own")].replace("pps: 20k", "pps: unlimited").replace("duration: 1s\n", "count: 1003\n")
        for queues in (1, 2):
            run, frames = self.on_the_wire(text, "--queues", queues, expect=1003)
            got = self.by_stream(frames)
            self.assertEqual(run.end_record["reason"], "count")
            self.assertIn(len(got["six"]), (250, 251))
            self.assertEqual(len(got["four"]) + len(got["six"]), 1003)
            four = collections.Counter((f.ip.dst, f.udp.src) for f in got["four"])
            self.assertEqual(len(four), 10)
            self.assertLessEqual(max(four.values()) - min(four.values()), 1)

    def test_so_many_packets_end_the_run(self):
        text = THREE.replace("duration: 1s\n", "burst-profile: 40\n").replace("    pps: 100\n", "    pps: 1000\n    burst-profile: 30\n")
        run, frames = self.on_the_wire(text, expect=110)
        self.assertEqual(run.end_record["reason"], "count")
        self.assertEqual(self.queued(run), {"four": 40, "six": 40, "own": 30})

    def test_one_that_begins_after_the_end(self):
        """Alone or beside others: the run is as long as it was to be."""
        late = THREE[:THREE.index("  - name: four")] + "  - {dst-ip: 10.78.3.1, src-ip: 10.78.0.1, pps: 100, start-delay: 5s}\n"
        for text, sent in ((late, 0), (late + "  - {dst-ip: 10.78.3.2, src-ip: 10.78.0.1, pps: 100}\n", 30)):
            end = self.send(text, "-d", "300ms").end_record
            self.assertEqual((end["tx"]["packets"] + end["tx"]["unsent"], end["reason"]), (sent, "duration"))
            self.assertLess(end["seconds"], 3)

    def test_one_flow_has_one_address_of_a_prefix(self):
        text = THREE.replace("    flows: 10\n", "").replace("    src-ip: fd78::1\n", "    src-ip: fd78::/64\n").replace("    flows: 7\n", "")
        warnings = self.send(text, "--dry-run").json["start"]["warnings"]
        self.assertEqual(warnings, ["stream four: one flow sends everything to the first of the 254 hosts of --dst-ip; --flows 254 reaches all of them",
                                    "stream six: one flow sends everything to the first of the 256 hosts of --dst-ip; --flows 256 reaches all of them",
                                    "stream six: one flow comes from the first host of --src-ip; --flows says how many of them there are"])

    def test_what_a_frame_has_no_place_for_is_told(self):
        """By the stream that says it: what streams have from the run is for those that can use it."""
        text = THREE[:THREE.index("streams:")] + "dst-port: 53\nstreams:\n  - {name: a, dst-ip: 10.78.1.1, src-ip: 10.78.0.1, mode: icmp-echo, dst-port: 7}\n" \
            "  - {name: b, mode: raw, dst-ip: 10.78.1.1, src-port: 9}\n  - {name: c, mode: raw}\n"
        self.assertEqual(self.send(text, "--dry-run").json["start"]["warnings"], ["stream a: --dst-port has no effect: echo requests have no such field",
            "stream b: --src-port has no effect: frames of --mode raw have no such field", "stream b: --dst-ip has no effect: frames of --mode raw have no such field"])
        run = self.ok(squall(None, "send", "-i", "loop:sink", "--no-tui", "--mode", "raw", "--dst-mac", NOBODY, "--src-mac", "02:00:00:00:00:01", "--dst-port", 5, "--count", 1))
        self.assertEqual(run.json["start"]["warnings"], ["--dst-port has no effect: frames of --mode raw have no such field"])

    def test_figures_of_each(self):
        """What came of it on the wire, and what left in each interval; one alone in the list has them, too."""
        only = THREE[:THREE.index("  - name: four")] + THREE[THREE.index("  - name: six"):THREE.index("  - name: own")]
        for text, queues in ((THREE, 1), (THREE, 2), (only, 2)):
            run, frames = self.on_the_wire(text.replace("pps: 20k", "pps: 5k"), "--queues", queues, "--interval", "200ms", expect=4000)
            got = self.by_stream(frames)
            ends = run.end_record["streams"]
            self.assertEqual({s["name"]: s["queued"] for s in ends}, {n: len(f) for n, f in got.items() if f})
            self.assertEqual({s["name"]: s["bytes_l2"] for s in ends}, {n: sum(f.length + 4 for f in fs) for n, fs in got.items() if fs})
            intervals = run.json["intervals"]
            self.assertGreaterEqual(len(intervals), 2)  # of five, where the machine stands still
            for i, end in enumerate(ends):
                for key in ("queued", "bytes_l2"):
                    parts = [part["streams"][i][key] for part in intervals]
                    self.assertTrue(any(parts), parts)
                    self.assertLessEqual(sum(parts), end[key])
                self.assertAlmostEqual(end["pps"], end["queued"] / run.end_record["tx"]["packets"] * run.end_record["tx"]["pps"], delta=0.01)

    def test_a_signal(self):
        for pps in ("20k", "unlimited"):
            before = sent(A, "qa")
            run = Squall(A, "send", "--config", self.file(THREE), "--pps", pps, "-d", "60s", "--no-tui")
            until(lambda: minus(sent(A, "qa"), before)[0] > 1000, what="its packets")
            run.signal(signal.SIGINT)
            self.ok(run.end(10))
            tx = run.end_record["tx"]
            self.books(tx)
            self.assertEqual(run.end_record["reason"], "signal")
            self.assertEqual(sum(self.queued(run).values()), tx["queued"])
            self.assertEqual(minus(sent(A, "qa"), before)[0], tx["packets"])

    def test_a_stall_is_in_the_books(self):
        before = sent(A, "qa")
        run = Squall(A, "send", "--config", self.file(THREE), "-d", "2s", "--no-tui")
        until(lambda: sent(A, "qa") != before, what="the first packet")
        run.signal(signal.SIGSTOP)
        time.sleep(0.8)
        run.signal(signal.SIGCONT)
        end = self.ok(run.end(10)).end_record
        # All positions of both schedules in two seconds; a tenth of one was made up for.
        self.assertEqual(end["tx"]["packets"] + end["tx"]["unsent"], 2 * 20_100)
        self.assertGreater(end["tx"]["unsent"], 0.5 * 20_100)
        own = end["streams"][2]
        self.assertEqual(own["queued"] + own["unsent"], 200)
        self.assertGreater(own["unsent"], 50)


class WireOfPacketSockets(Wire):
    backend = "afpacket:"


class Told(Lists):
    @best_of_three
    def test_what_is_told(self):
        run = self.send(THREE, "-d", "100ms")
        self.assertEqual(set(run.json["start"]["streams"]), {"four", "six", "own"})
        self.assertIn("3 of 4 packets: 15 kpps", run.json["start"]["streams"]["four"])
        self.assertEqual([(s["stream"], s["name"], s["unsent"] is None) for s in run.end_record["streams"]],
                         [(0, "four", True), (1, "six", True), (2, "own", False)])
        rates = [s["requested_pps"] for s in run.end_record["streams"]]
        for rate, asked in zip((*rates, run.end_record["tx"]["requested_pps"]), (15_000, 5_000, 100, 20_100)):
            self.assertAlmostEqual(rate, asked, delta=asked * 1e-6)
        self.assertEqual([s["name"] for s in run.json["config"]["streams"]], ["four", "six", "own"])
        self.assertEqual(run.json["config"]["streams"][2]["pps"], "100")
        self.assertIsNone(squall(A, "send", "-i", "qa", "--dst-ip", "10.78.0.2", "-d", "10ms", "--no-tui").end_record["streams"])
        text = squall(A, "send", "--config", self.file(THREE), "-d", "10ms", "--no-tui", form="-y")
        self.assertRegex(text.out, r"(?m)^stream own +UDP over IPv4, 300-byte frames")
        self.assertRegex(text.out, r"(?m)^six +\d+ +5 kpps +-$")

    def test_signals_change_all_rates(self):
        run = Squall(A, "send", "--config", self.file(THREE), "-d", "2s", "--no-tui")
        run.wait_for('"start"', stream="out")
        run.signal(signal.SIGUSR1)
        tx = self.ok(run.end(10)).end_record["tx"]
        self.assertEqual(tx["rate_changes"], 1)
        self.assertAlmostEqual(tx["last_pps"], 20_100 * 1.1, delta=1)

    def test_the_command_line(self):
        run = self.send(THREE, "--flows", 3, "--pps", "10k", "-d", "100ms")
        self.assertFalse(any(w.startswith("--flows") for w in run.json["start"]["warnings"]))  # of one stream it has
        text = THREE.replace("    pps: 100\n", "    pps: 100\n    flows: 1\n")
        run = self.send(text, "--flows", 3, "-d", "100ms")
        self.assertIn("--flows has no effect: every stream has its own", run.json["start"]["warnings"])
        self.refused("send", "-i", "qa", "--share", 3, "--dst-ip", "10.78.0.2", names=("--share", "under one of the streams"))

    def test_what_is_refused(self):
        line = THREE[:THREE.index("flows: 7")].count("\n") + 1
        for text, names in ((THREE.replace("flows: 7", "flowz: 7"), ("stream six: flowz", f":{line}: unknown option", "did you mean flows")),
                            (THREE.replace("share: 3", "share: 3\n    duration: 5s"), ("stream four: duration", "for all streams")),
                            (THREE.replace("duration: 1s", "count: 7"), ("stream own: pps", "dealt by shares")),
                            (THREE.replace("packet-size: 300", "packet-size: 5000"), ("stream own: qa", "its MTU is 1500")),
                            (THREE.replace("    dst-ip: 10.78.2.1\n", ""), ("stream own: dst-ip", "say where to send"))):
            with self.subTest(names=names):
                self.refused("send", "--config", self.file(text), "--no-tui", names=names)

    def test_the_file_of_a_receiver(self):
        text = "interface: qb\nidle: 100ms\nstreams:\n" + THREE[THREE.index("  - name"):]
        run = self.ok(squall(B, "recv", "--config", self.file(text), "--no-tui"))
        self.assertEqual(run.end_record["reason"], "idle")

    def test_a_pair_receives_all_streams(self):
        run = self.ok(squall(A, "pair", "-i", "loop:ring=4096", "--config", self.file(THREE), "-d", "300ms", "--no-tui"))
        self.assertEqual((run.end_record["rx"]["packets"], run.end_record["difference"]), (run.end_record["tx"]["packets"], 0))
        self.assertEqual(sum(self.queued(run).values()), run.end_record["tx"]["packets"])

    def test_it_is_written_down_and_read_back(self):
        dump = subprocess.run([BIN, "send", "--config", self.file(THREE), "--dump-config"], capture_output=True, text=True, timeout=20)
        again = subprocess.run([BIN, "send", "--config", self.file(dump.stdout), "--dump-config"], capture_output=True, text=True, timeout=20)
        self.assertEqual((dump.returncode, again.returncode), (0, 0), dump.stderr + again.stderr)
        self.assertEqual(dump.stdout, again.stdout)
        self.assertIn("streams:\n  - src-ip: 10.78.0.1\n", dump.stdout)

    def test_what_is_written_is_the_order_of_one_queue(self):
        path = f"{TMP}/streams.pcap"
        self.assertEqual(squall(A, "send", "--config", self.file(THREE), "--write", path, "--no-tui").rc, 0)
        with open(path, "rb") as f:
            written = read(f.read())
        os.unlink(path)
        self.assertEqual(len(written), 1000)
        at = [ns for ns, _ in written]
        self.assertEqual(at, sorted(at))
        own = [ns for ns, data in written if parse(data).ip.dst == "10.78.2.1"]
        self.assertEqual(own, [k * 10_000_000 for k in range(len(own))])
        with Tap(B, "qb") as tap:
            self.send(THREE, "-d", "1s", "--queues", 1, "--catch-up", "1h")
            frames = [f.raw for f in tap.frames(mac(A, "qa"), expect=1000)[:1000]]
        self.assertEqual(frames, [data for _, data in written])

    def test_an_order_that_nobody_knows_is_not_written(self):
        self.refused("send", "--config", self.file(THREE), "--pps", "unlimited", "--write", f"{TMP}/x.pcap", "--no-tui",
                     names=("without a limit",))
        self.assertFalse(os.path.exists(f"{TMP}/x.pcap"))

    def test_another_program_judges(self):
        if not shutil.which("tshark"):
            self.skipTest("tshark is not installed")
        path = f"{TMP}/judged.pcap"
        text = THREE + "  - {src-ip: 10.78.0.1, dst-ip: 10.78.3.1, mode: tcp-syn, packet-size: 999}\n" \
                       "  - {src-ip: 10.78.0.1, dst-ip: 10.78.4.1, mode: icmp-echo, pps: 1k}\n"
        self.assertEqual(squall(A, "send", "--config", self.file(text), "--write", path, "--no-tui").rc, 0)
        out = subprocess.run([*TSHARK, "-r", path, "-Y", BAD], capture_output=True, text=True, timeout=60)
        os.unlink(path)
        self.assertEqual((out.returncode, out.stdout), (0, ""), out.stderr)


if __name__ == "__main__":
    main()
