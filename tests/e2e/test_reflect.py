# SPDX-License-Identifier: Apache-2.0
"""Packets that are sent back: as they look on the wire, which are not, and round trips of a pair."""
import socket

from frames import Tap, Wire, ethernet, ones_sum, udp_frame
from lab import A, B, Case, Inside, QUIET, Squall, ip, link, mac, main, sent, squall, until

TAG, OUTER = (0x8100, 100), (0x88A8, 200)


class Reflector(Squall):
    def __init__(self, dev, *args, where=B, **kw):
        super().__init__(where, "reflect", "-i", dev, *args, "--no-tui", **kw)
        self.wait_for("the filter is active")

    def stop(self):
        self.signal()
        return self.end()


class OnTheWire(Case):
    """Frames of the test's making go out of qa; what comes back is seen there."""

    def setUp(self):
        self.wire = Wire(A, "qa")
        self.addCleanup(self.wire.socket.close)
        self.there, self.here = mac(B, "qb"), mac(A, "qa")

    def test_it_comes_back_with_its_sides_exchanged(self):
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                tap = Tap(A, "qa")
                self.addCleanup(tap.socket.close)
                reflector = Reflector(f"{backend}:qb")
                out = [self.to_us(f) for f in (udp_frame(), udp_frame(tags=[TAG]), udp_frame(tags=[OUTER, TAG]), udp_frame(src="fd00::1", dst="fd00::2"),
                                                udp_frame(src="fd00::1", dst="fd00::2", tags=[TAG]))]
                for frame in out:
                    self.wire.send(frame)
                got = tap.frames(self.there, len(out))
                end = self.ok(reflector.stop()).end_record
                self.assertEqual(end["reflect"]["reflected"], len(out))
                self.assertEqual((end["tx"]["packets"], end["rx"]["packets"]), (len(out), len(out)))
                # Flows are on several queues, which keep no order among them.
                self.assertEqual(sorted(f.raw for f in got), sorted(map(self.turned, out)))

    def to_us(self, frame, dst=None):
        return bytes.fromhex((dst or self.there).replace(":", "") + self.here.replace(":", "")) + frame[12:]

    @staticmethod
    def turned(frame):
        """By hand: MACs, addresses and ports exchanged, one hop less, everything else as it was."""
        at = 14
        kind = frame[12:14]
        while kind in (b"\x81\x00", b"\x88\xa8"):
            kind, at = frame[at + 2:at + 4], at + 4
        size, a = (4, at + 12) if kind == b"\x08\x00" else (16, at + 8)
        l4 = at + (20 if size == 4 else 40)
        turned = bytearray(frame[6:12] + frame[:6] + frame[12:a] + frame[a + size:a + 2 * size] + frame[a:a + size] + frame[a + 2 * size:l4] + frame[l4 + 2:l4 + 4] + frame[l4:l4 + 2]
                           + frame[l4 + 4:])
        if size == 4:
            turned[at + 8] -= 1
            turned[at + 10:at + 12] = bytes(2)
            turned[at + 10:at + 12] = (ones_sum(bytes(turned[at:l4])) ^ 0xFFFF).to_bytes(2, "big")
        else:
            turned[at + 7] -= 1
        return bytes(turned)

    @staticmethod
    def with_hops(frame, hops):
        """An untagged frame of this TTL or hop limit."""
        frame = bytearray(frame)
        if frame[12:14] == b"\x08\x00":
            frame[22], frame[24:26] = hops, bytes(2)
            frame[24:26] = (ones_sum(bytes(frame[14:34])) ^ 0xFFFF).to_bytes(2, "big")
        else:
            frame[21] = hops
        return bytes(frame)

    def test_two_that_face_each_other_come_to_an_end(self):
        """A packet with both ports alike suits either filter for ever: it goes to and fro until its TTL is used up."""
        for backend in ("afpacket", "afxdp"):
            for addresses in ({}, {"src": "fd00::1", "dst": "fd00::2"}):
                with self.subTest(backend=backend, addresses=addresses):
                    there, here = Reflector(f"{backend}:qb"), Reflector(f"{backend}:qa", where=A)
                    before = sent(A, "qa")[0] + sent(B, "qb")[0]
                    self.wire.send(self.with_hops(self.to_us(udp_frame(src_port=9000, **addresses)), 20))
                    until(lambda: sent(A, "qa")[0] + sent(B, "qb")[0] - before >= 20)
                    fates = [self.ok(r.stop()).end_record["reflect"] for r in (there, here)]
                    self.assertEqual([(f["reflected"], f["expired"]) for f in fates], [(10, 0), (9, 1)])

    def test_what_is_used_up_stays(self):
        reflector = Reflector("afpacket:qb")
        before = sent(B, "qb")[0]
        for hops in (0, 1, 2):
            self.wire.send(self.to_us(self.with_hops(udp_frame(), hops)))
            self.wire.send(self.to_us(self.with_hops(udp_frame(src="fd00::1", dst="fd00::2"), hops)))
        until(lambda: sent(B, "qb")[0] - before >= 2)
        fates = self.ok(reflector.stop()).end_record["reflect"]
        self.assertEqual((fates["reflected"], fates["expired"]), (2, 4))

    def test_what_does_not_come_back(self):
        tap = Tap(A, "qa")
        self.addCleanup(tap.socket.close)
        reflector = Reflector("afpacket:qb", "--filter", "dst-mac=ff:ff:ff:ff:ff:ff,dst-mac=01:00:5e:00:00:01", "--filter", f"dst-mac={self.there},dst-mac=02:00:00:00:00:77")
        base = udp_frame()
        for frame in (self.to_us(base, "ff:ff:ff:ff:ff:ff"), self.to_us(base, "01:00:5e:00:00:01"), self.to_us(base, "02:00:00:00:00:77"),
                                   self.to_us(udp_frame(src="224.0.0.1")), self.to_us(udp_frame(src="0.0.0.0")), self.to_us(udp_frame(dst="192.0.2.1")),
                                   self.to_us(ethernet(b"\0" * 46, 0x0806)), self.to_us(ethernet(b"\0" * 46, 0x0800))):
            self.wire.send(frame)
        self.wire.send(self.to_us(base))
        self.assertEqual(len(tap.frames(self.there, 1)), 1)
        fates = self.ok(reflector.stop()).end_record["reflect"]
        self.assertEqual(fates, {"reflected": 1, "group": 2, "others": 1, "own": 1, "source": 2, "arp": 1, "broken": 1, "expired": 0, "large": 0, "ring_full": 0})

    def test_by_default_it_takes_what_a_sender_sends(self):
        before = sent(B, "qb")[0]
        reflector = Reflector("afpacket:qb")
        self.wire.send(self.to_us(udp_frame(9001)), 5)
        self.wire.send(self.to_us(udp_frame()), 3)
        until(lambda: sent(B, "qb")[0] - before >= 3)
        self.assertEqual(self.ok(reflector.stop()).end_record["rx"]["packets"], 3)


class RoundTrip(Case):
    """A pair on va, a reflector on vb."""

    def test_a_pair_gets_everything_back(self):
        for backend in ("afpacket", "afxdp"):
            for args in ((), ("--vlan", 5), ("--dst-ip", "fd77::2")):
                with self.subTest(backend=backend, args=args):
                    reflector = Reflector(f"{backend}:vb")
                    run = self.ok(squall(A, "pair", "-i", f"{backend}:va", "-r", f"{backend}:va", "--dst-ip", "10.77.0.2", "--dst-mac", mac(B, "vb"), "--flows", 100, "--pps", "5k", "--count", 5000,
                                         *args, "--no-tui"))
                    end = self.ok(reflector.stop()).end_record
                    self.assertEqual((run.end_record["rx"]["packets"], run.end_record["difference"]), (5000, 0))
                    self.assertEqual((end["reflect"]["reflected"], end["tx"]["packets"], end["reason"]), (5000, 5000, "signal"))

    def test_what_a_kernel_sends_comes_back_with_a_right_checksum(self):
        # The kernel leaves checksums on a veth to a device that is none; a socket gets the datagram only if it is right.
        reflector = Reflector("afpacket:vb")
        with Inside(A):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        # Nobody's address, so that only the reflector answers.
        ip(A, "neigh", "replace", "10.77.0.60", "lladdr", mac(B, "vb"), "dev", "va")
        s.settimeout(5)
        s.connect(("10.77.0.60", 9000))
        s.send(b"there and back again")
        self.assertEqual(s.recv(100), b"there and back again")
        self.assertEqual(self.ok(reflector.stop()).end_record["reflect"]["reflected"], 1)

    def test_a_count_and_an_idle_time_end_it(self):
        reflector = Reflector("afpacket:qb", "--count", 10)
        self.ok(squall(A, "send", "-i", "afpacket:qa", *QUIET, "--count", 20, "--no-tui"))
        end = self.ok(reflector.end()).end_record
        self.assertEqual((end["reflect"]["reflected"], end["reason"]), (10, "count"))
        end = self.ok(squall(B, "reflect", "-i", "afpacket:qb", "--idle", "100ms", "--no-tui")).end_record
        self.assertEqual((end["reason"], end["tx"]["packets"], end["rx"]["packets"]), ("idle", 0, 0))

    def test_refusals(self):
        self.refused("reflect", "-i", "loop:", names=("--interface", "loop"))
        self.refused("reflect", "-i", "qa", "--pps", "5", names=("--pps", "not an option of squall reflect"))
        self.refused("reflect", "-i", "qa", "--rx-mode", "all", names=("--allow-match-all",))

    def test_nothing_stays_behind_after_a_kill(self):
        reflector = Reflector("afxdp:qb")
        reflector.process.kill()
        reflector.process.wait()
        until(lambda: "xdp" not in link(B, "qb"))


if __name__ == "__main__":
    main()
