# SPDX-License-Identifier: Apache-2.0
"""What is measured. Each function yields Rows."""
import dataclasses, os, re, shutil, statistics, subprocess, time

from lab import *
from peers import TRAFGEN_HOW, squall_rate, trafgen_rate

UDP = ["--dst-ip", "10.77.0.2", "--dst-mac", NOBODY, "--flows", 1000, "--queues", 1, "--pps", "unlimited"]
SINK = ["--dst-ip", "10.78.0.2", *UDP[2:]]
@dataclasses.dataclass
class Row:
    what: str
    unit: str
    mine: list              # a figure per round
    target: float = None    # for the ratio if there is a peer, else for the median
    least: bool = True      # the target is the least, or the most
    peer: list = None
    note: str = ""


def rounds(n, *candidates):
    """Runs each candidate in turn, n times; a list of figures for each."""
    got = [[] for _ in candidates]
    for _ in range(n):
        for figures, run in zip(got, candidates):
            figures.append(run())
    return got


def tx(opt):
    cases = [("send on veth, 60 B, v. trafgen", "va", UDP, sent, 60, 1.15), ("send on a sink (ifb), 60 B, v. trafgen", "sink", SINK, received, 60, 0.97),
             ("send on veth, 1514 B, v. trafgen", "va", UDP, sent, 1514, 1.05)]
    have = shutil.which("trafgen")
    for what, dev, args, counted, size, target in cases:
        if dev == "sink" and not opt.sink:
            yield Row(what, "Mpps", [], target, note="this kernel has no ifb device")
            continue
        send = ["-i", f"afpacket:{dev}", *args, "--packet-size", size + 4]
        run = [lambda: squall_rate(dev, send, counted, opt.seconds) / 1e6]
        if have:
            run.append(lambda: trafgen_rate(dev, counted, size, opt.seconds) / 1e6)
        mine, *peer = rounds(opt.rounds, *run)
        yield Row(what, "Mpps", mine, target, peer=peer[0] if peer else None,
                  note="" if have else TRAFGEN_HOW)


def rx(opt):
    got = {"share": [], "user": [], "rate": []}
    for _ in range(opt.rounds):
        before = received(B, "vb")[0]
        r = squall(B, "recv", "-i", "afpacket:vb", "--idle", "1s", "-d", "60s", cpu=1)
        until(lambda: "filter is active" in said(r) or r.poll() is not None, 10, "squall recv is active")
        t = finish(squall(A, "send", "-i", "afpacket:va", *UDP, "-d", f"{opt.seconds + 3}s", cpu=0))
        e = finish(r)
        delivered = received(B, "vb")[0] - before
        got["share"].append(100 * e["rx"]["packets"] / max(delivered, t["tx"]["packets"]))
        got["user"].append(e["user_s"] * 1e9 / max(1, e["rx"]["packets"]))
        got["rate"].append(e["rx"]["pps"] / 1e6)
    yield Row("receive on veth: rate", "Mpps", got["rate"], note="as fast as one sender")
    yield Row("receive on veth: of what was delivered", "%", got["share"], 99.99,
              note="the stacks' own packets (neighbour discovery) count as delivered")
    yield Row("receive on veth: user time", "ns/packet", got["user"], 40, least=False, note="start-up included")


def collected(log):
    """How many instructions callgrind counted, by what it said at the end."""
    found = re.search(r"Collected : (\d+)", log)
    if not found:
        raise Failed(f"callgrind did not tell what it counted: {log[-400:]}")
    return int(found.group(1))


CALLGRIND = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={TMP}/callgrind"]


def start_time(opt):
    got = []
    for _ in range(max(opt.rounds, 5)):
        listener = Listener()
        t0 = time.clock_gettime_ns(time.CLOCK_REALTIME)
        p = squall(A, "send", "-i", "afpacket:va", "--dst-ip", "10.77.0.2", "--count", 1)
        got.append((listener.first() - t0) / 1e6)
        finish(p)
    yield Row("start to first packet on veth", "ms", got, 50, least=False, note="from fork, next hop found by ARP table or asking")


def rate_error(times, pps):
    """Of the mean rate, in percent: how far packets drift from the schedule between the first and last fiftieth (one packet held up
    by the machine is not to decide)."""
    ideal = 1e9 / pps
    off = [t - times[0] - i * ideal for i, t in enumerate(times)]
    k = max(1, len(off) // 50)
    return 100 * (statistics.median(off[-k:]) - statistics.median(off[:k])) / ((len(off) - k) * ideal)


def rate_once(pps, queues, seconds):
    """Error in percent, packets of the first 10 ms, and what spoils the figure."""
    capture = Capture()
    end = finish(squall(A, "send", "-i", "afpacket:va", "--dst-ip", "10.77.0.2", "--flows", 1000, "--pps", pps, "--queues", queues,
                        "-d", f"{seconds}s"))["tx"]
    times = sorted(capture.stop())
    if len(times) != end["packets"] or len(times) < 2:
        raise Failed(f"at {pps} pps {end['packets']} packets were sent and tcpdump saw {len(times)}")
    burst = sum(t - times[0] < 10_000_000 for t in times)
    return abs(rate_error(times, pps)), burst, f"{end['unsent']} unsent: the CPU was taken away" if end["unsent"] else ""


# Packets a second, and seconds that it takes to see how exact that is.
RATES = ((0.5, 20), (1, 20), (3, 10), (100, 10), (1000, 10), (1200, 10), (1700, 10), (33_333, 10), (100_000, 5), (500_000, 5))


def rate(opt):
    for pps, seconds in RATES:
        for queues in (1, 2):
            what = f"rate at {pps:,} pps, {queues} queue{'s' if queues > 1 else ''}"
            try:
                got = [rate_once(pps, queues, seconds) for _ in range(opt.rounds if queues == 1 else 1)]
            except Failed as e:
                yield Row(f"{what}: error", "%", [], 0.01, least=False, note=str(e))
                continue
            yield Row(f"{what}: error", "%", [x[0] for x in got], 0.01, least=False, note=max(x[2] for x in got))
            yield Row(f"{what}: first 10 ms", "packets", [x[1] for x in got], 1.1 * pps / 100 + 1, least=False)


PARTS = {"tx": tx, "rx": rx, "start": start_time, "rate": rate}
