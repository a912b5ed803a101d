# SPDX-License-Identifier: Apache-2.0
"""squall devices: every interface, what it is, and which backends work on it."""
import json
import os
import re

from lab import A, B, Case, ip, mac, main, sh, squall, veth

BACKENDS = {"loop", "afpacket", "afxdp", "xdp", "dpdk", "mlx5"}


class Devices(Case):
    def listed(self, where=A, **kw):
        run = squall(where, "devices", **kw)
        self.assertEqual(run.rc, 0, run.err)
        self.assertEqual(set(run.json), {"squall", "devices", "error"})
        self.assertIsNone(run.json["error"])
        return {d["name"]: d for d in run.json["devices"]}

    def test_every_interface_and_backend(self):
        devices = self.listed()
        self.assertEqual(set(devices), {link["ifname"] for link in json.loads(ip(A, "-j", "link"))})
        for name, d in devices.items():
            self.assertEqual({b["backend"] for b in d["backends"]}, BACKENDS)
            for b in d["backends"]:
                self.assertEqual(b["works"], b["why_not"] is None, b)
            self.assertEqual(d["usable"], name != "lo")
        self.assertRegex(devices["lo"]["why_not"], "loopback")
        self.assertTrue(devices["lo"]["try"])

    def test_what_it_says_is_so(self):
        d = self.listed()["va"]
        link = json.loads(ip(A, "-d", "-j", "link", "show", "va"))[0]
        self.assertEqual((d["mac"], d["mtu"], d["driver"], d["kind"], d["up"], d["carrier"]), (link["address"], link["mtu"], "veth", "veth", True, True))
        self.assertEqual((d["tx_queues"], d["rx_queues"]), (link["num_tx_queues"], link["num_rx_queues"]))
        self.assertEqual(d["speed_mbps"], 10_000)
        self.assertLessEqual({"10.77.0.1/24", "fd77::1/64"}, set(d["addresses"]))
        works = {b["backend"]: b["works"] for b in d["backends"]}
        self.assertTrue(works["afpacket"])

    def xdp_text(self, dev):
        return re.search(rf"(?m)^{dev}  (?:.*\n  +)+?XDP in the driver: (.*)$", squall(A, "devices", form=None).out)[1]

    def test_xdp(self):
        """drivers/net/veth.c: native if there is a receive queue for each of the peer's transmit queues; transmit if the peer has GRO."""
        kernel = tuple(map(int, os.uname().release.split(".")[:2]))
        sh("ip", "link", "add", "xa", "netns", A, "numrxqueues", 1, "numtxqueues", 1, "type", "veth",
           "peer", "name", "xb", "netns", B, "numrxqueues", 1, "numtxqueues", 2)
        self.addCleanup(ip, A, "link", "del", "xa")
        ip(A, "link", "add", "if0", "type", "ifb")
        self.addCleanup(ip, A, "link", "del", "if0")
        none = dict.fromkeys(("native", "redirect", "zero_copy", "multi_buffer", "transmit"), False)
        native = {**none, "native": True, "redirect": True, "multi_buffer": True}
        said = {dev: self.listed()[dev]["xdp"] for dev in ("qa", "xa", "if0", "lo")}
        if kernel < (6, 3):
            self.assertEqual(set(said.values()), {None})
            self.assertRegex(self.xdp_text("qa"), "unknown.*6.3")
            return
        self.assertEqual(said, {"qa": native, "xa": none, "if0": none, "lo": none})
        self.assertEqual(self.xdp_text("qa"), "native, redirect, multi-buffer")
        self.assertEqual(self.xdp_text("xa"), "none")
        sh("ethtool", "-K", "qb", "gro", "on", where=B)
        self.addCleanup(sh, "ethtool", "-K", "qb", "gro", "off", where=B)
        self.assertEqual(self.listed()["qa"]["xdp"], {**native, "transmit": True})
        self.assertEqual(self.xdp_text("qa"), "native, redirect, multi-buffer, transmit")

    def test_the_same_without_the_namespaces_sysfs(self):
        self.assertEqual(self.listed(enter="nsenter"), self.listed())

    def test_states(self):
        veth("xa", "xb")
        self.addCleanup(ip, A, "link", "del", "xa")
        self.assertEqual([self.listed()["xa"][k] for k in ("up", "carrier")], [False, False])
        self.assertRegex(squall(A, "devices", form=None).out, r"(?m)^xa  down ")
        ip(A, "link", "set", "xa", "up")
        self.assertEqual([self.listed()["xa"][k] for k in ("up", "carrier")], [True, False])
        self.assertRegex(squall(A, "devices", form=None).out, r"(?m)^xa  no carrier ")
        ip(B, "link", "set", "xb", "up")
        self.assertEqual([self.listed()["xa"][k] for k in ("up", "carrier")], [True, True])

    def test_the_default_route(self):
        self.assertFalse(any(d["default_route"] for d in self.listed().values()))
        ip(A, "route", "add", "default", "via", "10.78.0.2")
        self.addCleanup(ip, A, "route", "del", "default")
        self.assertEqual([name for name, d in self.listed().items() if d["default_route"]], ["qa"])
        self.assertRegex(squall(A, "devices", form=None).out, r"(?m)^qa .*default route")

    def test_text(self):
        text = squall(A, "devices", form=None).out
        for word in ("va", mac(A, "va"), "10.77.0.1/24", "veth", "afpacket", "afxdp", "dpdk", "mlx5", "loop", "works", "try:"):
            self.assertIn(word, text)
        self.assertFalse([c for c in text if ord(c) < 32 and c != "\n"])

    def test_lines(self):
        run = squall(A, "devices", form="--json-stream")
        lines = [json.loads(line) for line in run.out.splitlines()]
        self.assertEqual(lines[-1]["event"], "end")
        self.assertIn("va", {d["name"] for d in lines[-1]["devices"]})

    def test_a_name_that_is_no_name(self):
        name = 'x"\\\x1b<ä'
        veth("xa", "xb")
        self.addCleanup(ip, A, "link", "del", "xa", check=False)
        ip(A, "link", "set", "xa", "name", name)
        self.addCleanup(ip, A, "link", "del", name)
        self.assertIn(name, self.listed())
        ip(A, "link", "set", name, "up")
        ip(B, "link", "set", "xb", "up")
        run = self.ok(squall(A, "send", "-i", name, "--dst-ip", "192.0.2.2", "--src-ip", "192.0.2.1", "--dst-mac", "02:00:00:00:00:09", "--count", 5))
        self.assertEqual(run.end_record["tx"]["packets"], 5)


if __name__ == "__main__":
    main()
