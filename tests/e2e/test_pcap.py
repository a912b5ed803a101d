# SPDX-License-Identifier: Apache-2.0
"""Captures replayed: what leaves the interface, when, and which captures are refused. Captures are made here, byte by byte."""
import os
import struct

from captures import ETHERNET, RAW, SLL, capture, numbered, summed
from frames import Tap, parse, udp_frame
from lab import A, B, BIN, Busy, Case, NOBODY, TMP, best_of_three, mac, main, sh, squall

SRC = "02:00:00:00:00:08"  # what udp_frame() sends from


def pcapng(name, records):
    path = os.path.join(TMP, name)
    block = lambda kind, body: struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    with open(path, "wb") as f:
        f.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        f.write(block(1, struct.pack("<HHI", ETHERNET, 0, 0) + struct.pack("<HHB3xI", 9, 1, 9, 0)))
        for at, data in records:
            ns = round(at * 1e9)
            f.write(block(6, struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFFFFFF, len(data), len(data)) + data + bytes(-len(data) % 4)))
    return path


class Pcap(Case):
    def replay(self, path, *args, expect, dev="qa", far="qb"):
        with Tap(B, far) as tap:
            run = self.ok(squall(A, "send", "-i", dev, "--pcap", path, *args))
            frames = [parse(data, ns) for ns, data in tap.raw(expect)]  # the pair is quiet: all of it is ours
        self.assertEqual(run.end_record["tx"]["packets"], expect)
        self.assertEqual(run.end_record["tx"]["bytes_l2"], sum(f.length + 4 for f in frames))
        self.books(run.end_record["tx"])
        return run, frames

    def raw(self, frames):
        return [f.raw for f in frames]

    def test_verbatim_and_in_order_pass_after_pass(self):
        want = [numbered(i, 60 + i * 7) for i in range(200)]
        for name, path in (("us", capture("us.pcap", [(i / 1e3, f) for i, f in enumerate(want)], unit="us")),
                           ("swapped", capture("swapped.pcap", [(i / 1e3, f) for i, f in enumerate(want)], order=">")),
                           ("pcapng", pcapng("x.pcapng", [(i / 1e3, f) for i, f in enumerate(want)]))):
            for loops in (1, 2, 3):
                with self.subTest(capture=name, loops=loops):
                    run, frames = self.replay(path, "--pps", "20k", "--loop", loops, expect=200 * loops)
                    self.assertEqual(self.raw(frames), want * loops)
                    self.assertEqual(run.end_record["reason"], "count")
                    self.assertEqual((run.end_record["pcap"]["packets"], run.end_record["pcap"]["passes"]), (200, loops))

    @best_of_three
    def test_how_long_it_runs(self):
        path = capture("three.pcap", [(0, numbered(0)), (0.1, numbered(1)), (0.2, numbered(2))])
        self.replay(path, "--no-pcap-loop", expect=3)
        self.replay(path, "--count", 7, expect=7)
        self.replay(path, "--count", 7, "--loop", 2, expect=6)
        run, _ = self.replay(path, "--pps", 100, "--duration", "500ms", expect=50)
        self.assertEqual((run.end_record["reason"], run.end_record["pcap"]["passes"]), ("duration", 16))
        self.assertEqual(self.ok(squall(A, "send", "-i", "qa", "--pcap", path, "--pps", 10, "--duration", "400ms", "--pcap-timing", "rate")).end_record["tx"]["packets"], 4)

    def test_each_packet_once_over_several_queues(self):
        want = [numbered(i) for i in range(501)]
        run, frames = self.replay(capture("dealt.pcap", [(0, f) for f in want]), "--queues", 2, "--loop", 2, "--pps", "20k", expect=1002)
        self.assertEqual(sorted(self.raw(frames)), sorted(want * 2))
        self.assertEqual({q["tx_packets"] for q in run.end_record["queues"]}, {501})
        self.assertIn("not kept", run.json["start"]["pcap"]["order"])

    @best_of_three
    def test_original_times_in_every_pass(self):
        at = [0, 0.05, 0.06, 0.26]
        mean = 0.26 / 3
        for speed, factor in (("1x", 1), ("2x", 2), ("0.5x", 0.5)):
            with self.subTest(speed=speed):
                path = capture("times.pcap", [(1000 + t, numbered(i)) for i, t in enumerate(at)])
                run, frames = self.replay(path, "--pcap-timing", "original", "--pcap-speed", speed, "--loop", 3, expect=12)
                want = [(k // 4 * (0.26 + mean) + at[k % 4]) / factor for k in range(12)]
                late = run.end_record["tx"]["lateness_ns"]["max"] / 1e9
                for f, t in zip(frames, want):
                    self.assertAlmostEqual((f.ns - frames[0].ns) / 1e9, t, delta=0.005 + late)

    @best_of_three
    def test_the_first_gap_is_kept(self):
        run, frames = self.replay(capture("two.pcap", [(5, numbered(0)), (6, numbered(1))]), "--pcap-timing", "original", "--loop", 1, expect=2)
        self.assertAlmostEqual((frames[1].ns - frames[0].ns) / 1e9, 1, delta=0.005 + run.end_record["tx"]["lateness_ns"]["max"] / 1e9)

    def test_times_that_a_slow_wire_cannot_keep(self):
        path = capture("fast.pcap", [(i * 10e-6, numbered(i)) for i in range(5000)])
        slow = ("send", "-i", "loop:sink,rate=10k", "--pcap", path, "--pcap-timing", "original", "--loop", 1)
        for more, rc in (((), 0), (("--strict-rate",), 5)):
            run = self.ok(squall(A, *slow, *more), rc)
            self.assertEqual(run.end_record["tx"]["packets"], 5000)
            self.assertIn("fell behind", " ".join(run.end_record["warnings"]))
        self.assertIn("pcap-speed", self.ok(squall(A, *slow, "--strict-rate"), 5).err)

    @best_of_three
    def test_times_that_it_can(self):
        path = capture("fast.pcap", [(i * 10e-6, numbered(i)) for i in range(5000)])
        with Busy() as busy:
            run = squall(A, "send", "-i", "loop:sink,rate=10k", "--pcap", path, "--pcap-timing", "original", "--loop", 1, "--strict-rate", "--pcap-speed", "0.05x")
        late = run.rc == 5 and busy.share > 0.5  # by who had no processor for it at the end
        self.ok(run, 5 if late else 0)
        self.assertEqual(run.end_record["tx"]["packets"], 5000)
        self.assertEqual("fell behind" in " ".join(run.end_record["warnings"]), late)

    @best_of_three
    def test_clocks_that_jump(self):
        path = capture("jump.pcap", [(100, numbered(0)), (99.999, numbered(1)), (900000, numbered(2)), (5, numbered(3))])
        run, frames = self.replay(path, "--pcap-timing", "original", "--pcap-max-gap", "200ms", "--loop", 1, expect=4)
        self.assertAlmostEqual((frames[3].ns - frames[0].ns) / 1e9, 0.2, delta=0.005 + run.end_record["tx"]["lateness_ns"]["max"] / 1e9)
        self.assertEqual((run.end_record["pcap"]["backwards"], run.end_record["pcap"]["gaps_clamped"]), (2, 2))
        # Two of the three steps are beyond: one either way.
        self.assertIn("2 steps of the capture's clock are beyond --pcap-max-gap: shortened to it, or to none where it goes back", run.json["start"]["warnings"])

    def test_no_limit_of_a_gap(self):
        path = capture("day.pcap", [(0, numbered(0)), (86400, numbered(1))])
        for word, shortened in (("0", 0), ("none", 0), ("24h", 0), ("23h", 1)):
            start = squall(A, "send", "-i", "loop:sink", "--pcap", path, "--pcap-timing", "original", "--pcap-max-gap", word, "--dry-run").json["start"]
            self.assertEqual(sum("max-gap" in w for w in start["warnings"]), shortened)

    def test_cut_records(self):
        path = capture("cut.pcap", [(0, numbered(0)), (0, numbered(1, 64), 1514)])
        self.refused("send", "-i", "qa", "--pcap", path, names=["cut.pcap", "packet 2", "--pcap-truncated"])
        run, frames = self.replay(path, "--pcap-truncated", "skip", "--loop", 1, expect=1)
        self.assertEqual(run.end_record["pcap"]["truncated_skipped"], 1)
        run, frames = self.replay(path, "--pcap-truncated", "pad", "--loop", 1, expect=2)
        self.assertEqual(self.raw(frames), [numbered(0), numbered(1, 64).ljust(1514, b"\0")])
        self.assertEqual(run.end_record["pcap"]["truncated_padded"], 1)

    def test_frames_beyond_the_mtu(self):
        path = capture("large.pcap", [(0, numbered(0, 1514)), (0, numbered(1, 1515)), (0, numbered(2, 65535))])
        self.refused("send", "-i", "qa", "--pcap", path, names=["large.pcap", "packet 2", "1501", "--pcap-too-large"])
        run, frames = self.replay(path, "--pcap-too-large", "skip", "--loop", 1, expect=1)
        self.assertEqual((len(frames[0].raw), run.end_record["pcap"]["too_large"]), (1514, 2))

    def test_other_link_types(self):
        packet = udp_frame()[14:]
        sll = struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800)
        for link, header in ((RAW, b""), (SLL, sll), (276, struct.pack(">HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, bytes(8))), (0, struct.pack("<I", 2)), (108, struct.pack(">I", 2))):
            with self.subTest(link=link):
                path = capture("raw.pcap", [(0, header + packet)], link=link)
                run, frames = self.replay(path, "--dst-mac", NOBODY, "--loop", 1, expect=1)
                self.assertEqual((frames[0].dst, frames[0].src, frames[0].raw[14:]), (NOBODY, mac(A, "qa"), packet))
                self.assertEqual(run.end_record["pcap"]["converted"], 1)
                self.refused("send", "-i", "qa", "--pcap", path, names=["raw.pcap", "--dst-mac"])
        # The next hop is found as for generated packets.
        _, frames = self.replay(path, "--dst-ip", "10.78.0.2", "--loop", 1, expect=1)
        self.assertEqual((frames[0].dst, frames[0].src), (mac(B, "qb"), mac(A, "qa")))
        for link, name in ((105, "IEEE802_11"), (127, "IEEE802_11_RADIO"), (9, "PPP"), (147, "number 147")):
            with self.subTest(link=link):
                self.refused("send", "-i", "qa", "--pcap", capture("other.pcap", [(0, packet)], link=link), names=["other.pcap", "link type", name])

    def test_files_that_are_no_captures(self):
        whole = open(capture("whole.pcap", [(0, numbered(0)), (0, numbered(1))]), "rb").read()
        for content in (b"", b"\xd4\xc3\xb2\xa1", b"hello, this is no capture at all", whole[:24], whole[:50]):
            with self.subTest(content=content[:30]):
                path = os.path.join(TMP, "broken.pcap")
                with open(path, "wb") as f:
                    f.write(content)
                self.refused("send", "-i", "qa", "--pcap", path, names=["broken.pcap"])
        self.refused("send", "-i", "qa", "--pcap", os.path.join(TMP, "missing.pcap"), names=["missing.pcap", "No such file"])
        with open(path, "wb") as f:
            f.write(whole[:-3])
        run, _ = self.replay(path, "--loop", 1, expect=1)
        self.assertIn("ends within a packet", " ".join(run.json["start"]["warnings"]))

    def test_rewrites_say_and_do(self):
        records = [(0, summed(src="192.0.2.1", dst="192.0.2.77")), (0, summed(src="2001:db8::1", dst="2001:db8::2", tags=((0x8100, 0x6007),))), (0, numbered(0))]
        path = capture("rewrite.pcap", records)
        run, frames = self.replay(path, "--rewrite-ip", "192.0.2.0/24=10.9.9.0/24,2001:db8::/32=fd99::/32", "--rewrite-vlan", "7=9,none=3",
                                  "--rewrite-mac", f"{SRC}=02:00:00:00:00:44", "--loop", 1, expect=3)
        got = [parse(f.raw) for f in frames]
        self.assertEqual([(p.src, p.dst) for p in got], [("02:00:00:00:00:44", NOBODY)] * 3)
        self.assertEqual([p.tags for p in got], [[(0x8100, 3)], [(0x8100, 0x6009)], [(0x8100, 3)]])
        self.assertEqual([(p.ip.src, p.ip.dst, p.ip.ok, p.udp.ok) for p in got[:2]],
                         [("10.9.9.1", "10.9.9.77", True, True), ("fd99::1", "fd99::2", True, True)])
        self.assertEqual([run.end_record["pcap"][k] for k in ("rewritten_mac", "rewritten_ip", "rewritten_vlan")], [3, 2, 3])
        # One address given leaves the other as it was.
        _, frames = self.replay(path, "--src-mac", "02:00:00:00:00:45", "--loop", 1, expect=3)
        self.assertEqual({(f.src, f.dst) for f in frames}, {("02:00:00:00:00:45", NOBODY)})

    def test_options_that_do_nothing_are_refused(self):
        path = capture("one.pcap", [(0, numbered(0))])
        good = ("send", "-i", "qa", "--pcap", path)
        for args, names in ((("--vlan", 5), ["--vlan", "--rewrite-vlan"]), (("--flows", 5), ["--flows"]), (("--packet-size", 64), ["--packet-size"]),
                            (("--pcap-speed", "2x"), ["--pcap-speed"]), (("--pcap-timing", "original", "--pps", 5), ["--pcap-timing", "--pps"]),
                            (("--mode", "udp", "--dst-ip", "10.78.0.2"), ["--pcap"]), (("--pcap-timing", "original"), ["one.pcap", "--loop"])):
            with self.subTest(args=args):
                self.refused(*good, *args, names=names)
        self.refused("send", "-i", "qa", "--mode", "pcap", names=["--pcap"])
        self.refused("send", "-i", "qa", "--dst-ip", "10.78.0.2", "--loop", 3, names=["--loop"])

    def test_written_to_a_file_it_is_the_same_capture(self):
        path = capture("in.pcap", [(i / 1000, numbered(i, 60 + i)) for i in range(100)])
        out = os.path.join(TMP, "out.pcap")
        sh(BIN, "send", "-i", "loop:sink", "--pcap", path, "--pcap-timing", "original", "--loop", 1, "--write", out)
        self.assertEqual(open(out, "rb").read()[24:], open(path, "rb").read()[24:])


if __name__ == "__main__":
    main()
