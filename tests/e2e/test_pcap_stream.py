# SPDX-License-Identifier: Apache-2.0
"""Captures that are larger than --pcap-preload: read on the way, with the same frames on the wire as from memory."""
import os
import signal
import subprocess
import threading

from captures import capture, numbered, summed
from frames import Tap, parse
from lab import A, B, TMP, Case, Squall, best_of_three, main, sent, squall, until

STREAMED = ("--pcap-preload", 4096)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def sizes(i):
    return 60 + i * 37 % 1400


class Stream(Case):
    @classmethod
    def setUpClass(cls):
        cls.frames = [numbered(i, sizes(i)) for i in range(2500)]  # 1.9 MB: more than is read ahead
        cls.path = capture("stream.pcap", [(i / 4e3, f) for i, f in enumerate(cls.frames)])

    def replay(self, path, *args, expect, rc=0):
        """What is sent by a streamed replay, which must say that it is one."""
        with Tap(B, "qb") as tap:
            run = self.ok(squall(A, "send", "-i", "qa", "--pcap", path, *STREAMED, *args), rc)
            frames = [parse(data, ns) for ns, data in tap.raw(expect, timeout=30)]
        self.assertIn("--pcap-preload", run.json["start"]["pcap"]["stream"])
        self.assertEqual(run.end_record["tx"]["packets"], expect)
        self.books(run.end_record["tx"])
        return run, frames

    def test_verbatim_and_in_order_pass_after_pass(self):
        run, frames = self.replay(self.path, "--pps", "10k", "--loop", 3, expect=7500)
        self.assertEqual([f.raw for f in frames], self.frames * 3)
        self.assertEqual(run.end_record["reason"], "count")
        self.assertEqual([run.end_record["pcap"][k] for k in ("packets", "replayed", "passes")], [2500, 2500, 3])

    def test_each_packet_once_over_two_queues(self):
        run, frames = self.replay(self.path, "--queues", 2, "--pps", "10k", "--loop", 3, expect=7500)
        self.assertEqual(sorted(f.raw for f in frames), sorted(self.frames * 3))
        self.assertEqual({q["tx_packets"] for q in run.end_record["queues"]}, {3750})

    def test_a_count_cuts_a_pass(self):
        run, frames = self.replay(self.path, "--pps", "10k", "--count", 3100, expect=3100)
        self.assertEqual([f.raw for f in frames], (self.frames * 2)[:3100])
        self.assertEqual(run.end_record["pcap"]["passes"], 1)

    @best_of_three
    def test_its_own_times(self):
        path = capture("times.pcap", [(1000 + t, numbered(i, 1514)) for i, t in enumerate((0, 0.05, 0.06, 0.26))])
        run, frames = self.replay(path, "--pcap-timing", "original", "--loop", 3, expect=12)
        want = [k // 4 * (0.26 + 0.26 / 3) + (0, 0.05, 0.06, 0.26)[k % 4] for k in range(12)]
        late = run.end_record["tx"]["lateness_ns"]["max"] / 1e9
        for f, t in zip(frames, want):
            self.assertAlmostEqual((f.ns - frames[0].ns) / 1e9, t, delta=0.005 + late)

    def test_written_to_a_file_it_is_what_memory_gives(self):
        cut = [(i / 100, summed(src=f"192.0.2.{i % 250 + 1}", dst="192.0.2.77", payload=bytes(i % 900)), 1400) for i in range(300)]
        late = [(i / 50 % 3, numbered(i, sizes(i))) for i in range(500)]
        rewrite = ("--rewrite-ip", "192.0.2.0/24=10.9.9.0/24", "--rewrite-vlan", "none=3", "--rewrite-mac", "src=02:00:00:00:00:44", "--pcap-truncated")
        raw = capture("raw.pcap", [(i / 9, summed(payload=bytes(i))[14:]) for i in range(200)], link=101)
        for path, args in ((capture("cut.pcap", cut), (*rewrite, "pad")), (capture("cut.pcap", cut + late), (*rewrite, "skip")),
                           (capture("late.pcap", late), ("--pcap-max-gap", "1s")), (raw, ("--dst-mac", "02:00:00:00:00:09")), (self.path, ())):
            for timing in (("--pps", 1000), ("--pcap-timing", "original", "--pcap-speed", "1.3x")):
                with self.subTest(path=path, args=args, timing=timing):
                    out = [os.path.join(TMP, f"out{i}.pcap") for i in range(2)]
                    for file, preload in zip(out, ((), STREAMED)):
                        run = squall(A, "send", "-i", "loop:sink", "--pcap", path, *args, *timing, *preload, "--loop", 2, "--write", file)
                        self.assertEqual(run.rc, 0, run.err)
                    self.assertEqual(*map(content, out))

    def test_the_account_is_that_of_memory(self):
        path = capture("all.pcap", [(1, numbered(0, 1514)), (2, numbered(1, 100), 900), (1.5, numbered(2)), (9, numbered(3, 1600)), (9, numbered(4, 1514)), (9000, numbered(5, 1514))])
        args = ("send", "-i", "loop:sink", "--pcap", path, "--pcap-truncated", "skip", "--pcap-too-large", "skip", "--loop", 2, "--pps", 1000)
        runs = [self.ok(squall(A, *args, *more)) for more in ((), STREAMED)]
        for run in runs:
            run.end_record["pcap"].pop("reader_late")
            run.json["start"]["pcap"].pop("stream", None)
        self.assertEqual(*[run.end_record["pcap"] for run in runs])
        self.assertEqual(*[run.json["start"]["pcap"] for run in runs])
        self.assertEqual(*[run.json["start"]["warnings"] for run in runs])

    def test_packets_that_are_refused_are_so_before_the_start(self):
        cut = capture("cut.pcap", [(0, numbered(i, 1000)) for i in range(10)] + [(0, numbered(10, 64), 1514)])
        self.refused("send", "-i", "qa", "--pcap", cut, *STREAMED, names=["cut.pcap", "packet 11", "--pcap-truncated"])

    def test_a_file_that_is_cut_off_while_it_is_read(self):
        path = capture("short.pcap", [(0, f) for f in self.frames])
        before = sent(A, "qa")[0]
        run = Squall(A, "send", "-i", "qa", "--pcap", path, *STREAMED, "--pps", "2k", "--duration", "20s")
        until(lambda: sent(A, "qa")[0] > before, what="the first packet")
        os.truncate(path, os.path.getsize(path) // 4 * 3)
        self.ok(run.end(), 1)
        self.assertEqual(run.end_record["reason"], "error")
        for text in (run.err, run.json["error"]["object"] + run.json["error"]["cause"]):
            self.assertRegex(text, r"short\.pcap")
            self.assertRegex(text, r"ends after packet 1[0-9]{3}\b")
        self.books(run.end_record["tx"])
        self.assertLess(run.seconds, 15)

    def test_a_signal_ends_it(self):
        for timing in (("--pps", 100), ("--pcap-timing", "original", "--pcap-speed", "0.01x")):
            with self.subTest(timing=timing):
                before = sent(A, "qa")[0]
                run = Squall(A, "send", "-i", "qa", "--pcap", self.path, *STREAMED, *timing, "--duration", "60s")
                until(lambda: sent(A, "qa")[0] > before, what="the first packet")
                run.signal(signal.SIGINT)
                self.ok(run.end(10))
                self.assertEqual(run.end_record["reason"], "signal")
                self.books(run.end_record["tx"])

    def test_a_reader_that_is_too_slow_is_said(self):
        """Without a rate nothing is as slow as reading the file."""
        run = self.ok(squall(A, "send", "-i", "loop:sink", "--pcap", self.path, *STREAMED, "--pps", "unlimited", "--loop", 100))
        self.assertEqual(run.end_record["tx"]["packets"], 250000)
        self.assertGreater(run.end_record["pcap"]["reader_late"], 0)
        self.assertIn("read too slowly", " ".join(run.end_record["warnings"]))

    def piped(self, *args, rc=0):
        """The capture through a pipe into the standard input."""
        source = subprocess.Popen(["cat", self.path], stdout=subprocess.PIPE)
        try:
            run = squall(A, "send", "-i", "loop:sink", *args, "--pps", "100k", "--loop", 2, stdin=source.stdout)
        finally:
            source.stdout.close()
            source.wait(10)
        return self.ok(run, rc)

    def test_pipes_are_replayed_from_memory_or_refused(self):
        for name in ("-", "/dev/stdin"):
            with self.subTest(name=name):
                run = self.piped("--pcap", name)
                self.assertEqual(run.end_record["tx"]["packets"], 5000)
                self.assertNotIn("stream", run.json["start"]["pcap"])
                run = self.piped("--pcap", name, *STREAMED, rc=2)
                self.assertRegex(run.err, "does not fit into the 4096 bytes of --pcap-preload")
                self.assertIsNone(run.json["end"])
        fifo = os.path.join(TMP, "fifo")
        os.mkfifo(fifo)

        def write():
            with open(fifo, "wb") as f:
                f.write(content(self.path))

        feed = threading.Thread(target=write, daemon=True)
        feed.start()
        run = self.ok(squall(A, "send", "-i", "loop:sink", "--pcap", fifo, "--pps", "100k", "--loop", 2))
        self.assertEqual(run.end_record["tx"]["packets"], 5000)
        feed.join(5)

    def test_a_signal_ends_the_loading(self):
        """Of a pipe that nobody writes to, and of one whose writer has stopped within a packet."""
        fifo = os.path.join(TMP, "stalled")
        os.mkfifo(fifo)
        for begin in (None, content(self.path)[:5000]):
            with self.subTest(begin=begin and len(begin)):
                run = Squall(A, "send", "-i", "loop:sink", "--pcap", fifo)
                writer = None
                if begin:
                    writer = until(lambda: self.writer_of(fifo), what="a reader of the pipe")
                    os.write(writer, begin)
                until(run.waits_for_a_pipe, what="a blocked call")
                run.signal(signal.SIGINT)
                self.ok(run.end(5))
                self.assertEqual(run.end_record["reason"], "signal")
                if writer:
                    os.close(writer)

    @staticmethod
    def writer_of(fifo):
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    def test_a_file_as_the_standard_input(self):
        """It cannot be opened anew by a name."""
        with open(self.path, "rb") as f:
            self.assertEqual(self.ok(squall(A, "send", "-i", "loop:sink", "--pcap", "-", "--pps", "100k", "--loop", 2, stdin=f)).end_record["tx"]["packets"], 5000)


if __name__ == "__main__":
    main()
