# SPDX-License-Identifier: Apache-2.0
"""What was the limit is said: a core that was full, by the kernel's own accounts, or a device that had no room."""
import glob
import os
import re

from lab import A, B, best_of_three, Case, link, main, mac, QUIET, Receiver, send, sh, Squall, until

AHEAD = ("chrt", "--fifo", "1")  # ahead of other sessions, too, whose share the kernel may keep for each (autogroup)


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
                said, ran, waited = self.flooded("recv", backend, first_processor(), before=("chrt", "--idle", "0"), sender_before=AHEAD)
                m = re.match(r"receive queue 0's core was full of other work: its thread waited for it ([\d.]+) % of the time that it had something to do, and ", said)
                self.assertIsNotNone(m, said)
                self.assertAlmostEqual(float(m[1]), 100 * waited / (ran + waited), delta=10)


class Device(Case):
    """The other end of a veth takes packets in a kernel thread that only has what others leave it of its core."""

    @staticmethod
    def threads():
        found = set()
        for comm in glob.glob("/proc/[0-9]*/comm"):
            try:
                with open(comm) as f:
                    if f.read().startswith("napi/qb"):
                        found.add(int(comm.split("/")[2]))
            except OSError:  # it has ended
                pass
        return found

    @staticmethod
    def threaded(on):
        sh("sh", "-c", f"echo {on} > /sys/class/net/qb/threaded", where=B)

    def slow(self):
        """Only behind an XDP program there are such threads, one for each queue."""
        others = self.threads()
        Receiver("-i", "afxdp:qb", "--queues", 2)
        self.threaded(1)
        for thread in until(lambda: self.threads() - others, what="the kernel's threads"):
            os.sched_setaffinity(thread, {int(first_processor())})
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))

    @best_of_three
    def test_without_room(self):
        self.slow()
        before = link(A, "qa")["stats64"]["tx"]
        end = self.ok(send("-i", "afxdp:qa", *QUIET, "--dst-mac", mac(B, "qb"), "--pps", "unlimited", "--queues", 1, "--cpus", first_processor(), "-d", "1s", before=AHEAD)).end_record
        after = link(A, "qa")["stats64"]["tx"]
        sent, dropped = after["packets"] - before["packets"], after["dropped"] - before["dropped"]
        self.threaded(0)
        self.assertGreater(dropped, 0)
        self.assertEqual((end["tx"]["packets"], end["tx"]["dropped_driver"], end["device_drops"]), (sent, dropped, {"link tx_dropped": dropped}))
        self.assertEqual(end["warnings"], [f"{dropped} packets were refused by the driver or the kernel: the device, or what is behind it, had no room for them, or its MTU is no longer what it was"])


if __name__ == "__main__":
    main()
