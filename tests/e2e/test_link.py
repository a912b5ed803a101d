# SPDX-License-Identifier: Apache-2.0
"""A link that is down, comes late, goes away and comes back; an interface that vanishes."""
import signal
import time

import links
from lab import A, B, Receiver, Squall, ip, main, received, sent
from links import TO


class BeforeTheRun(links.Pair):
    def test_down(self):
        for verb, where, dev in (("send", A, "xa"), ("recv", B, "xb")):
            run = self.refused(verb, "-i", dev, *(TO if verb == "send" else ()), rc=7, where=where, names=[dev, "down", f"ip link set {dev} up"])
            self.assertLess(run.seconds, 4, "it waits for nothing")

    def test_no_carrier(self):
        self.set(a="up")
        run = self.refused("send", "-i", "xa", *TO, rc=7, names=["xa", "no carrier"])
        self.assertTrue(4.5 < run.seconds < 12, run.seconds)
        self.assertIn("waiting", run.err)
        self.assertEqual(sent(A, "xa"), (0, 0))

    def test_a_carrier_that_comes_in_time(self):
        self.set(a="up")
        run = Squall(A, "send", "-i", "xa", *TO, "--count", 5000, "--pps", "10k", "--catch-up", "1h")
        run.wait_for("waiting")
        self.set(b="up")
        end = self.ok(run.end()).end_record
        self.assertEqual((end["tx"]["packets"], sent(A, "xa")[0]), (5000, 5000))
        # With the wait in it, half a second at the least, it took as long again.
        seconds, late = 5000 / end["tx"]["pps"], end["tx"]["lateness_ns"]["max"] / 1e9
        self.assertTrue(0.48 - late < seconds < 0.52 + late, (seconds, late))

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
            self.assertLess(time.monotonic() - at, 3)
            self.assertEqual(run.rc, 0, run.err)
            self.assertEqual((run.json["end"]["reason"], run.json["end"]["tx"]), ("signal", None))


class DuringTheRun(links.Renamed):
    def goes_on(self, end, *args, dev):
        record, due = self.bounced(end, "warning: ", *args, dev=dev)
        tx = record["tx"]
        there = sent(A, "xa")
        self.assertEqual(there, received(B, "xb"))
        # With a discipline the carrier decides: the batch in which it went may have left, and be called dropped.
        left = there[0] - tx["packets"]
        self.assertTrue(0 <= left <= (tx["dropped_driver"] if "--qdisc" in args else 0), (there, tx))
        self.assertEqual(tx["completed_bytes"], 60 * tx["packets"])
        # One packet may be in the device's hands when the link goes: it is dropped, and that is said.
        self.assertEqual(len(record["warnings"]), 2 + (tx["dropped_driver"] > 0))
        self.books(tx)
        # What was not made up for is said.
        self.assertGreater(tx["unsent"], 0)
        self.assertEqual(tx["unsent"] + tx["queued"], due)

    def test_carrier_lost_and_back(self):
        for dev in ("afpacket:xa,tx=ring", "afpacket:xa,tx=linear", "afpacket:xa,tx=sendmmsg"):
            with self.subTest(dev=dev):
                self.goes_on("b", dev=dev)

    def test_set_down_and_up(self):
        for dev, args in (("xa", ()), ("afpacket:xa", ()), ("xa", ("--qdisc",))):
            with self.subTest(dev=dev, args=args):
                self.goes_on("a", *args, dev=dev)

    def test_carrier_lost_and_back_with_a_discipline(self):
        self.goes_on("b", "--qdisc", dev="xa")

    def test_down_for_good(self):
        run = self.running("-d", "30s", "--pps", "20k")
        at = time.monotonic()
        self.set(b="down")
        self.ok(run.end(15), 7)
        self.assertTrue(4.5 < time.monotonic() - at < 12)
        tx = run.end_record["tx"]
        self.assertEqual((run.end_record["reason"], tx["packets"], tx["completed_bytes"]), ("error", *sent(A, "xa")))
        self.books(tx)

    def test_a_receiver_outlives_a_bounce(self):
        for dev in ("xb", "afpacket:xb"):
            with self.subTest(dev=dev):
                self.outlives_bounces("a", "-i", dev)

    def test_the_interface_vanishes(self):
        paces = (("--pps", "20k"), ("--pps", "unlimited"), ("--pps", "1"))
        for dev in ("afxdp:xa", *(f"afpacket:xa,tx={tx}" for tx in ("ring", "linear", "sendmmsg"))):
            for args in (*paces, ("--pps", "20k", "--qdisc"))[:3 if dev == "afxdp:xa" else 4]:
                with self.subTest(dev=dev, args=args):
                    self.anew()
                    run = self.running("-d", "20s", *args, dev=dev)
                    before = sent(A, "xa")[0]
                    at = time.monotonic()
                    ip(A, "link", "del", "xa")
                    self.ok(run.end(10), 1)
                    self.assertLess(time.monotonic() - at, 5)
                    self.assertRegex(run.err, "vanished|gone")
                    self.assertEqual(run.end_record["reason"], "error")
                    books = run.end_record["tx"]
                    self.books(books)
                    # With a discipline the carrier decides, so the last batch before the end may be called dropped.
                    self.assertGreaterEqual(books["packets"] + (books["dropped"] if "--qdisc" in args else 0), before)

    def test_the_interface_vanishes_under_a_receiver(self):
        for dev in ("xb", "afpacket:xb"):
            self.anew()
            receiver = Receiver("-i", dev, "--queues", 2)
            at = time.monotonic()
            ip(A, "link", "del", "xa")
            self.ok(receiver.end(10), 1)
            self.assertLess(time.monotonic() - at, 5)


if __name__ == "__main__":
    main()
