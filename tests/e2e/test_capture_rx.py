# SPDX-License-Identifier: Apache-2.0
"""Captures of what arrived: the packets as on the wire, their times, and files that take no more."""
import os
import select
import struct
import time

from frames import Wire, udp_frame
from lab import A, B, Busy, Case, Receiver, Squall, TMP, best_of_three, main, sh, squall, until

TAG, OUTER = (0x8100, 0x6064), (0x88A8, 200)
TO = ("--dst-ip", "192.0.2.9", "--no-tui")


def records(raw):
    """(ns, bytes kept, length on the wire) of a nanosecond pcap file."""
    magic, major, minor, _, _, snaplen, link = struct.unpack("<IHHiIII", raw[:24])
    assert (magic, major, minor, link) == (0xA1B23C4D, 2, 4, 1), (hex(magic), major, minor, link)
    at, out = 24, []
    while at < len(raw):
        s, ns, kept, length = struct.unpack("<IIII", raw[at:at + 16])
        out.append((s * 10**9 + ns, raw[at + 16:at + 16 + kept], length))
        assert len(out[-1][1]) == kept, "a record is cut"
        at += 16 + kept
    return out


def read(path):
    with open(path, "rb") as f:
        return records(f.read())


class Captures(Case):
    def path(self, name="x.pcap"):
        path = os.path.join(TMP, name)
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        return path

    def test_packets_as_on_the_wire(self):
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                path = self.path()
                frames = [udp_frame(), udp_frame(tags=[TAG]), udp_frame(tags=[OUTER, TAG]), udp_frame(src="fd00::1", dst="fd00::2", tags=[TAG]), udp_frame(payload=b"x" * 1000)]
                receiver = Receiver("-i", f"{backend}:qb", "--capture", path)
                before = time.time_ns()
                with Wire(A, "qa") as wire:
                    for frame in frames:
                        wire.send(frame)
                    wire.send(udp_frame(9001))  # not received, and so not captured
                run = self.ok(receiver.stop())
                after = time.time_ns()
                got = read(path)
                self.assertEqual(sorted(data for _, data, _ in got), sorted(frames))
                self.assertTrue(all(before <= ns <= after and length == len(data) for ns, data, length in got), got)
                self.assertEqual(run.end_record["capture"], {"file": path, "packets": 5, "dropped": 0})

    @best_of_three
    def test_in_the_order_of_their_times(self):
        path = self.path()
        with Busy() as busy:
            self.ok(squall(None, "pair", "-i", "loop:queues=3", *TO, "--flows", 50, "--count", 5000, "--pps", "50k", "--capture", path))
        times = [ns for ns, _, _ in read(path)]
        self.assertEqual(len(times), 5000)
        # Queues are merged as they fill: what is out of order is so by less than the writer sleeps, or a receiver waits.
        self.assertLess(max(max(times[:i + 1]) - times[i] for i in range(0, 5000, 50)), 50_000_000 + busy.seconds * 1e9)

    def test_a_limit_and_a_length(self):
        path = self.path()
        run = self.ok(squall(None, "pair", "-i", "loop:queues=2", *TO, "--flows", 50, "--count", 5000, "--packet-size", 500, "--capture", path, "--capture-limit", 1000, "--snaplen", 60))
        got = read(path)
        self.assertEqual((len(got), {len(d) for _, d, _ in got}, {n for _, _, n in got}), (1000, {60}, {496}))
        self.assertEqual((run.end_record["capture"]["packets"], run.end_record["capture"]["dropped"], run.end_record["rx"]["packets"]), (1000, 0, 5000))

    def test_large_packets(self):
        path = self.path()
        self.ok(squall(None, "pair", "-i", "loop:", *TO, "--count", 100, "--packet-size", 9000, "--capture", path))
        self.assertEqual({(len(d), n) for _, d, n in read(path)}, {(8996, 8996)})

    def test_a_pipe(self):
        path = self.path("pipe")
        os.mkfifo(path)
        self.refused("recv", "-i", "afpacket:qb", "--capture", path, rc=1, where=B, names=("named pipe that nobody reads", "reader first"))
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        run = Squall(None, "pair", "-i", "loop:", *TO, "--count", 2000, "--capture", path)
        until(lambda: select.select([fd], [], [], 0)[0])
        os.set_blocking(fd, True)
        with os.fdopen(fd, "rb") as f:
            self.assertEqual(len(records(f.read())), 2000)
        self.ok(run.end())

    def test_a_pipes_reader_that_leaves(self):
        path = self.path("pipe")
        os.mkfifo(path)
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        run = Squall(None, "pair", "-i", "loop:", *TO, "--count", 200_000, "--pps", "200k", "--capture", path)
        until(lambda: select.select([fd], [], [], 0)[0] and len(os.read(fd, 4096)) == 4096)
        os.close(fd)
        end = self.ok(run.end()).end_record
        self.assertEqual((end["rx"]["packets"], end["capture"]["packets"] + end["capture"]["dropped"]), (200_000, 200_000))
        self.assertTrue(any("reader" in w and "gone" in w for w in end["warnings"]), end["warnings"])

    def test_a_pipes_reader_that_sleeps_holds_nobody(self):
        path = self.path("pipe")
        os.mkfifo(path)
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, fd)
        # 64 MiB of rings take 64-byte packets for long; large ones fill them.
        run = self.ok(squall(None, "pair", "-i", "loop:", *TO, "--count", 60_000, "--packet-size", 1518, "--pps", "60k", "--capture", path))
        end = run.end_record
        self.assertEqual((end["rx"]["packets"], end["difference"]), (60_000, 0))
        self.assertEqual(end["capture"]["packets"] + end["capture"]["dropped"], 60_000)
        self.assertGreater(end["capture"]["dropped"], 10_000)
        self.assertLess(run.seconds, 25)
        self.assertTrue(any("takes no more" in w for w in end["warnings"]), end["warnings"])

    def test_a_full_disk(self):
        where = os.path.join(TMP, "small")
        os.mkdir(where)
        sh("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", where)
        self.addCleanup(sh, "umount", where)
        path = os.path.join(where, "x.pcap")
        run = self.ok(squall(None, "pair", "-i", "loop:", *TO, "--count", 50_000, "--pps", "100k", "--capture", path), rc=1)
        end = run.end_record
        self.assertEqual((end["rx"]["packets"], end["difference"]), (50_000, 0))
        self.assertRegex(run.err, "cannot write the capture: .*x.pcap: No space left on device, after .*try: ")
        self.assertEqual(len(read(path)), end["capture"]["packets"])  # whole packets, as many as were told
        self.assertEqual(end["capture"]["packets"] + end["capture"]["dropped"], 50_000)
        self.assertGreater(end["capture"]["packets"], 5000)

    def test_refusals(self):
        self.refused("recv", "-i", "afpacket:qb", "--capture", "/nonexistent/x", rc=1, where=B, names=("/nonexistent/x", "No such file"))
        self.refused("recv", "-i", "afpacket:qb", "--capture", "/dev/full", rc=1, where=B, names=("/dev/full", "No space"))
        self.refused("recv", "-i", "afpacket:qb", "--capture", "-", where=B, names=("--capture", "named pipe"))
        self.refused("recv", "-i", "afpacket:qb", "--snaplen", "60", "--capture-limit", 5, where=B, names=("--snaplen", "--capture-limit"))

    def test_a_file_that_is_used_otherwise(self):
        """What a run reads, or writes something else to, is not overwritten, whatever it is called."""
        path, linked, config = self.path(), os.path.join(TMP, "linked"), os.path.join(TMP, "used.yaml")
        self.ok(squall(None, "send", "-i", "loop:", *TO, "--count", 3, "--write", path))
        with open(path, "rb") as f:
            before = f.read()
        os.symlink(path, linked)
        with open(config, "w") as f:
            f.write(f"payload-file: {linked}\nstreams:\n  - {{name: a}}\n")
        for args, names in ((("pair", "--pcap", path, "--filter", "proto=udp", "--capture", path), ("--capture", "file of --pcap")),
                            (("pair", "--pcap", path, "--filter", "proto=udp", "--capture", linked), ("--capture", "file of --pcap")),
                            (("send", "--pcap", path, "--write", linked), ("--write", "file of --pcap")),
                            (("pair", *TO, "--payload-file", path, "--histograms", path), ("--histograms", "file of --payload-file")),
                            (("pair", *TO, "-c", config, "--capture", config), ("--capture", "file of --config")),
                            (("pair", *TO, "-c", config, "--capture", path), ("--capture", "file of a stream's payload-file")),
                            (("pair", *TO, "--capture", path, "--histograms", linked), ("--histograms", "file of --capture")),
                            (("pair", *TO, "--capture", f"{TMP}/new", "--histograms", f"{TMP}/new"), ("--histograms", "file of --capture"))):
            with self.subTest(args=args):
                self.refused(*args, "-i", "loop:", where=None, names=names)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), before)
        self.ok(squall(None, "pair", "-i", "loop:", *TO, "--count", 3, "--capture", "/dev/null", "--histograms", "/dev/null"))

    def test_others_read_it(self):
        path = self.path()
        self.ok(squall(None, "pair", "-i", "loop:", *TO, "--count", 10, "--vlan", 7, "--capture", path))
        self.assertEqual(sh("tcpdump", "-nr", path, "vlan", "7").count("192.0.2.9.9000: UDP"), 10)


if __name__ == "__main__":
    main()
