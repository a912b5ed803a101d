# SPDX-License-Identifier: Apache-2.0
"""Frames as the kernel hands them to a packet socket, and what is in them. Knows nothing of squall."""
import collections
import errno
import ipaddress
import select
import socket
import struct
import time

from lab import Inside

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, PACKET_STATISTICS = 263, 8, 6
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
PACKET_OUTGOING = 4
VLAN_VALID, VLAN_TPID_VALID = 0x10, 0x40

# ns: the kernel's time of arrival. tags: [(TPID, TCI)], outermost first. length: without FCS, tags included.
Frame = collections.namedtuple("Frame", "ns dst src tags ethertype length ip udp payload raw")
Ip = collections.namedtuple("Ip", "version src dst protocol ttl ok")
Udp = collections.namedtuple("Udp", "src dst length checksum ok")


def ones_sum(data):
    """The ones' complement sum of RFC 1071 over big-endian words: the number itself modulo 2^16 - 1."""
    number = int.from_bytes(data + b"\0" * (len(data) % 2), "big")
    return number % 0xFFFF or (0xFFFF if number else 0)


def text(address):
    return socket.inet_ntop(socket.AF_INET6 if len(address) == 16 else socket.AF_INET, address)


def parse(raw, ns=0):
    at, tags = 12, []
    while (ethertype := struct.unpack(">H", raw[at:at + 2])[0]) in (0x8100, 0x88A8):
        tags.append((ethertype, struct.unpack(">H", raw[at + 2:at + 4])[0]))
        at += 4
    body = raw[at + 2:]
    ip = udp = None
    payload = body
    if ethertype == 0x0800:
        header = (body[0] & 15) * 4
        total = struct.unpack(">H", body[2:4])[0]
        ok = body[0] >> 4 == 4 and ones_sum(body[:header]) == 0xFFFF and header <= total <= len(body)
        ip = Ip(4, text(body[12:16]), text(body[16:20]), body[9], body[8], ok)
        pseudo, payload = body[12:20], body[header:total]
    elif ethertype == 0x86DD:
        length = struct.unpack(">H", body[4:6])[0]
        ip = Ip(6, text(body[8:24]), text(body[24:40]), body[6], body[7], body[0] >> 4 == 6 and 40 + length <= len(body))
        pseudo, payload = body[8:40], body[40:40 + length]
    if ip and ip.protocol == 17:
        src, dst, length, checksum = struct.unpack(">HHHH", payload[:8])
        pseudo += struct.pack(">HH", 17, len(payload))
        ok = length == len(payload) and checksum != 0 and ones_sum(pseudo + payload) == 0xFFFF
        udp, payload = Udp(src, dst, length, checksum, ok), payload[8:]
    return Frame(ns, raw[:6].hex(":"), raw[6:12].hex(":"), tags, ethertype, len(raw), ip, udp, payload, raw)


class Tap:
    """Every frame at an interface since the constructor returned. outgoing: those that it sends, not those it gets."""

    def __init__(self, where, dev, outgoing=False):
        self.outgoing = outgoing
        with Inside(where):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.bind((dev, ETH_P_ALL))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def next(self):
        data, control, _, address = self.socket.recvmsg(65536, 256, socket.MSG_DONTWAIT)
        ns = 0
        for level, kind, value in control:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("qq", value[:16])
                ns = seconds * 10**9 + nanoseconds
            elif (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci, tpid = struct.unpack("I12xHH", value[:20])
                if status & VLAN_VALID:  # the kernel took the outer tag off
                    data = data[:12] + struct.pack(">HH", tpid if status & VLAN_TPID_VALID else 0x8100, tci) + data[12:]
        return (ns, data) if (address[2] == PACKET_OUTGOING) == self.outgoing else None

    def raw(self, expect=None, quiet=0.15, timeout=5, match=lambda data: True):
        """[(ns, bytes)]: all until `expect` matching ones are there and no more comes, or nothing came for a while."""
        frames, give_up = [], time.monotonic() + timeout
        while time.monotonic() < give_up:
            wait = quiet if expect is None or len(frames) >= expect else give_up - time.monotonic()
            if not select.select([self.socket], [], [], max(wait, 0))[0]:
                break
            if (got := self.next()) and match(got[1]):
                frames.append(got)
        packets, drops = struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if drops:
            raise AssertionError(f"the test's own tap lost {drops} of {packets} frames")
        return frames

    def frames(self, src, expect=None, **kw):
        """The frames whose source MAC is src, parsed."""
        want = bytes.fromhex(src.replace(":", ""))
        return [parse(data, ns) for ns, data in self.raw(expect, match=lambda data: data[6:12] == want, **kw)]


class Wire:
    """Sends frames of the test's making out of an interface."""

    def __init__(self, where, dev):
        with Inside(where):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((dev, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, frame, times=1):
        for _ in range(times):
            while not self.taken(frame):
                pass  # beside a flood the device has no room at times: nothing was sent

    def taken(self, frame):
        try:
            self.socket.send(frame)
        except OSError as e:
            if e.errno != errno.ENOBUFS:
                raise
            return False
        return True


def ethernet(payload, ethertype, tags=(), dst="02:00:00:00:00:09", src="02:00:00:00:00:08"):
    head = bytes.fromhex((dst + src).replace(":", ""))
    for tpid, tci in tags:
        head += struct.pack(">HH", tpid, tci)
    frame = head + struct.pack(">H", ethertype) + payload
    return frame + b"\0" * (60 - len(frame))


def ip_packet(protocol, payload, src="192.0.2.1", dst="192.0.2.2"):
    """An IPv4 or IPv6 packet; src and dst tell which."""
    s, d = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    if s.version == 6:
        return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + s.packed + d.packed + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0) + s.packed + d.packed
    return head[:10] + struct.pack(">H", 0xFFFF - ones_sum(head)) + head[12:] + payload


def udp_frame(dst_port=9000, src_port=5000, src="192.0.2.1", dst="192.0.2.2", tags=(), payload=b"payload", protocol=17, **kw):
    if protocol == 6:
        l4 = struct.pack(">HHIIBBHHH", src_port, dst_port, 0, 0, 0x50, 2, 64240, 0, 0) + payload
    else:
        l4 = struct.pack(">HHHH", src_port, dst_port, 8 + len(payload), 0) + payload
    return ethernet(ip_packet(protocol, l4, src, dst), 0x86DD if ":" in src else 0x0800, tags, **kw)
