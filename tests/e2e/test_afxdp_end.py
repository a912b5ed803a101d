# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: nothing is left behind, however a run ends, and the next one starts at once; threads where they are wanted."""
import os
import signal
import time

import xdp
from lab import A, B, Case, HELD, QUIET, Receiver, Squall, ip, link, main, minus, received, send, sent, sh, squall, until

MODES = ("native", "generic")
BACK = ("--dst-ip", "10.78.0.1", "--src-ip", "10.78.0.2", "--dst-mac", "02:00:00:00:00:09")


def kept(where, dev):
    """All that is known of an interface but its counters."""
    facts = link(where, dev)
    del facts["stats64"]
    return facts, ip(where, "-d", "addr", "show", dev), ip(where, "neigh", "show", "dev", dev)


class Killed(Case):
    def setUp(self):
        self.before = kept(B, "qb")

    def killed(self, run):
        run.signal(signal.SIGKILL)
        self.assertEqual(run.end().rc, -signal.SIGKILL)

    def test_a_receiver(self):
        for mode in MODES:
            for queues in (1, 4):
                with self.subTest(mode=mode, queues=queues):
                    for _ in range(3):
                        receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, "--queues", queues)
                        self.assertNotEqual(kept(B, "qb"), self.before)
                        self.killed(receiver)
                        self.assertIsNone(xdp.program(B, "qb"), "at once")
                        # The next one need not wait for the queues that the dead process still holds.
                        self.ok(squall(B, "recv", "-i", "afxdp:qb", "--xdp-mode", mode, "--queues", queues, "-d", "10ms"))
                    until(lambda: kept(B, "qb") == self.before, what="the interface as it was")

    def test_a_sender(self):
        for mode in MODES:
            for args in (("--pps", "unlimited", "--queues", 4, "--flows", 9), ("--pps", 10)):
                with self.subTest(mode=mode, args=args):
                    for _ in range(3):
                        before = sent(B, "qb")
                        run = Squall(B, "send", "-i", "afxdp:qb", "--xdp-mode", mode, *BACK, "-d", "30s", *args)
                        until(lambda: sent(B, "qb") != before, what="the first packet")
                        self.killed(run)
                        run = self.ok(squall(B, "send", "-i", "afxdp:qb", "--xdp-mode", mode, *BACK, "--queues", 4, "--flows", 9, "--count", 100))
                        self.assertEqual(run.end_record["tx"]["packets"], 100)
                    until(lambda: kept(B, "qb") == self.before, what="the interface as it was")

    def test_in_a_flood(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                flood = Squall(A, "send", "-i", "afxdp:qa", *QUIET, "--pps", "unlimited", "-d", "30s", "--flows", 64)
                until(lambda: received(B, "qb")[0] > 10_000)
                for _ in range(3):
                    receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                    there = received(B, "qb")[0]
                    until(lambda: received(B, "qb")[0] - there > 10_000)
                    self.killed(receiver)
                    self.assertIsNone(xdp.program(B, "qb"))
                receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, "--idle", "5s")
                until(lambda: received(B, "qb")[0] - there > 10_000)
                self.assertGreater(self.ok(receiver.stop()).end_record["rx"]["packets"], 0)
                flood.signal()
                self.ok(flood.end())


def deferral(where, dev):
    """What the kernel defers interrupts by: the interface's two settings, read in its own namespace."""
    names = ("napi_defer_hard_irqs", "gro_flush_timeout")
    return [int(n) for n in sh("cat", *(f"/sys/class/net/{dev}/{name}" for name in names), where=where).split()]


class Deferred(Case):
    """--napi-defer on: set while a run lasts, and as before after its end, however it comes."""

    def test_as_before_after_every_end(self):
        before = deferral(B, "qb")
        self.assertEqual(before, [0, 0])
        for end in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            receiver = Receiver("-i", "afxdp:qb", "--napi-defer", "on")
            self.assertNotIn(0, deferral(B, "qb"))
            receiver.signal(end)
            receiver.end()
            until(lambda: deferral(B, "qb") == before, what="the settings as they were")

    def test_an_immediate_rerun_does_not_take_them_for_the_users(self):
        receiver = Receiver("-i", "afxdp:qb", "--napi-defer", "on")
        receiver.signal(signal.SIGKILL)
        receiver.end()
        self.ok(squall(B, "recv", "-i", "afxdp:qb", "--napi-defer", "on", "-d", "50ms"))
        self.assertEqual(deferral(B, "qb"), [0, 0])

    def test_what_the_user_set_stays(self):
        sh("sh", "-c", "echo 7 >/sys/class/net/qb/napi_defer_hard_irqs", where=B)
        try:
            run = self.ok(squall(B, "recv", "-i", "afxdp:qb", "--napi-defer", "on", "-d", "50ms"))
            self.assertIn("7", run.json["start"]["xdp"]["napi"])
            self.assertEqual(deferral(B, "qb"), [7, 0])
        finally:
            sh("sh", "-c", "echo 0 >/sys/class/net/qb/napi_defer_hard_irqs", where=B)


class Stopped(Case):
    def test_the_first_signal(self):
        for mode in MODES:
            for args in (("--pps", "100k"), ("--pps", "unlimited", "--queues", 4, "--flows", 9), ("--pps", 1), ("--pps", "unlimited", "--packet-size", 1518)):
                with self.subTest(mode=mode, args=args):
                    before = sent(A, "qa")
                    run = Squall(A, "send", "-i", "afxdp:qa", "--xdp-mode", mode, *QUIET, "-d", "60s", *args)
                    until(lambda: sent(A, "qa") != before, what="the first packet")
                    at = time.monotonic()
                    run.signal()
                    end = self.ok(run.end()).end_record
                    self.assertLess(time.monotonic() - at, 1.5)
                    self.assertEqual((end["reason"], end["tx"]["packets"], end["tx"]["completed_bytes"]), ("signal", *minus(sent(A, "qa"), before)))
                    self.assertEqual((end["tx"]["dropped"], end["tx"]["undecided"]), (0, 0))
                    self.books(end["tx"])

    def test_the_second_signal(self):
        for verb, where, args in (("recv", B, ("-i", "afxdp:qb")), ("send", A, ("-i", "afxdp:qa", *QUIET, "-d", "60s", "--pps", "unlimited"))):
            before = kept(where, args[1].split(":")[1])
            run = Squall(where, verb, *args, form="--json-stream")
            run.wait_for('"begin"', "out")
            os.kill(run.process.pid, signal.SIGSTOP)  # so that both are there when it looks
            run.signal(signal.SIGINT)
            run.signal(signal.SIGTERM)
            os.kill(run.process.pid, signal.SIGCONT)
            self.assertEqual(run.end().rc, 130)
            until(lambda: kept(where, args[1].split(":")[1]) == before, what="the interface as it was")

    def test_what_came_before_the_stop_is_counted(self):
        for mode in MODES:
            for _ in range(5):
                receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                before = received(B, "qb")[0]
                self.ok(send("-i", "afxdp:qa", *QUIET, "--count", 10_000, "--pps", "unlimited"))
                until(lambda: received(B, "qb")[0] - before == 10_000)
                rx = self.ok(receiver.stop()).end_record["rx"]
                self.assertEqual((rx["packets"], rx["dropped"]), (10_000, 0))


class Surroundings(Case):
    def both_ends(self, rx_args=(), tx_args=(), mode="native", count=HELD, **kw):
        receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode, *rx_args, **kw)
        run = self.ok(send("-i", "afxdp:qa", "--xdp-mode", mode, *QUIET, "--count", count, "--pps", "100k", "--flows", 64, *tx_args, **kw))
        rx = self.ok(receiver.stop())
        self.assertEqual((run.end_record["tx"]["packets"], rx.end_record["rx"]["packets"], rx.end_record["rx"]["dropped"]), (count, count, 0))
        return run, rx

    def test_busy_poll(self):
        for mode in MODES:
            for queues in (1, 4):
                with self.subTest(mode=mode, queues=queues):
                    for run in self.both_ends(("--busy-poll", "20us"), ("--busy-poll", "20us", "--queues", queues), mode=mode):
                        self.assertRegex(run.json["start"]["backend"], "busy poll")
        self.assertNotRegex(self.both_ends()[1].json["start"]["backend"], "busy poll")

    def test_busy_poll_and_silence(self):
        """A poller that gets nothing still notices a signal, and the end."""
        receiver = Receiver("-i", "afxdp:qb", "--busy-poll", "20us")
        time.sleep(0.1)
        at = time.monotonic()
        self.ok(receiver.stop())
        self.assertLess(time.monotonic() - at, 1)
        self.ok(squall(B, "recv", "-i", "afxdp:qb", "--busy-poll", "20us", "--idle", "100ms"))

    def test_processors(self):
        for cpus, want in (("0", [0, 0, 0, 0]), ("1,0", [1, 0, 1, 0])):
            tx, rx = self.both_ends(("--cpus", cpus, "--queues", 4), ("--cpus", cpus, "--queues", 4))
            for run in (tx, rx):
                self.assertEqual([q["cpu"] for q in run.end_record["queues"]], want)

    def test_threads_are_where_it_says(self):
        receiver = Receiver("-i", "afxdp:qb", "--cpus", "1", "--queues", 2)

        def threads():
            found = {}
            for thread in os.listdir(f"/proc/{receiver.process.pid}/task"):
                with open(f"/proc/{receiver.process.pid}/task/{thread}/comm", encoding="utf-8") as f:
                    found[f.read().strip()] = os.sched_getaffinity(int(thread))
            return found

        until(lambda: {"squall-rx0", "squall-rx1"} <= set(threads()), what="both threads")
        self.assertEqual([threads()[name] for name in ("squall-rx0", "squall-rx1")], [{1}, {1}])
        self.ok(receiver.stop())

    def test_entered_without_the_namespaces_sysfs(self):
        for mode in MODES:
            self.both_ends(mode=mode, enter="nsenter")

    def test_another_session_and_no_environment(self):
        self.both_ends(env={name: None for name in os.environ if name not in ("PATH", "SQUALL")})

    def test_few_files(self):
        """It needs no more than some dozens, and says so when it has not got them."""
        run = squall(B, "recv", "-i", "afxdp:qb", "-d", "20ms", before=("prlimit", "--nofile=40"))
        self.assertEqual(self.ok(run).end_record["rx"]["packets"], 0)
        run = squall(B, "recv", "-i", "afxdp:qb", "-d", "20ms", before=("prlimit", "--nofile=8"))
        self.assertIn(run.rc, (1, 6))
        self.assertRegex(run.err, "Too many open files")
        self.assertIsNone(xdp.program(B, "qb"))


if __name__ == "__main__":
    main(queues=4)
