# SPDX-License-Identifier: Apache-2.0
"""--write and --dry-run: the exact frames of every mode and variation, judged by frames.py and by tshark."""
import collections
import os
import shutil
import signal
import struct
import subprocess

from frames import ones_sum
from lab import A, BIN, Case, QUIET, Squall, TMP, main, sent, squall, until

BASE = ("send", "-i", "loop:sink", "--src-mac", "02:00:00:00:00:01", "--dst-mac", "02:00:00:00:00:09")
V4 = ("--dst-ip", "10.9.9.9", "--src-ip", "10.9.9.1")
V6 = ("--dst-ip", "fd00::9", "--src-ip", "fd00::1")
NS_MAGIC = 0xA1B23C4D
Packet = collections.namedtuple("Packet", "frame tags labels version tos ttl id df flow_label protocol src dst l4 payload")

# What tshark must never find in our frames. Payloads are no protocol of their own: ports stand for none.
BAD = " || ".join([*(f"{p}.checksum.status==0" for p in ("ip", "udp", "tcp", "icmp", "icmpv6")), "_ws.malformed"])
TSHARK = ("tshark", "-n", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
          "-d", "udp.port==1-65535,data", "-d", "tcp.port==1-65535,data")
new_names = iter(range(1 << 30))


def read(data):
    """[(ns, bytes)] of a capture with nanoseconds, Ethernet."""
    assert struct.unpack("=IHHiIII", data[:24])[::6] == (NS_MAGIC, 1), data[:24]
    at, out = 24, []
    while at < len(data):
        s, ns, n, whole = struct.unpack("=IIII", data[at:at + 16])
        assert n == whole
        out.append((s * 10**9 + ns, data[at + 16:at + 16 + n]))
        at += 16 + n
    return out


def words(data, at, n):
    return struct.unpack(f">{n}H", data[at:at + 2 * n])


def take_apart(frame):
    at, tags, labels = 12, [], []
    while (kind := words(frame, at, 1)[0]) in (0x8100, 0x88A8):
        tags.append((kind, words(frame, at + 2, 1)[0]))
        at += 4
    at += 2
    if kind == 0x8847:
        while True:
            entry = struct.unpack(">I", frame[at:at + 4])[0]
            labels.append((entry >> 12, entry >> 9 & 7, entry >> 8 & 1, entry & 255))
            at += 4
            if labels[-1][2]:
                break
        kind = 0x86DD if frame[at] >> 4 == 6 else 0x0800
    b = frame[at:]
    if kind == 0x86DD:
        first = struct.unpack(">I", b[:4])[0]
        assert struct.unpack(">H", b[4:6])[0] == len(b) - 40
        p = Packet(frame, tags, labels, 6, first >> 20 & 255, b[7], None, None, first & 0xFFFFF, b[6], b[8:24], b[24:40], b[40:], None)
    elif kind == 0x0800:
        assert b[0] == 0x45 and words(b, 2, 1)[0] == len(b) and ones_sum(b[:20]) == 0xFFFF
        p = Packet(frame, tags, labels, 4, b[1], b[8], words(b, 4, 1)[0], words(b, 6, 1)[0], None, b[9], b[12:16], b[16:20], b[20:], None)
    else:
        return Packet(frame, tags, labels, None, None, None, None, None, None, kind, None, None, b, b)
    return p._replace(payload=p.l4[{17: 8, 6: 20, 1: 8, 58: 8, 47: 4}[p.protocol]:])


def l4_ok(p):
    """RFC 768, 9293, 792, 4443: the ones' complement sum over the segment and, but for ICMP, the pseudo-header."""
    pseudo = b"" if p.protocol == 1 else p.src + p.dst + struct.pack(">HH", p.protocol, len(p.l4))
    if p.protocol == 17 and (words(p.l4, 4, 1)[0] != len(p.l4) or words(p.l4, 6, 1)[0] == 0):
        return False
    return ones_sum(pseudo + p.l4) == 0xFFFF


class Write(Case):
    def write(self, *args, n=None):
        """(the frames taken apart, the capture's name)"""
        path = os.path.join(TMP, f"write{next(new_names)}.pcap")
        run = squall(None, *BASE, *args, "--write", path, *(("--count", n) if n else ()))
        self.assertEqual(run.rc, 0, run.err)
        with open(path, "rb") as f:
            data = f.read()
        self.times = [t for t, _ in read(data)]
        self.run_json = run.json
        return [take_apart(f) for _, f in read(data)], path

    def judged(self, *args, n):
        """The same, each frame's checksums right by our own reading and by tshark's."""
        packets, path = self.write(*args, n=n)
        self.assertEqual(len(packets), n)
        for p in packets:
            self.assertTrue(p.version is None or l4_ok(p), p)
        self.to_judge.append(path)
        return packets

    def setUp(self):
        super().setUp()
        self.to_judge = []

    def tearDown(self):
        """tshark takes longest to start: it judges the captures of a test as one."""
        if self.to_judge:
            path = os.path.join(TMP, f"judged{next(new_names)}.pcap")
            subprocess.run(["mergecap", "-a", "-F", "nsecpcap", "-w", path, *self.to_judge], check=True, timeout=60)
            self.tshark(path)
            for name in (path, *self.to_judge):
                os.remove(name)
        super().tearDown()

    def tshark(self, path, want=BAD):
        if not shutil.which("tshark"):
            self.skipTest("tshark is not installed")
        out = subprocess.run([*TSHARK, "-r", path, "-Y", want], capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(out.stdout.splitlines()[:3], [])

    def one(self, *args):
        return self.write(*args, n=1)[0][0]


class Headers(Write):
    MODES = (("udp",), ("tcp-syn",), ("icmp-echo",), ("imix",))

    def test_every_mode_over_every_link_layer(self):
        layers = {(): ([], []), ("--vlan", 7): ([(0x8100, 7)], []),
                  ("--vlan", 7, "--outer-vlan", 4094, "--vlan-priority", 5, "--vlan-dei"): ([(0x88A8, 0xBFFE), (0x8100, 0xB007)], []),
                  ("--vlan", 7, "--outer-vlan", 9, "--outer-type", "0x8100"): ([(0x8100, 9), (0x8100, 7)], []),
                  ("--mpls", "100"): ([], [(100, 0, 1, 64)]), ("--mpls", "7,15,0:6:1"): ([], [(7, 0, 0, 64), (15, 0, 0, 64), (0, 6, 1, 1)]),
                  ("--vlan", 7, "--mpls", "16,1048575:7:255"): ([(0x8100, 7)], [(16, 0, 0, 64), (1048575, 7, 1, 255)])}
        for mode, in self.MODES:
            for ends in (V4, V6):
                for layer, (tags, labels) in layers.items():
                    with self.subTest(mode=mode, layer=layer, ends=ends[1]):
                        got = self.judged(*ends, "--mode", mode, *layer, "--flows", 24, n=96)
                        self.assertEqual({(tuple(p.tags), tuple(p.labels)) for p in got}, {(tuple(tags), tuple(labels))})
                        self.assertEqual(len({p.l4[:8] for p in got if mode != "imix"} or range(24)), 24)

    def test_ip_fields(self):
        p = self.one(*V4, "--dscp", 63, "--ecn", 2, "--ttl", 1, "--df", "--ip-id", 65535)
        self.assertEqual((p.tos, p.ttl, p.df, p.id), (0xFE, 1, 0x4000, 65535))
        p = self.one(*V4)
        self.assertEqual((p.tos, p.ttl, p.df, p.id), (0, 64, 0, 0))
        p = self.one(*V6, "--dscp", 46, "--ecn", 1, "--ttl", 255, "--flow-label", 0xFFFFF)
        self.assertEqual((p.tos, p.ttl, p.flow_label), (46 << 2 | 1, 255, 0xFFFFF))

    def test_tcp_flags(self):
        bits = {"fin": 1, "syn": 2, "rst": 4, "psh": 8, "ack": 16, "urg": 32, "ece": 64, "cwr": 128}
        for names in (*bits, "syn,ack", "none", ",".join(bits)):
            p = self.judged(*V4, "--mode", "tcp-syn", "--tcp-flags", names, n=1)[0]
            self.assertEqual(p.l4[13], sum(bits.get(n, 0) for n in names.split(",")))
        self.assertEqual(self.one(*V4, "--mode", "tcp-syn").l4[13], 2)
        for names in ("sin", "syn,", ",syn", "SYN", "2", "syn ack"):
            self.refused(*BASE, *V4, "--mode", "tcp-syn", f"--tcp-flags={names}", names=["--tcp-flags"])
        self.refused(*BASE, *V4, "--tcp-flags", "syn", names=["tcp-syn"])

    def test_the_source_port_is_the_echo_identifier(self):
        for ends, kind in ((V4, 8), (V6, 128)):
            got = self.judged(*ends, "--mode", "icmp-echo", "--src-port", 65534, "--flows", 4, n=8)
            self.assertEqual([p.l4[0] for p in got], [kind] * 8)
            self.assertEqual([words(p.l4, 4, 1)[0] for p in got], [65534, 65535, 1, 2] * 2)

    def test_udp_checksums_that_are_off_or_bad(self):
        for size in (64, 71, 1518):
            got, path = self.write(*V4, "--udp-checksum", "off", "--flows", 300, "--packet-size", size, n=300)
            self.assertEqual({words(p.l4, 6, 1)[0] for p in got}, {0})
            self.tshark(path)
            for ends in (V4, V6):
                got, path = self.write(*ends, "--udp-checksum", "bad", "--flows", 65535, "--packet-size", max(size, 66), n=65535)
                self.assertFalse([p for p in got if l4_ok(p) or words(p.l4, 6, 1)[0] == 0])
                os.remove(path)
        got, path = self.write(*V4, "--udp-checksum", "bad", "--mode", "imix", "--flows", 7, n=84)
        self.assertFalse([p for p in got if l4_ok(p)])
        self.tshark(path, "udp.checksum.status==1 || ip.checksum.status==0")
        self.refused(*BASE, *V6, "--udp-checksum", "off", names=["RFC 8200"])
        self.refused(*BASE, *V4, "--mode", "tcp-syn", "--udp-checksum", "bad", names=["--udp-checksum"])

    def test_payloads(self):
        path = os.path.join(TMP, "payload")
        with open(path, "wb") as f:
            f.write(bytes(range(256)) * 40)  # more than any frame holds
        count = lambda width: b"".join(i.to_bytes(width, "big") for i in range(5000))
        for args, unit in ((("--payload-byte", "0xff"), b"\xff"), (("--payload-text", "squall "), b"squall "), (("--payload-text", "x" * 200), b"x"),
                           (("--payload-hex", "00:ff 1A2b"), b"\0\xff\x1a\x2b"), (("--payload-file", path), bytes(range(256))),
                           (("--payload-pattern", "count8"), bytes(range(256))), (("--payload-pattern", "count16"), count(2)), (("--payload-pattern", "count32"), count(4)), ((), b"Z")):
            for mode, ends, size in (("udp", V4, 64), ("udp", V6, 1518), ("tcp-syn", V4, 301), ("icmp-echo", V6, 9018), ("imix", V4, 0)):
                with self.subTest(args=args, mode=mode, size=size):
                    for p in self.judged(*ends, "--mode", mode, *(("--packet-size", size) if size else ()), *args, n=12 if mode == "imix" else 1):
                        want = unit * (len(p.payload) // len(unit) + 1)
                        self.assertEqual(p.payload, want[:len(p.payload)])

    def test_payloads_that_cannot_be(self):
        empty = os.path.join(TMP, "empty")
        open(empty, "w").close()
        for args, names in ((("--payload-file", empty), [empty, "empty"]), (("--payload-file", "/nonexistent"), ["/nonexistent", "No such file"]), (("--payload-file", TMP), ["directory"]),
                            (("--payload-hex", "abc"), ["--payload-hex"]), (("--payload-hex", "0g"), ["--payload-hex"]), (("--payload-hex", " "), ["--payload-hex"]),
                            (("--payload-text", "a", "--payload-hex", "00"), ["exclude"]), (("--payload-byte", 1, "--payload-pattern", "count8"), ["exclude"])):
            with self.subTest(args=args):
                self.refused(*BASE, *V4, *args, names=names)

    def test_raw_frames(self):
        for layer, tags, size in (((), [], 60), (("--vlan", 5), [(0x8100, 5)], 64), (("--vlan", 5, "--outer-vlan", 6), [(0x88A8, 6), (0x8100, 5)], 68)):
            p = self.one("--mode", "raw", "--ethertype", "0x88b5", "--payload-pattern", "count8", *layer)
            self.assertEqual((p.tags, p.protocol, len(p.frame), p.payload), (tags, 0x88B5, size, bytes(range(46))))
        for option in ("--dscp", "--ecn", "--ttl", "--ip-id", "--flow-label"):
            self.refused(*BASE, "--mode", "raw", option, 1, names=[option, "IP header"])

    def test_the_smallest_size_of_each(self):
        label = ("--mpls", ",".join(["16"] * 8))
        for args, least in ((V4, 64), (V6, 66), ((*V4, "--mode", "tcp-syn"), 64), ((*V6, "--mode", "tcp-syn"), 78), ((*V4, "--mode", "icmp-echo"), 64), ((*V6, "--mode", "icmp-echo"), 66),
                            ((*V4, "--vlan", 1), 68), ((*V6, "--vlan", 1, "--outer-vlan", 2), 74), ((*V6, "--mode", "tcp-syn", "--vlan", 1, "--outer-vlan", 2), 86),
                            ((*V4, *label), 14 + 32 + 28 + 4), ((*V6, *label, "--vlan", 1), 18 + 32 + 48 + 4), (("--mode", "raw"), 64), (("--mode", "raw", "--vlan", 1), 68)):
            with self.subTest(args=args):
                self.refused(*BASE, *args, "--packet-size", least - 1, names=[rf"\b{least}\b"])
                self.assertEqual(len(self.judged(*args, "--packet-size", least, n=1)[0].frame), least - 4)
                self.assertEqual(len(self.one(*args).frame), least - 4)

    def test_headers_that_do_not_fit_together(self):
        for args, names in (((*V4, "--outer-vlan", 5), ["--vlan"]), ((*V4, "--vlan-priority", 5), ["--vlan"]), ((*V4, "--vlan-dei"), ["--vlan"]), ((*V6, "--df"), ["--df"]), ((*V6, "--ip-id", 5), ["--ip-id"]),
                            ((*V4, "--flow-label", 5), ["--flow-label"]), *(((*V4, "--mpls", m), ["--mpls"]) for m in ("3", "1048576", "16:8", "16:1:256", "16:1:0", "16,", ",16", "x", ",".join(["16"] * 9)))):
            with self.subTest(args=args):
                self.refused(*BASE, *args, names=names)


class Vary(Write):
    FIELDS4 = {"src-mac": "src-mac=02:00:00:00:00:f0-02:00:00:00:01:20", "dst-mac": "dst-mac=random:02:00:00:00:00:00-02:00:00:00:00:30", "vlan": "vlan=1-49", "outer-vlan": "outer-vlan=dec:100:4094:83",
               "dscp": "dscp=random:0-48", "ip-id": "ip-id=0xff00:0xffff:5", "ttl": "ttl=dec:2-50", "src-ip": "src-ip=10.255.255.240-11.0.0.32", "dst-ip": "dst-ip=172.16.0.0/26", "src-port": "src-port=dec:0-65535",
               "dst-port": "dst-port=65535,0,1,256,255", "even": "payload@0:8=0:0xffffffffffffff00:0x123456789abcdef", "odd": "payload@9:3=random:0-16777215", "byte": "payload@17:1=0-255"}
    FIELDS6 = {"src-ip": "src-ip=2001:db8:1:2:ffff:ffff:ffff:ff00-2001:db8:1:2:ffff:ffff:ffff:ffff", "dst-ip": "dst-ip=random:2001:db8:9::/120", "flow-label": "flow-label=random:0-1048575", "ttl": "ttl=1-255",
               "dscp": "dscp=dec:0-63", "odd": "payload@3:7=0:9999999999:77777", "mac": FIELDS4["src-mac"], "vlan": "vlan=random:1-4094"}
    TAGS = ("--vlan", 5, "--outer-vlan", 6)

    def test_checksums_over_every_field(self):
        for ends, fields in ((V4, self.FIELDS4), (V6, self.FIELDS6)):
            for mode in ("udp", "tcp-syn", "icmp-echo", "imix"):
                mixes = [[f] for f in fields.values()]
                mixes += [list(fields.values())[i:i + 4] for i in range(0, len(fields), 3)]
                for mix in mixes:
                    mix = [f for f in mix if not (mode == "icmp-echo" and f.startswith("dst-port"))]
                    size = () if mode == "imix" else ("--packet-size", 131)
                    imix = ("--imix", "131:2,300:1,1501:1") if mode == "imix" else ()
                    if mix:
                        with self.subTest(mode=mode, mix=mix):
                            self.judged(*ends, "--mode", mode, *size, *imix, *self.TAGS, "--flows", 49, "--vary", ",".join(mix), n=147)

    def test_each_field_has_its_values(self):
        look = {"src-mac": lambda p: int.from_bytes(p.frame[6:12], "big"), "dst-mac": lambda p: int.from_bytes(p.frame[:6], "big"), "outer-vlan": lambda p: p.tags[0][1], "vlan": lambda p: p.tags[1][1],
                "dscp": lambda p: p.tos, "ip-id": lambda p: p.id, "ttl": lambda p: p.ttl, "flow-label": lambda p: p.flow_label, "src-port": lambda p: words(p.l4, 0, 1)[0], "dst-port": lambda p: words(p.l4, 2, 1)[0],
                "payload@3:2": lambda p: words(p.payload, 3, 1)[0]}
        keep = ("--vlan-priority", 5, "--ecn", 3)
        for ends in (V4, V6):
            for field, get in look.items():
                if field == ("flow-label" if ends is V4 else "ip-id"):
                    continue
                with self.subTest(field=field, ends=ends[1]):
                    low = 0x020000000001 if "mac" in field else 1
                    text = lambda v: v.to_bytes(6, "big").hex(":") if "mac" in field else v
                    add = lambda v: v << 2 | 3 if field == "dscp" else v | 0xA000 if "vlan" in field else v
                    got, _ = self.write(*ends, *self.TAGS, *keep, "--packet-size", 131, "--flows", 60, "--vary", f"{field}={text(low)}-{text(low + 59)}", n=60)
                    self.assertEqual([get(p) for p in got], [add(low + i) for i in range(60)])
                    others = {name: len({g(p) for p in got}) for name, g in look.items() if name not in (field, "src-port")}
                    self.assertEqual(set(others.values()), {1}, others)
                    if field != "src-port":  # without it there is one flow only
                        got, _ = self.write(*ends, *self.TAGS, *keep, "--packet-size", 131, "--flows", 2, "--vary", f"{field}={text(low + 2)}", n=2)
                        self.assertEqual([get(p) for p in got], [add(low + 2)] * 2, "a field of one value has it")
                    got, _ = self.write(*ends, *self.TAGS, *keep, "--packet-size", 131, "--vary", f"{field}={text(low + 3)}", n=2)
                    self.assertEqual([get(p) for p in got], [add(low + 3)] * 2, "with one flow too")

    def test_addresses_of_vary_are_whole(self):
        got = self.judged(*V6, "--vary", "dst-ip=2001:db8:7::1-2001:db8:7::4", "--flows", 4, n=4)
        self.assertEqual([p.dst.hex() for p in got], ["20010db800070000000000000000000" + str(i) for i in range(1, 5)])
        got = self.judged(*V6, "--vary", "src-ip=2001:db8:8::/126", "--mode", "icmp-echo", "--flows", 4, n=4)
        self.assertEqual([p.src.hex() for p in got], ["20010db800080000000000000000000" + str(i) for i in range(4)])

    def test_cross_product_is_whole(self):
        got = self.judged(*V4, "--flow-walk", "cross", "--flows", 24, "--vary", "src-port=1-4,dscp=random:0-2,ttl=9,5", n=48)
        self.assertEqual(collections.Counter((words(p.l4, 0, 1)[0], p.tos >> 2, p.ttl) for p in got), {(s, d, t): 2 for s in (1, 2, 3, 4) for d in (0, 1, 2) for t in (9, 5)})
        self.assertEqual([words(p.l4, 0, 1)[0] for p in got[:5]], [1, 2, 3, 4, 1])

    def test_sizes_in_turn(self):
        got = self.judged(*V4, "--vary", "size=64-1518", n=1455)
        self.assertEqual([len(p.frame) + 4 for p in got], list(range(64, 1519)))
        got = self.judged(*V4, "--vary", "size=dec:64:128:32", n=6)
        self.assertEqual([len(p.frame) + 4 for p in got], [128, 96, 64] * 2)
        got = self.judged(*V4, "--vary", "size=100,70,1518", "--flows", 3, n=9)
        self.assertEqual(len({(words(p.l4, 0, 1)[0], len(p.frame)) for p in got}), 9, "every flow has every size")

    def test_the_seed_decides(self):
        runs = [[p.frame for p in self.write(*V4, "--seed", s, "--flows", 50, "--vary", "dst-port=random:1-60000", n=50)[0]] for s in (1, 1, 2)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])


class Imix(Write):
    def test_the_mix_is_told(self):
        self.write(*V4, "--mode", "imix")
        start = self.run_json["start"]
        self.assertRegex(start["imix"], r"simple: 64:7,594:4,1518:1 .*mean 361\.83")  # (64 * 7 + 594 * 4 + 1518) / 12
        self.assertFalse(start["warnings"])

    def test_sizes_that_are_too_small_are_raised_and_that_is_said(self):
        got = self.judged(*V6, "--mode", "imix", "--flows", 12, n=144)
        self.assertEqual(collections.Counter(len(p.frame) + 4 for p in got), {66: 84, 594: 48, 1518: 12})
        self.assertRegex(self.run_json["start"]["imix"], r"66:7,594:4,1518:1")
        self.assertRegex(" ".join(self.run_json["start"]["warnings"]), r"1 .* raised to 66")

    def test_every_flow_sees_every_size_in_proportion(self):
        for mix, sizes, n in (("simple", {64: 7, 594: 4, 1518: 1}, 12), ("7a4dg", {64: 7, 512: 4, 1518: 1}, 12), ("64:0.5,128:1.5", {64: 1, 128: 3}, 4)):
            for flows in (1, 3, 12, 24, 25):
                got, path = self.write(*V4, "--mode", "imix", "--imix", mix, "--flows", flows, n=flows * n)
                per = collections.defaultdict(collections.Counter)
                for p in got:
                    per[p.l4[:2]][len(p.frame) + 4] += 1
                self.assertEqual(list(per.values()), [sizes] * flows)
                os.remove(path)

    def test_the_rate_counts_the_mean(self):
        self.write(*V4, "--mode", "imix", "--bps", "100M", n=2)
        self.assertAlmostEqual(self.times[1], 1e9 / (100e6 / ((361.8333 + 20) * 8)), delta=2)
        self.assertRegex(self.run_json["start"]["rate"], "100 ?Mbit/s|100\\.0+ ?Mbit/s")

    def test_mixes_that_cannot_be(self):
        for mix in ("simpel", "64:0", "9019:1", "64:7;", "j", "", "64:16383,128:2"):
            self.refused(*BASE, *V4, "--mode", "imix", f"--imix={mix}", names=["--imix"])
        self.refused(*BASE, *V4, "--mode", "imix", "--packet-size", 64, names=["--packet-size"])


class File(Write):
    def test_a_thousand_frames_unless_told(self):
        self.assertEqual(len(self.write(*V4)[0]), 1000)
        self.assertEqual(len(self.write(*V4, n=3)[0]), 3)
        self.assertEqual(len(self.write(*V4, "--flows", 5000, n=5001)[0]), 5001)

    def test_times_are_the_schedules(self):
        self.write(*V4, "--pps", "1M", n=1000)
        self.assertEqual(self.times, [i * 1000 for i in range(1000)])
        self.write(*V4, "--pps", 3, n=4)
        self.assertEqual([round(t / 1e9, 6) for t in self.times], [0, 0.333333, 0.666667, 1])
        self.write(*V4, "--pps", 0.5, n=3)
        self.assertEqual(self.times, [0, 2 * 10**9, 4 * 10**9])
        self.write(*V4, "--pps", "unlimited", n=3)
        self.assertEqual(self.times, [0, 0, 0])

    def test_a_duration_that_is_given_ends_it(self):
        """As it ends a run: what departs at its end or later is not sent."""
        for args, n in ((("--pps", "1k"), 20), (("--pps", 0.5), 1), (("--pps", "1M"), 1000), (("--burst-profile", "7/8ms"), 21), (("--pps", "unlimited"), 1000)):
            with self.subTest(args=args):
                self.assertEqual(len(self.write(*V4, *args, "-d", "20ms")[0]), n)
        self.assertEqual(len(self.write(*V4, "--pps", "1k", "-d", "20ms", n=9)[0]), 9)
        self.write(*V4, "--pps", "10k", "--spacing", "poisson", n=1000)
        before = [t for t in self.times if t < 20 * 10**6]
        self.write(*V4, "--pps", "10k", "--spacing", "poisson", "-d", "20ms")
        self.assertEqual(self.times, before)
        path = os.path.join(TMP, "ends.yaml")
        with open(path, "w") as f:
            f.write("streams: [{pps: 1k}, {burst-profile: 5/10ms, start-delay: 15ms, dst-ip: 10.9.9.8}]")
        self.write(*V4, "--config", path, "-d", "20ms")
        self.assertEqual(self.times, [*range(0, 15 * 10**6, 10**6), *[15 * 10**6] * 6, *range(16 * 10**6, 20 * 10**6, 10**6)])

    def test_json_has_the_plan_and_no_end(self):
        self.write(*V4, n=7)
        self.assertIsNone(self.run_json["end"])
        self.assertRegex(self.run_json["start"]["written"], "^7 frames to ")

    def test_to_the_standard_output(self):
        run = subprocess.run([BIN, *BASE, *V4, "--write", "-", "--count", "9"], capture_output=True, timeout=20)
        self.assertEqual((run.returncode, len(read(run.stdout))), (0, 9), run.stderr)
        self.assertEqual(squall(None, *BASE, *V4, "--write", "-").rc, 2, "a report has it too")

    def test_a_reader_that_goes_away(self):
        run = subprocess.run(["bash", "-c", 'set -o pipefail; "$@" | head -c 100 >/dev/null', "bash", BIN, *BASE, *V4, "--write", "-", "--count", "1000000"], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertIn("Broken pipe", run.stderr)

    def test_files_that_cannot_be_written(self):
        for path, word in (("/nonexistent/x.pcap", "No such file"), ("/dev/full", "No space left"), (TMP, "directory"), ("/proc/version", "denied|Permission|Operation|Input/output|Invalid")):
            for n in (1, 100000):
                with self.subTest(path=path, n=n):
                    run = squall(None, *BASE, *V4, "--write", path, "--count", n)
                    self.assertEqual(run.rc, 1, run.err)
                    self.assertIn(path, run.err)
                    self.assertRegex(run.err, word)

    def test_a_signal_ends_it(self):
        run = Squall(None, *BASE, *V4, "--write", "/dev/null", "--count", 10**13)
        until(run.listens, what="its handler")
        self.assertRaises(subprocess.TimeoutExpired, run.process.wait, 0.2)
        run.signal(signal.SIGINT)
        run.end()
        self.assertEqual(run.rc, 0, run.err)


class DryRun(Write):
    def test_what_is_in_the_packets_is_told(self):
        args = ("--vlan", 7, "--outer-vlan", 9, "--vlan-dei", "--mpls", "5,16", "--dscp", 46, "--ecn", 1, "--ttl", 64, "--df", "--ip-id", 7, "--udp-checksum", "bad",
                "--payload-text", "ab", "--vary", "dst-ip=10.9.9.1-10.9.9.3,src-port=5-7", "--flows", 3)
        start = squall(None, *BASE, *V4, *args, "--dry-run").json["start"]
        want = {"vlan": "802.1Q id 7 in 0x88a8 id 9, priority 0, DEI", "mpls": "5,16", "ip": "DSCP 46, ECN 1, TTL 64, DF, id 7", "udp_checksum": "bad",
                "payload": '"ab" over and over', "vary": "dst-ip=10.9.9.1-10.9.9.3,src-port=5-7", "destination": "addresses vary, port 9000"}
        self.assertEqual({k: start[k] for k in want}, want)
        plain = squall(None, *BASE, *V6, "--dry-run").json["start"]
        self.assertEqual(plain.keys() & (want.keys() - {"destination"}), set())
        self.assertEqual(squall(None, *BASE, *V6, "--dry-run", "--ttl", 3, "--flow-label", 5, "--payload-pattern", "count16").json["start"]["ip"], "hop limit 3, flow label 5")
        path = os.path.join(TMP, "told.yaml")
        with open(path, "w") as f:
            f.write('ttl: 9\nstreams: [{name: a, pps: 5}, {name: b, pps: 6, vlan: 5, tunnel: "vxlan,dst=192.0.2.9,src=192.0.2.1", dscp: 1}]')
        streams = squall(None, *BASE, *V4, "--config", path, "--dry-run").json["start"]["streams"]
        self.assertRegex(streams["a"], ", IP TTL 9, 5 pps of its own$")
        self.assertRegex(streams["b"], ", VLAN 802.1Q id 5, tunnel vxlan,dst=192.0.2.9,src=192.0.2.1, IP DSCP 1, TTL 9, 6 pps of its own$")

    def test_nothing_is_sent(self):
        before = sent(A, "qa")
        for more in ((), ("--flows", 100, "--mode", "imix"), ("--pps", "unlimited", "-y")):
            run = squall(A, "send", "-i", "qa", *QUIET, "--dry-run", *more)
            self.assertEqual(run.rc, 0, run.err)
            self.assertIsNone(run.json["end"])
            self.assertIn("10.78.0.2", run.json["start"]["destination"])
        self.assertEqual(sent(A, "qa"), before)

    def test_problems_are_told_as_ever(self):
        self.refused("send", "-i", "qa", *QUIET, "--dry-run", "--packet-size", 20, names=["--packet-size"])
        self.refused("send", "-i", "nosuch0", *QUIET, "--dry-run", names=["nosuch0"])
        self.refused("send", "-i", "qa", *QUIET, "--dry-run", "--write", "x", names=["--write"])
        self.refused("send", "-i", "qa", *QUIET, "--dry-run", "--packet-size", 1519, names=["1518", "MTU"])
        self.refused("send", "-i", "qa", *QUIET, "--dry-run", "--mpls", "16,17", "--packet-size", 1519, names=["1518", "MTU"])


if __name__ == "__main__":
    main()
