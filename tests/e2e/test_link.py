# SPDX-License-Identifier: Apache-2.0
"""A link that is down, comes late, goes away and comes back; an interface that vanishes."""
import signal
import time

from lab import A, B, Case, NOBODY, Receiver, Squall, ip, link, main, minus, received, sent, squall, until, veth

TO = ("--dst-ip", "192.0.2.9", "--src-ip", "192.0.2.8", "--dst-mac", NOBODY, "--no-tui")


class Link(Case):
    """A pair of its own for each test, down at first: xa in A, xb in B."""

    def setUp(self):
        veth("xa", "xb")
        self.addCleanup(ip, A, "link", "del", "xa", check=False)

    def set(self, both=None, a=None, b=None):
        for where, dev, state in ((A, "xa", a or both), (B, "xb", b or both)):
            if state:
                ip(where, "link", "set", dev, state)

    def running(self, *args, **kw):
        """A sender that has begun to send."""
        run = Squall(A, "send", "-i", "xa", *TO, *args, form="--json", **kw)
        until(lambda: sent(A, "xa")[0], what="the first packet")
        return run


class BeforeTheRun(Link):
    def test_down(self):
        for verb, where, dev in (("send", A, "xa"), ("recv", B, "xb")):
            run = self.refused(verb, "-i", dev, *(TO if verb == "send" else ()), rc=7, where=where, names=[dev, "down", f"ip link set {dev} up"])
            self.assertLess(run.seconds, 2)

    def test_no_carrier(self):
        self.set(a="up")
        run = self.refused("send", "-i", "xa", *TO, rc=7, names=["xa", "no carrier"])
        self.assertTrue(4.5 < run.seconds < 7, run.seconds)
        self.assertIn("waiting", run.err)
        self.assertEqual(sent(A, "xa"), (0, 0))

    def test_a_carrier_that_comes_in_time(self):
        self.set(a="up")
        run = Squall(A, "send", "-i", "xa", *TO, "--count", 5000, "--pps", "10k")
        run.wait_for("waiting")
        self.set(b="up")
        end = self.ok(run.end()).end_record
        self.assertEqual((end["tx"]["packets"], sent(A, "xa")[0]), (5000, 5000))
        self.assertAlmostEqual(end["tx"]["pps"], 10_000, delta=500)  # the wait is not in it

    def test_a_receiver_waits_too(self):
        self.set(b="up")
        run = Squall(B, "recv", "-i", "xb", "-d", "100ms")
        run.wait_for("waiting")
        self.set(a="up")
        run.wait_for("the filter is active")
        self.ok(run.end())

    def test_a_signal_ends_the_wait(self):
        self.set(a="up")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = Squall(A, "send", "-i", "xa", *TO)
            run.wait_for("waiting")
            at = time.monotonic()
            run.signal(number)
            run.end()
            self.assertLess(time.monotonic() - at, 1)
            self.assertEqual(run.rc, 0, run.err)
            self.assertEqual((run.json["end"]["reason"], run.json["end"]["tx"]), ("signal", None))


class DuringTheRun(Link):
    def setUp(self):
        super().setUp()
        self.set(both="up")

    def bounce(self, down, up, *args, dev="xa"):
        run = Squall(A, "send", "-i", dev, *TO, "-d", "2500ms", "--pps", "20k", *args)
        until(lambda: sent(A, "xa")[0] > 1000, what="the first packets")
        down()
        run.wait_for("warning: ", timeout=5)
        held = until(lambda: (s := sent(A, "xa")) == (time.sleep(0.05), sent(A, "xa"))[1] and s)
        time.sleep(0.3)
        self.assertEqual(sent(A, "xa"), held, "nothing leaves while the link is down")
        up()
        run.wait_for("link is back", timeout=5)
        end = self.ok(run.end()).end_record
        tx = end["tx"]
        self.assertEqual((tx["packets"], tx["completed_bytes"]), sent(A, "xa"))
        self.assertEqual(sent(A, "xa"), received(B, "xb"))
        self.assertGreater(tx["packets"], held[0], "the run went on")
        # One packet may be in the device's hands when the link goes: it is dropped, and that is said.
        self.assertEqual(len(end["warnings"]), 2 + (tx["dropped_driver"] > 0))
        self.books(tx)
        # What was not made up for is said.
        self.assertGreater(tx["unsent"], 0)
        self.assertEqual(tx["unsent"] + tx["queued"], 50_000)

    def test_carrier_lost_and_back(self):
        for dev in ("afpacket:xa,tx=ring", "afpacket:xa,tx=linear", "afpacket:xa,tx=sendmmsg"):
            with self.subTest(dev=dev):
                self.doCleanups()
                self.setUp()
                self.bounce(lambda: self.set(b="down"), lambda: self.set(b="up"), dev=dev)

    def test_set_down_and_up(self):
        for dev, args in (("xa", ()), ("afpacket:xa", ()), ("xa", ("--qdisc",))):
            with self.subTest(dev=dev, args=args):
                self.doCleanups()
                self.setUp()
                self.bounce(lambda: self.set(a="down"), lambda: self.set(a="up"), *args, dev=dev)

    def test_carrier_lost_and_back_with_a_discipline(self):
        self.bounce(lambda: self.set(b="down"), lambda: self.set(b="up"), "--qdisc")

    def test_down_for_good(self):
        run = self.running("-d", "30s", "--pps", "20k")
        at = time.monotonic()
        self.set(b="down")
        self.ok(run.end(15), 7)
        self.assertTrue(4.5 < time.monotonic() - at < 8)
        tx = run.end_record["tx"]
        self.assertEqual((run.end_record["reason"], tx["packets"], tx["completed_bytes"]), ("error", *sent(A, "xa")))
        self.books(tx)

    def test_a_receiver_outlives_a_bounce(self):
        for dev in ("xb", "afpacket:xb"):
            receiver = Receiver("-i", dev)
            for _ in range(2):
                self.ok(squall(A, "send", "-i", "xa", *TO, "--count", 500, "--pps", "50k"))
                self.set(a="down")
                until(lambda: link(B, "xb")["operstate"] != "UP")
                self.set(a="up")
                until(lambda: link(A, "xa")["operstate"] == "UP")
            self.assertEqual(self.ok(receiver.stop()).end_record["rx"]["packets"], 1000)

    def test_the_interface_vanishes(self):
        paces = (("--pps", "20k"), ("--pps", "unlimited"), ("--pps", "1"))
        for dev in ("afxdp:xa", *(f"afpacket:xa,tx={tx}" for tx in ("ring", "linear", "sendmmsg"))):
            for args in (*paces, ("--pps", "20k", "--qdisc"))[:3 if dev == "afxdp:xa" else 4]:
                with self.subTest(dev=dev, args=args):
                    self.doCleanups()
                    self.setUp()
                    run = self.running("-i", dev, "-d", "20s", *args)
                    before = sent(A, "xa")[0]
                    at = time.monotonic()
                    ip(A, "link", "del", "xa")
                    self.ok(run.end(10), 1)
                    self.assertLess(time.monotonic() - at, 2)
                    self.assertRegex(run.err, "vanished|gone")
                    self.assertEqual(run.end_record["reason"], "error")
                    books = run.end_record["tx"]
                    self.books(books)
                    # With a discipline the carrier decides, so the last batch before the end may be called dropped.
                    self.assertGreaterEqual(books["packets"] + (books["dropped"] if "--qdisc" in args else 0), before)

    def test_the_interface_vanishes_under_a_receiver(self):
        for dev in ("xb", "afpacket:xb"):
            self.doCleanups()
            self.setUp()
            receiver = Receiver("-i", dev, "--queues", 2)
            at = time.monotonic()
            ip(A, "link", "del", "xa")
            self.ok(receiver.end(10), 1)
            self.assertLess(time.monotonic() - at, 2)

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


if __name__ == "__main__":
    main()
