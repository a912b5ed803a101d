# SPDX-License-Identifier: Apache-2.0
"""Answers for addresses that nobody has: asked for by a kernel, as a router would."""
import json
import signal
import socket
import struct

from frames import Tap, Wire, ethernet
from lab import A, B, Case, Squall, ip, mac, main, sh, squall, until

V4, V6 = "10.77.0.50", "fd77::50"


def neighbours():
    return {n["dst"]: n for n in json.loads(ip(A, "-j", "neigh", "show", "dev", "va"))}


class Respond(Case):
    def setUp(self):
        ip(A, "neigh", "flush", "dev", "va", check=False)

    def receiver(self, verb, *args, **kw):
        run = Squall(B, verb, *args, "--respond", f"{V4},{V6}", "--no-tui", **kw)
        run.wait_for("the filter is active")
        return run

    def pinged(self, where, address, *args):
        out = sh("ping", "-n", "-c", "3", "-i", "0.2", "-W", "5", *args, address, where=where, check=False)
        self.assertIn(" 0% packet loss", out)
        return out

    def test_a_kernel_finds_us(self):
        for backend in ("afpacket", "afxdp"):
            for verb in ("recv", "reflect"):
                with self.subTest(backend=backend, verb=verb):
                    ip(A, "neigh", "flush", "dev", "va", check=False)
                    run = self.receiver(verb, "-i", f"{backend}:vb")
                    self.pinged(A, V4)
                    self.pinged(A, V6)
                    self.pinged(A, V4, "-s", "1472", "-M", "do")
                    self.pinged(A, "10.77.0.2")  # the host itself still answers for its own
                    for address in (V4, V6):
                        self.assertEqual(neighbours()[address]["lladdr"], mac(B, "vb"))
                    run.signal()
                    end = self.ok(run.end()).end_record
                    self.assertGreaterEqual(end["respond"]["arp"], 1)
                    self.assertGreaterEqual(end["respond"]["nd"], 1)
                    self.assertEqual((end["respond"]["echo"], end["respond"]["unanswered"]), (9, 0))
                    self.assertEqual(end["rx"]["packets"], 0)
                    if verb == "reflect":
                        self.assertEqual(end["reflect"]["reflected"], 0)

    def test_requests_that_the_filter_takes_from_the_kernel(self):
        for verb in ("recv", "reflect"):
            with self.subTest(verb=verb):
                run = self.receiver(verb, "-i", "afxdp:vb", "--filter", "proto=icmp", "--filter", "dst=10.77.0.50")
                self.pinged(A, V4)
                run.signal()
                end = self.ok(run.end()).end_record
                self.assertEqual((end["respond"]["echo"], end["rx"]["packets"]), (3, 3))
                if verb == "reflect":
                    self.assertEqual(end["reflect"]["reflected"], 0)

    def test_nothing_is_answered_twice(self):
        run = self.receiver("reflect", "-i", "afpacket:vb", "--filter", "proto=icmp")
        out = self.pinged(A, V4)
        self.assertNotIn("DUP", out)
        run.signal()
        end = self.ok(run.end()).end_record
        self.assertEqual((end["respond"]["echo"], end["reflect"]["reflected"]), (3, 0))

    def test_behind_tags(self):
        us, them = mac(B, "vb"), mac(A, "va")
        arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + bytes.fromhex(them.replace(":", "")) + socket.inet_aton("10.77.0.1") + bytes(6) + socket.inet_aton(V4)
        run = self.receiver("recv", "-i", "afpacket:vb")
        with Wire(A, "va") as wire, Tap(A, "va") as tap:
            for tags in ((), ((0x8100, 7),), ((0x88A8, 5), (0x8100, 0x2007))):
                wire.send(ethernet(arp, 0x0806, tags, dst="ff:ff:ff:ff:ff:ff", src=them))
                answer, = [f for f in tap.frames(us, 1) if f.ethertype == 0x0806]
                self.assertEqual((answer.dst, answer.tags), (them, list(tags)))
                self.assertEqual(answer.raw[-28:] if len(answer.raw) < 60 else answer.payload[:28],
                                 arp[:6] + b"\0\2" + bytes.fromhex(us.replace(":", "")) + socket.inet_aton(V4) + arp[8:18])
        run.signal()
        self.assertEqual(self.ok(run.end()).end_record["respond"]["arp"], 3)

    def test_a_sender_finds_it_as_its_next_hop(self):
        run = Squall(B, "recv", "-i", "afpacket:vb", "--respond", V4, "--no-tui")
        run.wait_for("the filter is active")
        other = self.ok(squall(A, "send", "-i", "afpacket:va", "--dst-ip", V4, "--count", 100, "--no-tui"))
        self.assertIn(mac(B, "vb"), other.json["start"]["next_hop"])
        run.signal()
        self.assertEqual(self.ok(run.end()).end_record["rx"]["packets"], 100)

    def test_when_it_ends_nobody_answers(self):
        run = self.receiver("recv", "-i", "afpacket:vb")
        self.pinged(A, V4)
        run.signal(signal.SIGKILL)
        run.process.wait()
        ip(A, "neigh", "flush", "dev", "va", check=False)
        self.assertIn("100% packet loss", sh("ping", "-n", "-c", "1", "-W", "1", V4, where=A, check=False))
        until(lambda: "33:33:ff:00:00:50" not in ip(B, "maddr", "show", "dev", "vb"))

    def test_refusals(self):
        for verb in ("recv", "reflect"):
            self.refused(verb, "-i", "vb", "--respond", "10.77.0.2", where=B, names=("10.77.0.2", "vb's own"))
        self.refused("recv", "-i", "vb", "--respond", "fd77::2", where=B, names=("fd77::2", "vb's own"))
        self.refused("recv", "-i", "vb", "--respond", "10.78.0.77,224.0.0.1", where=B, names=("--respond", "224.0.0.1"))
        self.refused("recv", "-i", "vb", "--respond", "", where=B, names=("--respond", "'' is not a list of addresses, as in 192.0.2.50"))
        self.refused("recv", "-i", "vb", "--respond", "vb", where=B, names=("--respond", "'vb'"))
        self.refused("recv", "-i", "loop:", "--respond", V4, where=B, names=("--respond", "wire in memory"))
        self.refused("send", "-i", "qa", "--dst-ip", "10.78.0.2", "--respond", V4, names=("--respond", "not an option of squall send"))


if __name__ == "__main__":
    main()
