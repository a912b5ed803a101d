# SPDX-License-Identifier: Apache-2.0
"""A tool that was the limit itself says so: receivers whose core is full, as the kernel's own accounts have it."""
import glob
import os
import re

from lab import B, best_of_three, Case, main, mac, QUIET, send, Squall, until


def first_processor():
    return str(min(os.sched_getaffinity(0)))


def last_processor():
    return str(max(os.sched_getaffinity(0)))


class Account:
    """Of the first receiving thread, as the kernel has it: how long it ran, and was ready to run and did not."""

    def __init__(self, run):
        self.path = until(lambda: self.find(run.process.pid), what="the receiving thread")
        self.began = self.read()

    @staticmethod
    def find(pid):
        for task in glob.glob(f"/proc/{pid}/task/*"):
            with open(f"{task}/comm") as f:
                if f.read().strip() == "squall-rx0":
                    return f"{task}/schedstat"
        return None

    def read(self):
        with open(self.path) as f:
            return [int(n) for n in f.read().split()[:2]]

    def since(self):
        return [now - then for now, then in zip(self.read(), self.began)]


class Core(Case):
    def flooded(self, verb, backend, cpu, before=(), sender_before=()):
        """What the run says of itself, and what the kernel says of its thread, when it is sent more than it takes."""
        run = Squall(B, verb, "-i", f"{backend}:qb", "--queues", 1, "--rx-frames", 4096, "--cpus", cpu, "--no-tui", before=before)
        run.wait_for("the filter is active")
        account = Account(run)
        sent = self.ok(send("-i", "afxdp:qa", *QUIET, "--dst-mac", mac(B, "qb"), "--flows", 50, "--pps", "unlimited", "--queues", 1, "--cpus", first_processor(), "-d", "2s",
                            before=sender_before)).end_record["tx"]
        ran, waited = account.since()
        run.signal()
        end = self.ok(run.end()).end_record
        rx = end["rx"]
        self.assertEqual(rx["packets"] + rx["dropped"], sent["packets"])
        self.assertGreater(rx["dropped"], 0)
        said, = [w for w in end["warnings"] if w.startswith("receive queue 0")]
        self.assertIn(f"{100 * rx['dropped'] / sent['packets']:.3g} % of its packets ({rx['dropped']}) were dropped before us", said)
        return said, ran, waited

    @best_of_three
    def test_of_its_own_work(self):
        """A reflector's thread has more to do for a packet than its sender's."""
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                said, ran, waited = self.flooded("reflect", backend, last_processor())
                self.assertRegex(said, "^receive queue 0's core was full")
                self.assertGreater(ran + waited, 1.8e9)  # of the 2 s that the sender sent

    @best_of_three
    def test_of_others_work(self):
        """A receiver that has only what another leaves it of its core."""
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                said, ran, waited = self.flooded("recv", backend, first_processor(), before=("chrt", "--idle", "0"), sender_before=("nice", "-n", "-10"))
                m = re.match(r"receive queue 0's core was full of other work: its thread waited for it ([\d.]+) % of the time that it had something to do, and ", said)
                self.assertIsNotNone(m, said)
                self.assertAlmostEqual(float(m[1]), 100 * waited / (ran + waited), delta=10)


if __name__ == "__main__":
    main()
