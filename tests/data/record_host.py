#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records tests/data/host.nl: the rtnetlink dumps (links, addresses, routes, neighbours) of a namespace made here.

Run as root from anywhere: record_host.py OUTPUT. Two namespaces are made and removed again. What is set up below is
what tests/test_host_parse.c and tests/test_host_route.c expect to find.
"""
import ctypes
import os
import socket
import struct
import subprocess
import sys

A, B = f"sqrec{os.getpid()}a", f"sqrec{os.getpid()}b"

SETUP = f"""
-n {A} link set lo up
-n {A} link add va index 10 address 02:00:00:00:00:0a mtu 1400 numtxqueues 3 numrxqueues 2 type veth peer name pa netns {B}
-n {A} link add vb index 11 address 02:00:00:00:00:0b type veth peer name pb index 12 address 02:00:00:00:00:0c
-n {A} link add if0 index 13 address 02:00:00:00:00:0d type ifb
-n {A} link add down0 index 14 address 02:00:00:00:00:0e type veth peer name down1 index 15 address 02:00:00:00:00:0f
-n {B} link set pa up
-n {A} link set va up
-n {A} link set vb up
-n {A} link set pb up
-n {A} link set if0 up
-n {A} link set down1 up
-n {A} address add 10.0.0.1/24 dev va
-n {A} address add 10.0.0.3/24 dev va
-n {A} address add 10.2.0.1/24 dev va
-n {A} address add 169.254.7.7/16 dev va scope link
-n {A} address add 10.9.0.1 peer 10.9.0.2/32 dev va
-n {A} address add 10.1.0.1/24 dev vb
-n {A} address add 2001:db8:1::1/64 dev va nodad
-n {A} address add fd00:1::1/64 dev va nodad
-n {A} address add 2001:db8:1::dead/64 dev va nodad preferred_lft 0
-n {A} address add fe80::a/64 dev va nodad
-n {A} address add 2001:db8:2::1/64 dev vb nodad
-n {A} route add default via 10.0.0.254 dev va metric 100
-n {A} route add default via 10.1.0.254 dev vb metric 50
-n {A} route add 172.16.0.0/12 via 10.0.0.253 dev va
-n {A} route add 172.17.5.0/24 via 10.0.0.252 dev va
-n {A} route add 172.20.0.0/16 via 10.0.0.253 dev va
-n {A} route add 192.0.2.0/24 via 10.1.0.2 dev vb
-n {A} route add 192.88.99.0/24 via 10.0.0.7 dev va metric 20
-n {A} route add 192.88.99.0/24 via 10.0.0.8 dev va metric 10
-n {A} route add 198.51.100.0/24 nexthop via 10.0.0.5 dev va nexthop via 10.0.0.6 dev va
-n {A} route add 203.0.113.0/24 nexthop via 10.0.0.5 dev va nexthop via 10.1.0.5 dev vb
-n {A} route add 100.64.0.0/24 via inet6 fe80::1 dev va
-n {A} route add 100.64.1.0/24 via 10.2.0.9 dev va
-n {A} route add 100.64.2.0/24 via 10.0.0.9 dev va src 10.2.0.1
-n {A} route add 100.64.3.0/24 via 100.64.9.9 dev va onlink
-n {A} route add 100.64.4.0/24 tos 0x10 via 10.0.0.66 dev va
-n {A} route add 100.64.5.0/24 via 10.0.0.77 dev va table 100
-n {A} route add blackhole 203.0.114.0/24
-n {A} route add default via fe80::fe dev va
-n {A} route add 2001:db8:5::/48 via fe80::5 dev va
-n {A} route add 2001:db8:6::/48 nexthop via fe80::5 dev va nexthop via fe80::6 dev va
-n {A} route add 2001:db8:7::/48 via 2001:db8:2::2 dev vb
-n {A} route add unreachable 2001:db8:8::/48
-n {A} neigh add 10.0.0.2 lladdr 02:00:00:00:01:02 nud permanent dev va
-n {A} neigh add 10.0.0.4 lladdr 02:00:00:00:01:04 nud stale dev va
-n {A} neigh add 10.0.0.5 lladdr 02:00:00:00:01:05 nud noarp dev va
-n {A} neigh add 10.0.0.8 lladdr 02:00:00:00:01:08 nud reachable dev va
-n {A} neigh add 10.0.0.9 nud failed dev va
-n {A} neigh add 10.0.0.11 nud none use dev va
-n {A} neigh add fe80::5 lladdr 02:00:00:00:01:55 nud reachable dev va
-n {A} neigh add proxy 10.0.0.200 dev va
-n {A} address add 2001:db8:1::7/64 dev va
"""


def dump(kind, header):
    out = b""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as s:
        s.settimeout(5)
        s.send(struct.pack("=IHHII", 16 + len(header), kind, 0x301, 1, 0) + header)
        while True:
            piece = s.recv(65536)
            at = 0
            while at < len(piece):
                size, got, flags = struct.unpack_from("=IHH", piece, at)
                if flags & 0x10 or got == 2:
                    sys.exit("the dump was interrupted: once more, please")
                if got == 3:
                    return out
                end = at + (size + 3) // 4 * 4
                out += piece[at:at + 8] + bytes(8) + piece[at + 16:end]  # sequence and port id say nothing
                at = end


def main():
    try:
        for ns in (A, B):
            subprocess.run(["ip", "netns", "add", ns], check=True)
        for line in SETUP.strip().splitlines():
            subprocess.run(["ip"] + line.split(), check=True)
        fd = os.open(f"/run/netns/{A}", os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(fd, 0):
            sys.exit("cannot enter the namespace")
        link = struct.pack("=16xHHI", 8, 29, 8)  # IFLA_EXT_MASK: RTEXT_FILTER_SKIP_STATS
        data = b"".join((dump(18, link), dump(22, bytes(8)), dump(26, bytes(12)), dump(30, bytes(12))))
        with open(sys.argv[1], "wb") as f:
            f.write(data)
        subprocess.run(["ip", "address"])
        subprocess.run(["ip", "neigh"])
    finally:
        for ns in (A, B):
            subprocess.run(["ip", "netns", "del", ns], stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
