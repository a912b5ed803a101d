# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: what it puts on the wire, by another reader; what it takes off it; and both by the kernel's counters."""
import collections

from frames import Tap
from lab import A, B, Case, NOBODY, QUIET, Receiver, Squall, ip, mac, main, minus, received, send, sent, sh, squall, until

MODES = ("native", "generic")
V6 = ("--dst-ip", "fd78::2", "--src-ip", "fd78::1", "--dst-mac", NOBODY)
QUEUES = (1, 4)


class Frames(Case):
    def capture(self, *args, count, mode="native", **kw):
        with Tap(B, "qb") as tap:
            run = self.ok(send("-i", "afxdp:qa", "--xdp-mode", mode, *args, "--count", count, "--pps", "50k", **kw))
            frames = tap.frames(mac(A, "qa"), expect=count)
        self.assertEqual(len(frames), count)
        self.assertEqual((run.end_record["tx"]["packets"], run.end_record["tx"]["completed_bytes"]), (count, sum(f.length for f in frames)))
        self.assertRegex(run.json["start"]["backend"], f"^afxdp: {mode}, copy")
        return frames

    def udp(self, *args, **kw):
        frames = self.capture(*args, **kw)
        for f in frames:
            self.assertTrue(f.udp and f.ip.ok and f.udp.ok, f"a wrong length or checksum: {f}")
            self.assertEqual((f.ip.ttl, f.payload.strip(b"\x5a")), (64, b""))
        return frames

    def test_sizes(self):
        for args, sizes, least in ((QUIET, (64, 65, 127, 128, 129, 1024, 1517, 1518), 64), (V6, (66, 67, 1518), 66),
                                   ((*QUIET, "--vlan", 7), (68, 69, 1522), 68), ((*V6, "--vlan", 7), (70, 71, 1522), 70)):
            for size in (*sizes, None):  # None: the default is the smallest legal one
                with self.subTest(args=args, size=size):
                    frames = self.udp(*args, *(("--packet-size", size) if size else ()), "--flows", 5, count=40)
                    self.assertEqual({(f.length, f.ip.version) for f in frames}, {((size or least) - 4, 6 if "fd78::2" in args else 4)})
                    self.assertEqual({tuple(f.tags) for f in frames}, {((0x8100, 7),) if "--vlan" in args else ()})

    def test_every_flow_of_every_queue(self):
        """More packets than there are frames, so that each frame is used again and again."""
        for mode in MODES:
            for queues in QUEUES:
                with self.subTest(mode=mode, queues=queues):
                    frames = self.udp(*QUIET, "--flows", 1000, "--queues", queues, count=10_000, mode=mode)
                    self.assertEqual(collections.Counter(f.udp.src for f in frames), {1024 + n: 10 for n in range(1000)})

    def test_raw(self):
        frames = self.capture("--mode", "raw", "--dst-mac", NOBODY, "--packet-size", 301, "--vlan", 5, "--payload-byte", 0xA5, count=100)
        self.assertEqual({(f.dst, tuple(f.tags), f.ethertype, f.length, f.payload) for f in frames}, {(NOBODY, ((0x8100, 5),), 0x88B5, 297, b"\xa5" * 279)})


class Counted(Case):
    """What squall calls sent is what the interface counted, and what it calls received is what was sent."""

    def test_the_kernel_counted_as_many(self):
        for queues in QUEUES:
            for count in (1, 31, 32, 33, 511, 512, 513, 10_000, 1_000_000):
                with self.subTest(queues=queues, count=count):
                    before, arrived = sent(A, "qa"), received(B, "qb")
                    tx = self.ok(send("-i", "afxdp:qa", *QUIET, "--flows", 64, "--count", count, "--pps", "unlimited", "--queues", queues)).end_record["tx"]
                    self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(sent(A, "qa"), before))
                    self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(received(B, "qb"), arrived))
                    self.assertEqual((tx["packets"], tx["completed_bytes"], tx["dropped"], tx["undecided"], tx["unsent"], tx["invalid"]), (count, 60 * count, 0, 0, 0, 0))

    def test_for_a_time(self):
        for args in (("--pps", "unlimited"), ("--pps", "unlimited", "--queues", 4, "--flows", 9), ("--pps", 100), ("--pps", "unlimited", "--packet-size", 1518)):
            with self.subTest(args=args):
                before = sent(A, "qa")
                tx = self.ok(send("-i", "afxdp:qa", *QUIET, "-d", "300ms", *args)).end_record["tx"]
                self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(sent(A, "qa"), before))
                self.books(tx)
                self.assertEqual(tx["dropped"], 0)

    def test_an_ifb_counts_nothing_as_sent(self):
        """The frames that came back are the only truth there: what it would send it has received."""
        ip(A, "link", "add", "if0", "numtxqueues", 4, "numrxqueues", 4, "type", "ifb")
        self.addCleanup(ip, A, "link", "del", "if0")
        sh("sysctl", "-qw", "net.ipv6.conf.if0.disable_ipv6=1", where=A)
        ip(A, "link", "set", "if0", "up")
        to = ("--dst-ip", "192.0.2.2", "--src-ip", "192.0.2.1", "--dst-mac", NOBODY, "--flows", 64, "--pps", "unlimited")
        for queues in QUEUES:
            for count in (1, 33, 100_000):
                with self.subTest(queues=queues, count=count):
                    before = received(A, "if0")[0]
                    run = self.ok(squall(A, "send", "-i", "afxdp:if0", *to, "--count", count, "--queues", queues))
                    self.assertEqual((run.end_record["tx"]["packets"], run.end_record["tx"]["dropped"]), (count, 0))
                    self.assertEqual((received(A, "if0")[0] - before, sent(A, "if0")[0]), (count, 0))

    def test_received_is_sent(self):
        for mode in MODES:
            for args in ((), ("--vlan", 5), ("--packet-size", 1518), ("--packet-size", 1522, "--vlan", 5), ("--queues", 4)):
                with self.subTest(mode=mode, args=args):
                    receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                    tx = self.ok(send("-i", "afxdp:qa", *QUIET, "--flows", 1000, "--count", 20_000, "--pps", "100k", *args)).end_record["tx"]
                    end = self.ok(receiver.stop()).end_record
                    rx = end["rx"]
                    self.assertEqual(tx["packets"], 20_000)
                    self.assertEqual((rx["packets"], rx["bytes"], rx["bytes_l2"]), (tx["packets"], tx["completed_bytes"], tx["bytes_l2"]))
                    self.assertEqual((rx["dropped"], rx["filtered"], rx["invalid"], rx["classes"]["ipv4_udp"]), (0, 0, 0, 20_000))
                    self.assertEqual(rx["classes"]["tagged"], 20_000 if "--vlan" in args else 0)
                    if mode == "native" and "--queues" in args:  # a queue of the peer is one of ours
                        self.assertEqual([q["rx_packets"] for q in end["queues"]], [5000] * 4)

    def test_both_ways_at_once(self):
        """Each end sends and receives, on the same queues; one of them from before the other begins until after its end."""
        before = sent(A, "qa")
        near = Squall(A, "send", "-i", "afxdp:qa", *QUIET, "--rx-mode", "udp-port", "--rx-port", 9001, "--pps", "20k", "-d", "60s", "--queues", 4, "--flows", 40)
        until(lambda: sent(A, "qa") != before, what="the first packet")
        far = self.ok(squall(B, "send", "-i", "afxdp:qb", "--dst-ip", "10.78.0.1", "--src-ip", "10.78.0.2", "--dst-mac", NOBODY, "--dst-port", 9001,
                             "--rx-mode", "udp-port", "--rx-port", 9000, "--pps", "20k", "--count", 20_000, "--queues", 4, "--flows", 40)).end_record
        near.signal()
        near = self.ok(near.end()).end_record
        self.assertEqual((far["tx"]["packets"], near["rx"]["packets"], near["rx"]["dropped"], far["rx"]["dropped"]), (20_000, 20_000, 0, 0))
        self.assertTrue(1000 < far["rx"]["packets"] < near["tx"]["packets"], (far["rx"], near["tx"]))


if __name__ == "__main__":
    main(queues=4)
