# SPDX-License-Identifier: Apache-2.0
"""AF_XDP: which mode is taken, and why not a better one; whose program and whose queue is in the way."""
import json
import re

import xdp
from lab import A, B, Case, NOBODY, QUIET, Receiver, Squall, ip, link, main, minus, received, send, sent, sh, squall

MODES = ("native", "generic")


class Told(Case):
    """start.xdp says what was taken, and the reason of each step down."""

    def start(self, verb, dev, *args, where=B):
        to = (*QUIET, "--count", 10) if verb == "send" else ("-d", "20ms")
        run = self.ok(squall(where, verb, "-i", dev, *to, *args))
        return run.json["start"]

    def test_the_best_that_works(self):
        for verb, where, dev in (("recv", B, "qb"), ("send", A, "qa")):
            for name in (dev, f"afxdp:{dev}"):
                with self.subTest(verb=verb, name=name):
                    start = self.start(verb, name, where=where)
                    self.assertEqual((start["xdp"]["mode"], start["backend"]), ("native", "afxdp: native, copy"))
                    self.assertRegex(start["xdp"]["not_native_zc"], "veth.*zero-copy")
                    self.assertNotIn("backend_why", start)

    def test_every_step_down(self):
        ip(B, "link", "add", "if0", "type", "ifb")
        self.addCleanup(ip, B, "link", "del", "if0")
        ip(B, "link", "set", "if0", "up")
        told = self.start("recv", "if0")["xdp"]
        self.assertEqual(told["mode"], "generic")
        self.assertRegex(told["not_native_zc"], "ifb.*zero-copy")
        self.assertRegex(told["not_native"], "ifb.*no XDP")

    def test_a_veth_with_fewer_queues_than_its_peer_sends_on(self):
        """drivers/net/veth.c: it runs no program then. What the error says to type helps."""
        sh("ethtool", "-L", "qa", "rx", 1, where=A)
        self.addCleanup(sh, "ethtool", "-L", "qa", "rx", 2, where=A)
        for verb, dev in (("recv", "qa"), ("send", "qa")):
            told = self.start(verb, dev, where=A)["xdp"]
            self.assertEqual(told["mode"], "generic")
            self.assertRegex(told["not_native"], "^veth .*peer")
            self.refused(verb, "-i", "afxdp:qa", "--xdp-mode", "native", *(QUIET if verb == "send" else ()), rc=6, names=["peer", "ethtool -L qa rx N", "--xdp-mode generic"])
        sh("ethtool", "-L", "qa", "rx", 2, where=A)
        self.assertEqual(self.start("recv", "qa", where=A)["xdp"]["mode"], "native")

    def test_forced(self):
        for verb, where, dev in (("recv", B, "qb"), ("send", A, "qa")):
            for mode in MODES:
                for args in ((f"afxdp:{dev}", "--xdp-mode", mode), (f"afxdp:{dev},mode={mode}",), (dev, "--xdp-mode", mode)):
                    with self.subTest(verb=verb, args=args):
                        start = self.start(verb, *args, where=where)
                        self.assertEqual((start["xdp"]["mode"], start["backend"]), (mode, f"afxdp: {mode}, copy"))
                        self.assertEqual({k for k in start["xdp"] if k.startswith("not_")}, set(), "a mode that was asked for is no step down")

    def test_the_program_is_told_and_is_there(self):
        for mode in MODES:
            receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
            there = xdp.program(B, "qb")
            self.assertEqual(there["mode"], mode)
            told = self.ok(receiver.stop()).json["start"]["xdp"]["program"]
            self.assertRegex(told, rf"\bid {there['id']}\b.* by a BPF link, {mode}$")
            self.assertIsNone(xdp.program(B, "qb"), "gone with the run")
            self.assertRegex(self.start("send", "afxdp:qa", "--xdp-mode", mode, where=A)["xdp"]["program"], "^none")

    def test_what_cannot_be_had(self):
        ip(A, "link", "add", "if0", "type", "ifb")
        self.addCleanup(ip, A, "link", "del", "if0")
        ip(A, "link", "set", "if0", "up")
        to = ("--dst-ip", "192.0.2.2", "--src-ip", "192.0.2.1", "--dst-mac", NOBODY, "--count", 1)
        for dev, mode, names in (("qa", "native-zc", ["qa", "veth", "zero-copy"]), ("if0", "native-zc", ["if0", "ifb", "zero-copy"]), ("if0", "native", ["if0", "ifb", "XDP"])):
            for verb, args in (("recv", ("-d", "10ms")), ("send", to)):
                with self.subTest(dev=dev, mode=mode, verb=verb):
                    self.refused(verb, "-i", f"afxdp:{dev}", "--xdp-mode", mode, *args, rc=6, names=[*names, "--xdp-mode auto"])

    def test_in_text(self):
        out = squall(B, "recv", "-i", "qb", "-d", "20ms", form=None).out
        self.assertRegex(out, r"(?m)^backend +afxdp: native, copy$")
        self.assertRegex(out, r"(?m)^not zero-copy +veth ")
        self.assertRegex(out, r"(?m)^XDP mode +native$")

    def test_device_options_that_make_no_sense(self):
        for options, word in (("mode=fast", "mode is one of"), ("bogus", "options are"), ("mode", "options are"), ("multi-buffer=on", "options are"), ("", "options are"), ("mode=native,", "options are")):
            with self.subTest(options=options):
                self.refused("recv", "-i", f"afxdp:qb,{options}", rc=2, where=B, names=[word, "afxdp:IFACE"])

    def test_packet_sockets_have_no_modes(self):
        self.refused("recv", "-i", "afpacket:qb,mode=native", rc=2, where=B, names=["mode=native"])


class SteppingDown(Case):
    """Without a named backend a lesser one does what AF_XDP may not, and says why it is that one."""

    def test_a_discipline(self):
        start = self.ok(send("-i", "qa", *QUIET, "--count", 10, "--qdisc")).json["start"]
        self.assertRegex(start["backend"], "^afpacket: ")
        self.assertRegex(start["backend_why"], "^afxdp: its packets go past the queueing discipline$")
        self.refused("send", "-i", "afxdp:qa", *QUIET, "--qdisc", rc=6, names=["afpacket:qa", "--qdisc"])

    def test_a_queue_that_is_taken(self):
        first = Squall(A, "send", "-i", "afxdp:qa", *QUIET, "--pps", 10, "-d", "30s", form="--json-stream")
        first.wait_for('"begin"', "out")
        start = self.ok(send("-i", "qa", *QUIET, "--count", 10)).json["start"]
        self.assertRegex(start["backend"], "^afpacket: ")
        self.assertRegex(start["backend_why"], "afxdp: another AF_XDP socket has it")
        self.refused("send", "-i", "afxdp:qa", *QUIET, "--count", 10, rc=1, names=["queue 0", "another AF_XDP socket"])
        first.signal()
        self.assertEqual(first.end().rc, 0)
        self.assertNotIn("backend_why", self.ok(send("-i", "qa", *QUIET, "--count", 10)).json["start"])

    def test_no_right_to_load_a_program(self):
        keep = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=+net_raw,+ipc_lock", "--ambient-caps=+net_raw,+ipc_lock")
        start = self.ok(squall(B, "recv", "-i", "qb", "-d", "20ms", before=keep)).json["start"]
        self.assertRegex(start["backend"], "^afpacket: ")
        self.assertRegex(start["backend_why"], "afxdp: .*CAP_BPF")
        # A sender in copy mode needs none.
        self.assertRegex(self.ok(squall(A, "send", "-i", "qa", *QUIET, "--count", 10, before=keep)).json["start"]["backend"], "^afxdp: ")

    def test_in_text(self):
        self.assertRegex(send("-i", "qa", *QUIET, "--count", 10, "--qdisc", form=None).out, r"(?m)^because +afxdp: ")


class SomebodyElses(Case):
    """A program that is there already stays there, and is named."""

    def refuses(self, foreign, by, mode, *args):
        run = self.refused("recv", "-i", *args, "-d", "1s", rc=1, where=B,
                           names=["qb has an XDP program already", "somebodys", rf"\(id {foreign.id}\)", f"in {mode} mode", "netlink" if by == "netlink" else "BPF link id [0-9]+"])
        self.assertEqual(xdp.program(B, "qb"), {"id": foreign.id, "mode": mode})
        return run.json["error"]["try"]

    def test_it_stays(self):
        for by in ("netlink", "link"):
            for mode in MODES:
                with self.subTest(by=by, mode=mode):
                    foreign = xdp.Foreign(B, "qb", by, mode)
                    try:
                        for args in (("qb",), ("afxdp:qb",), ("afxdp:qb", "--xdp-mode", "native"), ("afxdp:qb", "--xdp-mode", "generic")):
                            way_out = self.refuses(foreign, by, mode, *args)
                        self.sends_beside(foreign, mode)
                        self.assertRegex(way_out, "bpftool link detach id [0-9]+" if by == "link" else "ip link set dev qb xdp")
                    finally:
                        foreign.close()

    def sends_beside(self, foreign, mode):
        """Its verdict is to pass; what is sent beside it leaves, and what comes in meets it."""
        before = sent(B, "qb")[0]
        run = self.ok(squall(B, "send", "-i", "afxdp:qb", "--dst-ip", "10.78.0.1", "--src-ip", "10.78.0.2", "--dst-mac", NOBODY, "--count", 100))
        self.assertEqual((run.end_record["tx"]["packets"], sent(B, "qb")[0] - before), (100, 100))
        self.assertEqual(xdp.program(B, "qb"), {"id": foreign.id, "mode": mode})

    def test_the_way_out_works(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                foreign = xdp.Foreign(B, "qb", "netlink", mode)
                command = re.search("ip link set dev .*", self.refuses(foreign, "netlink", mode, "qb"))[0]
                sh(*command.split(), where=B)
                self.assertIsNone(xdp.program(B, "qb"))
                self.ok(squall(B, "recv", "-i", "qb", "-d", "20ms"))

    def test_another_squall(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                first = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
                there = xdp.program(B, "qb")
                for dev in ("qb", "afxdp:qb"):
                    self.refused("recv", "-i", dev, rc=1, where=B, names=["squall_afxdp", rf"\(id {there['id']}\)", "BPF link id [0-9]+"])
                self.assertEqual(xdp.program(B, "qb"), there)
                before = received(B, "qb")[0]
                self.ok(send("-i", "qa", *QUIET, "--count", 100))
                self.assertEqual(received(B, "qb")[0] - before, 100)
                self.assertEqual(self.ok(first.stop()).end_record["rx"]["packets"], 100)
                self.ok(squall(B, "recv", "-i", "qb", "-d", "20ms"))

    def test_packet_sockets_beside_it(self):
        first = Receiver("-i", "afxdp:qb", "--filter", "proto=udp,dst-port=9000")
        copies = Receiver("-i", "afpacket:qb", "--filter", "proto=udp,dst-port=9001")
        for port in (9000, 9001):
            self.ok(send("-i", "qa", *QUIET, "--dst-port", port, "--count", 100))
        for receiver in (first, copies):
            self.assertEqual(self.ok(receiver.stop()).end_record["rx"]["packets"], 100)


class Queues(Case):
    def test_both_directions_of_one_interface(self):
        """A receiver and a sender need the queue's memory each, so the second is turned away, or steps down."""
        receiver = Receiver("-i", "afxdp:qa", where=A)
        before = sent(A, "qa")
        run = self.ok(send("-i", "qa", *QUIET, "--count", 100))
        self.assertRegex(run.json["start"]["backend"], "^afpacket: ")
        self.assertEqual(minus(sent(A, "qa"), before)[0], 100)
        self.ok(receiver.stop())

    def test_sending_and_receiving_in_one_run(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                end = self.ok(send("-i", "afxdp:qa", "--xdp-mode", mode, *QUIET, "--rx-mode", "generated-flow", "--count", 1000, "--queues", 2, "--flows", 10)).end_record
                self.assertEqual((end["tx"]["packets"], end["rx"]["packets"], end["rx"]["dropped"]), (1000, 0, 0))

    def test_promiscuity_lasts_as_long_as_the_run(self):
        for mode in MODES:
            receiver = Receiver("-i", "afxdp:qb", "--xdp-mode", mode)
            self.assertEqual(link(B, "qb")["promiscuity"], 1)
            self.ok(receiver.stop())
            self.assertEqual(link(B, "qb")["promiscuity"], 0)


if __name__ == "__main__":
    main()
