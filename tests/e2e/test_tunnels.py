# SPDX-License-Identifier: Apache-2.0
"""Frames in tunnels, as --write writes them: the outer headers taken off by hand, what is inside judged as any frame, all by tshark."""
import collections
import ipaddress
import struct
import subprocess

from lab import A, B, ip, main, received, squall, until
from test_write import BAD, TSHARK, V4, V6, Write, l4_ok, take_apart, words

PORTS = {4789: "vxlan", 6081: "geneve"}
# Ports stand for no protocol, but for those of the tunnels.
SHARK = (*TSHARK[:-4], "-d", "udp.port==1-4788,data", "-d", "udp.port==4790-6080,data", "-d", "udp.port==6082-65535,data", "-d", "tcp.port==1-65535,data")
Outer = collections.namedtuple("Outer", "kind version src dst tos ttl number sport inner")


def outer(p):
    """The tunnel of a frame that take_apart() took apart as if there were none, and the frame inside."""
    address = lambda b: str(ipaddress.ip_address(b))
    if p.protocol == 17:
        sport, dport, length, check = words(p.l4, 0, 4)
        assert length == len(p.l4)
        if p.version == 4:
            assert check == 0, "RFC 7348, RFC 8926"
        else:
            assert l4_ok(p), "over IPv6 a receiver wants one"
        head, rest = p.l4[8:16], p.l4[16:]
        kind = PORTS[dport]
        assert head[:4] == (b"\x08\0\0\0" if kind == "vxlan" else b"\0\0\x65\x58") and head[7] == 0
        number = int.from_bytes(head[4:7], "big")
    else:
        flags, ethertype = words(p.l4, 0, 2)
        assert flags in (0, 0x2000)
        kind, sport = "gre", None
        number = struct.unpack(">I", p.l4[4:8])[0] if flags else None
        rest = p.frame[:12] + struct.pack(">H", ethertype) + p.l4[8 if flags else 4:]
    return Outer(kind, p.version, address(p.src), address(p.dst), p.tos, p.ttl, number, sport, take_apart(rest))


class Tunnels(Write):
    KINDS = {"vxlan,dst=192.0.2.9,src=192.0.2.1,vni=16777215": ("vxlan", 4, "192.0.2.1", "192.0.2.9", 16777215),
             "vxlan,dst=2001:db8::9,src=2001:db8::1": ("vxlan", 6, "2001:db8::1", "2001:db8::9", 0),
             "geneve,dst=192.0.2.9,src=192.0.2.1,vni=77": ("geneve", 4, "192.0.2.1", "192.0.2.9", 77),
             "geneve,dst=2001:db8::9,src=2001:db8::1,vni=1": ("geneve", 6, "2001:db8::1", "2001:db8::9", 1),
             "gre,dst=192.0.2.9,src=192.0.2.1": ("gre", 4, "192.0.2.1", "192.0.2.9", None),
             "gre,dst=2001:db8::9,src=2001:db8::1,key=4294967295": ("gre", 6, "2001:db8::1", "2001:db8::9", 4294967295)}

    def tshark(self, path, want=BAD):
        out = subprocess.run([*SHARK, "-r", path, "-Y", want], capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(out.stdout.splitlines()[:3], [])

    def test_every_mode_in_every_tunnel(self):
        for text, (kind, version, src, dst, number) in self.KINDS.items():
            for ends in (V4, V6):
                for mode in ("udp", "tcp-syn", "icmp-echo", "imix"):
                    with self.subTest(tunnel=text, mode=mode, ends=ends[1]):
                        got, path = self.write(*ends, "--mode", mode, "--tunnel", text, "--vlan", 5, "--dscp", 46, "--ecn", 1, "--ttl", 9, "--flows", 20, n=60)
                        self.to_judge.append(path)
                        shells = [outer(p) for p in got]
                        self.assertEqual({s[:7] for s in shells}, {(kind, version, src, dst, 46 << 2 | 1, 9, number)})
                        self.assertEqual({p.tags[0] for p in got}, {(0x8100, 5)})
                        for s in shells:
                            self.assertTrue(l4_ok(s.inner), s)
                            self.assertEqual((s.inner.version, s.inner.tos, s.inner.ttl), (4 if ends is V4 else 6, 46 << 2 | 1, 9))
                        self.assertEqual(len({s.inner.l4[4:6] if mode == "icmp-echo" else s.inner.l4[:2] for s in shells}), 20)
                        if kind != "gre":  # so that what balances by the outer header spreads the flows
                            self.assertEqual(len({s.sport for s in shells}), 20)
                            self.assertGreaterEqual(min(s.sport for s in shells), 49152)

    def test_no_checksum_around_none(self):
        got, _ = self.write(*V4, "--udp-checksum", "off", "--tunnel", "vxlan,dst=2001:db8::9,src=2001:db8::1", "--flows", 20, n=60)
        self.assertEqual({words(p.l4, 6, 1)[0] for p in got}, {0})

    def test_no_checksum_over_ipv6_is_warned_of(self):
        base = ("send", "-i", "loop:sink", "--dry-run", "--src-mac", "02:00:00:00:00:01", "--dst-mac", "02:00:00:00:00:09", *V4)
        six, four = "dst=2001:db8::9,src=2001:db8::1", "dst=192.0.2.9,src=192.0.2.1"
        for off, tunnel, warned in ((True, "vxlan," + six, 1), (True, "geneve," + six, 1), (True, "gre," + six, 0), (True, "vxlan," + four, 0), (False, "vxlan," + six, 0)):
            with self.subTest(off=off, tunnel=tunnel):
                run = squall(A, *base, "--tunnel", tunnel, *(("--udp-checksum", "off") if off else ()))
                self.assertEqual(sum("udp6zerocsumrx" in w for w in run.json["start"]["warnings"]), warned)

    def test_a_right_checksum_around_a_wrong_one(self):
        """A packet that the inner receiver is to be tried with gets there: the tunnel's end takes the outer one."""
        for ends in (V4, V6):
            for size in (("--packet-size", 161), ("--mode", "imix", "--imix", "201:1,600:2")):
                got, _ = self.write(*ends, *size, "--udp-checksum", "bad", "--tunnel", "geneve,dst=2001:db8::9,src=2001:db8::1", "--flows", 20, "--vary", "payload@0:2=random:0-65535", "--stamp", n=60)
                self.assertEqual([p for p in got if not l4_ok(p) or l4_ok(outer(p).inner)], [])

    def test_linux_takes_it_off(self):
        """The kernel at the other end has a VTEP, which drops over IPv6 what has no checksum."""
        ip(B, "link", "add", "vtep6", "type", "vxlan", "id", "42", "local", "fd77::2", "dstport", "4789", "dev", "vb")
        try:
            ip(B, "link", "set", "vtep6", "up")
            before = received(B, "vtep6")[0]
            args = ("--src-ip", "10.9.0.0/24", "--dst-ip", "10.9.1.0/24", "--flows", 500, "--mode", "imix", "--imix", "128:1,600:1", "--tunnel", "vxlan,dst=fd77::2,vni=42")
            self.ok(squall(A, "send", "-i", "afpacket:va", "--no-tui", *args, "--count", 5000, "--pps", "20k"))
            until(lambda: received(B, "vtep6")[0] - before >= 5000, what="what was sent to come out of the tunnel")
        finally:
            ip(B, "link", "del", "vtep6")

    def test_the_smallest_size_counts_the_outer_headers(self):
        for text, ends, least in (("vxlan,dst=192.0.2.9,src=192.0.2.1", V4, 14 + 20 + 8 + 8 + 14 + 28 + 4), ("geneve,dst=2001:db8::9,src=2001:db8::1", V6, 14 + 40 + 8 + 8 + 14 + 48 + 4),
                                  ("gre,dst=192.0.2.9,src=192.0.2.1", V4, 14 + 20 + 4 + 28 + 4), ("gre,dst=2001:db8::9,src=2001:db8::1,key=1", V6, 14 + 40 + 8 + 48 + 4)):
            self.refused("send", "-i", "loop:sink", "--src-mac", "02:00:00:00:00:01", "--dst-mac", "02:00:00:00:00:09", *ends, "--tunnel", text, "--packet-size", least - 1, names=[rf"\b{least}\b"])
            got, _ = self.write(*ends, "--tunnel", text, n=1)
            self.assertEqual(len(got[0].frame) + 4, least)


if __name__ == "__main__":
    main()
