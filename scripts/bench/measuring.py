# SPDX-License-Identifier: Apache-2.0
"""The measurement: its counts beside those of the loop's impairment, a cable that loses nothing, delays that are
known, and what a packet costs."""
import contextlib, json, os, struct, subprocess

from generator import ENDS
from lab import *
from measures import Row, rounds

FLOWS = [*ENDS, "--src-ip", "10.8.0.0/24", "--flow-walk", "cross", "--flows"]
IMPAIRED = "loss=1%,duplicate=0.5%,reorder=0.3%,seed=11"
PACKETS = 100_000_000  # of each case


def differences(end, sent):
    """What is not as the loop says that it should be: {name: (is, should be)}."""
    tx, m, did = end["tx"], end["measure"], end["loop"]
    books = {"sent": (tx["packets"], sent), "unsent": (tx["unsent"], 0), "unique": (m["unique"], sent - did["lost"]), "lost": (m["lost"], did["lost"]),
             "duplicate": (m["duplicate"], did["duplicated"]), "reordered": (m["reordered"], did["reordered"]),
             **{key: (m[key], 0) for key in ("late", "foreign", "unfollowed", "unreadable", "joined")}}
    return {key: both for key, both in books.items() if both[0] != both[1]}


def impair(opt):
    """Once each: what the loop does depends on its seed alone."""
    for queues in (1, 4):
        for flows in (1, 1000, 1_000_000):
            end = finish(squall(None, "pair", "-i", f"loop:queues={queues},{IMPAIRED}", *FLOWS, flows, "--queues", queues, "--pps", "unlimited", "--count",
                                PACKETS, "-d", 0), timeout=300)
            off, did = differences(end, PACKETS), end["loop"]
            note = f"{PACKETS:,} sent, {did['lost']:,} lost, {did['duplicated']:,} doubled, {did['reordered']:,} reordered, {end['seconds']:.0f} s"
            yield Row(f"loop impaired, {queues} queue{'s'[:queues > 1]}, {flows:,} flow{'s'[:flows > 1]}: miscounted", "packets",
                      [sum(abs(a - b) for a, b in off.values())], 0, least=False,
                      note="; ".join([note, *(f"{key} {a:,}, not {b:,}" for key, (a, b) in off.items())]))


# ---- a cable ----


@contextlib.contextmanager
def cable():
    """Two interfaces of one host, between which nothing moves but what is sent here."""
    veth("pa", "pb", b_in=A)
    try:
        for dev in ("pa", "pb"):
            ip(A, "link", "set", dev, "up")
        ip(A, "addr", "add", "10.79.1.1/24", "dev", "pa")
        yield
    finally:
        ip(A, "link", "del", "pa")


PAIR_SECONDS = 10


def where(end):
    """The counters that have what did not come."""
    dropped = {f"{side} {key}": n for side in ("tx", "rx") for key, n in end[side].items() if key.startswith("dropped_") and n}
    return [f"{key} {n:,}" for key, n in {**dropped, **end["device_drops"]}.items()]


def pair(opt):
    """At half of what the sender can do beside the receiver."""
    for backend in ("afpacket", "afxdp"):
        with cable():
            run = ["pair", "-i", f"{backend}:pa", "-r", f"{backend}:pb", "--dst-ip", "10.79.1.2", "--dst-mac", NOBODY, "--flows", 1000]
            most = finish(squall(A, *run, "--pps", "unlimited", "-d", "3s"))["tx"]["pps"]
            ends = [finish(squall(A, *run, "--pps", int(most / 2), "-d", f"{PAIR_SECONDS}s")) for _ in range(opt.rounds)]
        due = int(most / 2) * PAIR_SECONDS
        what = f"pair on veth, {backend}, {PAIR_SECONDS} s at {most / 2e6:.2f} Mpps"
        lost = [e["tx"]["packets"] - e["measure"]["unique"] + e["measure"]["duplicate"] for e in ends]
        worst = ends[lost.index(max(lost))]
        yield Row(f"{what}: lost or doubled", "packets", [max(lost)], 0, least=False,
                  note="; ".join([f"of {worst['tx']['packets']:,}, the most of {len(lost)} rounds", *where(worst)]))
        yield Row(f"{what}: not sent", "%", [100 * e["tx"]["unsent"] / due for e in ends])


# ---- delays ----

DELAYS = (10, 100, 1000, 10_000)  # us
QUANTILES = {"p50": 500_000, "p90": 900_000, "p99": 990_000, "p99_9": 999_000, "p99_99": 999_900}  # of a million


def latencies(path, least):
    """Of each packet in a capture, in ns, sorted: its arrival there less the time in its stamp. The two clocks are as far apart as
    makes the least of them `least`."""
    with open(path, "rb") as f:
        b = f.read()
    took, at = [], 24
    while at + 16 <= len(b):
        sec, ns, kept = struct.unpack_from("<III", b, at)
        at += 16 + kept
        took.append(sec * 10**9 + ns - int.from_bytes(b[at - 13:at - 8], "big"))  # the stamp's last 13 bytes: 5 of time, sequence, check
    half = 1 << 39  # the stamp's time has 40 bits
    took = sorted((t - took[0] + half) % (2 * half) - half for t in took)
    return [t - took[0] + least for t in took]


def delayed(us, pps, seconds, *more):
    return finish(squall(None, "pair", "-i", f"loop:delay={us}us", *FLOWS, 10, "--queues", 1, "--pps", pps, "-d", f"{seconds}s", *more))


def delay(opt):
    seconds, path = opt.seconds, os.path.join(TMP, "delayed.pcap")
    for us in DELAYS:
        off, note = [], ""
        for _ in range(opt.rounds):
            end = delayed(us, "20k", seconds, "--capture", path)
            told = end["latency_ns"]
            true = latencies(path, told["min"])
            if len(true) != told["count"]:
                raise Failed(f"{told['count']:,} packets were measured and {len(true):,} captured")
            right = {"min": us * 1000, "max": true[-1], "mean": sum(true) / len(true), **{key: true[(len(true) * q - 1) // 10**6] for key, q in QUANTILES.items()}}
            each = {key: 100 * abs(told[key] / right[key] - 1) for key in right}
            off.append(max(each.values()))
            note = f"the worst {max(each, key=each.get)}; p50 {told['p50'] / 1e3:,.1f} us, p99.99 {told['p99_99'] / 1e3:,.1f} us"
        yield Row(f"delay of {us:,} us, by the wire's times: min to max", "% off", off, 1, least=False, note=note)
    # So many packets that one is on the wire at any time: it is known how long to wait for the next.
    for us in DELAYS:
        ends = [delayed(us, "200k", seconds, "--host-times")["latency_ns"] for _ in range(opt.rounds)]
        for key in ("min", "p50"):
            yield Row(f"delay of {us:,} us, by the host's clock: {key}", "us longer", [e[key] / 1e3 - us for e in ends], max(1, us / 100), least=False)


# ---- the receive path ----

RECEIVE = os.path.join(os.path.dirname(SQUALL), "bench", "bench_receive")  # receive.c
SMALL = 20_000_000


def receive_once(flows, how, packets=SMALL):
    r = subprocess.run(["taskset", "-c", "1", RECEIVE, str(flows), str(packets), how], capture_output=True, text=True, timeout=120)
    if r.returncode:
        raise Failed(f"{RECEIVE}: {r.stderr.strip()}")
    return json.loads(r.stdout)["ns"]


def receive(opt):
    kinds = ((1000, "own"), (1_000_000, "own"), (1000, "shared"), (1000, "count"))
    own, million, shared, count = rounds(opt.rounds, *(lambda kind=kind: receive_once(*kind) for kind in kinds))
    yield Row("receive on the loop, 60 B, measured, 1,000 flows", "ns/packet", own, 15, least=False)
    yield Row("receive on the loop, 60 B, measured, 1,000,000 flows", "ns/packet", million, 40, least=False, note="none near the one before it in memory")
    yield Row("receive on the loop, flows of several queues, v. of one", "ns/packet", shared, 1.5, least=False, peer=own)
    yield Row("receive on the loop, 60 B, filtered and counted only", "ns/packet", count)


PARTS = {"impair": impair, "pair": pair, "delay": delay, "receive": receive}
