# SPDX-License-Identifier: Apache-2.0
"""The rate, by the receiving kernel's time stamps."""
import collections

from frames import Tap
from lab import A, B, Busy, Case, QUIET, best_of_three, main, send, squall

Pace = collections.namedtuple("Pace", "error first_10ms close gaps latest")


class Wire(Case):
    backend = ""  # the best

    def pace(self, pps, packets, *args):
        with Tap(B, "qb") as tap:
            tx = self.ok(send("-i", f"{self.backend}qa", *QUIET, "--pps", pps, "--count", packets, "--catch-up", "1h", *args)).end_record["tx"]
            times = [ns for ns, data in tap.raw(tx["packets"], timeout=20)]
        self.assertEqual((len(times), tx["packets"], tx["unsent"]), (packets, packets, 0))
        nominal = 1e9 / pps
        # How late each packet is, and how much that grows from the first quarter to the last: by the packet of each that
        # is least so, since a busy machine holds up many, but not all.
        late = [t - times[0] - i * nominal for i, t in enumerate(times)]
        k = max(1, packets // 4)
        first, last = min(range(k), key=late.__getitem__), min(range(packets - k, packets), key=late.__getitem__)
        error = (late[last] - late[first]) / ((last - first) * nominal)
        # The run began when those after the first tenth say so.
        begin = times[0] + min(late[packets // 10:])
        gaps = [b - a for a, b in zip(times, times[1:])]
        return Pace(error, sum(t - begin < 10_000_000 for t in times), sum(g < nominal / 10 for g in gaps) / len(gaps), gaps, tx["lateness_ns"]["max"] / 1e9)

    @best_of_three
    def test_a_thousand(self):
        with Busy() as busy:
            p = self.pace(1000, 4000)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 12)
        self.assertLess(p.close, 0.25 + busy.share, "packets leave one by one, but for what a busy machine held up")

    @best_of_three
    def test_a_hundred_thousand(self):
        p = self.pace(100_000, 200_000)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 1101)

    @best_of_three
    def test_two_queues_share_the_rate(self):
        p = self.pace(10_000, 30_000, "--queues", 2, "--flows", 10)
        self.assertLess(abs(p.error), 1e-4)
        self.assertLessEqual(p.first_10ms, 111)

    @best_of_three
    def test_less_than_one(self):
        p = self.pace(0.5, 3)  # at 0, 2 and 4 s
        self.assertEqual(len(p.gaps), 2)
        for gap in p.gaps:
            self.assertAlmostEqual(gap / 1e9, 2, delta=0.002 + p.latest)


class WireOfPacketSockets(Wire):
    backend = "afpacket:"


class SlowWire(Case):
    SLOW = ("send", "-i", "loop:sink,rate=10k", "--dst-ip", "192.0.2.9", "--no-tui", "-d", "1s")

    @best_of_three
    def test_what_a_slow_wire_takes(self):
        with Busy() as busy:
            packets = self.ok(squall(A, *self.SLOW, "--pps", "20k")).end_record["tx"]["packets"]
        self.assertGreater(packets, 10_000 * (0.97 - busy.share))
        self.ok(squall(A, *self.SLOW, "--pps", "5k", "--strict-rate"))


if __name__ == "__main__":
    main()
