# SPDX-License-Identifier: Apache-2.0
"""Limits that a run is to keep: exit codes, sentences, and values that nobody knows."""
from lab import A, B, Case, QUIET, Receiver, Squall, main, squall

TO = ("--dst-ip", "192.0.2.9", "--no-tui", "--flows", 10, "--count", 20_000, "--pps", "100k")


class Thresholds(Case):
    def pair(self, device, *args, rc=0, **kw):
        run = squall(None, "pair", "-i", f"loop:{device}", *TO, *args, **kw)
        self.assertEqual(run.rc, rc, run.err[-800:])
        return run

    def judged(self, device, option, limit, rc, sentence=None):
        """One threshold; its object in the report."""
        run = self.pair(device, f"--{option}", limit, rc=rc)
        threshold, = run.end_record["thresholds"]
        self.assertEqual((threshold["name"], threshold["ok"]), (option, rc == 0))
        if rc:
            self.assertRegex(run.err, sentence)
            self.assertEqual(run.json["error"]["code"], rc)
        return threshold, run.end_record

    def test_loss(self):
        t, end = self.judged("loss=1%,seed=2", "max-loss", "0", 4, r"a threshold was not met: loop:.*: lost [\d.]+ %, at most 0 was allowed \(--max-loss\)")
        self.assertAlmostEqual(t["value"], end["loop"]["lost"] / 20_000)
        self.judged("loss=1%,seed=2", "max-loss", "5%", 0)
        self.judged("loss=1%,seed=2", "max-loss", "0.05", 0)
        self.judged("", "max-loss", "0", 0)

    def test_duplicates_and_order(self):
        self.judged("duplicate=1%,seed=2", "max-duplicates", "0", 4, "duplicates .*--max-duplicates")
        self.judged("duplicate=1%,seed=2", "max-duplicates", "3%", 0)
        t, end = self.judged("reorder=1%,seed=2", "max-reordered", "0", 4, "reordered .*--max-reordered")
        self.assertAlmostEqual(t["value"], end["loop"]["reordered"] / 20_000)
        self.judged("", "max-reordered", "0", 0)

    def test_latency(self):
        t, _ = self.judged("delay=20ms", "max-latency-p99", "10ms", 4, r"99 % of the packets took up to [\d.]+ ms, at most 10 ms was allowed \(--max-latency-p99\)")
        self.assertEqual(t["limit"], 10_000_000)
        self.assertGreaterEqual(t["value"], 20_000_000)
        self.judged("", "max-latency-p99", "5s", 0)

    def test_a_rate(self):
        t, end = self.judged("", "min-rate", "1", 0)
        self.assertEqual(t["value"], end["rx"]["pps"])
        self.judged("", "min-rate", "10M", 4, r"received at .*, no less than 10 Mpps was allowed \(--min-rate\)")

    def test_several(self):
        run = self.pair("loss=1%,duplicate=1%", "--max-loss", 0, "--max-duplicates", 0, "--max-reordered", 0, rc=4)
        self.assertRegex(run.err, r"thresholds were not met: .*--max-loss\); .*--max-duplicates\)")
        self.assertEqual([(t["name"], t["ok"]) for t in run.end_record["thresholds"]], [("max-loss", False), ("max-duplicates", False), ("max-reordered", True)])
        text = self.pair("loss=1%", "--max-loss", 0, "--max-duplicates", 0, rc=4, form=None).out
        self.assertRegex(text, r"(?m)^limit +max-loss 0: [\d.]+ %, not met$")
        self.assertRegex(text, r"(?m)^limit +max-duplicates 0: 0, met$")

    def test_the_rate_of_the_sender(self):
        run = squall(None, "pair", "-i", "loop:rate=1k", "--dst-ip", "192.0.2.9", "--pps", "50k", "-d", "500ms", "--strict-rate", "--no-tui")
        self.assertEqual(run.rc, 5, run.err)
        threshold, = run.end_record["thresholds"]
        self.assertEqual((threshold["name"], threshold["limit"], threshold["ok"]), ("strict-rate", 50_000, False))
        self.assertLess(threshold["value"], 5_000)

    def test_a_rate_and_a_threshold_that_were_missed(self):
        run = squall(None, "pair", "-i", "loop:rate=1k,loss=50%,seed=3", "--dst-ip", "192.0.2.9", "--pps", "50k", "-d", "500ms", "--strict-rate", "--max-loss", "1%", "--max-duplicates", 0, "--no-tui")
        self.assertEqual(run.rc, 5, run.err)
        self.assertRegex(run.err, r"the requested rate was not reached, and a threshold was not met: .*were not sent in time; lost [\d.]+ %, at most 1 % was allowed \(--max-loss\)")
        self.assertEqual([(t["name"], t["ok"]) for t in run.end_record["thresholds"]], [("max-loss", False), ("max-duplicates", True), ("strict-rate", False)])

    def test_flows_that_nobody_followed(self):
        run = self.pair("", "--flow-limit", 9, "--max-loss", 0, rc=4)
        self.assertRegex(run.err, "--max-loss 0 cannot be judged: flows beyond --flow-limit were not measured")

    def test_what_is_not_known_is_not_met(self):
        run = squall(B, "recv", "-i", "afpacket:qb", "--measure", "--max-loss", "100%", "--max-latency-p99", "1h", "--min-rate", 1, "-d", "300ms", "--no-tui")
        self.assertEqual(run.rc, 4, run.err)
        self.assertEqual([(t["value"], t["ok"]) for t in run.end_record["thresholds"]], [(None, False)] * 3)
        self.assertRegex(run.err, "--max-loss 100 % cannot be judged: ")
        # Latency without a clock: packets came, how long they took nobody knows.
        receiver = Receiver("-i", "afpacket:qb", "--measure", "--max-latency-p99", "1h", "--max-loss", 0)
        self.ok(squall(A, "send", "-i", "afpacket:qa", *QUIET, "--stamp", "--count", 100, "--no-tui"))
        run = receiver.stop()
        self.assertEqual(run.rc, 4, run.err)
        self.assertEqual([(t["name"], t["ok"]) for t in run.end_record["thresholds"]], [("max-loss", True), ("max-latency-p99", False)])
        self.assertRegex(run.err, "--max-latency-p99 1 h.* cannot be judged: .*clock")

    def test_a_signal_does_not_spare_it(self):
        run = Squall(None, "pair", "-i", "loop:loss=10%", "--dst-ip", "192.0.2.9", "--pps", "10k", "-d", 0, "--max-loss", 0, "--interval", "100ms", "--no-tui", form="--json-stream")
        run.wait_for('"interval"', "out")
        run.signal()
        self.assertEqual(run.end().rc, 4)

    def test_refusals(self):
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--max-latency-p99", "0", names=("--max-latency-p99", "out of range: 1ns to .*, or none"))
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--min-rate", "0", names=("--min-rate", "packets a second"))
        self.refused("send", "-i", "loop:sink", "--dst-ip", "192.0.2.9", "--pps", "unlimited", "--strict-rate", names=("--strict-rate", "goes with a rate"))
        self.refused("recv", "-i", "afpacket:qb", "--max-loss", 0, where=B, names=("--max-loss", "goes with --measure"))
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--no-stamp", "--max-loss", 0, names=("--max-loss", "--no-stamp"))
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--max-loss", "2", names=("--max-loss", "0 to 1"))
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--max-loss", "some", names=("--max-loss", "a share such as"))
        self.refused("pair", "-i", "loop:", "--dst-ip", "192.0.2.9", "--min-rate", "80%", names=("--min-rate", "packets a second"))
        self.refused("send", "-i", "loop:", "--dst-ip", "192.0.2.9", "--max-loss", "0", names=("--max-loss", "not an option of squall send"))


if __name__ == "__main__":
    main()
