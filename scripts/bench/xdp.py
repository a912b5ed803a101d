# SPDX-License-Identifier: Apache-2.0
"""The AF_XDP measures: squall beside a bare loop around the rings, and testpmd. Each function yields Rows."""
import os, signal, statistics, shutil, time

from lab import *
from measures import CALLGRIND, SINK, UDP, Row, collected, rounds
from peers import TESTPMD_HOW, bare_rate, have_testpmd, squall_rate, testpmd_rate

NO_SINK = "this kernel has no ifb device"
FLOWS = 4096  # of the instructions' measure
STORED = 131072  # packets that a stopped receiver can hold


def by_round(mine, peer):
    """How far the ratio goes from round to round: what neighbours in time say."""
    ratios = [m / p for m, p in zip(mine, peer)]
    return f"by round {min(ratios):.2f} to {max(ratios):.2f}"


def beside(what, unit, mine, peer, target, note="", least=True):
    return Row(what, unit, mine, target, least, peer, "; ".join(filter(None, (by_round(mine, peer), note))))


def sender(dev, queues=1):
    args = list(UDP if dev == "va" else SINK)
    args[args.index("--queues") + 1] = queues
    return ["-i", f"afxdp:{dev}", *args]


def xdp_tx(opt):
    for dev, place, counted in (("va", "veth", sent), ("sink", "a sink (ifb)", received)):
        what = f"afxdp: send on {place}, 60 B"
        if dev == "sink" and not opt.sink:
            yield Row(what, "Mpps", [], 0.97, note=NO_SINK)
            continue
        run = [lambda: squall_rate(dev, sender(dev), counted, opt.seconds) / 1e6, lambda: bare_rate(dev, counted, 1, opt.seconds) / 1e6]
        if dev == "va" and have_testpmd():
            run.append(lambda: testpmd_rate(dev, opt.seconds) / 1e6)
        mine, bares, *testpmd = rounds(opt.rounds, *run)
        yield beside(f"{what}, v. bare loop", "Mpps", mine, bares, 0.97)
        if testpmd:
            yield beside(f"{what}, v. testpmd", "Mpps", mine, testpmd[0], 1)
        elif dev == "va":
            yield Row(f"{what}, v. testpmd", "Mpps", mine, 1, note=TESTPMD_HOW)
        if os.cpu_count() < 2:
            yield Row(f"{what}, two queues", "Mpps", [], 0.97, note="two queues want two cores")
            continue
        pair, bare_pair = rounds(opt.rounds, lambda: squall_rate(dev, sender(dev, 2), counted, opt.seconds, cpu="0,1") / 1e6,
                                 lambda: bare_rate(dev, counted, 2, opt.seconds) / 1e6)
        times = statistics.median(pair) / statistics.median(mine)
        yield beside(f"{what}, 2 queues v. 2 bare loops", "Mpps", pair, bare_pair, 0.97, note=f"{times:.2f} times one queue")


def xdp_user(opt):
    what = "afxdp: user time on a sink at full rate"
    if not opt.sink:
        yield Row(what, "ns/packet", [], 15, least=False, note=NO_SINK)
        return
    seconds = max(10, opt.seconds)

    def start_up():
        p = squall(A, "send", *sender("sink"), "--count", 1, cpu=0)
        return finish(p)["user_s"]

    idle = statistics.median(start_up() for _ in range(5))

    def mine():
        e = finish(squall(A, "send", *sender("sink"), "-d", f"{seconds}s", cpu=0))
        return (e["user_s"] - idle) * 1e9 / e["tx"]["packets"]

    def bare_loop():
        return report(bare(A, "tx", "sink", 1, seconds, cpu=0))["user_ns"]

    got, bares = rounds(max(5, opt.rounds), mine, bare_loop)
    yield Row(what, "ns/packet", got, 15, least=False, note=f"a bare loop {statistics.median(bares):.3g}; by the scheduler's ticks")


def receive_once(opt, mode, start_receiver, read):
    """One round: packets a second that a receiver got, and those of which nobody tells."""
    r = start_receiver(mode)
    before = link(A, "va")["stats64"]["tx"]["dropped"]
    sent = report(bare(A, "tx", "va", 1, opt.seconds, cpu=0))
    dropped = link(A, "va")["stats64"]["tx"]["dropped"] - before
    got, named = read(r)
    return got / sent["seconds"] / 1e6, abs(sent["packets"] - dropped - got - named), named


def squall_receiver(mode):
    r = squall(B, "recv", "-i", "afxdp:vb", "--xdp-mode", mode, "--queues", 1, "--idle", "1s", "-d", "60s", cpu=1)
    until(lambda: "filter is active" in said(r) or r.poll() is not None, 10, "squall recv is active")
    return r


def read_squall(r):
    e = finish(r)["rx"]
    return e["packets"], e["dropped"]


def bare_receiver(mode):
    r = bare(B, "rx", "vb", 1, 60, mode, cpu=1)
    until(lambda: "ready" in said(r) or r.poll() is not None, 10, "bare_xsk rx is ready")
    return r


def read_bare(r):
    time.sleep(0.2)
    os.killpg(r.pid, signal.SIGINT)
    e = report(r)
    return e["packets"], e["rx_dropped"] + e["rx_ring_full"]


def xdp_rx(opt):
    for mode in ("native", "generic"):
        what = f"afxdp: receive on veth, {mode}"
        mine, bares = rounds(opt.rounds, lambda: receive_once(opt, mode, squall_receiver, read_squall),
                             lambda: receive_once(opt, mode, bare_receiver, read_bare))
        yield beside(f"{what}, v. bare loop", "Mpps", [x[0] for x in mine], [x[0] for x in bares], 0.97)
        yield Row(f"{what}: unaccounted", "packets", [max(x[1] for x in mine)], 0, least=False,
                  note=f"the most of {len(mine)} rounds; {sum(x[2] for x in mine):,} dropped and named, bare loop {sum(x[2] for x in bares):,}")


def sending_instructions(count):
    p = squall(A, "send", "-i", "afxdp:sink", *SINK, "--flows", FLOWS, "--count", count, under=CALLGRIND)
    finish(p)
    return collected(said(p))


def receiving_instructions(count):
    """The receiver is stopped until all is in its ring: then it never waits, and takes whole batches."""
    p = squall(B, "recv", "-i", "afxdp:vb", "--queues", 1, "--rx-frames", STORED, "--count", count, "-d", "60s", under=CALLGRIND)
    until(lambda: "filter is active" in said(p) or p.poll() is not None, 30, "squall recv is active under callgrind")
    os.killpg(p.pid, signal.SIGSTOP)
    try:
        finish(squall(A, "send", *sender("va"), "--flows", FLOWS, "--count", count, cpu=0))
    finally:
        os.killpg(p.pid, signal.SIGCONT)
    if finish(p)["rx"]["packets"] != count:
        raise Failed(f"squall recv under callgrind did not get the {count} packets that were sent")
    return collected(said(p))


def xdp_ir(opt):
    note = "callgrind, kernel excluded; start-up cancels out"
    cases = (("send on a sink, 4,096 flows, checksums", sending_instructions, (100_000, 300_000), 90, opt.sink),
             ("receive on veth and classify", receiving_instructions, (20_000, 120_000), 60, True))
    for what, run, (few, many), target, possible in cases:
        missing = NO_SINK if not possible else "" if shutil.which("valgrind") else "valgrind is missing"
        n = [] if missing else [(run(many) - run(few)) / (many - few)]
        yield Row(f"afxdp: {what}: instructions", "per packet", n, target, least=False, note=missing or note)


PARTS = {"xdp-tx": xdp_tx, "xdp-user": xdp_user, "xdp-rx": xdp_rx, "xdp-ir": xdp_ir}
