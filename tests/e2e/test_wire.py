# SPDX-License-Identifier: Apache-2.0
"""What squall send puts on the wire, judged by another parser, frame by frame."""
import collections
import ipaddress

from frames import Tap
from lab import A, B, Case, NOBODY, QUIET, mac, main, send

V6 = ("--dst-ip", "fd78::2", "--src-ip", "fd78::1")


class Wire(Case):
    def capture(self, *args, count, dev="qa", far="qb"):
        """Sends `count` packets; the frames that came out at the other end."""
        with Tap(B, far) as tap:
            run = self.ok(send("-i", dev, *args, "--count", count, "--pps", "50k"))
            frames = tap.frames(mac(A, dev), expect=count)
        self.assertEqual(len(frames), count)
        self.assertEqual(run.end_record["tx"]["packets"], count)
        self.assertEqual(run.end_record["tx"]["bytes_l2"], sum(f.length + 4 for f in frames))
        self.assertEqual(run.end_record["reason"], "count")
        return frames

    def udp(self, *args, count, **kw):
        frames = self.capture(*args, count=count, **kw)
        for f in frames:
            self.assertTrue(f.udp and f.ip.ok and f.udp.ok, f"a wrong length or checksum: {f}")
            self.assertEqual((f.ip.ttl, f.payload.strip(b"\x5a")), (64, b""))
        return frames

    def only(self, frames, what):
        """The one value that all frames share."""
        values = {what(f) for f in frames}
        self.assertEqual(len(values), 1, values)
        return values.pop()

    def test_the_default_frame(self):
        frames = self.udp(*QUIET, count=100)
        head = self.only(frames, lambda f: (f.dst, f.ethertype, tuple(f.tags), f.length))
        self.assertEqual(head, (mac(B, "qb"), 0x0800, (), 60))
        self.assertEqual(self.only(frames, lambda f: (f.ip.src, f.ip.dst, f.udp.src, f.udp.dst)),
                         ("10.78.0.1", "10.78.0.2", 1024, 9000))

    def test_sizes(self):
        to4, to6 = (*QUIET,), (*V6, "--dst-mac", NOBODY)
        for args, sizes, least in ((to4, (64, 65, 127, 128, 513, 1517, 1518), 64), (to6, (66, 67, 1518), 66),
                                   ((*to4, "--vlan", 7), (68, 69, 1522), 68), ((*to6, "--vlan", 7), (70, 71, 1522), 70)):
            for size in (*sizes, None):  # None: the default is the smallest legal one
                with self.subTest(args=args, size=size):
                    frames = self.udp(*args, *(("--packet-size", size) if size else ()), count=20)
                    self.assertEqual(self.only(frames, lambda f: f.length), (size or least) - 4)

    def test_every_source_port_has_its_right_checksum(self):
        for args in (QUIET, (*V6, "--dst-mac", NOBODY)):
            with self.subTest(args=args):
                frames = self.udp(*args, "--flows", 65535, count=65535)
                self.assertEqual({f.udp.src for f in frames}, set(range(1, 65536)))

    def test_flows_step_over_the_source_port(self):
        for family in (QUIET, (*V6, "--dst-mac", NOBODY)):
            frames = self.udp(*family, "--flows", 1000, count=10_000)
            ports = collections.Counter(f.udp.src for f in frames)
            self.assertEqual(ports, {1024 + n: 10 for n in range(1000)})
            self.assertEqual(self.only(frames, lambda f: f.udp.dst), 9000)

    def test_ports_wrap_without_zero(self):
        frames = self.udp(*QUIET, "--src-port", 65530, "--flows", 10, count=10)
        self.assertEqual([f.udp.src for f in frames], [65530, 65531, 65532, 65533, 65534, 65535, 1, 2, 3, 4])

    def test_both_ports_step_together(self):
        frames = self.udp(*QUIET, "--flows", 300, "--dst-port", 5000, "--vary-dst-port", count=600)
        self.assertEqual([(f.udp.src, f.udp.dst) for f in frames], [(1024 + n % 300, 5000 + n % 300) for n in range(600)])

    def test_a_scattered_order_has_the_same_flows(self):
        plain = self.udp(*QUIET, "--flows", 500, count=1000)
        mixed = self.udp(*QUIET, "--flows", 500, "--flow-order", "random", count=1000)
        order = [[f.udp.src for f in frames] for frames in (plain, mixed)]
        self.assertEqual(collections.Counter(order[0]), collections.Counter(order[1]))
        self.assertNotEqual(order[0], order[1])
        steps = {b - a for a, b in zip(order[1], order[1][1:])}
        self.assertNotIn(1, steps, "neighbours in number are no neighbours in time")

    def test_a_prefix_is_its_usable_hosts(self):
        for prefix in ("10.78.0.64/28", "10.78.0.8/31", "10.78.0.9/32", "10.78.0.33/29", "fd79::40/124", "fd79::fff8/125"):
            hosts = [str(h) for h in ipaddress.ip_network(prefix, strict=False).hosts()]
            if ":" in prefix:  # IPv6 has no broadcast address, and the network's own is a host's here
                hosts = [str(h) for h in ipaddress.ip_network(prefix, strict=False)]
            n = len(hosts)
            with self.subTest(prefix=prefix):
                src = ("--src-ip", "fd79::1:1") if ":" in prefix else ()
                frames = self.udp("--dst-ip", prefix, *src, "--dst-mac", NOBODY, "--flows", n, count=3 * n)
                self.assertEqual([f.ip.dst for f in frames], hosts * 3)

    def test_address_and_port_step_together(self):
        frames = self.udp("--dst-ip", "10.78.0.0/29", "--dst-mac", NOBODY, "--flows", 12, count=24)
        self.assertEqual([(f.ip.dst, f.udp.src) for f in frames],
                         [(f"10.78.0.{1 + n % 6}", 1024 + n) for n in range(12)] * 2)

    def test_packets_are_dealt_by_flow_whatever_the_queues(self):
        for queues in (1, 2, 3):
            for flows, count in ((7, 100), (7, 3), (100, 1001), (2, 9)):
                with self.subTest(queues=queues, flows=flows, count=count):
                    frames = self.udp(*QUIET, "--flows", flows, "--queues", queues, count=count)
                    got = collections.Counter(f.udp.src - 1024 for f in frames)
                    want = {n: count // flows + (n < count % flows) for n in range(flows)}
                    self.assertEqual(got, {n: c for n, c in want.items() if c})

    def test_vlan(self):
        frames = self.udp(*QUIET, "--vlan", 4094, count=50)
        self.assertEqual(self.only(frames, lambda f: (tuple(f.tags), f.ethertype, f.length)), (((0x8100, 4094),), 0x0800, 64))
        self.assertEqual(self.only(self.udp(*QUIET, "--vlan", 0, count=50), lambda f: tuple(f.tags)), ())

    def test_raw(self):
        for extra, tags, ethertype, byte in (((), (), 0x88B5, 0x5A), (("--ethertype", "0x1234", "--payload-byte", "0xa5"), (), 0x1234, 0xA5),
                                             (("--ethertype", 36864, "--vlan", 5, "--payload-byte", 0), ((0x8100, 5),), 36864, 0)):
            with self.subTest(extra=extra):
                frames = self.capture("--mode", "raw", "--dst-mac", NOBODY, "--packet-size", 301, *extra, count=20)
                f = frames[0]
                self.assertEqual(self.only(frames, lambda f: f.raw), f.raw)
                self.assertEqual((f.dst, f.src, tuple(f.tags), f.ethertype, f.length), (NOBODY, mac(A, "qa"), tags, ethertype, 297))
                self.assertEqual(f.payload, bytes([byte]) * len(f.payload))

    def test_addresses_as_given(self):
        src = "02:aa:bb:cc:dd:ee"
        with Tap(B, "qb") as tap:
            self.ok(send("-i", "qa", "--dst-ip", "203.0.113.5", "--src-ip", "198.51.100.7", "--src-mac", src.upper().replace(":", "-"),
                         "--dst-mac", NOBODY, "--src-port", 0, "--dst-port", 65535, "--payload-byte", 1, "--count", 5))
            frames = tap.frames(src, expect=5)
        self.assertEqual(len(frames), 5)
        self.assertEqual(self.only(frames, lambda f: (f.dst, f.ip.src, f.ip.dst, f.udp.src, f.udp.dst, f.ip.ok, f.udp.ok)),
                         (NOBODY, "198.51.100.7", "203.0.113.5", 0, 65535, True, True))
        self.assertEqual(frames[0].payload, b"\1" * 18)

    def test_every_mechanism_sends_the_same(self):
        want = {}
        for tx in ("ring", "linear", "sendmmsg"):
            for size in (64, 1518):
                with self.subTest(tx=tx, size=size):
                    frames = [f.raw for f in self.mechanism(tx, size)]
                    self.assertEqual(want.setdefault(size, frames), frames)

    def mechanism(self, tx, size):
        with Tap(B, "qb") as tap:
            run = self.ok(send("-i", f"afpacket:qa,tx={tx}", *QUIET, "--flows", 10, "--packet-size", size, "--count", 3000, "--pps", "50k"))
            frames = tap.frames(mac(A, "qa"), expect=3000)
        self.assertIn("sendmmsg" if tx == "sendmmsg" else "ring", run.json["start"]["backend"])
        self.assertEqual(len(frames), 3000)
        return frames


if __name__ == "__main__":
    main()
