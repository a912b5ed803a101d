# SPDX-License-Identifier: Apache-2.0
"""What squall recv takes, what it leaves, how it counts, and how it ends."""
import json
import signal
import socket
import threading
import time

from frames import Wire, ethernet, ip_packet, udp_frame
from lab import A, B, Case, Inside, QUIET, Receiver, Squall, ip, link, main, received, send, squall, until

TAG, OUTER = (0x8100, 100), (0x88A8, 200)


class Recv(Case):
    """`Wire` sends on qa what the test makes; the receiver listens on qb, on the best backend but where it is named."""

    backend, mode = "", ()

    def setUp(self):
        self.wire = Wire(A, "qa")
        self.addCleanup(self.wire.socket.close)

    def takes(self, args, wanted, unwanted=()):
        """Each wanted frame i is sent i + 1 times, so that the sum tells which were taken; the rx record."""
        n = len(wanted)
        receiver = Receiver("-i", f"{self.backend}qb", *self.mode, *args)
        before = received(B, "qb")[0]
        for i, frame in enumerate(wanted):
            self.wire.send(frame, i + 1)
        for frame in unwanted:
            self.wire.send(frame, 100)
        # They are there: the stop comes after them.
        until(lambda: received(B, "qb")[0] - before == n * (n + 1) // 2 + 100 * len(unwanted))
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual(rx["packets"], n * (n + 1) // 2)
        self.assertEqual(rx["bytes"], sum(len(f) * (i + 1) for i, f in enumerate(wanted)))
        self.assertEqual(rx["dropped"], 0)
        return rx


class Filters(Recv):
    def test_without_one_it_takes_udp_to_port_9000(self):
        v6 = {"src": "fd00::1", "dst": "fd00::2"}
        rx = self.takes((), [udp_frame(), udp_frame(**v6), udp_frame(tags=[TAG]), udp_frame(tags=[OUTER, TAG]), udp_frame(tags=[TAG], **v6),
                             udp_frame(tags=[OUTER, TAG], **v6), udp_frame(tags=[(0x8100, 0xE000 | 100)])],
                        [udp_frame(9001), udp_frame(8999, src_port=9000), udp_frame(9001, tags=[TAG]), udp_frame(protocol=6), udp_frame(9001, **v6),
                         udp_frame(tags=[OUTER, TAG, TAG]), ethernet(b"", 0x0806), ethernet(ip_packet(1, b"\x23\x28" * 20), 0x0800)])
        self.assertEqual((rx["classes"]["ipv4_udp"], rx["classes"]["ipv6_udp"], rx["classes"]["tagged"]), (1 + 3 + 4 + 7, 2 + 5 + 6, 3 + 4 + 5 + 6 + 7))

    def test_udp_and_tcp_ports(self):
        self.takes(("--rx-mode", "udp-port", "--rx-port", "53,9000", "--rx-port", 7), [udp_frame(53), udp_frame(9000), udp_frame(7), udp_frame(7, tags=[TAG])],
                   [udp_frame(54), udp_frame(53, protocol=6)])
        rx = self.takes(("--rx-mode", "tcp-port", "--rx-port", 80), [udp_frame(80, protocol=6), udp_frame(80, protocol=6, src="fd00::1", dst="fd00::2")],
                        [udp_frame(80), udp_frame(81, src_port=80, protocol=6)])
        self.assertEqual((rx["classes"]["ipv4_tcp"], rx["classes"]["ipv6_tcp"]), (1, 2))

    def test_a_source_prefix(self):
        self.takes(("--rx-mode", "cidr", "--rx-cidr", "192.0.2.128/25"), [udp_frame(1, src="192.0.2.128"), udp_frame(2, src="192.0.2.255", protocol=6)],
                   [udp_frame(src="192.0.2.127"), udp_frame(src="192.0.3.128"), udp_frame(dst="192.0.2.200"), udp_frame(src="fd00::1", dst="fd00::2")])
        self.takes(("--rx-mode", "cidr", "--rx-cidr", "fd00:0:0:8::/61"), [udp_frame(1, src="fd00:0:0:f::1", dst="fd00::2")],
                   [udp_frame(src="fd00:0:0:10::1", dst="fd00::2"), udp_frame()])

    def test_everything(self):
        every = [udp_frame(), ethernet(b"x", 0x88B5), ethernet(b"", 0x0806), udp_frame(src="fd00::1", dst="fd00::2", tags=[OUTER, TAG])]
        rx = self.takes(("--rx-mode", "all", "--allow-match-all"), every)
        self.assertEqual({k: v for k, v in rx["classes"].items() if v}, {"ipv4_udp": 1, "other": 2, "arp": 3, "ipv6_udp": 4, "tagged": 4})
        self.refused("recv", "-i", "qb", "--rx-mode", "all", where=B, names=["--allow-match-all"])
        self.refused("recv", "-i", "qb", "--rx-mode", "cidr", "--rx-cidr", "0.0.0.0/0", where=B, names=["--allow-match-all"])

    def test_all_but_management(self):
        nd = ethernet(ip_packet(58, b"\x87" + bytes(23), "fd00::1", "fd00::2"), 0x86DD)
        echo = ethernet(ip_packet(58, b"\x80" + bytes(23), "fd00::1", "fd00::2"), 0x86DD)
        receiver = Receiver("-i", f"{self.backend}vb", *self.mode, "--rx-mode", "keep-management")
        with Wire(A, "va") as wire:
            for times, frame in enumerate((udp_frame(9000), udp_frame(22, dst="10.77.0.2"), udp_frame(22, protocol=6, dst="192.0.2.7"), echo,
                                           udp_frame(53, dst="10.77.0.2"), udp_frame(1000, src_port=53, dst="192.0.2.7"))):
                wire.send(frame, 100 << times)
            for frame in (ethernet(b"", 0x0806), nd, udp_frame(22, protocol=6, dst="10.77.0.2"), udp_frame(1000, src_port=22, protocol=6, dst="10.77.0.2"),
                          udp_frame(1000, src_port=53, dst="10.77.0.2"), udp_frame(1000, src_port=53, protocol=6, dst="10.77.0.2")):
                wire.send(frame, 1000)
        rx = self.ok(receiver.stop()).end_record["rx"]
        # The two live stacks add a few packets of their own.
        self.assertEqual(rx["packets"] // 100, 63)

    def test_only_what_comes_back(self):
        receiver = Squall(A, "send", "-i", f"{self.backend}qa", *self.mode, *QUIET, "--rx-mode", "generated-flow", "--pps", 100, "--count", 200, "--no-tui", form="--json-stream")
        receiver.wait_for('"event": ?"begin"', stream="out")
        with Wire(B, "qb") as wire:
            wire.send(udp_frame(1, src="10.78.0.2", dst="10.78.0.1"), 10)
            wire.send(udp_frame(1, src="10.78.0.2", dst="10.78.0.1", protocol=6), 5)
            wire.send(udp_frame(9000, src="10.78.0.3", dst="10.78.0.1"), 100)
            wire.send(udp_frame(9000, src="10.78.0.2", dst="10.78.0.9"), 100)
        receiver.end()
        self.assertEqual(receiver.rc, 0, receiver.err)
        end = json.loads(receiver.out.splitlines()[-1])["end"]
        self.assertEqual((end["rx"]["packets"], end["tx"]["packets"]), (15, 200))

    def test_each_kind_of_filter(self):
        v6 = {"src": "fd00::1", "dst": "fd00::2"}
        cases = (
            (["dst-mac=02:00:00:00:00:0a"], [ethernet(b"", 0x88B5, dst="02:00:00:00:00:0a")], [udp_frame()]),
            (["vlan=100"], [udp_frame(tags=[TAG]), udp_frame(tags=[(0x8100, 0xB000 | 100), OUTER])], [udp_frame(), udp_frame(tags=[OUTER, TAG])]),
            (["ethertype=0x0806"], [ethernet(b"", 0x0806), ethernet(b"", 0x0806, [TAG])], [ethernet(b"", 0x0807), udp_frame()]),
            (["proto=sctp"], [udp_frame(protocol=132), udp_frame(protocol=132, **v6)], [udp_frame(), udp_frame(protocol=6)]),
            (["src=192.0.2.0/31", "src=fd00::/64"], [udp_frame(src="192.0.2.1"), udp_frame(**v6)], [udp_frame(src="192.0.2.2"), udp_frame(src="fd01::1", dst="fd00::2")]),
            (["dst=198.51.100.7"], [udp_frame(dst="198.51.100.7")], [udp_frame(src="198.51.100.7"), udp_frame(dst="198.51.100.6")]),
            (["proto=udp", "src-port=53"], [udp_frame(1, src_port=53)], [udp_frame(53, src_port=1), udp_frame(1, src_port=53, protocol=6)]),
            (["proto=udp,dst-port=9000-9002", "proto=tcp"], [udp_frame(9000), udp_frame(9002), udp_frame(9001, protocol=6)], [udp_frame(8999), udp_frame(9003)]),
            (["vlan=100,proto=udp,dst-port=7,src=192.0.2.0/24"], [udp_frame(7, tags=[TAG])], [udp_frame(7), udp_frame(7, src="192.0.3.1", tags=[TAG]), udp_frame(8, tags=[TAG])]),
        )
        for filters, wanted, unwanted in cases:
            with self.subTest(filters=filters):
                self.takes([a for f in filters for a in ("--filter", f)], wanted, unwanted)


class FiltersOfPacketSockets(Filters):
    backend = "afpacket:"


class FiltersInGenericMode(Filters):
    mode = ("--xdp-mode", "generic")


class Counting(Recv):
    def test_what_the_kernel_sends_is_not_called_corrupt(self):
        receiver = Receiver("-i", "afpacket:vb")
        with Inside(A):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with s:
            for _ in range(300):
                s.sendto(b"x" * 100, ("10.77.0.2", 9000))
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["csum_unfinished"], rx["dropped"], rx["bytes"]), (300, 300, 0, 300 * 142))

    def test_super_frames_are_told_apart(self):
        with Inside(B):
            server = socket.create_server(("10.77.0.2", 8080))
        self.addCleanup(server.close)
        receiver = Receiver("-i", "afpacket:vb", "--rx-mode", "tcp-port", "--rx-port", 8080)
        with Inside(A):
            client = socket.create_connection(("10.77.0.2", 8080))
        peer, _ = server.accept()
        self.addCleanup(peer.close)
        total = 2_000_000
        with client:
            sender = threading.Thread(target=client.sendall, args=(bytes(total),))
            sender.start()
            left = total
            while left:
                left -= len(peer.recv(1 << 20))
            sender.join()
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertGreater(rx["super_frames"], 0)
        self.assertLessEqual(rx["super_frames"], rx["packets"])
        self.assertGreaterEqual(rx["bytes"], total)
        self.assertGreater(rx["mean_bytes_l2"], 1518)
        self.assertEqual((rx["classes"]["ipv4_tcp"], rx["dropped"]), (rx["packets"], 0))

    def test_two_queues_count_each_packet_once(self):
        receiver = Receiver("-i", "qb", "--queues", 2)
        self.ok(send("-i", "qa", *QUIET, "--flows", 64, "--count", 20_000, "--pps", "100k", "--queues", 2))
        end = self.ok(receiver.stop()).end_record
        self.assertEqual(end["rx"]["packets"], 20_000)
        self.assertEqual(len(end["queues"]), 2)
        self.assertEqual(sum(q["rx_packets"] for q in end["queues"]), 20_000)
        self.assertTrue(all(q["rx_packets"] for q in end["queues"]), end["queues"])

    def test_its_own_frames_are_not_received(self):
        receiver = Receiver("-i", "qa", where=A)
        self.ok(send("-i", "qa", *QUIET, "--count", 100, "--qdisc"))
        self.assertEqual(self.ok(receiver.stop()).end_record["rx"]["packets"], 0)

    def test_a_trickle_outlasts_a_reader_that_is_away(self):
        # The kernel closes a block of the ring every millisecond, however little is in it: there must be enough of them.
        receiver = Receiver("-i", "qb", "--queues", 1)
        receiver.signal(signal.SIGSTOP)
        sent = self.ok(send("-i", "qa", *QUIET, "--pps", "2k", "-d", "150ms")).end_record["tx"]["packets"]
        receiver.signal(signal.SIGCONT)
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["dropped"]), (sent, 0))

    def test_a_stopped_receiver_says_what_it_lost(self):
        # 32 MB of ring hold more than 200,000 small packets, AF_XDP's frames 16,384; the process is not there to take them out.
        for dev, cause, count in (("afpacket:qb", "dropped_ring", 400_000), ("afxdp:qb", "dropped_buffer", 50_000)):
            with self.subTest(dev=dev):
                receiver = Receiver("-i", dev, "--queues", 1)
                before = received(B, "qb")[0]
                receiver.signal(signal.SIGSTOP)
                tx = self.ok(send("-i", "qa", *QUIET, "--count", count, "--pps", "unlimited", "--packet-size", 128)).end_record["tx"]
                until(lambda: received(B, "qb")[0] - before >= tx["packets"])
                receiver.signal(signal.SIGCONT)
                rx = self.ok(receiver.stop()).end_record["rx"]
                self.assertGreater(rx[cause], 0)
                self.assertEqual((rx["packets"] + rx["dropped"], rx[cause]), (tx["packets"], rx["dropped"]))

    def test_large_packets_up_to_a_count(self):
        """Packets of three pieces: the last is taken whole, and the fewest frames there can be hold one."""
        for where, dev in ((A, "qa"), (B, "qb")):
            ip(where, "link", "set", dev, "mtu", 9000)
            self.addCleanup(ip, where, "link", "set", dev, "mtu", 1500)
        frame = udp_frame(payload=b"\x5a" * (9000 - 20 - 8))
        self.assertEqual(len(frame), 9014)
        for mode in ("native", "generic"):
            for frames in (0, 1):
                with self.subTest(mode=mode, frames=frames):
                    receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, "--rx-frames", frames, "--count", 5, "--idle", "5s")
                    for _ in range(5):
                        self.wire.send(frame, 1)
                        time.sleep(0.05)
                    rx = self.ok(receiver.end(10)).end_record["rx"]
                    self.assertEqual((rx["packets"], rx["bytes"]), (5, 5 * 9014))


class Ending(Recv):
    def test_after_a_count_exactly(self):
        for queues in (1, 2):
            receiver = Receiver("-i", f"{self.backend}qb", "--count", 777, "--queues", queues)
            self.wire.send(udp_frame(), 776)
            time.sleep(0.1)
            self.assertIsNone(receiver.process.poll(), "one is missing yet")
            self.wire.send(udp_frame(), 500)
            end = self.ok(receiver.end(10)).end_record
            self.assertEqual((end["rx"]["packets"], end["reason"]), (777, "count"))

    def test_after_silence(self):
        receiver = Receiver("-i", f"{self.backend}qb", "--idle", "1s")
        for _ in range(10):
            self.wire.send(udp_frame())
            time.sleep(0.2)
        self.assertIsNone(receiver.process.poll())
        last = time.monotonic()
        end = self.ok(receiver.end(10)).end_record
        self.assertEqual((end["rx"]["packets"], end["reason"]), (10, "idle"))
        self.assertLess(time.monotonic() - last, 3)
        self.assertEqual(self.ok(squall(B, "recv", "-i", f"{self.backend}qb", "--idle", "200ms")).end_record["rx"]["pps"], None)

    def test_after_a_time(self):
        end = self.ok(squall(B, "recv", "-i", f"{self.backend}qb", "-d", "500ms")).end_record
        self.assertEqual((end["reason"], end["rx"]["packets"], end["rx"]["first_ns"]), ("duration", 0, None))
        self.assertTrue(0.5 <= end["seconds"] < 3, end["seconds"])

    def test_only_when_told_to(self):
        receiver = Receiver("-i", f"{self.backend}qb")
        self.assertEqual(link(B, "qb")["promiscuity"], 1)
        time.sleep(0.5)
        self.assertIsNone(receiver.process.poll())
        self.assertEqual(self.ok(receiver.stop()).end_record["reason"], "signal")
        self.assertEqual(link(B, "qb")["promiscuity"], 0)

    def test_the_begin_record_tells_when_the_filter_is_active(self):
        receiver = Squall(B, "recv", "-i", f"{self.backend}qb", "--count", 50, form="--json-stream")
        receiver.wait_for('"event": ?"begin"', stream="out")
        self.wire.send(udp_frame(), 50)
        self.assertEqual(receiver.end(10).rc, 0)

    def test_receive_is_a_mode_of_send_too(self):
        self.assertEqual(self.ok(squall(B, "-i", "qb", "--mode", "receive", "--rx-mode", "udp-port", "--rx-port", 9, "-d", "100ms")).end_record["tx"], None)


class EndingOfPacketSockets(Ending):
    backend = "afpacket:"


class Entered(Recv):
    def test_the_same_under_ip_netns_and_nsenter(self):
        for enter in ("ip", "nsenter"):
            with self.subTest(enter=enter):
                receiver = Receiver("-i", "vb", "--queues", 2, "--count", 100, enter=enter)
                run = self.ok(send("-i", "va", "--dst-ip", "10.77.0.2", "--count", 100, "--queues", 2, "--flows", 2, enter=enter))
                self.assertEqual(run.json["start"]["queues"], "2 transmit, 0 receive")
                self.assertEqual(self.ok(receiver.end(10)).json["start"]["queues"], "0 transmit, 2 receive")


if __name__ == "__main__":
    main()
