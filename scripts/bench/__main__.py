# SPDX-License-Identifier: Apache-2.0
"""The bench's command line and its table."""
import argparse, platform, signal, statistics, sys

import generator, lab, measures, measuring, pacing, xdp

PARTS = {**measures.PARTS, **generator.PARTS, **xdp.PARTS, **pacing.PARTS, **measuring.PARTS}


def figure(x):
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def spread(figures):
    if not figures:
        return "-"
    text = figure(statistics.median(figures))
    return text if len(figures) == 1 else f"{text} ({figure(min(figures))} to {figure(max(figures))})"


LINE = "{:<60} {:<10} {:>26} {:>26} {:>6} {:>9}  {}"


def show(row):
    value = statistics.median(row.mine) if row.mine else None
    ratio = None
    if row.peer and row.mine:
        value = ratio = value / statistics.median(row.peer)
    target = verdict = ""
    if row.target is not None:
        target = f"{'>=' if row.least else '<='} {figure(row.target)}"
        if value is not None and not (ratio is None and row.unit == "Mpps"):
            met = value >= row.target if row.least else value <= row.target
            verdict = "met" if met else "MISSED"
    print(LINE.format(row.what, row.unit, spread(row.mine), spread(row.peer) if row.peer else "", f"{ratio:.3f}" if ratio else "", target,
                      "; ".join(filter(None, (verdict, row.note)))).rstrip(), flush=True)


def main():
    p = argparse.ArgumentParser(prog="bench.sh", description="Measures squall on this machine, beside trafgen, a bare AF_XDP loop and testpmd.")
    p.add_argument("parts", nargs="*", metavar="|".join(PARTS), help="all unless named")
    p.add_argument("--rounds", type=int, default=5, help="of each measure, interleaved with its peer's (5)")
    p.add_argument("--seconds", type=int, default=2, help="that a round measures (2)")
    opt = p.parse_args()
    for part in opt.parts:
        if part not in PARTS:
            p.error(f"there is no part {part}: {', '.join(PARTS)}")
    if opt.rounds < 1 or opt.seconds < 1:
        p.error("--rounds and --seconds start at 1")
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, lambda *_: sys.exit(1))
    failed = 0
    try:
        opt.sink = lab.up()
        print(f"Linux {platform.release()}, {lab.os.cpu_count()} CPUs; medians of {opt.rounds} interleaved rounds (least to most)\n")
        print(LINE.format("measure", "unit", "squall", "peer", "ratio", "target", ""))
        for name in opt.parts or PARTS:
            try:
                for row in PARTS[name](opt):
                    show(row)
            except lab.Failed as e:
                print(f"bench.sh: {name}: {e}", file=sys.stderr)
                failed = 1
    except lab.Failed as e:
        print(f"bench.sh: {e}", file=sys.stderr)
        failed = 1
    except KeyboardInterrupt:
        failed = 130
    finally:
        lab.down()
    return failed


sys.exit(main())
