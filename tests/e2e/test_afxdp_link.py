# SPDX-License-Identifier: Apache-2.0
"""AF_XDP on a link that goes away and comes back, while starting and while running; and on one that vanishes."""
import signal
import threading
import time

import links
import xdp
from lab import A, B, Receiver, ip, main, minus, received, sent, squall
from links import TO

MODES = ("native", "generic")


class DuringTheRun(links.Renamed):
    dev = "afxdp:xa"
    begun = 100

    def sent_is_the_kernels(self, record):
        tx = record["tx"]
        self.assertEqual((tx["packets"], tx["completed_bytes"]), sent(A, "xa"))
        self.books(tx)
        return tx

    def test_the_peer_goes_down_and_comes_back(self):
        """Without a carrier the kernel takes a frame, drops it and gives it back: that is not sent."""
        for mode in MODES:
            for args in ((), ("--queues", 2, "--flows", 9), ("--packet-size", 1518)):
                with self.subTest(mode=mode, args=args):
                    record, due = self.bounced("b", "lost its carrier", "--xdp-mode", mode, *args)
                    tx = self.sent_is_the_kernels(record)
                    self.assertEqual(sent(A, "xa"), received(B, "xb"))
                    self.assertEqual((tx["dropped"], tx["undecided"]), (tx["dropped_driver"], 0))
                    self.assertGreater(tx["dropped"], 1000)
                    self.assertEqual(tx["queued"] + tx["unsent"], due)
                    self.assertRegex(" ".join(record["warnings"]), "lost its carrier.*the link is back.*refused by the driver or the kernel: its link was down")

    def test_at_full_speed(self):
        for queues in (1, 2):
            with self.subTest(queues=queues):
                self.anew()
                run = self.running("-d", "3s", "--pps", "unlimited", "--queues", queues, "--flows", 64)
                self.set(b="down")
                time.sleep(0.5)
                self.set(b="up")
                self.ok(run.end())
                self.assertGreater(self.sent_is_the_kernels(run.end_record)["dropped_driver"], 10_000)

    def test_set_down_and_up(self):
        """The socket may not send then; what waits is sent later."""
        for mode in MODES:
            with self.subTest(mode=mode):
                record, due = self.bounced("a", "set down", "--xdp-mode", mode)
                tx = self.sent_is_the_kernels(record)
                self.assertEqual(tx["queued"] + tx["unsent"], due)

    def test_down_at_the_end(self):
        for which in ("a", "b"):
            with self.subTest(which=which):
                self.anew()
                run = self.running("-d", "3s", "--pps", "20k")
                self.set(**{which: "down"})
                self.ok(run.end(), 7)
                self.assertRegex(run.json["error"]["cause"], "down at the end")
                self.sent_is_the_kernels(run.end_record)

    def test_down_for_good(self):
        run = self.running("-d", "30s", "--pps", "20k")
        at = time.monotonic()
        self.set(b="down")
        self.ok(run.end(15), 7)
        self.assertTrue(4.5 < time.monotonic() - at < 12)
        self.assertGreater(self.sent_is_the_kernels(run.end_record)["dropped_driver"], 20_000)

    def test_a_signal_while_it_is_down(self):
        for which in ("a", "b"):
            self.anew()
            run = self.running("-d", "30s", "--pps", "20k", "--queues", 2, "--flows", 2)
            self.set(**{which: "down"})
            time.sleep(0.15)
            at = time.monotonic()
            run.signal(signal.SIGINT)
            self.ok(run.end())
            self.assertLess(time.monotonic() - at, 5)
            self.sent_is_the_kernels(run.end_record)

    def test_a_receiver_outlives_a_bounce(self):
        for mode in MODES:
            for end in ("a", "b"):
                with self.subTest(mode=mode, end=end):
                    self.outlives_bounces(end, "-i", "afxdp:xb", "--xdp-mode", mode)

    def test_the_interface_vanishes(self):
        for mode in MODES:
            for args in (("--pps", "20k"), ("--pps", "unlimited", "--queues", 2, "--flows", 9), ("--pps", "200", "--packet-size", 1518)):
                with self.subTest(mode=mode, args=args):
                    self.anew()
                    run = self.running("-d", "20s", "--burst", 1, "--xdp-mode", mode, *args)
                    before = sent(A, "xa")[0]
                    at = time.monotonic()
                    ip(A, "link", "del", "xa")
                    self.ok(run.end(10), 1)
                    self.assertLess(time.monotonic() - at, 5)
                    self.assertRegex(run.json["error"]["cause"], "vanished|gone")
                    self.assertIn("squall devices", run.json["error"]["try"])
                    self.assertEqual(run.end_record["reason"], "error")
                    self.books(run.end_record["tx"])
                    self.assertGreaterEqual(run.end_record["tx"]["packets"], before)

    def test_the_interface_vanishes_under_a_receiver(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                self.anew()
                receiver = Receiver("-i", "afxdp:xb", "--xdp-mode", mode, "--queues", 2)
                self.ok(squall(A, "send", "-i", "xa", *TO, "--count", 500, "--pps", "50k"))
                at = time.monotonic()
                ip(A, "link", "del", "xa")
                self.ok(receiver.end(10), 1)
                self.assertLess(time.monotonic() - at, 5)
                self.assertEqual(receiver.end_record["rx"]["packets"], 500)
                self.assertRegex(receiver.json["error"]["cause"], "vanished|gone")


class WhileStarting(links.Up):
    def toggling(self, where, dev):
        """Down and up again until stop is set, and up at the end; the thread."""
        stop = threading.Event()

        def loop():
            while not stop.is_set():
                ip(where, "link", "set", dev, "down")
                stop.wait(0.01)
                ip(where, "link", "set", dev, "up")
                stop.wait(0.03)

        thread = threading.Thread(target=loop)
        thread.start()
        return stop, thread

    def test_the_carrier_comes_and_goes(self):
        """Whatever it meets, it starts, or says that there is no link; what it counts is the kernel's."""
        for mode in MODES:
            stop, thread = self.toggling(B, "xb")
            try:
                codes = set()
                for _ in range(12):
                    before = sent(A, "xa")
                    run = squall(A, "send", "-i", "afxdp:xa", "--xdp-mode", mode, *TO, "--count", 200, "--pps", "unlimited")
                    codes.add(run.rc)
                    self.assertIn(run.rc, (0, 7), run.err)
                    tx = run.end_record.get("tx") or {"packets": 0, "queued": 0, "completed": 0, "dropped": 0, "undecided": 0}
                    self.books(tx)
                    self.assertEqual(tx["packets"], minus(sent(A, "xa"), before)[0])
                self.assertIn(0, codes)
            finally:
                stop.set()
                thread.join()

    def test_a_receiver_too(self):
        for mode in MODES:
            stop, thread = self.toggling(A, "xa")
            try:
                for _ in range(6):
                    run = squall(B, "recv", "-i", "afxdp:xb", "--xdp-mode", mode, "-d", "50ms")
                    self.assertIn(run.rc, (0, 7), run.err)
                    self.assertIsNone(xdp.program(B, "xb"))
            finally:
                stop.set()
                thread.join()

    def test_no_carrier(self):
        self.set(b="down")
        run = self.refused("send", "-i", "afxdp:xa", *TO, rc=7, names=["xa", "no carrier"])
        self.assertTrue(4.5 < run.seconds < 12, run.seconds)
        self.assertEqual(sent(A, "xa"), (0, 0))

    def test_down(self):
        self.set(a="down", b="down")
        for verb, where, dev in (("send", A, "xa"), ("recv", B, "xb")):
            self.refused(verb, "-i", f"afxdp:{dev}", *(TO if verb == "send" else ()), rc=7, where=where, names=[dev, "down", f"ip link set {dev} up"])


if __name__ == "__main__":
    main()
