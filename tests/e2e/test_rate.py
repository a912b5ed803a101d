# SPDX-License-Identifier: Apache-2.0
"""The rate, by the receiving kernel's time stamps."""
import collections
import math
import statistics

from frames import Tap
from lab import A, B, Case, QUIET, best_of_three, main, send, squall

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


class SlowWire(Case):
    SLOW = ("send", "-i", "loop:sink,rate=10k", "--dst-ip", "192.0.2.9", "--no-tui", "-d", "1s")

    @best_of_three
    def test_what_a_slow_wire_takes(self):
        self.assertGreater(self.ok(squall(A, *self.SLOW, "--pps", "20k")).end_record["tx"]["packets"], 9_700)
        self.ok(squall(A, *self.SLOW, "--pps", "5k", "--strict-rate"))


if __name__ == "__main__":
    main()
