# SPDX-License-Identifier: Apache-2.0
"""How packets are spaced, by the receiving kernel's clock, beside others that can send at a rate."""
import collections, os, shutil, statistics, struct, subprocess

from lab import *
from measures import Row, rate_error
from peers import trafgen_config

RATES = (1000, 10_000, 50_000, 200_000)
Spacing = collections.namedtuple("Spacing", "error p50 within1 within10 small")


def spacing(times, pps):
    """Mean rate's error in %, median of |gap - nominal| in us, and shares of gaps in %: near the nominal, and below a tenth of it."""
    times = sorted(times)
    if len(times) < 100:
        raise Failed(f"at {pps} pps only {len(times)} packets arrived")
    nominal = 1e9 / pps
    gaps = [b - a for a, b in zip(times, times[1:])]
    off = [abs(g - nominal) for g in gaps]
    share = lambda hits: 100 * sum(hits) / len(gaps)
    longer = rate_error(times, pps) / 100  # of the mean gap
    return Spacing(100 * (1 / (1 + longer) - 1), statistics.median(off) / 1e3, share(x <= 1000 for x in off), share(x <= 10_000 for x in off),
                   share(g < nominal / 10 for g in gaps))


def wait(p, seconds):
    try:
        p.wait(seconds + 20)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        raise Failed(f"{' '.join(p.args)}: no end") from None


def replayed(n):
    """A capture of n frames for tcpreplay."""
    path = os.path.join(TMP, f"replay{n}")
    frame = bytes.fromhex("020000000009" "020000000001" "0800" "4500002e0000000040110000" "0a4d0001" "0a4d0002" "04002328001a0000") + bytes(18)
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        f.write((struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame) * n)
    return path


def run_squall(pps, seconds, *more):
    finish(squall(A, "send", "-i", "afxdp:va", "--dst-ip", "10.77.0.2", "--dst-mac", NOBODY, "--flows", 1000, "--queues", 1, "--pps", pps, "-d",
                  f"{seconds}s", *more))


def run_trafgen(pps, seconds, *more):
    wait(start(A, "trafgen", "-i", trafgen_config(60), "-o", "va", "-P", 1, "-n", pps * seconds, "--no-cpu-stats", "-q", *more), seconds * 3)


def run_tcpreplay(pps, seconds):
    wait(start(A, "tcpreplay", "-i", "va", "--preload-pcap", "--pps", pps, replayed(pps * seconds)), seconds * 3)


def run_iperf3(pps, seconds):
    server = start(B, "iperf3", "-s", "-1", "-p", 9000)
    until(lambda: ":9000" in sh("ss", "-ltnH", where=B), 10, "iperf3 listens")
    wait(start(A, "iperf3", "-u", "-c", "10.77.0.2", "-p", 9000, "-l", 18, "-b", pps * 18 * 8, "-t", seconds), seconds)
    wait(server, seconds)


# Name, the program that it needs (None: squall), and how it runs.
SENDERS = (
    ("squall", None, run_squall),
    ("trafgen -b", "trafgen", lambda pps, s: run_trafgen(pps, s, "-b", f"{pps}pps")),
    ("trafgen -t", "trafgen", lambda pps, s: run_trafgen(pps, s, "-t", f"{1_000_000 // pps}us")),
    ("tcpreplay --pps", "tcpreplay", run_tcpreplay),
    ("iperf3 -u -b", "iperf3", run_iperf3),
)


def measure(run, pps, seconds):
    capture = Capture()
    run(pps, seconds)
    return spacing(capture.stop(), pps)


MEAN_SECONDS = 10  # that the mean rate is judged over


def poisson(opt):
    """The mean and the standard deviation of exponential gaps are the interval, each within about a third of a percent in so many."""
    pps, seconds, off = 10_000, 21, []
    for seed in range(opt.rounds):
        capture = Capture()
        run_squall(pps, seconds, "--spacing", "poisson", "--seed", seed)
        times = sorted(capture.stop())
        gaps = [b - a for a, b in zip(times, times[1:])]
        if len(gaps) < 200_000:
            raise Failed(f"at {pps} pps only {len(gaps)} gaps were seen")
        off.append([abs(100 * (f(gaps) * pps / 1e9 - 1)) for f in (statistics.fmean, statistics.pstdev)])
    yield Row(f"squall --spacing poisson at {pps:,} pps: mean", "% off", [x[0] for x in off], 1, least=False)
    yield Row(f"squall --spacing poisson at {pps:,} pps: deviation", "% off", [x[1] for x in off], 1, least=False)


def sleeping(opt):
    """What a sender that never spins costs, and how exact its mean is."""
    pps, seconds, got = 10_000, max(5, opt.seconds), []
    for _ in range(opt.rounds):
        capture = Capture()
        end = finish(squall(A, "send", "-i", "afpacket:va", "--dst-ip", "10.77.0.2", "--dst-mac", NOBODY, "--queues", 1, "--pps", pps, "--pacing",
                            "sleep", "-d", f"{seconds}s"))
        got.append((100 * (end["user_s"] + end["system_s"]) / seconds, abs(rate_error(sorted(capture.stop()), pps))))
    yield Row(f"squall --pacing sleep at {pps:,} pps: processor", "% of one", [x[0] for x in got], 15, least=False)
    yield Row(f"squall --pacing sleep at {pps:,} pps: error of the mean", "%", [x[1] for x in got], 0.01, least=False)


def pacing(opt):
    """Others are measured once at each rate: they are far off, and always alike."""
    for pps in RATES:
        for name, program, run in SENDERS:
            what = f"{name} at {pps:,} pps"
            if program and not shutil.which(program):
                yield Row(what, "us", [], note=f"{program} is missing (apt-get install {'netsniff-ng' if program == 'trafgen' else program})")
                continue
            try:
                got = [measure(run, pps, opt.seconds if program else max(MEAN_SECONDS, opt.seconds)) for _ in range(1 if program else opt.rounds)]
            except Failed as e:
                if not program:
                    raise
                yield Row(what, "us", [], note=str(e))
                continue
            mid = Spacing(*(statistics.median(column) for column in zip(*got)))
            yield Row(f"{what}: |gap - nominal|, p50", "us", [g.p50 for g in got], None if program else 1 if pps == 1000 else 0.15, least=False,
                      note=f"mean {mid.error:+.4f} %; within 1 us {mid.within1:.1f} %, 10 us {mid.within10:.1f} %; below a tenth {mid.small:.1f} %")
            if program:
                continue
            near = 10 if pps == 1000 else 1
            yield Row(f"{what}: error of the mean", "%", [abs(g.error) for g in got], 0.001 if pps <= 50_000 else 0.01, least=False)
            yield Row(f"{what}: gaps within {near} us", "%", [g.within10 if near == 10 else g.within1 for g in got], 95)
            yield Row(f"{what}: gaps below a tenth", "%", [g.small for g in got], 1, least=False)


PARTS = {"pacing": pacing, "poisson": poisson, "sleep": sleeping}
