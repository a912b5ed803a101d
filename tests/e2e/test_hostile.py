# SPDX-License-Identifier: Apache-2.0
"""Surroundings that do not help: few resources, other runs beside it, links of other kinds, an MTU that shrinks."""
import os
import signal
import time

from frames import Tap, Wire, udp_frame
from lab import A, B, Case, NOBODY, QUIET, Receiver, Squall, TMP, ip, link, mac, main, minus, send, sent, sh, squall, until

MECHANISMS = ("ring", "linear", "sendmmsg")


class Limits(Case):
    RUN = ("send", "-i", "qa", *QUIET, "--count", 50, "--pps", "10k")

    def works(self, *before):
        self.assertEqual(self.ok(squall(A, *self.RUN, before=before)).end_record["tx"]["packets"], 50)

    def test_enough(self):
        for before in (("prlimit", "--memlock=0"), ("prlimit", "--memlock=8388608"), ("prlimit", "--nofile=6"), ("prlimit", "--core=0"), ("nice", "-n", "19"),
                       ("taskset", "-c", "0"), ("env", "LC_ALL=de_DE.UTF-8"), ("env", "-i")):
            with self.subTest(before=before):
                self.works(*before)

    def test_no_file_left_for_looking_at_the_link(self):
        # Whatever it can or cannot open, it does not say that the interface is gone.
        for files in (4, 5):
            run = squall(A, *self.RUN, before=("prlimit", f"--nofile={files}"))
            self.assertIn(run.rc, (0, 1))
            self.assertNotIn("vanished", run.err)

    def test_no_memory_at_any_time(self):
        """From too little to load the program to enough for the run: whatever it is short for, the document is whole."""
        codes = set()
        for size in range(12_000_000, 26_000_000, 100_000):
            run = squall(A, *self.RUN, before=("prlimit", f"--as={size}"))
            codes.add(run.rc)
            if run.rc != 127:  # of the loader
                self.ok(run, 1 if run.rc else 0)
        self.assertLessEqual({0, 1}, codes)

    def test_no_memory(self):
        for size, args in ((300_000_000, ("recv", "-i", "afxdp:qa", "--rx-frames", 500_000, "-d", "10ms")), (30_000_000, ("recv", "-i", "qa", "-d", "10ms")),
                           (400_000_000, ("send", "-i", "qa", "--dst-ip", "10.0.0.0/8", "--dst-mac", NOBODY, "--flows", "60M", "--count", 5))):
            with self.subTest(size=size):
                run = squall(A, *args, before=("prlimit", f"--as={size}"))
                self.assertEqual(run.rc, 1, run.err)
                self.assertRegex(run.err, "memory|unavailable")
                self.error_object(run.json["error"], 1)
                if "--rx-frames" in args:
                    self.assertRegex(run.json["error"]["try"], "--rx-frames.* 1[0-9]{3} MiB")

    def test_a_file_at_its_limit(self):
        with open(os.path.join(TMP, "limited"), "w", encoding="ascii") as out:
            run = squall(A, *self.RUN, before=("prlimit", "--fsize=100"), stdout=out)
        self.assertEqual(run.rc, 1)
        self.assertIn("File too large", run.err)

    def test_nohup(self):
        run = Squall(A, "send", "-i", "qa", *QUIET, "--pps", "1k", "-d", "1s", before=("nohup",))
        until(lambda: os.readlink(f"/proc/{run.process.pid}/exe").endswith("squall"))
        time.sleep(0.2)
        run.signal(signal.SIGHUP)
        self.assertEqual(self.ok(run.end()).end_record["reason"], "duration")


class Beside(Case):
    def test_two_senders(self):
        before = sent(A, "qa")
        runs = [Squall(A, "send", "-i", "qa", *QUIET, "--pps", "20k", "-d", "500ms", "--queues", 2, "--flows", 4) for _ in range(3)]
        packets = sum(self.ok(run.end()).end_record["tx"]["packets"] for run in runs)
        self.assertEqual(packets, minus(sent(A, "qa"), before)[0])

    def test_two_receivers_get_all_each(self):
        receivers = [Receiver("-i", "afpacket:qb", "--queues", q) for q in (2, 2, 1)]
        self.ok(send("-i", "qa", *QUIET, "--flows", 64, "--count", 10_000))
        for receiver in receivers:
            self.assertEqual(self.ok(receiver.stop()).end_record["rx"]["packets"], 10_000)

    def test_strangers_traffic(self):
        receiver = Receiver("-i", "qb")
        flood = Squall(A, "send", "-i", "qa", *QUIET, "--dst-port", 9001, "--pps", "unlimited", "-d", "1s")
        with Wire(A, "qa") as wire:
            wire.send(udp_frame(), 1000)
        self.assertGreater(self.ok(flood.end()).end_record["tx"]["packets"], 10_000)
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["dropped"], rx["filtered"]), (1000, 0, 0))


class Jumbo(Case):
    def setUp(self):
        for where, dev in ((A, "qa"), (B, "qb")):
            ip(where, "link", "set", dev, "mtu", 9000)
            self.addCleanup(ip, where, "link", "set", dev, "mtu", 1500)

    def test_frames(self):
        for tx in MECHANISMS:
            for size in (1519, 4096, 9018):
                with self.subTest(tx=tx, size=size):
                    receiver = Receiver("-i", "afpacket:qb")
                    with Tap(B, "qb") as tap:
                        self.ok(send("-i", f"afpacket:qa,tx={tx}", *QUIET, "--flows", 10, "--packet-size", size, "--count", 500))
                        frames = tap.frames(mac(A, "qa"), expect=500)
                    self.assertEqual({(f.length, f.ip.ok, f.udp.ok) for f in frames}, {(size - 4, True, True)})
                    rx = self.ok(receiver.stop()).end_record["rx"]
                    self.assertEqual((len(frames), rx["packets"], rx["bytes"], rx["dropped"]), (500, 500, 500 * (size - 4), 0))

    def test_an_mtu_that_shrinks(self):
        for tx in MECHANISMS:
            with self.subTest(tx=tx):
                ip(A, "link", "set", "qa", "mtu", 9000)
                before = sent(A, "qa")
                run = Squall(A, "send", "-i", f"afpacket:qa,tx={tx}", *QUIET, "--packet-size", 5000, "--pps", "10k", "-d", "1500ms")
                until(lambda: minus(sent(A, "qa"), before)[0] > 100)
                ip(A, "link", "set", "qa", "mtu", 1500)
                end = self.ok(run.end(10)).end_record
                tx_counts = end["tx"]
                self.assertEqual((tx_counts["packets"], tx_counts["completed_bytes"]), minus(sent(A, "qa"), before))
                if tx != "linear":  # the kernel leaves the size of packets with such a header to the driver
                    self.assertGreater(tx_counts["dropped_driver"], 0)
                self.books(tx_counts)

    def test_larger_than_the_receivers_own_mtu(self):
        ip(B, "link", "set", "qb", "mtu", 1500)
        receiver = Receiver("-i", "afpacket:qb")
        ip(B, "link", "set", "qb", "mtu", 9000)
        self.ok(send("-i", "qa", *QUIET, "--packet-size", 9018, "--count", 300))
        rx = self.ok(receiver.stop()).end_record["rx"]
        self.assertEqual((rx["packets"], rx["bytes"], rx["dropped"]), (300, 300 * 9014, 0))


class Kinds(Case):
    """Interfaces of other kinds: counted as what they are, or refused."""

    def made(self, *args):
        ip(A, *args)
        self.addCleanup(ip, A, "link", "del", "k0", check=False)
        sh("sysctl", "-qw", "net.ipv6.conf.k0.disable_ipv6=1", where=A)
        ip(A, "link", "set", "k0", "up")

    RUN = ("send", "-i", "k0", "--dst-ip", "192.0.2.1", "--src-ip", "192.0.2.2", "--dst-mac", NOBODY, "--count", 1000)

    def test_ifb(self):
        self.made("link", "add", "k0", "type", "ifb")
        self.assertEqual(self.ok(squall(A, *self.RUN)).end_record["tx"]["packets"], 1000)
        until(lambda: link(A, "k0")["stats64"]["rx"]["dropped"] == 1000)

    def test_bridge_and_macvlan(self):
        for args in (("link", "add", "k0", "type", "bridge", "mcast_snooping", 0), ("link", "add", "link", "qa", "name", "k0", "type", "macvlan")):
            with self.subTest(args=args):
                self.made(*args)
                before = sent(A, "k0")
                tx = self.ok(squall(A, *self.RUN)).end_record["tx"]
                self.assertEqual((tx["packets"], tx["completed_bytes"]), minus(sent(A, "k0"), before))
                self.doCleanups()

    def test_no_ethernet(self):
        self.made("tuntap", "add", "mode", "tun", "name", "k0")
        self.refused(*self.RUN, names=["Ethernet"])


if __name__ == "__main__":
    main()
