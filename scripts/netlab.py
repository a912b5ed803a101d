# SPDX-License-Identifier: Apache-2.0
"""The laboratory of lab.sh for Python: two namespaces of this process, a and b, commands in them, the kernel's counters.

    va 10.77.0.1/24 fd77::1/64   <->   vb 10.77.0.2/24 fd77::2/64    both stacks live, they talk of their own

What a killed process left is removed by the next one. For the end-to-end tests and the bench.
"""
import atexit
import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREFIX = "squall-netlab"
NAME = f"{PREFIX}-{os.getpid()}"
A, B = f"{NAME}-a", f"{NAME}-b"
NOBODY = "02:00:00:00:00:09"  # no interface has it: the receiving stack drops such frames first of all
TMP = tempfile.mkdtemp(prefix=f"{PREFIX}-")
atexit.register(shutil.rmtree, TMP, True)


class Failed(AssertionError):
    """A sentence: a command failed, or what was waited for did not come."""


def sh(*cmd, check=True, where=None):
    """Runs a command, in a namespace when `where` names one; its standard output."""
    cmd = [str(c) for c in cmd]
    if where:
        cmd = ["ip", "netns", "exec", where, *cmd]
    r = subprocess.run(cmd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if check and r.returncode:
        raise Failed(f"{' '.join(cmd)}: exit {r.returncode}: {(r.stderr or r.stdout).strip()[-600:]}")
    return r.stdout


def ip(where, *args, check=True):
    return sh("ip", "-n", where, *args, check=check)


def up(queues=2):
    remove_stale()
    sh(os.path.join(ROOT, "scripts/lab.sh"), "--name", NAME, "--queues", queues, "up")


def down():
    for where in (A, B):
        sh("ip", "netns", "del", where, check=False)


def remove_stale():
    """Namespaces of processes that were killed."""
    for line in sh("ip", "netns", "list").splitlines():
        m = re.match(rf"({PREFIX}-(\d+)-[ab])\b", line)
        if m and not os.path.exists(f"/proc/{m[2]}"):
            sh("ip", "netns", "del", m[1], check=False)


def veth(a, b, queues=2, b_in=None):
    """A veth pair: `a` in namespace A, `b` in B (or `b_in`); both down, without IPv6."""
    b_in = b_in or B
    queues = ("numtxqueues", queues, "numrxqueues", queues)
    sh("ip", "link", "add", a, "netns", A, *queues, "type", "veth", "peer", "name", b, "netns", b_in, *queues)
    for where, dev in ((A, a), (b_in, b)):
        sh("sysctl", "-qw", f"net.ipv6.conf.{dev}.disable_ipv6=1", where=where)


def link(where, dev):
    return json.loads(ip(where, "-d", "-s", "-j", "link", "show", dev))[0]


def sent(where, dev):
    """The kernel's (packets, bytes) of what the interface sent."""
    s = link(where, dev)["stats64"]["tx"]
    return s["packets"], s["bytes"]


def received(where, dev):
    s = link(where, dev)["stats64"]["rx"]
    return s["packets"], s["bytes"]


class Inside:
    """`with Inside(namespace):` what this thread opens or starts belongs to that namespace."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, where):
        self.path = f"/run/netns/{where}"

    def enter(self, fd):
        if self.libc.setns(fd, 0x40000000):  # CLONE_NEWNET
            raise OSError(ctypes.get_errno(), "setns")

    def __enter__(self):
        self.back = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(self.path, os.O_RDONLY)
        self.enter(there)
        os.close(there)

    def __exit__(self, *_):
        self.enter(self.back)
        os.close(self.back)


def until(condition, timeout=20, what="the condition"):
    """Waits for what has no event of its own; its value."""
    give_up = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > give_up:
            raise Failed(f"{what}: not within {timeout} s")
        time.sleep(0.01)
    return value
