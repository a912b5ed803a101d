# SPDX-License-Identifier: Apache-2.0
"""Receive queues that are the device's own: all of them by default, and a word on those that are left out."""
from lab import A, B, Case, QUIET, Receiver, main, send, sh

# As many packets from each queue.
SENDER = ("-i", "afxdp:qa", *QUIET, "--flows", 400, "--count", 4000, "--pps", "100k", "--queues", 4)


class Queues(Case):
    """Four queues each way between qa and qb: what qa sends from a queue, qb receives on that of the same number."""

    def channels(self, rx, tx):
        """Queues in use: so many on which qb receives, and so many from which qa sends."""
        # Never more at the sending end than at the other.
        sh("ethtool", "-L", "qa", "tx", 1, where=A, check=False)
        sh("ethtool", "-L", "qb", "rx", rx, where=B, check=False)
        sh("ethtool", "-L", "qa", "tx", tx, where=A, check=False)

    def setUp(self):
        self.channels(4, 4)

    def received(self, *args):
        """What a receiver takes of 4000 packets from all of qa's queues."""
        receiver = Receiver("-i", "afxdp:qb", *args)
        tx = self.ok(send(*SENDER)).end_record["tx"]
        self.assertEqual(tx["packets"], 4000)
        run = self.ok(receiver.stop())
        self.assertEqual(run.end_record["rx"]["dropped"], 0)
        return run

    def warned(self, run, *patterns):
        """One warning about queues, on stderr and in the plan; or none."""
        said = [w for w in run.json["start"]["warnings"] if "for Linux" in w]
        self.assertEqual([f"squall: warning: {w}" for w in said], [line for line in run.err.splitlines() if "for Linux" in line])
        self.assertEqual(len(said), 1 if patterns else 0, said)
        for pattern in patterns:
            self.assertRegex(said[0], pattern)

    def test_all_by_default(self):
        run = self.received()
        self.assertEqual(run.end_record["rx"]["packets"], 4000)
        self.assertEqual(len(run.end_record["queues"]), 4, "more than this needs processors")
        self.warned(run)

    def test_fewer(self):
        for args, packets, *words in (
                (("--queues", 1), 1000, "^queues 1-3 of qb keep their packets", "ethtool -L qb rx 1 and, at its other end, tx 1", "leave --queues out$"),
                (("--queues", 3), 3000, "^queue 3 of qb keeps its packets"), (("--cpus", "0,1"), 2000, "^queues 2-3 of qb ", "or --queues 4$")):
            run = self.received(*args)
            self.assertEqual(run.end_record["rx"]["packets"], packets)
            self.warned(run, *words)

    def test_what_the_warning_says_helps(self):
        self.channels(1, 1)
        run = self.received("--queues", 1)
        self.assertEqual(run.end_record["rx"]["packets"], 4000)
        self.warned(run)

    def test_only_those_in_use(self):
        self.channels(2, 2)
        run = self.received()
        self.assertEqual((run.end_record["rx"]["packets"], len(run.end_record["queues"])), (4000, 2))
        self.warned(run)
        run = self.received("--queues", 4)
        self.assertEqual(len(run.end_record["queues"]), 2)
        self.assertRegex(" ".join(run.json["start"]["warnings"]), "4 receive queues .* 2")

    def test_a_sender_has_no_more_queues_than_are_in_use(self):
        self.channels(2, 2)
        run = self.ok(send(*SENDER))
        self.assertEqual((run.end_record["tx"]["packets"], len(run.end_record["queues"])), (4000, 2))
        self.assertRegex(" ".join(run.json["start"]["warnings"]), "4 transmit queues .* 2")

    def test_a_backend_that_shares_its_queues_leaves_none_out(self):
        receiver = Receiver("-i", "afpacket:qb", "--queues", 1)
        self.ok(send(*SENDER))
        run = self.ok(receiver.stop())
        self.assertEqual(run.end_record["rx"]["packets"], 4000)
        self.warned(run)


if __name__ == "__main__":
    main(queues=4)
