# SPDX-License-Identifier: Apache-2.0
"""What a receiver makes of stamped packets: every count against what is known to have happened to them."""
import csv
import os
import socket
import time

from lab import A, B, best_of_three, Case, Inside, Receiver, Squall, TMP, mac, main, received, squall, until

TO = ("--dst-ip", "192.0.2.9", "--no-tui")


def pair(device, *args, **kw):
    return squall(None, "pair", "-i", device, *TO, "--pps", "unlimited", *args, **kw)


class Wire(Case):
    """In memory, where what happens to the packets is counted by who does it."""

    def measured(self, end):
        tx, m = end["tx"], end["measure"]
        self.assertTrue(m["books_close"])
        self.assertEqual(m["stamped"], m["unique"] + m["duplicate"] + m["late"])
        self.assertEqual(tx["packets"], m["unique"] + m["lost"])
        self.assertEqual(m["bytes_l2"], m["bytes"] + 4 * m["stamped"])
        return m

    def test_counts_are_those_of_the_impairment(self):
        for flows, queues, senders in ((1, 1, 1), (1, 4, 1), (100, 4, 2), (5000, 2, 2)):
            with self.subTest(flows=flows, queues=queues):
                end = self.ok(pair(f"loop:queues={queues},loss=2%,duplicate=1%,reorder=0.5%,seed=9", "--src-ip", "10.0.0.0/16", "--flows", flows, "--count", 200_000, "--queues", senders)).end_record
                m, loop = self.measured(end), end["loop"]
                self.assertEqual((m["lost"], m["duplicate"], m["late"], m["foreign"], m["flows"]), (loop["lost"], loop["duplicated"], 0, 0, flows))
                # Packets that leave the wire at the end of the run have nobody behind them any more, but were overtaken.
                self.assertEqual(m["reordered"], loop["reordered"])
                self.assertLessEqual(m["extent"]["max"], 16 + 16)  # held behind 16 at most, some of which come twice or are held themselves
                self.assertEqual(m["extent"]["count"], m["reordered"])

    def test_echo_requests_are_flows_by_their_identifier(self):
        for dst in ("192.0.2.9", "2001:db8::9"):
            for queues in (1, 4):
                with self.subTest(dst=dst, queues=queues):
                    run = self.ok(squall(None, "pair", "-i", f"loop:queues={queues},reorder=2%,seed=9", "--mode", "icmp-echo", "--dst-ip", dst, "--flows", 20, "--count", 50_000, "--pps", "unlimited",
                                         "--queues", 1, "--no-tui"))
                    m = self.measured(run.end_record)
                    self.assertGreater(m["reordered"], 100)
                    self.assertEqual(m["reordered"], run.end_record["loop"]["reordered"])
                    self.assertEqual([q["rx_packets"] > 0 for q in run.end_record["queues"]], [True] * queues)

    def test_a_flow_for_itself(self):
        end = self.ok(pair("loop:queues=2,loss=5%,seed=3", "--flows", 50, "--count", 50_000, "--per-flow", "--queues", 2, "--flow-order", "random")).end_record
        m, flows = self.measured(end), end["flows"]
        self.assertEqual(sorted(f["flow"] for f in flows), list(range(50)))
        self.assertEqual({f["unique"] + f["lost"] for f in flows}, {1000})
        self.assertEqual(sum(f["lost"] for f in flows), m["lost"])
        self.assertEqual([f["lost"] for f in flows], sorted((f["lost"] for f in flows), reverse=True))
        self.assertEqual(max(f["longest_loss"] for f in flows), m["longest_loss"])
        self.assertEqual(end["flows_rest"]["flows"], 0)
        few = self.ok(pair("loop:queues=2,loss=5%,seed=3", "--flows", 50, "--count", 50_000, "--per-flow", "--queues", 2, "--flow-order", "random", "--flow-report", 10)).end_record
        self.assertEqual([f["flow"] for f in few["flows"]], [f["flow"] for f in flows[:10]])
        self.assertEqual((few["flows_rest"]["flows"], few["flows_rest"]["lost"]), (40, sum(f["lost"] for f in flows[10:])))
        self.assertIsNone(self.ok(pair("loop:", "--count", 10)).end_record["flows"])

    def test_flows_beyond_the_limit_are_a_sum(self):
        run = self.ok(pair("loop:", "--flows", 100, "--count", 10_000, "--flow-limit", 30))
        m = run.end_record["measure"]
        self.assertEqual((m["unique"], m["lost"], m["unfollowed"], m["flows"], m["flow_limit"]), (3000, 0, 7000, 30, 30))
        self.assertIn("--flow-limit", " ".join(run.end_record["warnings"]))

    def test_every_packet_that_can_carry_a_stamp(self):
        for args in (("--packet-size", 64), ("--packet-size", 68, "--vlan", 5), ("--packet-size", 72, "--vlan", 5, "--outer-vlan", 6), ("--dst-ip", "2001:db8::9"), ("--mode", "tcp-syn"),
                     ("--mode", "icmp-echo"), ("--mode", "icmp-echo", "--dst-ip", "2001:db8::9"), ("--mode", "imix"), ("--mpls", "16,17"), ("--udp-checksum", "off"), ("--vary", "size=64-200"),
                     ("--tunnel", "vxlan,dst=198.51.100.1", "--src-ip", "192.0.2.1"), ("--tunnel", "gre,dst=198.51.100.1", "--src-ip", "192.0.2.1"), ("--packet-size", 1518, "--payload-pattern", "count32")):
            with self.subTest(args=args):
                m = self.measured(self.ok(pair("loop:", "--flows", 20, "--count", 1000, *args)).end_record)
                self.assertEqual((m["unique"], m["foreign"]), (1000, 0))

    def test_what_is_too_small_is_refused_with_the_smallest_that_works(self):
        for args, least in ((("--packet-size", 63), 64), (("--packet-size", 67, "--vlan", 5), 68), (("--packet-size", 64, "--mode", "tcp-syn"), 76), (("--packet-size", 83, "--dst-ip", "2001:db8::9"), 84)):
            with self.subTest(args=args):
                self.refused("send", "-i", "loop:sink", "--stamp", *TO, *args, "--count", 1, names=("stamp", str(least)))

    def test_what_goes_with_nothing_is_refused(self):
        for args, word in ((("recv", "-i", "loop:", "--per-flow"), "--measure"), (("send", "-i", "loop:sink", *TO, "--run-id", 5), "--stamp"), (("pair", "-i", "loop:", *TO, "--no-stamp", "--window", 9), "--no-stamp"),
                           (("send", "-i", "loop:sink", "--mode", "raw", "--dst-mac", "02:00:00:00:00:09", "--stamp"), "payload"), (("recv", "-i", "loop:", "--measure", "--flow-report", 9), "--per-flow"), (("pair", "-i", "loop:", *TO, "--no-measure", "--host-times"), "--host-times")):
            with self.subTest(args=args):
                self.refused(*args, names=(word,))

    @best_of_three
    def test_the_latency_of_the_wire(self):
        for us in (10, 1000):
            with self.subTest(us=us):
                end = self.ok(squall(None, "pair", "-i", f"loop:delay={us}us", *TO, "--flows", 10, "--pps", "20k", "-d", "1s")).end_record
                latency = end["latency_ns"]
                self.assertGreaterEqual(latency["min"], us * 1000)
                self.assertLess(latency["min"], us * 1000 * 1.01 + 2000)
                self.assertLessEqual(latency["min"], latency["p50"] * 1.01)
                self.assertEqual(latency["count"], end["measure"]["unique"])
                self.assertEqual(sum(n for _, _, n in latency["buckets"]), latency["count"])
                self.assertEqual(end["pdv_ns"]["max"], latency["max"] - latency["min"])
                self.assertEqual(end["measure"]["no_latency"], None)
                self.assertIn("CLOCK_MONOTONIC", latency["clock"])

    def test_whose_times_arrivals_are(self):
        """The wire takes a packet every 200 ns, and says so; a receiver takes several at a time."""
        for args, told, least in (((), "by the backend", range(199, 1000)), (("--host-times",), "when the receiver took them", range(1))):
            with self.subTest(args=args):
                end = self.ok(pair("loop:rate=5M", "--flows", 10, "--count", 50_000, *args)).end_record
                self.assertIn(told, end["latency_ns"]["arrivals"])
                self.assertIn(end["gap_ns"]["min"], least)

    def test_streams_are_measured_apart(self):
        path = os.path.join(TMP, "measured.yaml")
        with open(path, "w") as f:
            f.write("streams:\n  - {name: many, flows: 30, share: 3}\n  - {name: few, flows: 2, dst-port: 7000}\n")
        end = self.ok(squall(None, "pair", "-i", "loop:queues=2,loss=3%,seed=5", *TO, "-c", path, "--pps", "100k", "--count", 40_000, "--per-flow", "--queues", 2)).end_record
        m = self.measured(end)
        self.assertEqual([(s["name"], s["flows"], s["unique"] + s["lost"]) for s in m["streams"]], [("many", 30, 30_000), ("few", 2, 10_000)])
        self.assertEqual(sum(s["lost"] for s in m["streams"]), end["loop"]["lost"])
        self.assertEqual(sum(s["latency_ns"]["count"] for s in m["streams"]), m["unique"])
        self.assertEqual({f["unique"] + f["lost"] for f in end["flows"] if f["flow"] >= 30}, {5000})

    def test_the_histograms_as_a_table(self):
        path = os.path.join(TMP, "histograms.csv")
        end = self.ok(pair("loop:reorder=1%,delay=50us", "--flows", 5, "--count", 5000, "--histograms", path)).end_record
        with open(path) as f:
            rows = list(csv.DictReader(f))
        for what, told in (("latency_ns", end["latency_ns"]), ("ipdv_ns", end["ipdv_ns"]), ("gap_ns", end["gap_ns"]), ("extent", end["measure"]["extent"])):
            mine = [[int(r["from"]), int(r["to"]), int(r["count"])] for r in rows if r["what"] == what]
            self.assertEqual(mine, told["buckets"])

    def test_a_file_of_histograms_that_cannot_be_written(self):
        pipe = os.path.join(TMP, "histograms.pipe")
        os.mkfifo(pipe)
        # It is found out before the run: a long one shall not have been for nothing.
        for path, why in (("/nonexistent/x.csv", "No such file"), (pipe, "nobody reads"), (TMP, "directory")):
            with self.subTest(path=path):
                run = self.ok(pair("loop:", "--count", 10, "--histograms", path), 1)
                self.assertRegex(run.err, f"{path}: .*{why}")
                self.assertIsNone(run.json["end"])
        # What only the end can tell leaves the rest of the report as it is.
        run = self.ok(pair("loop:", "--count", 10, "--histograms", "/dev/full"), 1)
        self.assertRegex(run.err, "/dev/full: No space left")
        self.assertEqual(run.end_record["measure"]["unique"], 10)
        self.refused("pair", "-i", "loop:", *TO, "--histograms", "-", names=("--histograms", "standard output"))

    def test_histograms_into_a_pipe(self):
        pipe = os.path.join(TMP, "read.pipe")
        os.mkfifo(pipe)
        fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        # The calibration's are not in it.
        self.ok(pair("loop:", "--count", 10, "--histograms", pipe, "--calibrate"))
        os.set_blocking(fd, True)
        with os.fdopen(fd) as f:
            got = f.read().splitlines()
        self.assertEqual([line for line in got if line.startswith("what")], got[:1])
        self.assertEqual(sum(int(line.split(",")[-1]) for line in got if line.startswith("latency_ns")), 10)

    def test_what_the_file_of_histograms_held_is_gone(self):
        path = os.path.join(TMP, "again.csv")
        with open(path, "w") as f:
            f.write("x" * 100_000)
        self.ok(pair("loop:", "--count", 10, "--histograms", path, "--calibrate"))
        with open(path) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["what"] for r in rows}, {"latency_ns", "ipdv_ns", "gap_ns"})
        self.assertEqual(sum(int(r["count"]) for r in rows if r["what"] == "latency_ns"), 10)  # and none of the calibration

    def test_the_other_forms(self):
        text = pair("loop:loss=10%,seed=2", "--flows", 20, "--count", 2000, "--per-flow", form=None)
        for words in (r"measure +\d+ unique, \d+ lost", "latency +min", "jitter", "and 10 flows more, none worse"):
            self.assertRegex(text.out, words)
        head, *others, last = (line.split(",") for line in pair("loop:loss=10%,seed=2", "--count", 2000, form=None, *("--csv",)).out.split())
        row = dict(zip(head, last))
        self.assertEqual(int(row["measure_unique"]) + int(row["measure_lost"]), 2000)
        self.assertGreater(int(row["latency_ns_p99"]), 0)
        self.assertEqual(row["measure_missing_so_far"], "")

    def test_what_is_missing_so_far(self):
        """On a wire that takes long all is missing at first; then that which was lost, and what is on its way."""
        run = self.ok(squall(None, "pair", "-i", "loop:delay=500ms,loss=50%,seed=2", *TO, "--flows", 20, "--pps", "10k", "-d", "1s", "--interval", "100ms"))
        handed, came = 0, 0
        for row in run.json["intervals"]:
            handed, came = handed + row["tx"]["queued"], came + row["measure"]["unique"]
            self.assertEqual(row["measure"]["missing_so_far"], handed - came)
            self.assertTrue(came == 0 or row["elapsed_s"] > 0.5, row)
        # What stamps cannot tell, since nobody followed some of the flows.
        few = self.ok(squall(None, "pair", "-i", "loop:", *TO, "--flows", 20, "--flow-limit", 19, "--pps", "1k", "-d", "300ms", "--interval", "100ms"))
        self.assertEqual({i["measure"]["missing_so_far"] for i in few.json["intervals"]}, {None})


class Link(Case):
    """Two processes on a veth pair."""

    def receive(self, *args):
        return Receiver("-i", "afpacket:qb", "--measure", *args)

    def sender(self, *args):
        return Squall(A, "send", "-i", "afpacket:qa", "--dst-ip", "10.78.0.2", "--dst-mac", mac(B, "qb"), "--no-tui", *args)

    def send(self, *args):
        return self.ok(self.sender("--pps", "50k", *args).end()).end_record

    def test_a_run_is_told_from_others(self):
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                rx = Receiver("-i", f"{backend}:qb", "--measure")
                first = self.send("--stamp", "--flows", 100, "--count", 5000, "--run-id", 77)
                self.send("--count", 1000)
                self.send("--stamp", "--count", 2000, "--run-id", 78)
                run = self.ok(rx.stop())
                m = run.end_record["measure"]
                self.assertRegex(run.json["start"]["measure"], r"^run that comes first: up to 1048576 flows, ")
                self.assertEqual((m["unique"], m["lost"], m["duplicate"], m["reordered"], m["flows"]), (first["tx"]["packets"], 0, 0, 0, 100))
                self.assertEqual((m["foreign"], m["other_run"], m["run"], m["run_learnt"], m["sent_known"]), (3000, 2000, 77, True, False))

    def test_a_run_that_was_asked_for(self):
        rx = self.receive("--run-id", 78)
        self.send("--stamp", "--count", 1000, "--run-id", 77)
        self.send("--stamp", "--count", 2000, "--run-id", 78, "--vlan", 9)
        run = self.ok(rx.stop())
        m = run.end_record["measure"]
        self.assertEqual((m["unique"], m["other_run"], m["run"], m["run_learnt"]), (2000, 1000, 78, False))
        self.assertRegex(run.json["start"]["measure"], r"^run 78: up to 1048576 flows, windows of at least 96 packets, at most \d+ MiB$")

    def test_a_run_that_does_not_come(self):
        rx = Receiver("-i", "afpacket:qb", "--measure", "--run-id", 79, form=None)
        self.send("--stamp", "--count", 1000, "--run-id", 77)
        run = rx.stop()
        self.assertRegex(run.out, r"(?m)^measure  1000 packets without a stamp of the run\nmeasure  1000 of them with a stamp of another run$")
        self.assertIn("no packet of run 79 came, but 1000 of another run", run.out)

    def test_a_receiver_with_the_senders_list(self):
        path = os.path.join(TMP, "both.yaml")
        with open(path, "w") as f:
            f.write("flows: 10\nfilter: [proto=udp, dst=10.78.0.2]\nstreams:\n  - {name: many, share: 3}\n  - {name: few, flows: 2, dst-port: 7000}\n")
        rx = self.receive("-c", path, "--clock", "same-host", "--per-flow")
        sent = self.send("--stamp", "-c", path, "--count", 4000)
        self.send("--stamp", "--flows", 20, "--count", 100, "--run-id", 5)
        end = self.ok(rx.stop()).end_record
        m = end["measure"]
        self.assertEqual([(s["name"], s["flows"], s["unique"], s["lost"], s["latency_ns"]["count"]) for s in m["streams"]], [("many", 10, 3000, 0, 3000), ("few", 2, 1000, 0, 1000)])
        self.assertEqual([s["queued"] for s in sent["streams"]], [3000, 1000])
        self.assertEqual((m["flow_limit"], m["unique"], m["unfollowed"], end["streams"]), (12, 4000, 0, None))
        # Of a sender with another list it tells as much as it can, and says so.
        rx = self.receive("-c", path)
        self.send("--stamp", "--flows", 15, "--count", 150)
        end = self.ok(rx.stop()).end_record
        self.assertEqual(([s["unique"] for s in end["measure"]["streams"]], end["measure"]["unfollowed"]), ([100, 20], 30))
        self.assertIn("the sender's list is another one", " ".join(end["warnings"]))

    def test_fragments_are_told(self):
        for backend in ("afpacket", "afxdp"):
            with self.subTest(backend=backend):
                rx = Receiver("-i", f"{backend}:vb", "--measure")
                with Inside(A):
                    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                for _ in range(3):
                    out.sendto(bytes(2000), ("10.77.0.2", 9000))  # more than the link takes: the kernel cuts them in two
                out.close()
                end = self.ok(rx.stop()).end_record
                # The second part has no port, and is not what the receiver takes.
                self.assertEqual((end["rx"]["packets"], end["measure"]["unreadable"], end["measure"]["foreign"]), (3, 3, 0))
                self.assertIn("3 packets came in fragments", " ".join(end["warnings"]))

    def test_without_a_clock_there_is_no_latency(self):
        rx = self.receive("-n", 2000)
        self.send("--stamp", "--count", 2000)
        end = self.ok(rx.end()).end_record
        self.assertIsNone(end["latency_ns"])
        pdv = [end["pdv_ns"][key] for key in ("p50", "p90", "p99", "p99_9", "p99_99", "max")]
        self.assertEqual(pdv, sorted(pdv))
        self.assertGreater(pdv[-1], 0)
        self.assertLess(pdv[-1], 5_000_000_000)  # one machine's veth, however busy it is, and not the clocks' difference
        self.assertRegex(end["measure"]["arrivals"], "by the kernel")
        self.assertIn("--clock", end["measure"]["no_latency"])
        self.assertEqual(end["ipdv_ns"]["count"], 1999)
        self.assertGreater(end["jitter_ns"], 0)

    def test_the_clock_of_the_host_and_that_of_ptp(self):
        for clock, name in (("same-host", "CLOCK_MONOTONIC"), ("ptp", "CLOCK_TAI")):
            with self.subTest(clock=clock):
                rx = self.receive("-n", 2000, "--clock", clock)
                self.send("--stamp", "--count", 2000, "--clock", clock)
                end = self.ok(rx.end()).end_record
                latency = end["latency_ns"]
                self.assertIn(name, latency["clock"])
                self.assertIn("kernel", latency["arrivals"])
                self.assertLess(end["measure"]["early"], 20)
                self.assertLess(latency["p50"], 50_000_000)  # one machine's veth, however busy it is

    def test_clocks_that_are_apart_are_told(self):
        # A stamp has 40 bits of its clock, 18 minutes: of these two clocks either is ahead, by less than half of that.
        apart = (time.clock_gettime_ns(time.CLOCK_TAI) - time.monotonic_ns()) % 2**40
        ahead = apart < 2**39
        sender, receiver = ("ptp", "same-host") if ahead else ("same-host", "ptp")
        rx = self.receive("-n", 2000, "--clock", receiver, "--max-latency-p99", "1s")
        self.send("--stamp", "--count", 2000, "--clock", sender)
        run = self.ok(rx.end(), rc=4)
        end = run.end_record
        self.assertEqual((end["measure"]["early"], end["latency_ns"]["max"], end["thresholds"][0]["value"]), (2000, 0, None))
        self.assertIn("2000 of 2000 packets came no later than they were sent", " ".join(end["warnings"]))
        self.assertIn("--max-latency-p99 1 s cannot be judged: most packets came before they were sent", run.err)
        rx = self.receive("-n", 2000, "--clock", sender)
        self.send("--stamp", "--count", 2000, "--clock", receiver)
        end = self.ok(rx.end()).end_record
        apart = apart if ahead else 2**40 - apart
        self.assertAlmostEqual(end["latency_ns"]["min"], apart, delta=1_000_000_000)
        if apart > 2_000_000_000:  # less may be the path's
            self.assertIn("no packet took less than", " ".join(end["warnings"]))

    def test_who_comes_later_within_the_window_is_told(self):
        """What came before the first packet of a flow is counted as lost, and told apart: nobody here knows whether it was."""
        tx = self.sender("--pps", "2k", "--stamp", "--flows", 4, "-d", "3s", "--seed", 1)
        before = received(B, "qb")[0]
        until(lambda: received(B, "qb")[0] > before + 400)
        rx = self.receive()
        self.ok(tx.end())
        end = self.ok(rx.stop()).end_record
        m = end["measure"]
        self.assertEqual((m["joined"], m["sent_known"], m["duplicate"]), (0, False, 0))
        self.assertGreater(m["lost"], 300)
        self.assertEqual(m["before_first"], m["lost"])
        self.assertRegex(" ".join(end["warnings"]), r"up to \d+ of the lost were numbered before the first packet of their flow that came \(4 flows\)")

    def test_who_comes_later_counts_from_there(self):
        tx = self.sender("--pps", "100k", "--stamp", "-d", "60s")
        before = received(B, "qb")[0]
        until(lambda: received(B, "qb")[0] > before + 20_000)
        rx = self.receive("--window", 64)
        there = received(B, "qb")[0]
        until(lambda: received(B, "qb")[0] > there + 20_000)
        tx.signal()
        self.ok(tx.end())
        end = self.ok(rx.stop()).end_record
        self.assertEqual((end["measure"]["joined"], end["measure"]["lost"], end["measure"]["duplicate"]), (1, 0, 0))
        self.assertIn("first packets", " ".join(end["warnings"]))


if __name__ == "__main__":
    main()
