# SPDX-License-Identifier: Apache-2.0
"""When packets leave: what each way of pacing costs and keeps, on a quiet wire and by the program's own clock."""
import os
import signal
import statistics
import struct
import time

from frames import Tap
from lab import A, B, Busy, Case, QUIET, TMP, Receiver, Squall, best_of_three, cpu_of_children, main, send


class Sleeping(Case):
    @best_of_three
    def test_a_sleeping_sender_takes_little_and_keeps_the_rate(self):
        before = cpu_of_children()
        tx = self.ok(send("-i", "afpacket:qa", *QUIET, "--pps", "10k", "--pacing", "sleep", "--count", 40_000, "--catch-up", "1h", "--queues", 1)).end_record["tx"]
        self.assertLess((cpu_of_children() - before) / 4, 0.15)
        self.assertEqual((tx["packets"], tx["unsent"]), (40_000, 0))
        self.assertGreaterEqual(tx["batches"], 40_000 / 32)

    @best_of_three
    def test_being_late_by_rule_is_no_stall(self):
        """It wakes a thousand times a second: 19 of 20 packets are late then, and sent nevertheless."""
        with Busy() as busy:
            tx = self.ok(send("-i", "qa", *QUIET, "--pps", "20k", "--pacing", "sleep", "--catch-up", "none", "-d", "1s")).end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], 20_000)
        # A busy machine may hold the thread up for more than the rule allows.
        self.assertLess(tx["unsent"], 2000 + busy.share * 16_000)


class Lateness(Case):
    """What the program says of its own punctuality."""

    @best_of_three
    def test_a_paced_run_tells_it(self):
        # Waking once in a millisecond is half of one late at the median; a busy machine adds to it.
        for pacing, floor, ceiling in (("precise", 0, 100_000), ("sleep", 50_000, 5_000_000)):
            with Busy() as busy:
                tx = self.ok(send("-i", "qa", *QUIET, "--pps", "10k", "--pacing", pacing, "-d", "1s")).end_record["tx"]
            late = tx["lateness_ns"]
            self.assertTrue(late["p50"] <= late["p99"] <= late["max"], (pacing, late))
            buckets, below = late["buckets"], 0
            self.assertEqual(sum(n for _, _, n in buckets), tx["packets"])
            self.assertTrue(buckets[-1][0] <= late["max"] < buckets[-1][1], late)
            for low, high, n in buckets:
                if below < tx["packets"] / 2 <= below + n:
                    self.assertTrue(low <= late["p50"] <= high, (low, late["p50"], high))
                below += n
            if busy.share < 0.25:  # of more, half of the packets may be those that waited
                self.assertTrue(floor <= late["p50"] <= ceiling, (pacing, late))

    def test_without_a_schedule_nothing_is_late(self):
        for pps, known in (("unlimited", False), ("1k", True)):
            tx = self.ok(send("-i", "qa", *QUIET, "--pps", pps, "--count", 100)).end_record["tx"]
            self.assertEqual(tx["lateness_ns"] is not None, known)


class Bursts(Case):
    @best_of_three
    def test_bursts_on_time(self):
        for queues, flows in ((1, 1), (2, 10)):
            with Tap(B, "qb") as tap:
                tx = self.ok(send("-i", "qa", *QUIET, "--burst-profile", "20/50ms", "--count", 400, "--catch-up", "1h", "--queues", queues, "--flows", flows)).end_record["tx"]
                times = [ns for ns, data in tap.raw(tx["packets"], timeout=20)]
            self.assertEqual((tx["packets"], tx["unsent"], tx["requested_pps"]), (400, 0, 400))
            starts = sorted(times)[::20]
            for n, start in enumerate(starts):  # absolute: the last burst is as near to its time as the first
                self.assertAlmostEqual((start - starts[0]) / 1e6, n * 50, delta=5 + tx["lateness_ns"]["max"] / 1e6)

    def test_what_is_refused(self):
        self.refused("send", "-i", "qa", *QUIET, "--burst-profile", "20/0", names=("burst-profile",))
        self.refused("send", "-i", "qa", *QUIET, "--burst-profile", "20/1s", "--pps", 5, names=("burst-profile",))


class Poisson(Case):
    def written(self, *args, name="poisson.pcap"):
        """The times of the frames that --write writes, in ns."""
        path = os.path.join(TMP, name)
        self.ok(send("-i", "qa", *QUIET, "--spacing", "poisson", "--count", 50_000, "--write", path, *args))
        with open(path, "rb") as f:
            data = f.read()
        self.assertEqual(struct.unpack_from("<I", data)[0], 0xA1B23C4D)
        times, at = [], 24
        while at < len(data):
            seconds, ns, length = struct.unpack_from("<III", data, at)
            times.append(seconds * 1_000_000_000 + ns)
            at += 16 + length
        return times

    def test_the_mean_and_the_deviation_are_the_interval(self):
        times = self.written("--pps", "10k")
        gaps = [b - a for a, b in zip(times, times[1:])]
        self.assertEqual(len(times), 50_000)
        for figure in (statistics.mean(gaps), statistics.pstdev(gaps)):
            self.assertAlmostEqual(figure / 100_000, 1, delta=0.04)  # six standard deviations of the deviation of so many

    def test_the_seed_decides(self):
        first = self.written("--pps", "10k", "--seed", 3)
        self.assertEqual(self.written("--pps", "10k", "--seed", 3), first)
        self.assertNotEqual(self.written("--pps", "10k", "--seed", 4)[:100], first[:100])

    def test_a_run_has_as_many_as_the_mean_gives(self):
        for queues in (1, 2):
            tx = self.ok(send("-i", "qa", *QUIET, "--spacing", "poisson", "--pps", "10k", "-d", "2s", "--queues", queues, "--flows", 10)).end_record["tx"]
            self.assertAlmostEqual(tx["packets"] + tx["unsent"], 20_000, delta=6 * 20_000**0.5)

    def test_what_is_refused(self):
        self.refused("send", "-i", "qa", *QUIET, "--spacing", "poisson", "--pps", "unlimited", names=("spacing",))


class Change(Case):
    """The rate of a running sender, by SIGUSR1 and SIGUSR2."""

    def steps(self, *numbers, pps="10k", seconds=2, more=()):
        run = Squall(A, "send", "-i", "qa", *QUIET, "--pps", pps, "-d", f"{seconds}s", "--no-tui", *more)
        run.wait_for('"start"', stream="out")
        for number in numbers:
            time.sleep(seconds / 4)
            run.signal(number)
        return self.ok(run.end())

    def test_faster_and_slower(self):
        for number, rate, tenth in ((signal.SIGUSR1, "11", 1.1), (signal.SIGUSR2, "9.091", 1 / 1.1)):
            run = self.steps(number)
            tx = run.end_record["tx"]
            self.assertEqual((tx["requested_pps"], tx["rate_changes"]), (10_000, 1))
            self.assertAlmostEqual(tx["last_pps"], 10_000 * tenth, delta=0.01)
            self.assertRegex(run.err, rf"the rate is now {rate}[ 0]* ?kpps")
            # The change came after a quarter of the time, give or take what the process took to start.
            self.assertTrue(10_000 * 2 < (tx["packets"] + tx["unsent"]) * (1 if tenth > 1 else 1.1) < 10_000 * 2.2, tx)

    def test_there_and_back_is_where_it_was(self):
        tx = self.steps(signal.SIGUSR1, signal.SIGUSR2).end_record["tx"]
        self.assertEqual((tx["last_pps"], tx["rate_changes"]), (tx["requested_pps"], 2))

    @best_of_three
    def test_no_burst(self):
        with Busy() as busy, Tap(B, "qb") as tap:
            tx = self.steps(signal.SIGUSR1, signal.SIGUSR1, pps=1000, more=("--catch-up", "10ms")).end_record["tx"]
            times = [ns for ns, data in tap.raw(tx["packets"], timeout=20)]
        # So many that a sender held off its processor, which then makes up for 10 ms, is no burst.
        for first, last in zip(times, times[100:]):
            self.assertGreater(last - first, 100 * 1e9 / 1210 * 0.75)
        self.assertLess(tx["unsent"], 20 + 1210 * busy.seconds)

    def test_unlimited_stays_unlimited(self):
        run = self.steps(signal.SIGUSR1, pps="unlimited", seconds=1)
        self.assertIn("the rate stays as it is", run.err)
        self.assertEqual((run.end_record["tx"]["last_pps"], run.end_record["tx"]["rate_changes"]), (None, 0))

    def test_a_receiver_passes_over_them(self):
        receiver = Receiver("-i", "qb")
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            receiver.signal(number)
        time.sleep(0.1)
        self.assertIsNone(receiver.process.poll())
        self.assertEqual(self.ok(receiver.stop()).end_record["reason"], "signal")


if __name__ == "__main__":
    main()
