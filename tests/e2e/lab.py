# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests stand on: namespaces of their own, squall as a child process, the kernel's counters.

The two namespaces of scripts/netlab.py have a second veth pair here:

    qa 10.78.0.1/24              <->   qb no address, no IPv6        quiet: nothing but the test's packets moves

10.78.0.2 to .254 are fixed neighbours of qa, behind qb. All is removed on every exit but SIGKILL; what a killed
process left is removed by the next one.
"""
import atexit
import contextlib
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import netlab
from netlab import A, B, Inside, NOBODY, TMP, ip, link, received, sent, sh, until, veth

BIN = os.environ.get("SQUALL", "squall")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# What a run to the quiet side needs beside the interface.
QUIET = ("--dst-ip", "10.78.0.2")
# So many packets a receive queue of every backend holds while its thread is kept off its processor, for however long.
HELD = 16_000

children = []


# ---- namespaces and links ----


def up(queues=2):
    netlab.up(queues)
    veth("qa", "qb", queues)
    ip(A, "addr", "add", "10.78.0.1/24", "dev", "qa")
    ip(A, "link", "set", "qa", "up")
    ip(B, "link", "set", "qb", "up")
    ip(A, "neigh", "add", "10.78.0.2", "lladdr", mac(B, "qb"), "dev", "qa", "nud", "permanent")


def end_children():
    """What a test left running, so that it does not stand in the next one's way."""
    while children:
        child = children.pop()
        if child.poll() is None:
            child.kill()
            child.wait()


def down():
    end_children()
    netlab.down()


def mac(where, dev):
    return link(where, dev)["address"]


def minus(now, then):
    return tuple(n - t for n, t in zip(now, then))


def cpu_of_children():
    """Seconds of processor time that the ended ones had."""
    t = os.times()
    return t.children_user + t.children_system


# ---- squall ----


class Squall:
    """One squall process. After end(): .rc, .out, .err, .seconds, .json (None when it is none), .end_record."""

    def __init__(self, where, *args, form="--json", enter="ip", env=None, before=(), **popen):
        cmd = [*before, BIN, *map(str, args)] + ([form] if form else [])
        if where and enter == "ip":
            cmd = ["ip", "netns", "exec", where, *cmd]
        elif where:
            cmd = ["nsenter", f"--net=/run/netns/{where}", *cmd]
        environment = {k: v for k, v in {**os.environ, **(env or {})}.items() if v is not None}
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                 "start_new_session": True, **popen}
        self.began = time.monotonic()
        self.process = subprocess.Popen(cmd, text=True, errors="replace", env=environment, **popen)
        children.append(self.process)
        self.change = threading.Condition()
        self.lines = {"out": [], "err": []}
        self.readers = []
        for name, pipe in (("out", self.process.stdout), ("err", self.process.stderr)):
            if pipe:
                self.readers.append(threading.Thread(target=self.read, args=(pipe, self.lines[name]), daemon=True))
                self.readers[-1].start()

    def read(self, pipe, lines):
        for line in pipe:
            with self.change:
                lines.append(line)
                self.change.notify_all()
        with self.change:
            self.change.notify_all()

    def wait_for(self, pattern, stream="err", timeout=20):
        """Until a line of the stream matches; the match. The process must not end before."""
        give_up = time.monotonic() + timeout
        with self.change:
            while True:
                for line in self.lines[stream]:
                    if m := re.search(pattern, line):
                        return m
                if time.monotonic() > give_up or not any(r.is_alive() for r in self.readers):
                    raise AssertionError(f"no {pattern!r} on {stream}: {self.tail()}")
                self.change.wait(0.1)

    def tail(self):
        return {name: "".join(lines)[-500:] for name, lines in self.lines.items()}

    def proc(self, name):
        """What /proc says of the process; nothing while it is still that which becomes squall."""
        with open(f"/proc/{self.process.pid}/{name}", encoding="utf-8") as f, open(f"/proc/{self.process.pid}/comm", encoding="utf-8") as comm:
            text = f.read()
            return text if comm.read() == "squall\n" else ""

    def listens(self, number=signal.SIGINT):
        """It has a handler for that signal, which would end it otherwise."""
        caught = re.search(r"SigCgt:\s*([0-9a-f]+)", self.proc("status"))
        return caught and int(caught[1], 16) >> number - 1 & 1

    def waits_for_a_pipe(self):
        return re.search("partner|pipe", self.proc("wchan"))

    def resident(self):
        """Bytes of its memory."""
        return int((self.proc("statm") or "0 0").split()[1]) * resource.getpagesize()

    def signal(self, number=signal.SIGINT):
        self.process.send_signal(number)  # `ip netns exec` and nsenter become squall

    def end(self, timeout=30):
        try:
            self.rc = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"no end within {timeout} s: {self.tail()}") from None
        self.seconds = time.monotonic() - self.began
        for reader in self.readers:
            reader.join(5)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        self.out, self.err = "".join(self.lines["out"]), "".join(self.lines["err"])
        try:
            self.json = json.loads(self.out, parse_constant=self.no_constant)
        except ValueError:
            self.json = None
        self.end_record = (self.json or {}).get("end") or {}
        return self

    @staticmethod
    def no_constant(name):
        raise ValueError(f"{name} is not JSON")


def squall(where, *args, timeout=30, **kw):
    return Squall(where, *args, **kw).end(timeout)


def send(*args, where=A, **kw):
    return squall(where, "send", *args, "--no-tui", **kw)


class Receiver(Squall):
    """squall recv in B, its filter active when the constructor returns."""

    def __init__(self, *args, where=B, **kw):
        super().__init__(where, "recv", *args, "--no-tui", **kw)
        self.wait_for("the filter is active")

    def stop(self):
        self.signal()
        return self.end()


# ---- tests ----


class Busy:
    """`with Busy() as busy:` afterwards, how long and for which part of the time a thread here may have waited for a processor.

    By the kernel's account of waiting (where it keeps one), which is a mean over the processors, and of what a
    hypervisor took: next to nothing on a machine that has nothing else to do.
    """

    def __enter__(self):
        self.then = time.monotonic(), self.waited()
        return self

    def __exit__(self, *_):
        began, waited = self.then
        self.seconds = (self.waited() - waited) * os.cpu_count()
        self.share = min(self.seconds / (time.monotonic() - began), 1)

    @staticmethod
    def waited():
        with open("/proc/stat", encoding="ascii") as f:
            seconds = int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
        with contextlib.suppress(OSError), open("/proc/pressure/cpu", encoding="ascii") as f:
            seconds += int(re.search(r"some .*total=(\d+)", f.read())[1]) / 1e6
        return seconds


def best_of_three(test):
    """A machine that is busy with other things for a moment is given two more chances."""

    @functools.wraps(test)
    def wrapped(self):
        self.subTest = lambda *_, **__: contextlib.nullcontext()  # what fails in a real one has failed for good
        for _ in range(2):
            try:
                return test(self)
            except AssertionError:
                end_children()
        del self.subTest
        return test(self)

    return wrapped


class Case(unittest.TestCase):
    maxDiff = 2000

    def run(self, result=None):
        try:
            return super().run(result)
        finally:
            end_children()

    def ok(self, run, rc=0):
        """The run ended with rc and its JSON says so, error object included."""
        self.assertEqual(run.rc, rc, f"stderr: {run.err[-1500:]}")
        self.assertIsNotNone(run.json, f"not JSON: {run.out[-500:]!r}")
        self.assertEqual(set(run.json), {"squall", "config", "start", "intervals", "end", "error"})
        if rc == 0:
            self.assertIsNone(run.json["error"])
        else:
            self.error_object(run.json["error"], rc)
        return run

    def books(self, tx):
        """What was handed to the device is sent, dropped, or in the device's hands still; each packet once."""
        self.assertEqual(tx["queued"], tx["completed"] + tx["dropped"] + tx["undecided"])

    def error_object(self, error, rc):
        self.assertEqual(set(error), {"code", "what", "object", "cause", "try", "problems"})
        self.assertEqual(error["code"], rc)
        self.assertTrue(error["what"] and error["cause"], error)

    def refused(self, *args, rc=2, names=(), where=A, **kw):
        """A run that fails with rc before it sends anything; stderr and JSON both name each of `names`."""
        run = self.ok(squall(where, *args, **kw), rc)
        self.assertIsNone(run.json["end"])
        for name in names:
            self.assertRegex(run.err, name)
            self.assertRegex(json.dumps(run.json["error"], ensure_ascii=False), name)
        return run


def main(queues=2):
    """For each test file's `if __name__ == "__main__"`."""
    if os.geteuid():
        print("needs root: it makes network namespaces and opens packet sockets", file=sys.stderr)
        sys.exit(1 if os.environ.get("SQUALL_REQUIRE") else SKIPPED)
    if not shutil.which(BIN):
        sys.exit(f"no program at {BIN}: set SQUALL")
    atexit.register(down)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell's jobs in the background, and what they start, ignore it
    up(queues)
    unittest.main(module="__main__", verbosity=2)
