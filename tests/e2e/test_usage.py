# SPDX-License-Identifier: Apache-2.0
"""What users type wrong: exit code 2 (or what it is), one clear sentence, nothing sent."""
import glob
import os
import re
import subprocess

from lab import A, B, BIN, Case, NOBODY, QUIET, Squall, TMP, main, sent, squall, until

GOOD = ("send", "-i", "qa", *QUIET)


class Usage(Case):
    def setUp(self):
        self.before = sent(A, "qa")

    def tearDown(self):
        self.assertEqual(sent(A, "qa"), self.before, "a refused run has sent something")

    def test_the_nearest_name(self):
        for args, names in ((("--ppps", 5), ["--pps"]), (("--dst-ipp=1.2.3.4",), ["--dst-ip"]), (("--mode", "upd"), ["udp"]), (("--flow-order", "randum"), ["random"]),
                            (("--rx-mode", "udp-prot"), ["udp-port"]), (("--backend", "afpaket"), ["afpacket"])):
            with self.subTest(args=args):
                self.refused(*GOOD, *args, names=names)
        self.assertIn("squall recv", self.refused("resv", "-i", "qa", names=["resv"]).err)

    def test_values_that_cannot_be(self):
        for option, values in (
            ("--pps", ("100kq", "-1", "nan", "inf", "1e30", "", "5 apples", "0x10", "101%", "0.0000001")),
            ("--bps", ("10Gx", "-5", "1e40")), ("--packet-size", ("64x", "-64", "9019", "1e9", "6.5")), ("--flows", ("0", "1e", "-3", "1.5")),
            ("--duration", ("5", "5 parsecs", "-1s", "1e99s", "99999999h")), ("--count", ("-5", "1x", "99999999999999999999")), ("--dst-port", ("99999", "-1", "http")),
            ("--src-port", ("65536",)), ("--vlan", ("4095", "5000", "-1", "ten")), ("--dst-ip", ("10.0.0.256", "10.0.0", "fd00::1::2", "10.0.0.0/33", "fd00::/129", "host.example")),
            ("--src-ip", ("10.0.0.0/33", "x")), ("--dst-mac", ("02:00:00:00:00", "02:00:00:00:00:00:00:00", "0g:00:00:00:00:00", "ff:ff:ff:ff:ff:ff")), ("--src-mac", ("01:00:5e:00:00:01",)),
            ("--queues", ("-1", "65536", "many")), ("--cpus", ("99999", "1-0", "0-", "a", ",")), ("--burst", ("0", "257")), ("--payload-byte", ("256", "0x100")), ("--ethertype", ("0x10000", "0x88b5z")),
            ("--interval", ("1ms", "-1s")), ("--json", ("maybe",)), ("--filter", ("bogus=1", "vlan=5000", "port", "proto=udpp", "dst-port=70000")), ("--rx-port", ("0", "65536", "1-2")), ("--rx-cidr", ("10.0.0.0/40",)),
        ):
            for value in values:
                with self.subTest(option=option, value=value):
                    run = self.refused(*GOOD, f"{option}={value}", names=[option])
                    self.assertIn(option, [p["object"] for p in run.json["error"]["problems"]])

    def test_every_problem_at_once(self):
        run = self.refused(*GOOD, "--pps", "1x", "--vlan", 5000, "--flows", 0, "--packet-size", 20, "--src-ip", "fd00::1", "extra", "--nosuch",
                           names=["--pps", "--vlan", "--flows", "--packet-size", "--src-ip", "--nosuch", "extra"])
        self.assertGreaterEqual(len(run.json["error"]["problems"]), 7)
        self.assertEqual(len(run.err.splitlines()), len(run.json["error"]["problems"]))

    def test_many_problems_end(self):
        run = self.refused(*GOOD, *["--nosuch"] * 200)
        self.assertIn("168 more", run.err)

    def test_what_is_missing(self):
        self.refused(names=["--interface", "--dst-ip"])
        self.refused("recv", names=["--interface"])
        self.refused("send", "-i", "qa", names=["--dst-ip"])
        self.refused("send", "-i", "qa", "--mode", "raw", names=["--dst-mac"])
        self.refused(*GOOD, "--rx-mode", "udp-port", names=["--rx-port"])
        self.refused(*GOOD, "--rx-mode", "cidr", names=["--rx-cidr"])
        self.refused(*GOOD, "--count", names=["--count"], form="--json=true")

    def test_the_smallest_size_is_named(self):
        v6 = ("--dst-ip", "fd78::2")
        for args, size, least in (((), 63, 64), (("--vlan", 7), 67, 68), (v6, 65, 66), ((*v6, "--vlan", 7), 69, 70), (("--mode", "raw", "--dst-mac", NOBODY), 1, 64)):
            with self.subTest(args=args):
                self.refused(*GOOD, *args, "--packet-size", size, names=[rf"\b{least}\b"])

    def test_the_largest_size_is_named(self):
        for args, size, most in (((), 1519, 1518), ((), 9018, 1518), (("--vlan", 7), 1523, 1522)):
            with self.subTest(args=args):
                run = self.refused(*GOOD, *args, "--packet-size", size, names=[rf"\b{most}\b", "MTU"])
                self.assertIn(f"mtu {size - 18 - (4 if args else 0)}", run.json["error"]["try"])

    def test_families_do_not_mix(self):
        self.refused(*GOOD, "--src-ip", "fd00::1", names=["--src-ip", "IPv6", "IPv4"])

    def test_more_flows_than_the_ranges_hold(self):
        self.refused(*GOOD, "--flows", 65536, names=["65535"])
        self.refused(*GOOD, "--flows", 1 << 63, names=["--flows"])

    def test_interfaces_that_will_not_do(self):
        for name in ("lo", "nosuch0", "a b", "averyveryverylonginterfacename", "../qa", "afpacket:", "afpacket:lo", "afpacket:qa,tx=magic", "afpacket:qa,rx=ring",
                     "nosuch:qa", "%s%n", "\x1b[31mred"):
            with self.subTest(name=name):
                run = self.refused("send", "-i", name, *QUIET)
                if name != "\x1b[31mred":
                    self.assertIn(name.split(",")[0].removeprefix("afpacket:").removesuffix(":qa"), run.err)
                self.assertFalse([c for c in run.err if ord(c) < 32 and c != "\n"], "control characters on a terminal")
        self.refused("send", "-i", "", *QUIET, names=["--interface"])

    def test_backends_that_are_not_there(self):
        for name in ("xdp:qa", "mlx5:qa", "dpdk:0000:01:00.0"):
            with self.subTest(name=name):
                self.refused("send", "-i", name, *QUIET, rc=6, names=[name.split(":")[0], "afpacket"])

    def test_a_dashboard_and_another_form(self):
        run = self.refused(*GOOD, "--start", names=["--start", "--json"])
        self.assertEqual(len(run.json["error"]["problems"]), 1)

    def test_options_of_another_verb(self):
        self.refused("recv", "-i", "qa", "--pps", 5, names=["--pps", "recv"])
        self.refused("devices", "-i", "qa", names=["--interface", "devices"])
        self.refused("send", "recv", names=["verb comes first"])

    def test_configuration_files(self):
        cases = {"": None, "interface: qa\ndst-ip: 10.78.0.2\nppps: 5\n": ":3: .*pps", "interface: [qa\n": ":2: .*YAML", "- a\n- b\n": ":1: ", "interface: qa\npps: 1x\n": ":2: .*pps|pps.*:2: ",
                 "pps: {a: b}\n": "pps", "\t\n": ":1: ", "\0\1\2": "YAML", "interface: &a qa\ndst-ip: *b\n": "."}
        for i, (text, names) in enumerate(cases.items()):
            with self.subTest(text=text):
                path = os.path.join(TMP, f"config{i}")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                run = self.refused(*(GOOD if text else ("send", "-i", "qa")), "--config", path, names=[names] if names else ["--dst-ip"])
                self.assertNotIn("\0", run.err)
        for path in ("/nonexistent/file", "/", TMP, "/proc/self/mem"):
            self.refused(*GOOD, "--config", path, names=[path])

    def test_output_that_cannot_be_chosen(self):
        self.refused(*GOOD, "--cpus", 4095, names=["--cpus", "4095"])
        self.refused(*GOOD, "--filter", "vlan=5", "--rx-mode", "udp-port", "--rx-port", 5, names=["--filter"])


class Asked(Case):
    """Help and version: on the standard output, code 0."""

    def run_it(self, *args):
        return subprocess.run([BIN, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def test_help_and_version(self):
        for args in (["--help"], ["-h"], ["help"], ["send", "--help"], ["recv", "-h"], ["devices", "--help"], ["help", "recv"], ["send", "--nosuch", "--help"]):
            with self.subTest(args=args):
                run = self.run_it(*args)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertIn("Usage: squall", run.stdout)
        for args in (["--version"], ["-V"], ["-v"], ["version"]):
            self.assertRegex(self.run_it(*args).stdout, r"^squall \d+\.\d+\.\d+\n$")

    def test_no_output_is_an_error(self):
        for args in (["--help"], ["--version"], ["send", "--dump-config"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                run = subprocess.run([BIN, *args], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.returncode, 1, args)
            self.assertIn("cannot write", run.stderr)


class Oddities(Case):
    """Odd, but meant: these run."""

    def counted(self, count, *args):
        run = self.ok(squall(A, *GOOD, *args))
        self.assertEqual(run.end_record["tx"]["packets"], count)
        return run

    def test_the_last_one_wins(self):
        self.assertEqual(self.counted(3, "--count", 9, "--pps", 5, "--pps", "2k", "--count", 3).json["config"]["pps"], "2k")
        self.counted(4, "--qdisc", "--no-qdisc", "--count", 4)

    def test_few_packets_for_many_queues(self):
        self.counted(1, "--count", 1, "--queues", 8, "--flows", 100)
        run = self.counted(5, "--count", 5, "--queues", 64, "--flows", 64)
        self.assertRegex(run.json["start"]["warnings"][0], "64 transmit queues.* 2")

    def test_short_runs(self):
        # No packet too many; on a busy machine some too few, which are then said to be missing.
        for due, args in ((100, ("-d", "1ms", "--pps", "100k")), (1, ("-d", "1ms", "--pps", 5)), (1, ("-d", "1ns", "--pps", "100k")),
                          (10, ("-d", "10ms", "--pps", "1k", "--count", (1 << 64) - 1)), (2000, ("-d", "10ms", "--bps", "134.4M"))):
            with self.subTest(args=args):
                end = self.ok(squall(A, *GOOD, *args)).end_record
                self.assertLessEqual(end["tx"]["packets"], due)
                self.assertEqual(end["tx"]["packets"] + end["tx"]["unsent"], due)
                self.assertEqual(end["reason"], "duration")

    def test_many_flows(self):
        run = self.ok(squall(A, "send", "-i", "qa", "--dst-ip", "10.0.0.0/8", "--dst-mac", NOBODY, "--flows", 1 << 22, "--count", 10, timeout=60))
        self.assertEqual(run.end_record["tx"]["packets"], 10)

    def test_more_processors_than_queues_and_the_other_way_round(self):
        self.assertEqual(self.counted(10, "--cpus", "0", "--queues", 2, "--flows", 2, "--count", 10).end_record["queues"][1]["cpu"], 0)
        self.counted(10, "--cpus", "0,0,0", "--count", 10)

    def test_no_processor_is_chosen_where_queues_have_no_interrupts(self):
        for end in (self.counted(10, "--queues", 2, "--flows", 2, "--count", 10, "--rx-mode", "generated-flow").end_record,
                    self.ok(squall(None, "send", "-i", "loop:sink", "--count", 10, "--pps", "unlimited", "--dst-ip", "192.0.2.1")).end_record):
            self.assertEqual({q["cpu"] for q in end["queues"]}, {None})

    def test_senders_stay_whose_queue_is_that_of_their_processor(self):
        """The kernel takes the queue by the processor: one that was moved would overtake its own packets."""
        usable = os.sched_getaffinity(0)
        for args in (("send", "-i", "afpacket:qa", "--queues", 2, "--flows", 2, *QUIET, "--pps", "1k"), ("reflect", "-i", "afpacket:qb", "--queues", 2)):
            with self.subTest(args=args):
                run = Squall(A if args[0] == "send" else B, *args, "-d", "60s", "--no-tui")
                threads = until(lambda: len(pinned(run.process.pid)) == 2 and pinned(run.process.pid), what="two threads that stay")
                run.signal()
                self.assertEqual(len(set(threads)), min(2, len(usable)))
                self.assertEqual(sorted(q["cpu"] for q in self.ok(run.end()).end_record["queues"] if q["cpu"] is not None), sorted(threads))


def pinned(pid):
    """The processors of a process's threads that have one each."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        allowed = re.search(r"^Cpus_allowed_list:\s+(\S+)$", open(path, encoding="ascii").read(), re.M)[1]
        if allowed.isdigit():
            found.append(int(allowed))
    return found


if __name__ == "__main__":
    main()
