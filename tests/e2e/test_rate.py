# SPDX-License-Identifier: Apache-2.0
"""The rate, by the receiving kernel's time stamps; what cannot be sent is said."""
import collections
import math
import statistics

from frames import Tap
from lab import A, B, Case, QUIET, best_of_three, main, send, squall

LOOP = ("send", "-i", "loop:sink,queues=4", "--dst-ip", "192.0.2.9", "--no-tui")
Pace = collections.namedtuple("Pace", "error first_10ms close gaps")


class Wire(Case):
    backend = ""  # the best

    def pace(self, pps, seconds, *args):
        with Tap(B, "qb") as tap:
            tx = self.ok(send("-i", f"{self.backend}qa", *QUIET, "--pps", pps, "-d", f"{seconds}s", *args)).end_record["tx"]
            times = [ns for ns, data in tap.raw(tx["packets"], timeout=20)]
        self.assertEqual(len(times), tx["packets"])
        self.assertEqual(tx["packets"] + tx["unsent"], math.ceil(pps * seconds))
        self.assertEqual(tx["unsent"], 0)
        nominal = 1e9 / pps
        # How late each packet is, and how much that grows: by medians, so that one late packet does not decide.
        late = [t - times[0] - i * nominal for i, t in enumerate(times)]
        k = max(1, len(times) // 20)
        error = (statistics.median(late[-k:]) - statistics.median(late[:k])) / ((len(times) - k) * nominal)
        gaps = [b - a for a, b in zip(times, times[1:])]
        return Pace(error, sum(t - times[0] < 10_000_000 for t in times), sum(g < nominal / 10 for g in gaps) / len(gaps), gaps)

    @best_of_three
    def test_a_thousand(self):
        p = self.pace(1000, 4)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 12)
        self.assertLess(p.close, 0.25, "packets leave one by one, but for what a busy machine held up")

    @best_of_three
    def test_a_hundred_thousand(self):
        p = self.pace(100_000, 2)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 1101)

    @best_of_three
    def test_two_queues_share_the_rate(self):
        p = self.pace(10_000, 3, "--queues", 2, "--flows", 10)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 111)

    @best_of_three
    def test_less_than_one(self):
        p = self.pace(0.5, 5)  # at 0, 2 and 4 s
        self.assertEqual(len(p.gaps), 2)
        for gap in p.gaps:
            self.assertAlmostEqual(gap / 1e9, 2, delta=0.002)


class WireOfPacketSockets(Wire):
    backend = "afpacket:"


class Counted(Case):
    """How many packets a rate and a time are, on a wire in memory."""

    def packets(self, due, *args, rc=0):
        run = self.ok(squall(A, *LOOP, *args), rc)
        tx = run.end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], due)
        return run

    def test_the_number_of_queues_does_not_matter(self):
        for queues in (1, 2, 3):
            run = self.packets(20_000, "--queues", queues, "--flows", 1000, "--pps", "20k", "-d", "1s")
            self.assertEqual(len([q for q in run.end_record["queues"] if q["tx_packets"]]), queues)

    def test_bits_are_counted_on_the_wire(self):
        for bps, size in (("42.56M", 512), ("6.72Mbit/s", 64), ("40.96Mbpsl2", 512), ("39.52Mbpsl3", 512)):
            with self.subTest(bps=bps):
                tx = self.packets(10_000, "--bps", bps, "--packet-size", size, "-d", "1s").end_record["tx"]
                self.assertAlmostEqual(tx["requested_pps"], 10_000, delta=0.01)

    def test_the_slower_of_two_counts(self):
        self.packets(500, "--bps", "6.72M", "--pps", 1000, "-d", "500ms")
        self.packets(500, "--bps", "672k", "--pps", "1M", "-d", "500ms")

    def test_a_rate_with_a_fraction(self):
        self.packets(3, "--pps", "2.5", "-d", "1s")
        self.packets(2501, "--pps", "2500.5", "-d", "1s")
        self.packets(334, "--pps", "333.3333", "-d", "1s")

    def test_a_time_is_kept_when_nothing_more_is_due_in_it(self):
        for args in (("--pps", 1, "-d", "1500ms"), ("--pps", 1, "-d", "1500ms", "--queues", 2, "--flows", 2)):
            run = self.packets(2, *args)
            self.assertEqual(run.end_record["reason"], "duration")
            self.assertGreaterEqual(run.end_record["seconds"], 1.5)

    @best_of_three
    def test_a_count_has_no_end_in_time(self):
        run = self.ok(squall(A, *LOOP, "--count", 2000, "--pps", 2000))
        self.assertEqual((run.end_record["tx"]["packets"], run.end_record["reason"]), (2000, "count"))
        self.assertAlmostEqual(run.end_record["tx"]["pps"], 2000, delta=20)

    SLOW = ("send", "-i", "loop:sink,rate=10k", *LOOP[3:], "-d", "1s")

    def test_what_a_slow_wire_does_not_take(self):
        tx = self.ok(squall(A, *self.SLOW, "--pps", "20k")).end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], 20_000)
        self.assertLess(tx["packets"], 10_300)
        self.assertGreater(tx["ring_full"], 0)
        self.assertEqual((tx["dropped"], tx["queued"]), (0, tx["completed"]))
        self.ok(squall(A, *self.SLOW, "--pps", "20k", "--strict-rate"), 5)
        self.assertEqual(self.ok(squall(A, *self.SLOW, "--pps", "unlimited")).end_record["tx"]["unsent"], 0)

    @best_of_three
    def test_what_a_slow_wire_takes(self):
        self.assertGreater(self.ok(squall(A, *self.SLOW, "--pps", "20k")).end_record["tx"]["packets"], 9_700)
        self.ok(squall(A, *self.SLOW, "--pps", "5k", "--strict-rate"))

    def test_what_a_real_wire_does_not_take(self):
        tx = self.ok(send("-i", "qa", *QUIET, "--pps", "50M", "-d", "300ms")).end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], 15_000_000)
        self.assertGreater(tx["unsent"], 0)
        self.assertEqual(tx["requested_pps"], 50_000_000)
        self.ok(send("-i", "qa", *QUIET, "--pps", "50M", "-d", "300ms", "--strict-rate"), 5)


if __name__ == "__main__":
    main()
