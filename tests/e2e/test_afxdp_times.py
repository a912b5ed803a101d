# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: when packets came, as the XDP program noted it, and as the receiver sees it where it shall not, or cannot."""
import os
import signal
import struct
import time

from captures import numbered
from lab import A, B, Case, QUIET, Receiver, Squall, TMP, ip, mac, main, received, send, squall, until
from xdp import send_without_room

MODES = ("native", "generic")
COUNT, PPS, PAUSE = 2000, 10_000, 0.5
TAKEN = "when the receiver took them, all of a burst at one time"
NOTED = "when they came, by the XDP program"


class Times(Case):
    """All packets are in the ring for a long time before the receiver looks at any: it takes them in a few bursts."""

    def run_of(self, *args, sender="afpacket:qa", to=QUIET, before=(), **kw):
        receiver = Receiver("-i", "afxdp:qb", "-n", COUNT, *args, before=before, **kw)
        had = received(B, "qb")[0]
        receiver.signal(signal.SIGSTOP)
        self.sent = self.ok(send("-i", sender, *to, "--pps", PPS, "--count", COUNT, "--stamp", "--queues", 1, before=before)).end_record["tx"]
        until(lambda: received(B, "qb")[0] - had >= COUNT)
        time.sleep(PAUSE)
        receiver.signal(signal.SIGCONT)
        run = self.ok(receiver.end())
        self.assertEqual(run.end_record["rx"]["packets"], COUNT)
        return run

    def noted(self, run):
        """The gaps are the sender's, and nobody waited for the receiver."""
        end = run.end_record
        self.assertIn("noted by the program", run.json["start"]["xdp"]["times"])
        self.assertEqual((end["measure"]["arrivals"], end["rx"]["untimed"], end["measure"]["unique"]), (NOTED, 0, COUNT))
        # As long as the sender took, whatever a busy machine made of its plan; it hands packets over in the call that sends them.
        self.assertAlmostEqual((end["rx"]["last_ns"] - end["rx"]["first_ns"]) / 1e9, (COUNT - 1) / self.sent["pps"], delta=0.05)
        self.assertGreater(end["gap_ns"]["p50"], 100)  # one that is behind sends in bursts: so long one of their packets takes at least
        self.assertLess(end["latency_ns"]["p50"], PAUSE / 2 * 1e9)
        self.assertLess(end["measure"]["early"], 20)

    def test_packets_have_times_of_their_own(self):
        for mode in MODES:
            for sender in ("afpacket:qa", "afxdp:qa"):
                with self.subTest(mode=mode, sender=sender):
                    self.noted(self.run_of("--xdp-mode", mode, "--measure", "--clock", "same-host", sender=sender))

    def test_by_the_clock_of_ptp(self):
        run = self.run_of("--measure", "--clock", "ptp", to=(*QUIET, "--clock", "ptp"))
        self.noted(run)
        self.assertIn("CLOCK_TAI", run.end_record["latency_ns"]["clock"])

    def test_host_times_are_when_they_were_taken(self):
        run = self.run_of("--measure", "--clock", "same-host", "--host-times")
        end = run.end_record
        self.assertNotIn("times", run.json["start"]["xdp"])
        self.assertEqual((end["measure"]["arrivals"], end["latency_ns"]["arrivals"], end["rx"]["untimed"]), (TAKEN, TAKEN, 0))
        self.assertGreater(end["latency_ns"]["min"], PAUSE * 1e9)
        self.assertEqual(end["gap_ns"]["p50"], 0)

    def test_who_counts_only_has_the_program_without_times(self):
        receiver = Receiver("-i", "afxdp:qb")
        self.assertNotIn("times", self.ok(receiver.stop()).json["start"]["xdp"])

    def test_a_capture_has_them(self):
        path = os.path.join(TMP, "times.pcap")
        began = time.time()
        run = self.run_of("--capture", path)
        self.assertIn("noted by the program", run.json["start"]["xdp"]["times"])
        with open(path, "rb") as f:
            data = f.read()
        times, at = [], 24
        while at < len(data):
            seconds, ns, kept = struct.unpack_from("=III", data, at)
            times.append(seconds + ns / 1e9)
            at += 16 + kept
        self.assertEqual(len(times), COUNT)
        self.assertGreater(min(times), began)
        self.assertAlmostEqual(max(times) - min(times), (COUNT - 1) / self.sent["pps"], delta=0.05)
        self.assertLess(max(times), time.time() - PAUSE)

    def test_packets_of_several_buffers(self):
        for where, dev in ((A, "qa"), (B, "qb")):
            ip(where, "link", "set", dev, "mtu", 9000)
            self.addCleanup(ip, where, "link", "set", dev, "mtu", 1500)
        for mode in MODES:
            for size in (64, 5000, 9018):
                with self.subTest(mode=mode, size=size):
                    self.noted(self.run_of("--xdp-mode", mode, "--measure", "--clock", "same-host", to=(*QUIET, "--packet-size", size)))

    def test_in_a_time_namespace(self):
        """Its CLOCK_MONOTONIC is another one than the kernel's own, by which the program notes times."""
        ahead = ("unshare", "--time", "--monotonic", "1000000")
        if not os.path.exists("/proc/self/timens_offsets"):
            self.skipTest("this kernel has no time namespaces")
        self.noted(self.run_of("--measure", "--clock", "same-host", before=ahead))

    def test_sent_back_as_they_came(self):
        """What the program left in front of a packet is in nobody's way."""
        reflector = Squall(B, "reflect", "-i", "afxdp:qb", "--no-tui")
        reflector.wait_for("the filter is active")
        end = self.ok(squall(A, "pair", "-i", "afxdp:qa", "-r", "afxdp:qa", *QUIET, "--dst-mac", mac(B, "qb"), "--pps", "2k", "--count", 1000, "--linger", "1s", "--no-tui")).end_record
        reflector.signal()
        self.ok(reflector.end())
        self.assertEqual((end["measure"]["unique"], end["measure"]["arrivals"], end["rx"]["untimed"]), (1000, NOTED, 0))

    def test_packets_with_no_room_in_front(self):
        """They are delivered, and the report says how many times are not the packets' own."""
        receiver = Receiver("-i", "afxdp:qb", "--measure", "--clock", "same-host", "--rx-mode", "all", "--allow-match-all")
        before = received(B, "qb")[0]
        self.ok(send("-i", "afpacket:qa", *QUIET, "--count", 100, "--stamp", "--run-id", 7))
        try:
            send_without_room(A, "qa", numbered(0), 10)
        except OSError as e:
            self.skipTest(f"this kernel sends no frames from a test of a program, Linux 5.18 does: {e}")
        self.ok(send("-i", "afpacket:qa", *QUIET, "--count", 50, "--stamp", "--run-id", 7))
        until(lambda: received(B, "qb")[0] - before == 160)
        end = self.ok(receiver.stop()).end_record
        rx = end["rx"]
        self.assertEqual((rx["packets"], rx["bytes"], end["measure"]["foreign"]), (160, 160 * 60 + 10 * 208, 10))
        self.assertGreaterEqual(rx["untimed"], 60)
        self.assertLessEqual(rx["untimed"], 160)
        self.assertEqual(end["measure"]["arrivals"], TAKEN if rx["untimed"] == 160 else f"{NOTED}; {rx['untimed']} of 160 when the receiver took them")


if __name__ == "__main__":
    main()
