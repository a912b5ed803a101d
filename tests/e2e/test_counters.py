# SPDX-License-Identifier: Apache-2.0
"""Squall's counters are the kernel's: nothing counted that did not happen, nothing that did left out."""
import signal

from frames import Tap
from lab import A, B, HELD, NOBODY, Case, QUIET, Receiver, best_of_three, ip, mac, main, minus, received, send, sent, sh, squall, until, veth

MECHANISMS = ("ring", "linear", "sendmmsg")


class Sending(Case):
    def counted(self, *args, dev="qa"):
        """Sends; squall's and the kernel's packets and bytes are the same. The end record."""
        there, arrived = sent(A, "qa"), received(B, "qb")
        run = self.ok(send("-i", dev, *QUIET, *args))
        tx = run.end_record["tx"]
        packets, octets = minus(sent(A, "qa"), there)
        self.assertEqual((tx["packets"], tx["completed"], tx["completed_bytes"], tx["bytes_l2"]),
                         (packets, packets, octets, octets + 4 * packets))
        self.books(tx)
        self.assertEqual(minus(received(B, "qb"), arrived), (packets, octets))
        self.assertEqual(sum(q["tx_packets"] for q in run.end_record["queues"]), packets)
        return tx

    def test_every_mechanism_every_count(self):
        for tx in MECHANISMS:
            for qdisc in ((), ("--qdisc",)):
                for count in (1, 10, 1000, 10_001):
                    with self.subTest(tx=tx, qdisc=qdisc, count=count):
                        end = self.counted("--count", count, "--pps", "unlimited", "--flows", 100, *qdisc, dev=f"afpacket:qa,tx={tx}")
                        self.assertEqual((end["packets"], end["dropped"], end["unsent"]), (count, 0, 0))

    def test_at_full_speed_for_a_time(self):
        for dev, args in (*((dev, args) for dev in ("qa", "afpacket:qa") for args in (("--queues", 1), ("--queues", 2), ("--packet-size", 1518))), ("qa", ("--qdisc",))):
            with self.subTest(dev=dev, args=args):
                end = self.counted("-d", "300ms", "--pps", "unlimited", "--flows", 100, *args, dev=dev)
                self.assertGreater(end["packets"], 1000)
                self.assertIsNone(end["requested_pps"])
                self.assertAlmostEqual(end["bps_l1"] / end["bps_l2"], 1 + 20 / end["mean_bytes_l2"], places=9)

    def test_a_discipline_that_holds_packets_back_is_no_loss(self):
        sh("tc", "qdisc", "add", "dev", "qa", "root", "tbf", "rate", "80mbit", "burst", "16kb", "limit", "40kb", where=A)
        self.addCleanup(sh, "tc", "qdisc", "del", "dev", "qa", "root", where=A, check=False)
        for tx in MECHANISMS:
            with self.subTest(tx=tx):
                there = sent(A, "qa")[0]
                run = self.ok(send("-i", f"afpacket:qa,tx={tx}", *QUIET, "--qdisc", "-d", "500ms", "--pps", "unlimited", "--packet-size", 1000))
                end = run.end_record["tx"]
                until(lambda: sent(A, "qa")[0] - there >= end["packets"], what="the packets that squall calls sent")
                self.assertEqual((end["packets"], end["queued"] - end["dropped"]), (sent(A, "qa")[0] - there,) * 2)
                self.assertGreater(end["busy"] + end["ring_full"], 0)
                self.assertLess(end["packets"], 0.5 * 80e6 / 8 / 996 * 1.5, "no faster than the discipline lets them go")


class OnTheSendingInterface(Case):
    def seen(self, *args, dev="qa"):
        with Tap(A, "qa", outgoing=True) as tap:
            run = self.ok(send("-i", dev, *QUIET, "--count", 500, *args))
            return run.json["start"]["capture"], len(tap.frames(mac(A, "qa"), expect=500 if "--qdisc" in args else None))

    def test_a_capture_sees_nothing_and_the_plan_says_so(self):
        for dev in ("qa", "afpacket:qa"):
            says, frames = self.seen(dev=dev)
            self.assertEqual(frames, 0)
            self.assertRegex(says, "does not see.*--qdisc")

    def test_with_qdisc_it_sees_all(self):
        says, frames = self.seen("--qdisc")
        self.assertEqual(frames, 500)
        self.assertNotIn("does not", says)


class TheDevicesOwn(Case):
    """An ifb drops what no tc rule sent to it, and counts that as received and dropped (drivers/net/ifb.c)."""

    def setUp(self):
        ip(A, "link", "add", "if0", "type", "ifb")
        self.addCleanup(ip, A, "link", "del", "if0")
        sh("sysctl", "-qw", "net.ipv6.conf.if0.disable_ipv6=1", where=A)
        ip(A, "link", "set", "if0", "up")

    def send(self, **kw):
        return send("-i", "afpacket:if0", "--dst-ip", "192.0.2.2", "--src-ip", "192.0.2.1", "--dst-mac", NOBODY, "--count", 500, **kw)

    def test_what_grew_is_shown_and_not_added(self):
        self.send()  # the counter does not start at 0
        end = self.ok(self.send()).end_record
        self.assertEqual(end["device_drops"], {"link rx_dropped": 500})
        self.assertEqual((end["tx"]["packets"], end["tx"]["dropped"]), (500, 0))

    def test_in_text(self):
        self.assertRegex(self.send(form=None).out, r"(?m)^device +500 link rx_dropped: .*seen again$")

    def test_a_starved_receiver(self):
        """Stopped as soon as it says that it receives: the driver, too, counts what does not fit the receiver's frames."""
        veth("ya", "yb", 1)
        self.addCleanup(ip, A, "link", "del", "ya")
        ip(A, "link", "set", "ya", "up")
        ip(B, "link", "set", "yb", "up")
        receiver = Receiver("-i", "afxdp:yb", "--xdp-mode", "native", "--rx-frames", 128)
        receiver.signal(signal.SIGSTOP)
        to = ("--dst-ip", "192.0.2.2", "--src-ip", "192.0.2.1", "--dst-mac", NOBODY)
        tx = self.ok(send("-i", "afpacket:ya", *to, "--count", 2000, "--pps", "unlimited")).end_record["tx"]
        receiver.signal(signal.SIGCONT)
        end = self.ok(receiver.stop()).end_record
        self.assertGreater(end["rx"]["dropped"], 0)
        self.assertEqual(tx["packets"], end["rx"]["packets"] + end["rx"]["dropped"])
        self.assertEqual(end["device_drops"], dict.fromkeys(("rx_queue_0_drops", "link rx_dropped"), end["rx"]["dropped"]))

    def test_there_is_no_device(self):
        self.assertIsNone(self.ok(squall(A, "send", "-i", "loop:sink", "--dst-ip", "192.0.2.2", "--count", 5)).end_record["device_drops"])


class BothEnds(Case):
    backend = ""  # the best

    def test_received_is_sent(self):
        for args, more in (((), ()), (("--vlan", 5), ()), (("--packet-size", 1518), ()), ((), ("--queues", 2)), ((), ("--queues", 1))):
            with self.subTest(args=args, more=more):
                receiver = Receiver("-i", f"{self.backend}qb", *more)
                tx = self.ok(send("-i", f"{self.backend}qa", *QUIET, "--flows", 1000, "--count", HELD, "--pps", "100k", *args)).end_record["tx"]
                rx = self.ok(receiver.stop()).end_record["rx"]
                self.assertEqual(tx["packets"], HELD)
                self.assertEqual((rx["packets"], rx["bytes"], rx["bytes_l2"]), (tx["packets"], tx["completed_bytes"], tx["bytes_l2"]))
                self.assertEqual((rx["dropped"], rx["filtered"], rx["classes"]["ipv4_udp"]), (0, 0, HELD))
                self.assertEqual(rx["classes"]["tagged"], HELD if args[:1] == ("--vlan",) else 0)

    @best_of_three
    def test_intervals_add_up(self):
        receiver = Receiver("-i", f"{self.backend}qb", "--interval", "100ms")
        run = self.ok(send("-i", f"{self.backend}qa", *QUIET, "--pps", "10k", "-d", "1s", "--interval", "200ms", "--catch-up", "1h"))
        rx = self.ok(receiver.stop())
        for record, way in ((run, "tx"), (rx, "rx")):
            parts = record.json["intervals"]
            total = record.end_record[way]["packets"]
            self.assertGreaterEqual(len(parts), 2)  # of four or more, where the machine stands still
            self.assertLessEqual(sum(p[way]["packets"] for p in parts), total)
            times = [p["elapsed_s"] for p in parts]
            self.assertEqual(times, sorted(set(times)))
        self.what_left_in_them(run, 10_000)

    def what_left_in_them(self, run, pps):
        """As many as the schedule has until then, but for those that were late."""
        late, packets, then = run.end_record["tx"]["lateness_ns"]["max"] / 1e9, 0, 0
        for part in run.json["intervals"]:
            self.assertAlmostEqual(part["seconds"], part["elapsed_s"] - then, places=3)
            self.assertAlmostEqual(part["tx"]["pps"], part["tx"]["packets"] / part["seconds"], delta=0.01)
            packets, then = packets + part["tx"]["packets"], part["elapsed_s"]
            self.assertTrue(pps * (then - late - 0.02) <= packets <= pps * (then + 0.02), (part, packets, late))

    @best_of_three
    def test_intervals_of_a_slow_run_tell_what_left_in_them(self):
        self.what_left_in_them(self.ok(send("-i", f"{self.backend}qa", *QUIET, "--pps", 200, "-d", "1s", "--interval", "200ms", "--catch-up", "1h")), 200)


class BothEndsOfPacketSockets(BothEnds):
    backend = "afpacket:"


if __name__ == "__main__":
    main()
