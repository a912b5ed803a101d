# SPDX-License-Identifier: Apache-2.0
"""A first signal drains and reports, a second leaves at once; SIGKILL and a stall leave nothing wrong behind."""
import os
import signal
import time

from lab import A, B, Busy, Case, HELD, NOBODY, QUIET, Receiver, Squall, TMP, best_of_three, cpu_of_children, ip, link, main, minus, received, sent, until

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Sender(Case):
    backend = ""  # the best

    def running(self, *args, **kw):
        self.before = sent(A, "qa")
        run = Squall(A, "send", "-i", f"{self.backend}qa", *QUIET, "--no-tui", *args, **kw)
        until(lambda: sent(A, "qa") != self.before, what="the first packet")
        return run

    def stopped(self, pid):
        """All of its threads are."""
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as f:
                if f.read().rsplit(")", 1)[1].split()[0] != "T":
                    return False
        return True

    def balanced(self, run):
        tx = run.end_record["tx"]
        self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(sent(A, "qa"), self.before))
        self.books(tx)
        return tx

    def test_the_first_signal(self):
        for number in STOPS:
            for args in (("--pps", "100k"), ("--pps", "unlimited", "--queues", 2, "--flows", 9), ("--pps", "1"), ("--pps", "unlimited", "--qdisc")):
                with self.subTest(signal=number, args=args):
                    run = self.running("-d", "60s", *args)
                    at = time.monotonic()
                    run.signal(number)
                    self.ok(run.end())
                    self.assertLess(time.monotonic() - at, 1.5)
                    self.assertEqual(run.end_record["reason"], "signal")
                    self.assertEqual(self.balanced(run)["dropped"], 0)

    def test_the_second_signal(self):
        for first in STOPS:
            run = self.running("-d", "60s")
            os.kill(run.process.pid, signal.SIGSTOP)  # so that both are there when it looks
            run.signal(first)
            run.signal(signal.SIGTERM if first != signal.SIGTERM else signal.SIGINT)
            at = time.monotonic()
            os.kill(run.process.pid, signal.SIGCONT)
            run.end()
            self.assertLess(time.monotonic() - at, 1)
            self.assertEqual(run.rc, 130)

    def test_sigkill(self):
        def kept(where, dev):
            facts = link(where, dev)
            del facts["stats64"]
            return facts, ip(where, "-d", "addr", "show", dev), ip(where, "neigh", "show", "dev", dev)

        before = kept(A, "qa"), kept(B, "qb")
        receiver = Receiver("-i", f"{self.backend}qb", "--queues", 2)
        run = self.running("-d", "60s", "--queues", 2, "--flows", 2)
        for child in (run, receiver):
            child.signal(signal.SIGKILL)
            self.assertEqual(child.end().rc, -signal.SIGKILL)
        until(lambda: link(B, "qb")["promiscuity"] == 0)
        self.assertEqual((kept(A, "qa"), kept(B, "qb")), before)

    @best_of_three
    def test_a_stall_is_made_up_for_within_bounds(self):
        for catch_up, most in (("100ms", 2000), ("none", 0), ("10s", 200_000)):
            with self.subTest(catch_up=catch_up):
                with Busy() as busy:
                    run = self.running("-d", "3s", "--pps", "20k", "--catch-up", catch_up)
                    time.sleep(0.3)
                    began = time.monotonic()
                    run.signal(signal.SIGSTOP)
                    until(lambda: self.stopped(run.process.pid))
                    stalled, at = minus(sent(A, "qa"), self.before)[0], time.monotonic()
                    time.sleep(1)
                    self.assertEqual(minus(sent(A, "qa"), self.before)[0], stalled)
                    least = min((time.monotonic() - at) * 20_000, 60_000 - stalled)
                    run.signal(signal.SIGCONT)
                    until(lambda: minus(sent(A, "qa"), self.before)[0] > stalled or run.process.poll() is not None, what="the next packet")
                    longest = (time.monotonic() - began) * 20_000
                    tx = self.balanced(self.ok(run.end()))
                self.assertEqual(tx["packets"] + tx["unsent"], 60_000)
                # What a stall of that length holds, less what may be made up for.
                self.assertGreaterEqual(tx["unsent"], least - most - 1)
                if most:  # without any, what a busy machine takes from the sender is lost as well
                    self.assertLess(tx["unsent"], max(longest - most, 0) + (0.05 + busy.seconds) * 20_000)

    def test_waiting_for_the_next_packet(self):
        run = self.running("-d", "60s", "--pps", "0.05")
        at = time.monotonic()
        run.signal()
        self.assertEqual(self.balanced(self.ok(run.end()))["packets"], 1)
        self.assertLess(time.monotonic() - at, 1)


class Starting(Case):
    def test_while_the_flows_are_made(self):
        """Sixteen million, each of fields that take long to draw: the run is told to end before it begins."""
        many = ("--src-ip", "10.0.0.0/8", "--dst-ip", "10.9.9.9", "--dst-mac", NOBODY, "--flows", 1 << 24, "--flow-walk", "cross",
                "--vary", "src-port=random:1-4096,dst-port=random:1000-2000,ip-id=random:0-65535", "--no-tui", "-d", "60s")
        for rest in ((), ("--queues", 2), ("--write", "/dev/null")):
            with self.subTest(rest=rest):
                before = cpu_of_children()
                run = Squall(None, "send", "-i", "loop:sink,queues=2", "--src-mac", "02:00:00:00:00:01", *many, *rest)
                until(lambda: run.resident() > 40 << 20, what="a flow table that grows")
                run.signal(signal.SIGINT)
                self.ok(run.end())
                self.assertLess(cpu_of_children() - before, 1, "to make all of them takes several seconds of a processor")
                if "--write" not in rest:
                    self.assertEqual((run.end_record["reason"], run.end_record["tx"]), ("signal", None))

    def test_while_a_payload_is_waited_for(self):
        """A pipe that nobody writes to."""
        pipe = os.path.join(TMP, "payload")
        os.mkfifo(pipe)
        run = Squall(None, "send", "-i", "loop:sink", "--src-mac", "02:00:00:00:00:01", "--dst-mac", NOBODY, "--src-ip", "10.9.9.1", "--dst-ip", "10.9.9.9", "--no-tui", "--payload-file", pipe)
        until(run.waits_for_a_pipe, what="a blocked call")
        run.signal(signal.SIGINT)
        self.ok(run.end())
        self.assertEqual(run.end_record["reason"], "signal")


class Twice(Case):
    def test_the_same_signal_at_once_is_one(self):
        """timeout(1) sends it to the process and then to its group. At once is within a tenth of a second."""
        for _ in range(10):  # until the machine does not stand still between the two
            # Some packets are on their way for so long: it is still there when the second one comes.
            run = Squall(None, "pair", "-i", "loop:delay=1s", "--dst-ip", "192.0.2.9", "--pps", "10k", "--interval", "100ms", "--no-tui", form="--json-stream")
            run.wait_for('"interval"', "out")
            at = time.monotonic()
            run.signal(signal.SIGTERM)
            time.sleep(0.02)  # long enough for the handler to have run
            run.signal(signal.SIGTERM)
            if run.end().rc == 0:
                break
        self.assertEqual(run.rc, 0, run.err)
        self.assertGreater(time.monotonic() - at, 0.5)


class Receiving(Case):
    backend = ""

    def test_the_first_signal(self):
        for number in STOPS:
            before = received(B, "qb")
            receiver = Receiver("-i", f"{self.backend}qb")
            sender = Squall(A, "send", "-i", f"{self.backend}qa", *QUIET, "--count", HELD, "--pps", "unlimited").end()
            until(lambda: minus(received(B, "qb"), before)[0] == HELD)
            receiver.signal(number)
            end = self.ok(receiver.end()).end_record
            self.assertEqual((end["reason"], end["rx"]["packets"], sender.rc), ("signal", HELD, 0))

    def test_in_a_flood(self):
        flood = Squall(A, "send", "-i", f"{self.backend}qa", *QUIET, "-d", "60s", "--pps", "unlimited", "--flows", 100)
        receiver = Receiver("-i", f"{self.backend}qb")
        there = received(B, "qb")[0]
        until(lambda: received(B, "qb")[0] - there > 10_000, what="the flood")
        at = time.monotonic()
        receiver.signal()
        rx = self.ok(receiver.end()).end_record["rx"]
        self.assertLess(time.monotonic() - at, 2)
        self.assertGreater(rx["packets"], 0)
        flood.signal()
        self.ok(flood.end())


class SenderOfPacketSockets(Sender):
    backend = "afpacket:"


class ReceivingOnPacketSockets(Receiving):
    backend = "afpacket:"


if __name__ == "__main__":
    main()
