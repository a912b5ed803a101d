# SPDX-License-Identifier: Apache-2.0
"""The wire in memory: no network, no privileges, and impairments that add up."""
from lab import Case, best_of_three, main, squall

NOBODY_USER = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
TO = ("--dst-ip", "192.0.2.9", "--no-tui")
BACK = ("--rx-mode", "udp-port", "--rx-port", 9000)


class Loop(Case):
    def run_it(self, device, *args, rc=0):
        return self.ok(squall(None, "send", "-i", device, *TO, *args, before=NOBODY_USER), rc)

    def balanced(self, device, count, *args):
        end = self.run_it(device, "--count", count, *BACK, *args).end_record
        tx, rx, loop = end["tx"], end["rx"], end["loop"]
        self.assertEqual((tx["packets"], tx["dropped"], tx["unsent"]), (count, 0, 0))
        self.assertEqual((rx["dropped"], rx["filtered"]), (0, 0))
        self.assertEqual(rx["packets"], count - loop["lost"] + loop["duplicated"])
        self.assertEqual(rx["bytes"], 60 * rx["packets"])
        self.assertEqual(rx["classes"]["ipv4_udp"], rx["packets"])
        return loop

    def test_a_sink(self):
        end = self.run_it("loop:sink", "--count", 100_000, "--flows", 1000, "--pps", "unlimited").end_record
        self.assertEqual((end["tx"]["packets"], end["tx"]["bytes_l2"], end["rx"]), (100_000, 6_400_000, None))
        self.assertAlmostEqual(end["tx"]["bps_l1"] / end["tx"]["bps_l2"], 84 / 64, places=6)

    def test_all_arrives(self):
        for device, args in (("loop:", ()), ("loop:queues=2", ("--queues", 2)), ("loop:queues=3", ("--queues", 3)), ("loop:delay=5ms", ()), ("loop:ring=64", ())):
            with self.subTest(device=device):
                self.assertEqual(self.balanced(device, 50_000, "--flows", 100, "--pps", "unlimited", *args), {"lost": 0, "duplicated": 0, "reordered": 0})

    def test_impairments_are_of_their_size(self):
        n = 50_000
        for option, key, ratio in (("loss=1%", "lost", 0.01), ("duplicate=0.5%", "duplicated", 0.005), ("reorder=2%", "reordered", 0.02)):
            with self.subTest(option=option):
                loop = self.balanced(f"loop:{option}", n, "--flows", 10, "--pps", "unlimited")
                spread = 5 * (n * ratio * (1 - ratio)) ** 0.5  # five standard deviations
                self.assertAlmostEqual(loop.pop(key), n * ratio, delta=spread)
                self.assertEqual(set(loop.values()), {0})

    def test_a_seed_gives_the_same_again(self):
        runs = [self.balanced(f"loop:loss=3%,duplicate=2%,reorder=5%,seed={seed}", 20_000, "--pps", "unlimited") for seed in (7, 7, 8)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_a_filter_applies(self):
        end = self.run_it("loop:", "--count", 1000, "--flows", 10, "--filter", "proto=udp,src-port=1024-1026").end_record
        self.assertEqual((end["rx"]["packets"], end["rx"]["filtered"]), (300, 700))

    def test_no_capabilities_are_asked_for_ipv6_and_raw_either(self):
        self.assertEqual(self.run_it("loop:sink", "--dst-ip", "2001:db8::1", "--count", 10).end_record["tx"]["bytes_l2"], 660)
        self.assertEqual(self.run_it("loop:sink", "--mode", "raw", "--dst-mac", "02:00:00:00:00:09", "--count", 10).end_record["tx"]["packets"], 10)
        self.assertEqual(self.ok(squall(None, "recv", "-i", "loop:", "-d", "50ms", before=NOBODY_USER)).end_record["rx"]["packets"], 0)

    def test_options_that_make_no_sense(self):
        for options, word in (("bogus=1", "bogus"), ("loss=101%", "loss"), ("loss=-1%", "loss"), ("queues=0", "queues"), ("queues=1000000", "queues"), ("rate=fast", "rate"),
                              ("ring=3", "ring"), ("delay=5", "delay"), ("seed=x", "seed"), (",,", "option"), ("sink=yes", "sink"), ("a" * 300, "long|option|name")):
            with self.subTest(options=options):
                run = self.ok(squall(None, "send", "-i", f"loop:{options}", *TO, "--count", 1), 2)
                self.assertRegex(run.err, word)

    def test_more_queues_than_it_has(self):
        run = self.run_it("loop:queues=2", "--queues", 3, "--flows", 9, "--count", 90)
        self.assertRegex(run.json["start"]["warnings"][0], "3 transmit queues.* 2")
        self.assertEqual([q["tx_packets"] for q in run.end_record["queues"]], [50, 40])  # flows 0, 2, .. 8 and 1, 3, .. 7


class DeadQueues(Case):
    """Queues that fail for good: the others go on to the end, and the error says how many of how many."""

    def run_it(self, verb, device, *args, rc=1):
        return self.ok(squall(None, verb, "-i", device, *(TO if verb == "send" else ()), *args), rc)

    def dead(self, run, what, queue, cause):
        error = run.json["error"]
        self.assertEqual(error["what"], what)
        self.assertRegex(error["object"], rf"^loop:.* queue {queue}$")
        self.assertRegex(error["cause"], cause)
        self.assertIn(f"squall: {what}", run.err)

    def test_the_others_send_all_of_theirs(self):
        for mechanism in ("sink", "loss=0%", "rate=10M", "reorder=1%"):  # each way in which the loop takes packets
            with self.subTest(mechanism=mechanism):
                run = self.run_it("send", f"loop:queues=4,fail=2@1000,{mechanism}", "--queues", 4, "--flows", 4, "--count", 40_000, "--pps", "unlimited", *(() if mechanism == "sink" else BACK))
                self.dead(run, "1 of 4 transmit queues failed; the first", 2, "^cannot send: .* after 1000 packets$")
                end = run.end_record
                self.assertEqual([q["tx_queued"] for q in end["queues"]], [10_000, 10_000, 1000, 10_000])
                self.assertEqual([q["tx_errors"] for q in end["queues"]], [0, 0, 1, 0])
                self.assertEqual((end["tx"]["queued"], end["tx"]["errors"], end["reason"]), (31_000, 1, "error"))
                self.books(end["tx"])
                if end["rx"]:
                    self.assertEqual((end["rx"]["packets"], end["rx"]["errors"]), (end["tx"]["packets"], 0))

    @best_of_three
    def test_the_others_keep_the_time_and_the_rate(self):
        run = self.run_it("send", "loop:queues=4,fail=2@1000", "--queues", 4, "--flows", 4, "-d", "500ms", "--pps", "40k", "--catch-up", "10s")
        self.dead(run, "1 of 4 transmit queues failed; the first", 2, "after 1000 packets$")
        end = run.end_record
        self.assertEqual((end["reason"], end["queues"][2]["tx_packets"]), ("duration", 1000))
        self.assertEqual(end["tx"]["packets"] + end["tx"]["unsent"], 20_000)
        self.assertLessEqual(end["tx"]["unsent"], 32)  # the clump that the dead queue had claimed
        self.assertRegex(end["warnings"][0], "^1 of 4 transmit queues failed, the others go on: .*queue 2")
        self.assertIn(end["warnings"][0], run.err)

    def test_the_others_receive(self):
        run = self.run_it("recv", "loop:queues=2,rx-fail=1@0", "--queues", 2, "-d", "300ms")
        self.dead(run, "1 of 2 receive queues failed; the first", 1, "^cannot receive: ")
        end = run.end_record
        self.assertEqual((end["reason"], end["rx"]["errors"], [q["rx_errors"] for q in end["queues"]]), ("duration", 1, [0, 1]))
        self.assertGreaterEqual(end["seconds"], 0.3)

    def test_a_dead_receiver_holds_its_sender(self):
        run = self.run_it("send", "loop:rx-fail=0@100,ring=64", "--count", 1000, "--pps", "unlimited", "-d", "2s", *BACK)
        end = run.end_record
        self.assertEqual((end["rx"]["packets"], end["rx"]["errors"], end["tx"]["packets"]), (100, 1, 164))
        self.dead(run, "cannot receive", 0, "after 100 packets$")

    def test_several_and_all(self):
        several = self.run_it("send", "loop:queues=4,fail=3@10,fail=1@20", "--queues", 4, "--flows", 4, "-d", "300ms", "--pps", "40k")
        self.dead(several, "2 of 4 transmit queues failed; the first", "[13]", "cannot send")
        self.assertEqual((several.end_record["tx"]["errors"], several.end_record["reason"]), (2, "duration"))
        everyone = self.run_it("send", "loop:queues=2,fail=0@10,fail=1@20", "--queues", 2, "--flows", 2, "-d", "60s")
        self.dead(everyone, "2 of 2 transmit queues failed; the first", "[01]", "cannot send")
        self.assertEqual((everyone.end_record["tx"]["packets"], everyone.end_record["reason"]), (30, "error"))
        only = self.run_it("send", "loop:fail=0@10", "-d", "60s")
        self.dead(only, "cannot send", 0, "after 10 packets$")
        self.assertEqual((only.end_record["tx"]["packets"], only.end_record["reason"]), (10, "error"))


if __name__ == "__main__":
    main()
