# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: what was sent is what was received and what was dropped, each frame once, in every way to run short of something."""
import signal
import time

from lab import A, B, Case, QUIET, Receiver, Squall, main, received, send, until

MODES = ("native", "generic")
# Of XDP_STATISTICS (struct xdp_statistics in linux/if_xdp.h), by the names of the report.
RX_KEYS = {"dropped_buffer", "dropped_ring", "fill_empty", "invalid"}
TX_KEYS = {"invalid", "ring_empty"}


class Books(Case):
    def overrun(self, mode, *args, pause=0.0, sender=("--pps", "unlimited", "-d", "300ms", "--flows", 64)):
        """A receiver that gets more than it can hold, perhaps since it stands still for a while; (tx, the receiver's end record)."""
        receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, *args)
        before = received(B, "qb")[0]
        if pause:
            receiver.signal(signal.SIGSTOP)
        tx = self.ok(send("-i", "afxdp:qa", *QUIET, *sender)).end_record["tx"]
        until(lambda: received(B, "qb")[0] - before == tx["packets"], what="the last packet at the other end")
        time.sleep(pause)
        receiver.signal(signal.SIGCONT)
        end = self.ok(receiver.stop()).end_record
        rx = end["rx"]
        self.assertEqual((rx["packets"] + rx["dropped"], rx["filtered"]), (tx["packets"], 0), rx)
        self.assertEqual(rx["dropped"], rx["dropped_buffer"] + rx["dropped_ring"], "the causes are disjoint")
        self.assertEqual(rx["bytes"], 60 * rx["packets"])
        self.assertEqual(sum(q["rx_packets"] + q["rx_dropped_buffer"] + q["rx_dropped_ring"] for q in end["queues"]), tx["packets"])
        return tx, end

    def test_few_frames(self):
        for mode in MODES:
            for frames in (1, 2, 64, 1000):
                with self.subTest(mode=mode, frames=frames):
                    tx, end = self.overrun(mode, "--rx-frames", frames)
                    self.assertGreater(end["rx"]["packets"], 0)
                    if frames < 1000:
                        self.assertGreater(end["rx"]["dropped"], 0)
                        self.assertGreaterEqual(end["rx"]["fill_empty"], end["rx"]["dropped_buffer"], "seen again, and not added")

    def test_several_queues(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                tx, end = self.overrun(mode, "--rx-frames", 256, sender=("--pps", "unlimited", "-d", "300ms", "--flows", 64, "--queues", 2))
                if mode == "native":  # a generic program sees one queue of a veth
                    self.assertTrue(all(q["rx_packets"] for q in end["queues"]), end["queues"])

    def test_a_receiver_that_stands_still(self):
        """It wakes to what its frames hold, and all that came later was dropped for want of a free one."""
        for mode in MODES:
            for frames in (512, 16384):
                with self.subTest(mode=mode, frames=frames):
                    tx, end = self.overrun(mode, "--rx-frames", frames, pause=0.05, sender=("--pps", "unlimited", "--count", 40_000))
                    self.assertGreaterEqual(end["rx"]["packets"], frames)
                    self.assertLess(end["rx"]["packets"], frames + 64)

    def test_the_default_outlasts_a_tenth_of_a_second(self):
        """16,384 frames are 163 ms at 100,000 packets a second."""
        for mode in MODES:
            with self.subTest(mode=mode):
                tx, end = self.overrun(mode, pause=0.05, sender=("--pps", "unlimited", "--count", 16_000))
                self.assertEqual((end["rx"]["packets"], end["rx"]["dropped"]), (16_000, 0))

    def test_the_drivers_own_counters_are_shown_and_not_added(self):
        tx, end = self.overrun("native", "--rx-frames", 64)
        self.assertEqual(end["device_drops"]["link rx_dropped"], end["rx"]["dropped"])
        self.assertEqual(sum(n for name, n in end["device_drops"].items() if name.startswith("rx_queue_")), end["rx"]["dropped"])

    def test_every_counter_is_in_the_report(self):
        receiver = Receiver("-i", "afxdp:qb")
        tx = self.ok(send("-i", "afxdp:qa", *QUIET, "--count", 100)).end_record
        rx = self.ok(receiver.stop()).end_record
        self.assertLessEqual(RX_KEYS, set(rx["rx"]))
        self.assertLessEqual(TX_KEYS, set(tx["tx"]))
        self.assertLessEqual({f"rx_{key}" for key in RX_KEYS}, set(rx["queues"][0]))
        self.assertLessEqual({f"tx_{key}" for key in TX_KEYS}, set(tx["queues"][0]))
        self.assertEqual([rx["rx"][key] for key in sorted(RX_KEYS)], [0] * 4)

    def test_what_is_not_ours_is_in_nobodys_books(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, "--rx-frames", 64)
                flood = Squall(A, "send", "-i", "afxdp:qa", *QUIET, "--dst-port", 9001, "--pps", "unlimited", "-d", "500ms")
                tx = self.ok(send("-i", "afpacket:qa", *QUIET, "--pps", "5k", "--count", 1500)).end_record["tx"]
                self.assertEqual(tx["packets"], 1500)
                self.assertGreater(self.ok(flood.end()).end_record["tx"]["packets"], 10_000)
                rx = self.ok(receiver.stop()).end_record["rx"]
                self.assertEqual((rx["packets"] + rx["dropped"], rx["filtered"]), (tx["packets"], 0))

    def test_a_stop_in_a_flood(self):
        """Each packet is the receiver's or Linux', before, while and after it stops: packet sockets get copies of what is Linux'."""
        for mode in MODES:
            with self.subTest(mode=mode):
                copies = Receiver("-i", "afpacket:qb")
                before = received(B, "qb")[0]
                flood = Squall(A, "send", "-i", "afxdp:qa", *QUIET, "--pps", "unlimited", "-d", "60s", "--flows", 100)
                until(lambda: received(B, "qb")[0] - before > 5000)
                receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                there = received(B, "qb")[0]
                until(lambda: received(B, "qb")[0] - there > 20_000)
                at = time.monotonic()
                receiver.signal()
                ours = self.ok(receiver.end()).end_record["rx"]
                self.assertLess(time.monotonic() - at, 2)
                there = received(B, "qb")[0]
                until(lambda: received(B, "qb")[0] - there > 5000)
                flood.signal()
                tx = self.ok(flood.end()).end_record["tx"]
                theirs = self.ok(copies.stop()).end_record["rx"]
                self.assertGreater(ours["packets"], 10_000)
                self.assertGreater(theirs["packets"], 5000)
                arrived = received(B, "qb")[0] - before
                self.assertEqual(ours["packets"] + ours["dropped"] + theirs["packets"] + theirs["dropped"], arrived)
                # A veth whose native program goes frees what is still in its ring, 256 at most, without a word.
                self.assertTrue(0 <= tx["packets"] - arrived <= (256 if mode == "native" else 0))

    def test_a_count_is_exact(self):
        for queues in (1, 2):
            receiver = Receiver("-i", "afxdp:qb", "--count", 777, "--queues", queues)
            self.ok(send("-i", "afxdp:qa", *QUIET, "--count", 2000, "--queues", queues, "--flows", 10, "--pps", "100k"))
            end = self.ok(receiver.end(10)).end_record
            self.assertEqual((end["rx"]["packets"], end["reason"]), (777, "count"))


if __name__ == "__main__":
    main()
