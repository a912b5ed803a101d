# SPDX-License-Identifier: Apache-2.0
"""Captures and frames to put into them, made byte by byte."""
import ipaddress
import os
import struct

from frames import ethernet, ones_sum, parse, udp_frame
from lab import TMP

MAGIC = {"us": 0xA1B2C3D4, "ns": 0xA1B23C4D}
ETHERNET, RAW, SLL = 1, 101, 113


def capture(name, records, link=ETHERNET, order="<", unit="ns"):
    """records: (seconds, bytes) or (seconds, bytes, original length)."""
    path = os.path.join(TMP, name)
    with open(path, "wb") as f:
        f.write(struct.pack(order + "IHHiIII", MAGIC[unit], 2, 4, 0, 0, 65535, link))
        for at, data, *length in records:
            ns = round(at * 1e9)
            part = ns % 10**9 // (1 if unit == "ns" else 1000)
            f.write(struct.pack(order + "IIII", ns // 10**9, part, len(data), length[0] if length else len(data)) + data)
    return path


def summed(**kw):
    """A UDP frame whose checksum is right."""
    frame = udp_frame(**kw)
    p = parse(frame)
    source, destination = (ipaddress.ip_address(a).packed for a in (p.ip.src, p.ip.dst))
    udp = struct.pack(">HHHH", p.udp.src, p.udp.dst, p.udp.length, 0)
    check = 0xFFFF - ones_sum(source + destination + struct.pack(">HH", 17, p.udp.length) + udp + p.payload)
    at = frame.index(udp[:6])
    return frame[:at + 6] + struct.pack(">H", check) + frame[at + 8:]


def numbered(i, size=60):
    """A frame whose EtherType belongs to nobody, so that no stack looks into it."""
    return ethernet(struct.pack(">I", i).ljust(size - 14, b"\x33"), 0x88B5)
