# SPDX-License-Identifier: Apache-2.0
"""What the tests of links that go and come back share: a veth pair of each test's own, a sender on it, and the bounce.

To be used as a module (links.Pair): what a test file imports by name is a test of its own to unittest.
"""
import re
import time

from lab import A, B, Case, NOBODY, Receiver, Squall, ip, link, minus, sent, squall, until, veth

TO = ("--dst-ip", "192.0.2.9", "--src-ip", "192.0.2.8", "--dst-mac", NOBODY, "--no-tui")


class Pair(Case):
    """xa in A and xb in B, down at first."""

    dev = "xa"  # as senders name it
    begun = 1  # packets that a running sender has sent

    def setUp(self):
        veth("xa", "xb")
        self.addCleanup(ip, A, "link", "del", "xa", check=False)

    def anew(self):
        """Within a test: the pair as it was at first."""
        self.doCleanups()
        self.setUp()

    def set(self, both=None, a=None, b=None):
        for where, dev, state in ((A, "xa", a or both), (B, "xb", b or both)):
            if state:
                ip(where, "link", "set", dev, state)

    def running(self, *args, dev=None):
        run = Squall(A, "send", "-i", dev or self.dev, *TO, *args)
        until(lambda: sent(A, "xa")[0] >= self.begun, what="the first packets")
        return run

    def bounced(self, end, says, *args, dev=None):
        """A run at 20,000 packets a second whose link goes at one end, "a" or "b", and comes back.

        Its end record, and how many packets were due. A machine so busy that the run is over first gets a longer one.
        """
        for seconds in (1.5, 6, 24):
            self.anew()
            run = self.running("-d", f"{seconds}s", "--pps", "20k", *args, dev=dev)
            self.set(**{end: "down"})
            until(lambda: re.search(says, "".join(run.lines["err"])) or run.process.poll() is not None, what="a word of it")
            held = until(lambda: (s := sent(A, "xa")) == (time.sleep(0.05), sent(A, "xa"))[1] and s, what="silence")
            time.sleep(0.2)
            self.assertEqual(sent(A, "xa"), held, "nothing leaves while the link is down")
            self.set(**{end: "up"})
            run.end(60)
            if "link is back" in run.err:
                break
        self.assertRegex(run.err, f"(?s){says}.*link is back")
        record = self.ok(run).end_record
        self.assertGreater(record["tx"]["packets"], held[0], "the run went on")
        return record, seconds * 20_000


class Up(Pair):
    def setUp(self):
        super().setUp()
        self.set(both="up")

    def outlives_bounces(self, end, *args):
        """A receiver on xb takes 500 packets before, between and after two bounces of the link at one end, "a" or "b"."""
        receiver = Receiver(*args)
        for bounces_left in (2, 1, 0):
            self.ok(squall(A, "send", "-i", "xa", *TO, "--count", 500, "--pps", "50k"))
            if bounces_left:
                self.set(**{end: "down"})
                until(lambda: link(B, "xb")["operstate"] != "UP")
                self.set(**{end: "up"})
                until(lambda: link(A, "xa")["operstate"] == "UP")
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["dropped"]), (1500, 0))


class Renamed(Up):
    def test_another_interface_of_that_name_is_not_taken(self):
        run = self.running("-d", "20s", "--pps", "1k")
        ip(A, "link", "set", "xa", "down")
        run.wait_for("set down")
        ip(A, "link", "set", "xa", "name", "xo")
        self.addCleanup(ip, A, "link", "del", "xo", check=False)
        veth("xa", "xc")
        self.set(a="up")
        ip(B, "link", "set", "xc", "up")
        ip(A, "link", "set", "xo", "up")
        run.wait_for("link is back")
        before = sent(A, "xo")
        until(lambda: minus(sent(A, "xo"), before)[0] > 10)
        run.signal()
        self.ok(run.end())
        self.assertEqual(sent(A, "xa"), (0, 0))
