# SPDX-License-Identifier: Apache-2.0
"""How many packets a rate and a time are, whatever the machine makes of it: what cannot be sent is said."""
from lab import A, Case, QUIET, main, send, squall

LOOP = ("send", "-i", "loop:sink,queues=4", "--dst-ip", "192.0.2.9", "--no-tui")
SLOW_WIRE = ("send", "-i", "loop:sink,rate=10k", *LOOP[3:], "-d", "1s")


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

    def test_a_count_has_no_end_in_time(self):
        run = self.ok(squall(A, *LOOP, "--count", 2000, "--pps", 2000, "--catch-up", "1h"))
        tx = run.end_record["tx"]
        self.assertEqual((tx["packets"], run.end_record["reason"]), (2000, "count"))
        # From the first departure to the last, 0.9995 s of schedule, and what the sender was late at most.
        seconds = 2000 / tx["pps"]
        late = tx["lateness_ns"]["max"] / 1e9
        self.assertTrue(0.9995 - late <= seconds < 1 + late, (seconds, late))

    def test_what_a_slow_wire_does_not_take(self):
        tx = self.ok(squall(A, *SLOW_WIRE, "--pps", "20k")).end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], 20_000)
        self.assertLess(tx["packets"], 10_300)
        self.assertGreater(tx["ring_full"], 0)
        self.assertEqual((tx["dropped"], tx["queued"]), (0, tx["completed"]))
        self.ok(squall(A, *SLOW_WIRE, "--pps", "20k", "--strict-rate"), 5)
        self.assertEqual(self.ok(squall(A, *SLOW_WIRE, "--pps", "unlimited")).end_record["tx"]["unsent"], 0)

    def test_a_part_of_the_links_speed(self):
        """A veth tells 10 Gbit/s; a 64-byte frame is 84 bytes on the wire (L1)."""
        for args in (("--bps", "0.1%"), ("--pps", "0.1%"), ("--bps", "10M", "--pps", "100%")):
            tx = self.ok(send("-i", "qa", *QUIET, *args, "-d", "200ms")).end_record["tx"]
            self.assertAlmostEqual(tx["requested_pps"] / (10e6 / (84 * 8)), 1, delta=1e-6)
            self.assertEqual(tx["packets"] + tx["unsent"], 2977)  # the first at 0 s, and 2,976 more before 0.2 s

    def test_what_a_real_wire_does_not_take(self):
        tx = self.ok(send("-i", "qa", *QUIET, "--pps", "50M", "-d", "300ms")).end_record["tx"]
        self.assertEqual(tx["packets"] + tx["unsent"], 15_000_000)
        self.assertGreater(tx["unsent"], 0)
        self.assertEqual(tx["requested_pps"], 50_000_000)
        self.ok(send("-i", "qa", *QUIET, "--pps", "50M", "-d", "300ms", "--strict-rate"), 5)


if __name__ == "__main__":
    main()
