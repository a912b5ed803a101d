# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: frames larger than a buffer, both ways, and what is said where they cannot be had."""
import collections

from frames import Tap, Wire, udp_frame
from lab import A, B, Case, QUIET, Receiver, ip, mac, main, minus, received, send, sent, squall, until

MODES = ("native", "generic")


class Jumbo(Case):
    def setUp(self):
        for where, dev in ((A, "qa"), (B, "qb")):
            ip(where, "link", "set", dev, "mtu", 9000)
            self.addCleanup(ip, where, "link", "set", dev, "mtu", 1500)

    def test_sent(self):
        """Below and above what one buffer holds, and the largest there is."""
        for size in (1519, 2048, 3800, 3900, 4096, 4097, 8192, 9018):
            with self.subTest(size=size):
                before = sent(A, "qa")
                with Tap(B, "qb") as tap:
                    tx = self.ok(send("-i", "afxdp:qa", *QUIET, "--flows", 10, "--packet-size", size, "--count", 2000)).end_record["tx"]
                    frames = tap.frames(mac(A, "qa"), expect=2000)
                self.assertEqual(collections.Counter((f.length, f.ip.ok, f.udp.ok, f.payload.strip(b"\x5a")) for f in frames), {(size - 4, True, True, b""): 2000})
                self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(sent(A, "qa"), before))
                self.assertEqual((tx["packets"], tx["invalid"], tx["dropped"]), (2000, 0, 0))

    def test_received(self):
        for mode in MODES:
            for sender in ("afxdp:qa", "afpacket:qa"):
                for size in (64, 1519, 3800, 3900, 4096, 4097, 9018):
                    with self.subTest(mode=mode, sender=sender, size=size):
                        receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                        before = received(B, "qb")[0]
                        self.ok(send("-i", sender, *QUIET, "--flows", 10, "--packet-size", size, "--count", 500, "--pps", "10k"))
                        until(lambda: received(B, "qb")[0] - before == 500)
                        run = self.ok(receiver.stop())
                        rx = run.end_record["rx"]
                        self.assertEqual((rx["packets"], rx["bytes"], rx["dropped"]), (500, 500 * (size - 4), 0))
                        self.assertEqual({k: v for k, v in rx["classes"].items() if v}, {"ipv4_udp": 500}, "a packet is one, however many buffers it has")
                        self.assertRegex(run.json["start"]["backend"], "several buffers")

    def test_the_largest_size_is_named(self):
        ip(A, "link", "set", "qa", "mtu", 8000)
        self.refused("send", "-i", "afxdp:qa", *QUIET, "--packet-size", 9018, rc=2, names=[r"\b8018\b", "MTU"])


class OneBuffer(Case):
    """Without packets of several buffers the largest size is named, and works."""

    def setUp(self):
        for where, dev in ((A, "qa"), (B, "qb")):
            ip(where, "link", "set", dev, "mtu", 9000)
            self.addCleanup(ip, where, "link", "set", dev, "mtu", 1500)

    def test_sending(self):
        run = self.refused("send", "-i", "afxdp:qa,multi-buffer=off", *QUIET, "--packet-size", 9018, "--count", 10, rc=6, names=["9014 bytes", "multi-buffer=off", "--packet-size [0-9]+ at most"])
        most = int(run.json["error"]["try"].split("--packet-size ")[1].split()[0])
        for size, code in ((most, 0), (most + 1, 6)):
            run = squall(A, "send", "-i", "afxdp:qa,multi-buffer=off", *QUIET, "--packet-size", size, "--count", 10)
            self.assertEqual(run.rc, code, run.err)
        self.ok(squall(A, "send", "-i", "qa", *QUIET, "--packet-size", 9018, "--count", 10))

    def test_receiving(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                ip(B, "link", "set", "qb", "mtu", 9000)
                run = self.refused("recv", "-i", "afxdp:qb,multi-buffer=off", "--xdp-mode", mode, rc=6, where=B, names=["MTU of 9000", "multi-buffer=off", "ip link set qb mtu [0-9]+", "afpacket:qb"])
                most = int(run.json["error"]["try"].split("mtu ")[1].split(",")[0])
                for mtu, code in ((most, 0), (most + 1, 6)):
                    ip(B, "link", "set", "qb", "mtu", mtu)
                    run = squall(B, "recv", "-i", "afxdp:qb,multi-buffer=off", "--xdp-mode", mode, "-d", "20ms")
                    self.assertEqual(run.rc, code, run.err)

    def test_what_is_too_large_is_dropped_and_counted(self):
        """The MTU grew after the receiver was there."""
        for mode in MODES:
            with self.subTest(mode=mode):
                for where, dev in ((A, "qa"), (B, "qb")):
                    ip(where, "link", "set", dev, "mtu", 1500)
                receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                for where, dev in ((A, "qa"), (B, "qb")):
                    ip(where, "link", "set", dev, "mtu", 9000)
                before = received(B, "qb")[0]
                with Wire(A, "qa") as wire:
                    wire.send(udp_frame(payload=b"\x5a" * 8900), 30)
                    wire.send(udp_frame(), 20)
                until(lambda: received(B, "qb")[0] - before == 50)
                rx = self.ok(receiver.stop()).end_record["rx"]
                self.assertEqual((rx["packets"], rx["dropped"], rx["dropped_buffer"]), (20, 30, 30))


if __name__ == "__main__":
    main()
