# SPDX-License-Identifier: Apache-2.0
"""The rate, by the receiving kernel's time stamps."""
import collections

from frames import Tap
from lab import A, B, Busy, Case, QUIET, best_of_three, main, send, squall

Pace = collections.namedtuple("Pace", "pps error first_10ms close gaps latest busy")


class Wire(Case):
    backend = ""  # the best

    def pace(self, pps, packets, *args):
        with Busy() as busy, Tap(B, "qb") as tap:
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
        return Pace(pps, error, sum(t - begin < 10_000_000 for t in times), sum(g < nominal / 10 for g in gaps) / len(gaps), gaps, tx["lateness_ns"]["max"] / 1e9, busy.share)

    def kept(self, p):
        """Also by one of two on the same processor; one that has less of it may not come to keep a high rate at all."""
        slack = p.latest if p.busy > 0.5 else 0
        self.assertLess(abs(p.error), 1e-4 + slack)
        self.assertLessEqual(p.first_10ms, p.pps * (0.011 + slack) + 1)

    @best_of_three
    def test_a_thousand(self):
        p = self.pace(1000, 4000)
        self.kept(p)
        self.assertLess(p.close, 0.25 + p.busy, "packets leave one by one, but for what a busy machine held up")

    @best_of_three
    def test_a_hundred_thousand(self):
        self.kept(self.pace(100_000, 200_000))

    @best_of_three
    def test_two_queues_share_the_rate(self):
        self.kept(self.pace(10_000, 30_000, "--queues", 2, "--flows", 10))

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
        with Busy() as busy:
            run = squall(A, *self.SLOW, "--pps", "5k", "--catch-up", "1h", "--strict-rate")
        self.ok(run, 5 if run.rc == 5 and busy.share > 0.5 else 0)


if __name__ == "__main__":
    main()
