# SPDX-License-Identifier: Apache-2.0
"""Sender and receiver in one process: over a wire in memory, over two interfaces, back to the one that sends."""
import json
import os
import re
import signal
import time

from lab import A, B, Case, Receiver, HELD, Squall, TMP, ip, link, mac, main, received, sh, squall, until

TO = ("--dst-ip", "192.0.2.9", "--no-tui")


def pair(where, *args, **kw):
    return squall(where, "pair", *args, "--no-tui", **kw)


class Wire(Case):
    """In memory."""

    def test_all_that_is_sent_is_received(self):
        for device, queues in (("loop:", 1), ("loop:queues=4", 4), ("loop:queues=3,delay=300ms", 3)):
            with self.subTest(device=device):
                run = self.ok(pair(None, "-i", device, *TO, "--flows", 100, "--count", 20_000, "--pps", "unlimited", "--queues", 1))
                end = run.end_record
                self.assertEqual((end["tx"]["packets"], end["rx"]["packets"], end["difference"], end["reason"]), (20_000, 20_000, 0, "count"))
                self.assertEqual([q["rx_packets"] is not None for q in end["queues"]], [True] * queues)
                self.assertEqual(run.json["start"]["verb"], "pair")

    def test_the_receivers_queues_can_be_narrowed(self):
        end = self.ok(pair(None, "-i", "loop:queues=4", *TO, "--flows", 100, "--count", 1000, "--queues", 2, "--rx-queues", 1)).end_record
        self.assertEqual([(q["tx_packets"], q["rx_packets"]) for q in end["queues"]], [(500, 1000), (500, None)])

    def test_the_difference(self):
        run = pair(None, "-i", "loop:loss=5%,duplicate=1%,seed=3", *TO, "--count", 20_000, "--pps", "unlimited")
        end = self.ok(run).end_record
        self.assertEqual(end["difference"], end["loop"]["lost"] - end["loop"]["duplicated"])
        text = pair(None, "-i", "loop:loss=5%,duplicate=1%,seed=3", *TO, "--count", 20_000, "--pps", "unlimited", form=None)
        self.assertRegex(text.out, rf"(?m)^pair +{end['difference']} packets fewer received than sent$")
        text = pair(None, "-i", "loop:duplicate=100%", *TO, "--count", 10, form=None)
        self.assertRegex(text.out, r"(?m)^pair +10 packets more received than sent$")
        self.assertIsNone(self.ok(squall(None, "send", "-i", "loop:", *TO, "--count", 10)).end_record["difference"])

    def test_every_kind_of_packet_is_taken_by_default(self):
        for args in (("--mode", "tcp-syn"), ("--mode", "icmp-echo"), ("--mode", "imix"), ("--vlan", 5, "--outer-vlan", 6), ("--dst-ip", "2001:db8::/64"), ("--mpls", "16,17"),
                     ("--tunnel", "vxlan,dst=198.51.100.1", "--src-ip", "192.0.2.1"), ("--mode", "raw", "--dst-mac", "02:00:00:00:00:09")):
            with self.subTest(args=args):
                flows = () if "raw" in args else ("--flows", 50)
                end = self.ok(pair(None, "-i", "loop:", *TO, *flows, "--count", 500, *args)).end_record
                self.assertEqual((end["rx"]["packets"], end["rx"]["filtered"]), (500, 0))

    def test_all_streams_are_taken(self):
        path = os.path.join(TMP, "streams.yaml")
        with open(path, "w") as f:
            f.write("flows: 10\nstreams:\n  - {name: a, dst-ip: 192.0.2.9}\n  - {name: b, dst-ip: 2001:db8::9, vlan: 5}\n  - {name: c, dst-ip: 192.0.2.77, mode: icmp-echo}\n")
        for mode in ((), ("--rx-mode", "generated-flow")):
            end = self.ok(pair(None, "-i", "loop:", "-c", path, "--count", 3000, *mode)).end_record
            self.assertEqual((end["rx"]["packets"], end["rx"]["filtered"]), (3000, 0))
        with open(path, "a") as f:
            f.write("  - {name: d, mode: raw, dst-mac: 02:00:00:00:00:09, flows: 1}\n")
        self.refused("pair", "-i", "loop:", "-c", path, "--count", 10, names=("streams are IP packets, and some are not",))

    def test_a_filter_of_ones_own(self):
        end = self.ok(pair(None, "-i", "loop:", *TO, "--flows", 10, "--count", 1000, "--filter", "proto=udp,src-port=1024-1026")).end_record
        self.assertEqual((end["rx"]["packets"], end["rx"]["filtered"], end["difference"]), (300, 700, 700))

    def test_it_says_what_the_limit_was(self):
        slow = self.ok(pair(None, "-i", "loop:rate=1k", *TO, "--pps", "50k", "-d", "500ms")).end_record
        said, = [w for w in slow["warnings"] if "was the limit" in w]
        self.assertRegex(said, rf"^the device was the limit: .*\({slow['tx']['unsent']}\) were not sent, .* transmit ring full$")
        # A receiver that rests has time to spare, and a sender that keeps its schedule nothing to tell.
        easy = self.ok(pair(None, "-i", "loop:", *TO, "--pps", "1k", "--count", 500, "--catch-up", "10s")).end_record
        self.assertEqual(easy["tx"]["unsent"], 0)
        self.assertEqual([w for w in easy["warnings"] if "limit" in w or "full" in w or "dropped" in w], [])

    def test_it_ends_where_nothing_can_be_received_any_more(self):
        """A wire whose receiver is dead holds the sender: the duration alone would end that."""
        run = pair(None, "-i", "loop:rx-fail=0@100,ring=64", *TO, "--pps", "unlimited", "-d", "60s")
        end = run.end_record
        self.assertEqual((run.rc, end["reason"], end["rx"]["packets"], end["rx"]["errors"], end["warnings"]), (1, "error", 100, 1, []))
        self.assertLess(end["seconds"], 30)
        some = pair(None, "-i", "loop:queues=2,rx-fail=1@0", *TO, "--flows", 20, "-d", "300ms").end_record
        self.assertEqual((some["reason"], some["rx"]["errors"]), ("duration", 1))
        self.assertRegex(some["warnings"][0], "^1 of 2 receive queues failed, the others go on: ")

    def test_what_frames_without_a_stamp_refuse(self):
        self.refused("pair", "-i", "loop:", *TO, "--mode", "raw", "--dst-mac", "02:00:00:00:00:09", "--max-loss", 0, names=("--max-loss", "--mode raw"))
        self.refused("pair", "-i", "loop:", *TO, "--no-measure", "--max-loss", 0, names=("--max-loss", "--no-measure"))
        self.refused("pair", "-i", "loop:", *TO, "--no-stamp", "--max-loss", 0, names=("--max-loss", "--no-stamp"))

    def test_a_signal_still_drains(self):
        run = Squall(None, "pair", "-i", "loop:delay=400ms", *TO, "--pps", "10k", "--interval", "100ms", form="--json-stream")
        run.wait_for('"interval"', "out")
        run.signal()
        run.end()
        self.assertEqual(run.rc, 0, run.err)
        last = run.lines["out"][-1]
        self.assertRegex(last, '"reason": "signal"')
        self.assertEqual(int(re.search(r'"difference": (-?\d+)', last)[1]), 0)

    def test_a_second_signal_leaves_at_once(self):
        run = Squall(None, "pair", "-i", "loop:delay=9s", *TO, "--pps", "10k", "--interval", "100ms", form="--json-stream")
        run.wait_for('"interval"', "out")
        run.signal()
        until(lambda: "squall-tx0" not in sh("ps", "-L", "-o", "comm=", "-p", run.process.pid))
        run.signal(signal.SIGTERM)
        self.assertEqual(run.end(5).rc, 130)

    def test_what_is_slow_to_come_is_waited_for(self):
        # The wire delivers two packets a second, and holds a few; then 1.5 s of silence.
        end = self.ok(pair(None, "-i", "loop:rate=2", *TO, "--count", 5, "--pps", "unlimited", "--linger", "1500ms")).end_record
        self.assertEqual((end["rx"]["packets"], end["difference"]), (5, 0))

    def test_refusals(self):
        self.refused("pair", "-i", "qa", *TO, names=("--rx-interface", "come back"))
        self.refused("pair", "-i", "loop:", "-r", "loop:queues=2", *TO, names=("--rx-interface", "same loop"))
        self.refused("pair", "-i", "qa", "-r", "loop:", *TO, names=("--rx-interface", "same loop"))
        self.refused("pair", "-i", "loop:", *TO, "--mode", "receive", names=("--mode", "recv"))
        self.refused("pair", "-i", "loop:", "--pcap", "/dev/null", names=("--filter", "which of them"))
        self.refused("pair", "-i", "loop:", "--pcap", "/dev/null", "--rx-mode", "generated-flow", names=("--filter", "which of them"))
        self.refused("pair", "-i", "qa", "-r", "nosuch:qb", *TO, names=("--rx-interface", "no backend"))
        self.refused("send", "-i", "qa", "-r", "qb", *TO, names=("--rx-interface", "not an option of squall send"))


class Floor(Case):
    """The latency of the idle path, measured before the run."""

    def run_it(self, *args, **kw):
        return self.ok(pair(None, "-i", "loop:delay=2ms", *TO, "--pps", "10k", "--count", 2000, *args, **kw))

    def test_it_is_shown_beside(self):
        run = self.run_it("--calibrate")
        floor, latency = run.end_record["floor_ns"], run.end_record["latency_ns"]
        self.assertEqual((floor["packets"], floor["subtracted"]), (1000, False))
        self.assertTrue(2_000_000 <= floor["min"] <= floor["p50"] <= floor["p99"], floor)
        self.assertGreaterEqual(latency["min"], 2_000_000)
        self.assertEqual(run.end_record["tx"]["packets"], 2000)
        self.assertIsNone(self.run_it().end_record["floor_ns"])
        self.assertRegex(pair(None, "-i", "loop:delay=2ms", *TO, "--count", 10, "--calibrate", form=None).out, r"(?m)^floor +2\d\d\d\.\d+ us at least, .*before the run\)$")

    def test_it_is_subtracted_on_request(self):
        run = self.run_it("--calibrate", "--subtract-floor", "--max-latency-p99", "1h")
        floor, latency = run.end_record["floor_ns"], run.end_record["latency_ns"]
        self.assertTrue(floor["subtracted"])
        # The wire's 2 ms are gone; what is left is what this machine was late by.
        self.assertLess(latency["min"], 1_000_000)
        self.assertGreaterEqual(floor["min"], 2_000_000)
        # Times of day are what they were.
        self.assertLess(abs(run.end_record["rx"]["first_ns"] - run.json["start"]["time"]), 10_000_000_000)

    def test_limits_are_not_for_the_calibration(self):
        run = pair(None, "-i", "loop:loss=10%,seed=4", *TO, "--pps", "10k", "--count", 100, "--max-loss", "50%", "--calibrate")
        self.assertEqual([t["ok"] for t in self.ok(run).end_record["thresholds"]], [True])
        self.assertLess(run.end_record["floor_ns"]["packets"], 1000)

    def test_when_nothing_comes(self):
        run = pair(None, "-i", "loop:loss=100%", *TO, "--count", 10, "--calibrate")
        self.ok(run, rc=1)
        self.assertRegex(run.err, "cannot calibrate: loop:.*: none of 1000 packets came back; try: ")
        self.assertIsNone(run.json["end"])

    def test_a_signal_ends_it(self):
        run = Squall(None, "pair", "-i", "loop:", *TO, "--calibrate")
        run.wait_for("calibrating")
        run.signal()
        end = self.ok(run.end(5)).end_record
        self.assertEqual((end["reason"], end["tx"]), ("signal", None))

    def test_refusals(self):
        self.refused("pair", "-i", "loop:", *TO, "--subtract-floor", names=("--subtract-floor", "--calibrate"))
        self.refused("pair", "-i", "loop:", *TO, "--calibrate", "--no-stamp", names=("--calibrate", "stamps"))
        self.refused("send", "-i", "loop:", *TO, "--calibrate", names=("--calibrate", "not an option of squall send"))


class Interfaces(Case):
    """Two ends of a cable on one machine: pa and pb, both in A."""

    def setUp(self):
        sh("ip", "-n", A, "link", "add", "pa", "type", "veth", "peer", "name", "pb")
        for dev, host in (("pa", 1), ("pb", 2)):
            sh("sysctl", "-qw", f"net.ipv6.conf.{dev}.disable_ipv6=1", where=A)
            ip(A, "addr", "add", f"10.79.{host}.1/24", "dev", dev)
            ip(A, "link", "set", dev, "up")
        self.to = ("--dst-ip", "10.79.2.1", "--dst-mac", mac(A, "pb"))

    def tearDown(self):
        ip(A, "link", "del", "pa", check=False)

    def test_over_a_cable(self):
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                run = self.ok(pair(A, "-i", f"{backend}:pa", "-r", f"{backend}:pb", *self.to, "--flows", 100, "--pps", "20k", "--count", HELD))
                end, start = run.end_record, run.json["start"]
                self.assertEqual((end["tx"]["packets"], end["rx"]["packets"], end["difference"]), (HELD, HELD, 0))
                self.assertEqual((end["rx"]["dropped"], end["reason"]), (0, "count"))
                self.assertTrue(start["interface"].startswith("pa ") and start["rx_interface"].startswith("pb "), start)
                self.assertIn(backend, start["rx_backend"])
                self.assertEqual("rx_xdp" in start, backend == "afxdp")

    def test_packets_of_the_calibration_are_of_another_run(self):
        other = Receiver("-i", "afpacket:pb", "--measure", "--run-id", 9, where=A)
        self.ok(pair(A, "-i", "afpacket:pa", "-r", "afpacket:pb", *self.to, "--count", 10, "--run-id", 9, "--calibrate"))
        m = self.ok(other.stop()).end_record["measure"]
        self.assertEqual((m["unique"], m["duplicate"], m["other_run"]), (10, 0, 1000))

    def test_two_backends(self):
        end = self.ok(pair(A, "-i", "afpacket:pa", "-r", "afxdp:pb", *self.to, "--flows", 10, "--count", 5000, "--pps", "20k")).end_record
        self.assertEqual((end["rx"]["packets"], end["difference"]), (5000, 0))

    def test_what_others_send_is_not_counted(self):
        run = Squall(A, "pair", "-i", "afpacket:pa", "-r", "afpacket:pb", *self.to, "--pps", "1k", "-d", "2s", "--no-tui", "--interval", "100ms", form="--json-stream")
        run.wait_for('"interval"', "out")
        self.ok(squall(A, "send", "-i", "afpacket:pa", *self.to, "--dst-port", 9001, "--count", 100, "--no-tui"))
        run.end()
        self.assertRegex(run.lines["out"][-1], '"difference": 0,')

    def test_packets_that_go_on_coming_are_not_waited_for(self):
        """Ten times --linger it is then; on a machine so busy that the other sender is silent for one, with a longer one."""
        other = Squall(A, "send", "-i", "afpacket:pa", *self.to, "--pps", "1k", "-d", "5m", "--no-tui")
        until(lambda: received(A, "pb")[0] > 10, what="packets of the other sender")
        for ms in (50, 400, 3000):
            end = self.ok(pair(A, "-i", "afpacket:pa", "-r", "afpacket:pb", *self.to, "--count", 10, "--linger", f"{ms}ms", timeout=60)).end_record
            if -end["difference"] > 5 * ms:  # a packet a millisecond
                break
        other.signal()
        self.assertGreater(other.end().end_record["tx"]["packets"], 5 * ms)
        self.assertGreater(-end["difference"], 5 * ms)
        self.assertLess(end["seconds"], 10 * ms / 1000 + 5)

    def test_what_the_device_did_not_send_is_told(self):
        """Packets that the driver dropped for want of a carrier have numbers: of which flow they were nobody knows."""
        run = Squall(A, "pair", "-i", "afxdp:pa", "-r", "afpacket:pb", *self.to, "--flows", 10, "--per-flow", "--pps", "20k", "-d", "1500ms", "--no-tui", "--interval", "100ms", form="--json-stream")
        run.wait_for('"interval"', "out")
        ip(A, "link", "set", "pb", "down")
        time.sleep(0.2)
        ip(A, "link", "set", "pb", "up")
        run.end()
        end = json.loads(run.lines["out"][-1])["end"]
        tx, m = end["tx"], end["measure"]
        self.assertGreater(tx["dropped_driver"], 0, run.err)
        self.assertTrue(m["books_close"], end["warnings"])
        self.assertEqual((tx["packets"], m["not_sent"]), (m["unique"] + m["lost"], tx["dropped"] + tx["undecided"]))
        self.assertEqual(sum(f["lost"] for f in end["flows"]), m["lost"] + m["not_sent"])
        self.assertEqual(sum(f["unique"] + f["lost"] for f in end["flows"]), tx["queued"])

    def test_each_failing_port_is_named(self):
        self.refused("pair", "-i", "afpacket:pa", "-r", "afpacket:nope", *self.to, names=("nope",))
        self.refused("pair", "-i", "afpacket:nope", "-r", "afpacket:pb", *self.to, names=("nope",))
        ip(A, "link", "set", "pb", "down")
        self.refused("pair", "-i", "afpacket:pa", "-r", "afpacket:pb", *self.to, rc=7, names=("pb",))

    def test_the_receivers_link_vanishes(self):
        run = Squall(A, "pair", "-i", "afpacket:qa", "-r", "afpacket:pb", "--dst-ip", "10.78.0.2", "--pps", "1k", "-d", "20s", "--no-tui", "--interval", "100ms", form="--json-stream")
        run.wait_for('"interval"', "out")
        ip(A, "link", "del", "pa")
        run.end(10)
        self.assertEqual(run.rc, 1)
        self.assertRegex(run.err, "afpacket:pb")

    def test_nothing_stays_behind(self):
        self.ok(pair(A, "-i", "afxdp:pa", "-r", "afxdp:pb", *self.to, "--count", 100))
        for dev in ("pa", "pb"):
            self.assertNotIn("xdp", link(A, dev))


if __name__ == "__main__":
    main()
