# SPDX-License-Identifier: Apache-2.0
"""The generator alone on a sink in memory: time and instructions a packet, of flows, mixes and captures."""
import os, shutil, struct, subprocess

from lab import *
from measures import CALLGRIND, Row, collected, rounds

SINK = ["send", "-i", "loop:sink", "--queues", 1, "--pps", "unlimited"]
ENDS = ["--dst-mac", NOBODY, "--src-mac", "02:00:00:00:00:01", "--dst-ip", "10.9.0.0/16"]
FLOWS = [*SINK, *ENDS, "--src-ip", "10.8.0.1", "--flows", 4096]  # destination and source port vary
MILLION = [*SINK, *ENDS, "--src-ip", "10.8.0.0/24", "--flow-walk", "cross", "--flows", 1_000_000]
MIX = [*FLOWS, "--mode", "imix"]
VALGRIND = "valgrind is missing"


def capture(n):
    """Of n small frames."""
    path = os.path.join(TMP, "small")
    frame = bytes.fromhex("020000000009" "020000000001" "0800" "4500002e0000000040110000" "0a4d0001" "0a4d0002" "04002328001a0000") + bytes(18)
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        f.write((struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame) * n)
    return path


def ns(args, seconds):
    return 1e9 / finish(squall(None, *args, "-d", f"{seconds}s", cpu=1))["tx"]["pps"]


def run_counted(args, count):
    r = subprocess.run([*CALLGRIND, SQUALL, *map(str, args), "--count", str(count), "--no-tui", "--json", "-y"], capture_output=True,
                       text=True, stdin=subprocess.DEVNULL, timeout=300)
    if r.returncode:
        raise Failed(f"squall under callgrind: exit {r.returncode}: {r.stderr[-400:]}")
    return collected(r.stderr)


def instructions(what, args, target):
    if not shutil.which("valgrind"):
        return Row(f"{what}: instructions", "per packet", [], target, least=False, note=VALGRIND)
    n = (run_counted(args, 300_000) - run_counted(args, 100_000)) / 200_000
    return Row(f"{what}: instructions", "per packet", [n], target, least=False, note="callgrind; start-up cancels out")


def loop(opt):
    # A rate that nothing keeps: the schedule is followed, and never waited for.
    replay = ["send", "-i", "loop:sink", "--pcap", capture(1000), "--pps", "1G"]
    kinds = (FLOWS, [*FLOWS, "--stamp"], [*MILLION, "--stamp"], [*MIX, "--stamp"], replay)
    plain, base, million, mix, replayed = rounds(opt.rounds, *(lambda args=args: ns(args, opt.seconds) for args in kinds))
    yield Row("loop sink, 4,096 flows, checksum", "ns/packet", plain, 6.72, least=False, note="6.72 ns: 148.8 Mpps, 100G line rate")
    yield Row("loop sink, the same and a stamp", "ns/packet", base, 6.72, least=False)
    yield Row("loop sink, 1,000,000 flows, v. 4,096", "ns/packet", million, 1.5, least=False, peer=base)
    yield Row("loop sink, mix of three sizes, v. one size", "ns/packet", mix, 1.3, least=False, peer=base)
    yield Row("loop sink, replay of small frames at a rate", "ns/packet", replayed, 10, least=False)
    yield instructions("loop sink, 4,096 flows, checksum", FLOWS, 80)
    yield instructions("loop sink, the same and a stamp", [*FLOWS, "--stamp"], 100)
    yield instructions("loop sink, mix of three sizes", [*MIX, "--stamp"], 130)
    yield instructions("loop sink, replay of small frames", replay, None)


PARTS = {"loop": loop}
