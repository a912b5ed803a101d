# SPDX-License-Identifier: Apache-2.0
"""AF_XDP beside Linux: what the filter matches is ours, and every near miss reaches the host's own sockets, native and generic."""
import contextlib
import json
import socket
import struct
import threading

from frames import Wire, ethernet, ip_packet, ones_sum
from lab import A, B, Case, Inside, Receiver, Squall, ip, mac, main, minus, sent, sh, until

HERE4, HERE6, THERE4, THERE6 = "10.77.0.1", "fd77::1", "10.77.0.2", "fd77::2"
TAG = (0x8100, 100)


def udp_socket(where, address, port):
    with Inside(where):
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    s.bind((address, port))
    s.setblocking(False)
    return s


def pending(s):
    """What has come to the socket so far."""
    got = []
    with contextlib.suppress(BlockingIOError):
        while True:
            got.append(s.recv(65536))
    return got


def collect(s, want):
    """All that came, once it is `want` datagrams."""
    got = []
    until(lambda: got.extend(pending(s)) or len(got) >= want, what=f"{want} datagrams at {s.getsockname()}")
    return got


class Beside:
    """The receiver listens on vb, whose host has sockets of its own. Frames are made on va."""

    mode = None

    def setUp(self):
        sh("ip", "neigh", "replace", THERE4, "lladdr", mac(B, "vb"), "dev", "va", "nud", "permanent", where=A)
        self.wire = Wire(A, "va")
        self.addCleanup(self.wire.socket.close)

    def frame(self, dst_port, payload=b"payload", v6=False, tags=(), src_port=5000, **kw):
        ends = {"src": HERE6 if v6 else HERE4, "dst": THERE6 if v6 else THERE4, **kw}
        l4 = struct.pack(">HHHH", src_port, dst_port, 8 + len(payload), 0) + payload
        if v6:  # IPv6 has no UDP without a checksum
            pseudo = socket.inet_pton(socket.AF_INET6, ends["src"]) + socket.inet_pton(socket.AF_INET6, ends["dst"]) + struct.pack(">HH", 17, len(l4))
            l4 = l4[:6] + struct.pack(">H", 0xFFFF - ones_sum(pseudo + l4) or 0xFFFF) + l4[8:]
        return ethernet(ip_packet(17, l4, **ends), 0x86DD if v6 else 0x0800, tags, dst=mac(B, "vb"), src=mac(A, "va"))

    def socket(self, address, port):
        s = udp_socket(B, address, port)
        self.addCleanup(s.close)
        return s

    def test_udp_by_port(self):
        """Ours by the port, v4 and v6; the ports beside it, both protocols' and the source's, are the host's."""
        sockets = {(a, p): self.socket(a, p) for a in (THERE4, THERE6) for p in (8999, 9000, 9001)}
        receiver = Receiver("-i", "afxdp:vb", "--xdp-mode", self.mode)
        for v6 in (False, True):
            self.wire.send(self.frame(8999, v6=v6), 20)
            self.wire.send(self.frame(9001, v6=v6, src_port=9000), 30)
            self.wire.send(self.frame(9000, v6=v6), 40)
        for address in (THERE4, THERE6):
            for port, want in ((8999, 20), (9001, 30)):
                self.assertEqual(collect(sockets[address, port], want), [b"payload"] * want)
            self.assertEqual(pending(sockets[address, 9000]), [])
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["dropped"], rx["filtered"]), (80, 0, 0))
        self.wire.send(self.frame(9000), 10)
        self.assertEqual(len(collect(sockets[THERE4, 9000], 10)), 10, "once the receiver is gone")

    def test_ping_tcp_and_neighbours(self):
        """What keeps a host reachable, while a flood to our port comes in."""
        receiver = Receiver("-i", "afxdp:vb", "--xdp-mode", self.mode)
        flood = Squall(A, "send", "-i", "afpacket:va", "--dst-ip", THERE4, "--pps", "20k", "-d", "20s", "--no-tui")
        ip(A, "neigh", "flush", "dev", "va")
        for address in (THERE4, THERE6):
            self.assertRegex(sh("ping", "-c", 5, "-i", "0.1", "-W", 5, address, where=A), " 0% packet loss")
            self.assertEqual(self.over_tcp(address, 2222, 300_000), 300_000)
        flood.signal()
        count = self.ok(flood.end()).end_record["tx"]["packets"]
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["dropped"], rx["classes"]["ipv4_udp"]), (count, 0, count))

    def over_tcp(self, address, port, octets):
        """A connection from A to B, and so many bytes each way over it; how many came back."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with Inside(B):
            server = socket.create_server((address, port), family=family)
        with Inside(A):
            client = socket.socket(family)

        def echo():
            peer, _ = server.accept()
            with peer:
                while data := peer.recv(1 << 16):
                    peer.sendall(data)

        thread = threading.Thread(target=echo, daemon=True)
        thread.start()
        with server, client:
            client.settimeout(5)
            client.connect((address, port))
            pump = threading.Thread(target=client.sendall, args=(bytes(octets),))
            pump.start()
            left = octets
            while left:
                left -= len(client.recv(1 << 16))
            pump.join()
        thread.join(5)
        return octets - left

    def test_keep_management(self):
        """A login at port 22 and answers to the host's DNS questions stay with the host; what is left is ours."""
        answers = self.socket(THERE4, 5353)
        other = self.socket(THERE4, 7777)
        receiver = Receiver("-i", "afxdp:vb", "--xdp-mode", self.mode, "--rx-mode", "keep-management")
        self.assertEqual(self.over_tcp(THERE4, 22, 100_000), 100_000)
        self.assertEqual(self.over_tcp(THERE6, 22, 100_000), 100_000)
        ip(A, "neigh", "flush", "dev", "va")
        with udp_socket(A, HERE4, 53) as server, udp_socket(A, HERE4, 54) as stranger:
            for _ in range(20):
                server.sendto(b"answer", (THERE4, 5353))
                stranger.sendto(b"no answer", (THERE4, 7777))
        self.assertEqual(collect(answers, 20), [b"answer"] * 20)
        self.assertEqual(pending(other), [])
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual(rx["dropped"], 0)
        self.assertGreaterEqual(rx["classes"]["ipv4_udp"], 20)
        self.assertEqual(rx["classes"]["ipv4_tcp"] + rx["classes"]["ipv6_tcp"], 0)

    def test_fragments(self):
        """Of a packet in pieces only the first tells the ports; what looks like ports in another matches nothing."""
        payload = b"x" * 992 + struct.pack(">HH", 5000, 9000) + b"x" * 1004
        whole = self.frame(9002, payload)[14:]
        sock = self.socket(THERE4, 9002)
        receiver = Receiver("-i", "afxdp:vb", "--xdp-mode", self.mode, "--filter", "proto=udp,dst-port=9000")
        for port_in_it in (9002, 9000):
            data = whole[20:22] + struct.pack(">H", port_in_it) + whole[24:]
            for offset, more in ((0, 1), (1000, 0)):
                piece = data[offset:offset + 1000] if more else data[offset:]
                head = bytearray(ip_packet(17, piece, HERE4, THERE4)[:20])
                head[4:8] = struct.pack(">HH", port_in_it, more << 13 | offset // 8)
                head[10:12] = bytes(2)
                head[10:12] = struct.pack(">H", 0xFFFF - ones_sum(bytes(head)))
                self.wire.send(ethernet(bytes(head) + piece, 0x0800, dst=mac(B, "vb"), src=mac(A, "va")))
        self.assertEqual(collect(sock, 1), [payload])
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual(rx["packets"], 1, "the first piece, which has the port")

    def test_the_other_filters_leave_the_rest_alone(self):
        """Each takes one of two packets that differ in what it looks at; the other one is the host's."""
        cases = (
            (["src=10.77.0.8/29"], {"src": "10.77.0.9"}, {"src": "10.77.0.16"}),
            (["src=fd77::8/125"], {"src": "fd77::9", "v6": True}, {"src": "fd77::10", "v6": True}),
            (["dst=10.77.0.2", "proto=udp", "dst-port=7000-7002"], {"dst_port": 7002}, {"dst_port": 7003}),
            (["proto=udp", "src-port=53"], {"src_port": 53}, {"src_port": 54}),
            (["vlan=100"], {"tags": (TAG,)}, {}),
            (["ethertype=0x86dd"], {"v6": True}, {}),
        )
        for address in ("10.77.0.9/24", "10.77.0.16/24", "fd77::9/64", "fd77::10/64"):
            ip(A, "addr", "add", address, "dev", "va", *(("nodad",) if ":" in address else ()))
            self.addCleanup(ip, A, "addr", "del", address, "dev", "va")
        for filters, ours, theirs in cases:
            with self.subTest(filters=filters):
                port = theirs.get("dst_port", 7003)
                pair = [self.frame(**{"dst_port": port, "payload": payload, **case}) for case, payload in ((ours, b"ours"), (theirs, b"theirs"))]
                with udp_socket(B, THERE6 if theirs.get("v6") else THERE4, port) as sock:
                    receiver = Receiver("-i", "afxdp:vb", "--xdp-mode", self.mode, *(a for f in filters for a in ("--filter", f)))
                    for _ in range(15):
                        for frame in pair:
                            self.wire.send(frame)
                    self.assertEqual(collect(sock, 15), [b"theirs"] * 15)
                    rx = self.ok(receiver.stop()).end_record["rx"]
                    if filters != ["ethertype=0x86dd"]:  # the stacks say something of their own over IPv6
                        self.assertEqual(rx["packets"], 15)
                    self.assertGreaterEqual(rx["packets"], 15)

    def test_what_comes_back_to_a_sender(self):
        """generated-flow: what the destination answers is ours; what others send to this host is the host's."""
        sock = udp_socket(A, HERE4, 5001)
        self.addCleanup(sock.close)
        self.socket(THERE4, 9000)  # else the destination answers that there is no such port
        sender = Squall(A, "send", "-i", "afxdp:va", "--xdp-mode", self.mode, "--dst-ip", THERE4, "--rx-mode", "generated-flow", "--pps", 100, "--count", 200, form="--json-stream")
        sender.wait_for('"event": ?"begin"', stream="out")
        with Wire(B, "vb") as back:
            for src, payload, times in ((THERE4, b"answer", 10), ("10.77.0.77", b"stranger", 20)):
                l4 = struct.pack(">HHHH", 9000, 5001, 8 + len(payload), 0) + payload
                back.send(ethernet(ip_packet(17, l4, src, HERE4), 0x0800, dst=mac(A, "va"), src=mac(B, "vb")), times)
        self.assertEqual(collect(sock, 20), [b"stranger"] * 20)
        self.assertEqual(sender.end().rc, 0, sender.err)
        end = json.loads(sender.out.splitlines()[-1])["end"]
        self.assertEqual((end["tx"]["packets"], end["rx"]["packets"], end["rx"]["dropped"]), (200, 10, 0))

    def test_a_sender_takes_nothing(self):
        sock = self.socket(THERE4, 9000)
        before = sent(B, "vb")
        sender = Squall(B, "send", "-i", "afxdp:vb", "--xdp-mode", self.mode, "--dst-ip", HERE4, "--pps", 1000, "-d", "10s")
        until(lambda: minus(sent(B, "vb"), before)[0] > 50, what="the first packets")
        self.wire.send(self.frame(9000), 50)
        self.assertEqual(len(collect(sock, 50)), 50)
        sender.signal()
        self.assertIsNone(self.ok(sender.end()).end_record["rx"])


class Native(Beside, Case):
    mode = "native"


class Generic(Beside, Case):
    mode = "generic"


if __name__ == "__main__":
    main()
