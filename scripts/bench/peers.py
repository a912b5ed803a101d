# SPDX-License-Identifier: Apache-2.0
"""What squall is compared with, and how each is run. Rates are those of the interface's own counter."""
import os, shutil

from lab import *

TESTPMD_HOW = "testpmd is missing (apt-get install dpdk-dev librte-net-af-xdp23): no ratio"
TRAFGEN_HOW = "trafgen is missing (apt-get install netsniff-ng): no ratio"


def trafgen_config(size):
    """One UDP frame of so many bytes (without FCS), IPv4 checksum right, UDP checksum none: least work for trafgen."""
    ip = size - 14
    words = [0x4500, ip, 0, 0, 0x4011, 0, 0x0a4d, 0x0001, 0x0a4d, 0x0002]
    total = sum(words)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    words[5] = 0xffff - total
    words += [1024, 9000, ip - 20, 0]
    path = os.path.join(TMP, f"trafgen{size}")
    macs = "0x02,0,0,0,0,9, 0x02,0,0,0,0,1, 0x08,0x00"
    with open(path, "w") as f:
        f.write("{ " + macs + ", " + ", ".join(f"const16({w})" for w in words) + f", fill(0x5a,{size - 42}) }}\n")
    return path


def trafgen_rate(dev, counted, size, seconds):
    p = start(A, "trafgen", "-i", trafgen_config(size), "-o", dev, "-P", 1, "--no-cpu-stats", "-q", cpu=0)
    return steady_rate(p, A, dev, counted, seconds)


def squall_rate(dev, args, counted, seconds, cpu=0):
    p = squall(A, "send", *args, "-d", "60s", cpu=cpu)
    try:
        return steady_rate(p, A, dev, counted, seconds)
    except Failed as e:
        raise Failed(f"{e}\n{said(p)}")


def bare_rate(dev, counted, queues, seconds):
    """So many queues on as many cores, from the first on."""
    p = bare(A, "tx", dev, queues, 60, cpu=",".join(map(str, range(queues))))
    try:
        return steady_rate(p, A, dev, counted, seconds)
    except Failed as e:
        raise Failed(f"{e}\n{said(p)}")


def have_testpmd():
    return shutil.which("dpdk-testpmd") is not None


def testpmd_rate(dev, seconds):
    """One queue from core 0; the other core only waits. Bursts of 32: larger ones were never faster."""
    log = os.path.join(TMP, "testpmd")
    with open(log, "w") as f:
        p = start(A, "dpdk-testpmd", "-l", "0,1", "--main-lcore", 1, "--no-huge", "-m", 512, "--no-pci", "--no-shconf", "--no-telemetry",
                  f"--file-prefix={NAME}", "--vdev", f"net_af_xdp0,iface={dev},start_queue=0,queue_count=1", "--", "--forward-mode=txonly",
                  "--auto-start", "--nb-cores=1", "--txpkts=60", "--total-num-mbufs=16384", "--stats-period=60", out=f, err=f)
    try:
        return steady_rate(p, A, dev, sent, seconds)
    except Failed as e:
        with open(log) as f:
            raise Failed(f"{e}\n{f.read()[-600:]}")
    finally:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        ip(A, "link", "set", "dev", dev, "xdp", "off")  # what libxdp leaves there when testpmd dies
