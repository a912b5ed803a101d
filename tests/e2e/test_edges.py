# SPDX-License-Identifier: Apache-2.0
"""The generator at its edges: the longest times, rates that nothing keeps, no memory, signals before anything has begun."""
import os
import signal
import subprocess

from lab import BIN, Case, Squall, TMP, main, squall, until

TO = ("--src-mac", "02:00:00:00:00:01", "--dst-mac", "02:00:00:00:00:09", "--src-ip", "10.9.9.1", "--dst-ip", "10.9.9.9")
SEND = ("send", "-i", "loop:sink", *TO)
MANY = ("--flow-walk", "cross", "--src-ip", "10.0.0.0/8", "--flows")


class Times(Case):
    def test_the_longest_times(self):
        """Added to a clock they must not come out as the past."""
        for args in (("-d", "2562047h"), ("-d", "2562047h", "--pps", "unlimited", "-y"), ("-d", "60s", "--catch-up", "2562047h"),
                     ("-d", "60s", "--catch-up", "2562047h", "--spacing", "poisson")):
            with self.subTest(args=args):
                run = Squall(None, *SEND, *args, "--interval", "100ms", form="--json-stream")
                run.wait_for('"interval"', "out")
                run.signal()
                self.assertEqual(run.end().rc, 0)
                self.assertRegex(run.lines["out"][-1], '"reason": "signal"')
        self.refused(*SEND, "-d", "2562048h", names=["292 years"])

    def test_rates_that_nothing_keeps(self):
        for args, due in ((("--pps", "100G"), 10**11), (("--pps", "100G", "--spacing", "poisson"), 10**11), (("--burst-profile", "1000000/1us",), 10**12)):
            with self.subTest(args=args):
                tx = self.ok(squall(None, *SEND, *args, "-d", "1s")).end_record["tx"]
                spread = due**-0.5 if "poisson" in args else 0  # of a Poisson count, beside its mean
                self.assertAlmostEqual((tx["packets"] + tx["unsent"]) / due, 1, delta=1e-6 + 6 * spread)


class Signals(Case):
    def test_before_the_first_packet(self):
        run = Squall(None, *SEND, *MANY, "15M", "-d", "60s")
        until(lambda: run.resident() > 40 << 20, what="a flow table that grows")
        run.signal()
        end = self.ok(run.end(100)).end_record
        self.assertEqual((end["reason"], end["tx"]), ("signal", None))

    def test_while_a_pipe_has_no_reader(self):
        path = os.path.join(TMP, "pipe")
        os.mkfifo(path)
        run = Squall(None, *SEND, "--write", path)
        until(run.waits_for_a_pipe, what="a blocked call")
        run.signal(signal.SIGTERM)
        got = self.ok(run.end())
        self.assertIn("0 frames", got.json["start"]["written"])


class Memory(Case):
    def test_none_for_the_flows(self):
        run = subprocess.run(["bash", "-c", 'ulimit -v 300000; exec "$@"', "bash", BIN, *SEND, *MANY, "60M", "--no-tui", "--json"], capture_output=True, text=True, timeout=60)
        if "AddressSanitizer" in run.stderr:
            self.skipTest("a sanitizer needs more address space than that for itself")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, "--flows: no memory for 60000000 flows; try: fewer")


class Options(Case):
    def test_what_has_no_effect_is_refused(self):
        for args, names in ((("--imix", "csit"), ["--imix", "--mode imix"]), (("--ethertype", "0x800"), ["--ethertype", "--mode raw"]), (("--vlan", 5, "--outer-type", "0x8100"), ["--outer-vlan"])):
            self.refused(*SEND, *args, names=names)


if __name__ == "__main__":
    main()
