# SPDX-License-Identifier: Apache-2.0
"""Source address and destination MAC: those that the kernel would use, or a refusal with the ways out."""
import json
import signal
import time

from frames import Tap
from lab import A, B, Case, NOBODY, Squall, ip, mac, main, send, until


class NextHop(Case):
    def frame(self, *args, dev="va", far="vb", **kw):
        """Sends three packets; what they have in common at the other end."""
        with Tap(B, far) as tap:
            run = self.ok(send("-i", dev, *args, "--count", 3, **kw))
            frames = [f for f in tap.frames(mac(A, dev), quiet=0.3) if f.udp and f.udp.dst == 9000]
        self.assertEqual(len(frames), 3)
        self.assertEqual(len({(f.dst, f.ip.src, f.ip.dst) for f in frames}), 1)
        self.assertIn(frames[0].dst, run.json["start"]["next_hop"])
        return frames[0]

    def route(self, *args):
        family = ("-6",) if any(":" in str(a) for a in args) else ()
        ip(A, *family, "route", "add", *args)
        self.addCleanup(ip, A, *family, "route", "del", *args, check=False)

    def entry(self, address):
        found = json.loads(ip(A, "-j", "neigh", "show", address, "dev", "va") or "[]")
        return found[0]["state"][0] if found else None

    def test_a_neighbour_is_asked_for(self):
        for address, source in (("10.77.0.2", "10.77.0.1"), ("fd77::2", "fd77::1")):
            ip(A, "neigh", "flush", "dev", "va")
            f = self.frame("--dst-ip", address)
            self.assertEqual((f.dst, f.ip.src, f.ip.dst), (mac(B, "vb"), source, address))

    def test_a_stale_entry_is_not_believed(self):
        for address in ("10.77.0.2", "fd77::2"):
            ip(A, "neigh", "replace", address, "lladdr", NOBODY, "dev", "va", "nud", "stale")
            self.assertEqual(self.frame("--dst-ip", address).dst, mac(B, "vb"))

    def test_a_permanent_entry_is(self):
        ip(A, "neigh", "replace", "10.77.0.66", "lladdr", NOBODY, "dev", "va", "nud", "permanent")
        self.addCleanup(ip, A, "neigh", "del", "10.77.0.66", "dev", "va")
        self.assertEqual(self.frame("--dst-ip", "10.77.0.66").dst, NOBODY)

    def test_nobody_answers(self):
        for address in ("10.77.0.99", "fd77::99"):
            run = self.refused("send", "-i", "va", "--dst-ip", address, rc=1, names=[address.replace(".", r"\."), "va", "--dst-mac"])
            self.assertTrue(1 < run.seconds < 10, run.seconds)

    def test_a_signal_ends_the_asking(self):
        run = Squall(A, "send", "-i", "va", "--dst-ip", "10.77.0.98")
        until(lambda: self.entry("10.77.0.98") == "INCOMPLETE", what="a question")
        at = time.monotonic()
        run.signal(signal.SIGINT)
        run.end()
        self.assertLess(time.monotonic() - at, 1)
        self.assertEqual(run.rc, 0, run.err)
        self.assertEqual((run.json["end"]["reason"], run.json["end"]["tx"]), ("signal", None))

    def test_a_gateway(self):
        self.route("198.51.100.0/24", "via", "10.77.0.2")
        self.route("2001:db8::/32", "via", "fd77::2", "dev", "va")
        for address, source in (("198.51.100.7", "10.77.0.1"), ("198.51.100.0/25", "10.77.0.1"), ("2001:db8::7", "fd77::1")):
            f = self.frame("--dst-ip", address)
            self.assertEqual((f.dst, f.ip.src), (mac(B, "vb"), source))

    def test_a_link_local_gateway(self):
        far = json.loads(ip(B, "-j", "-6", "addr", "show", "dev", "vb", "scope", "link"))[0]["addr_info"]
        gateway = next(a["local"] for a in far if a.get("local"))
        self.route("2001:db8:1::/48", "via", gateway, "dev", "va")
        f = self.frame("--dst-ip", "2001:db8:1::1")
        self.assertEqual((f.dst, f.ip.src), (mac(B, "vb"), "fd77::1"))

    def test_a_gateway_that_does_not_answer_is_named(self):
        self.route("198.51.100.0/24", "via", "10.77.0.97")
        self.refused("send", "-i", "va", "--dst-ip", "198.51.100.7", rc=1, names=[r"10\.77\.0\.97"])

    def test_the_routes_own_source(self):
        ip(A, "addr", "add", "10.77.0.50/32", "dev", "va")
        self.addCleanup(ip, A, "addr", "del", "10.77.0.50/32", "dev", "va")
        self.route("198.51.100.0/24", "via", "10.77.0.2", "src", "10.77.0.50")
        self.assertEqual(self.frame("--dst-ip", "198.51.100.7").ip.src, "10.77.0.50")
        self.assertEqual(self.frame("--dst-ip", "198.51.100.7", "--src-ip", "10.77.0.1").ip.src, "10.77.0.1")

    def test_no_route(self):
        for address in ("192.0.2.1", "2001:db8:f::1"):
            self.refused("send", "-i", "va", "--dst-ip", address, rc=1, names=[address, "no route", "--dst-mac"])
        self.route("blackhole", "192.0.2.0/24")
        self.refused("send", "-i", "va", "--dst-ip", "192.0.2.1", rc=1, names=["192.0.2.0/24"])

    def test_a_route_through_another_interface(self):
        self.refused("send", "-i", "va", "--dst-ip", "10.78.0.2", rc=2, names=["qa", "-i qa", "--dst-mac"])

    def test_own_addresses(self):
        for address in ("10.77.0.1", "10.78.0.1", "fd77::1", "127.0.0.1", "::1"):
            self.refused("send", "-i", "va", "--dst-ip", address, rc=2, names=["this host", "--dst-mac"])
        self.assertEqual(self.frame("--dst-ip", "10.77.0.1", "--dst-mac", NOBODY).ip.dst, "10.77.0.1")

    def test_broadcast_and_unspecified(self):
        for address in ("10.77.0.255", "255.255.255.255", "0.0.0.0", "::"):
            self.refused("send", "-i", "va", "--dst-ip", address, rc=2, names=[address, "--dst-mac"])

    def test_a_connected_prefix_has_many_macs(self):
        self.refused("send", "-i", "va", "--dst-ip", "10.77.0.0/28", "--flows", 14, rc=2, names=[r"10\.77\.0\.0/28", "--dst-mac"])

    def test_a_prefix_with_two_next_hops(self):
        self.route("198.51.100.0/24", "via", "10.77.0.2")
        self.route("198.51.100.16/28", "via", "10.77.0.3")
        self.refused("send", "-i", "va", "--dst-ip", "198.51.100.0/24", "--flows", 14, rc=2, names=[r"198\.51\.100\.16/28", "--dst-mac"])

    def test_multicast(self):
        for group, want in (("224.0.0.251", "01:00:5e:00:00:fb"), ("239.129.2.3", "01:00:5e:01:02:03"), ("ff02::1:3", "33:33:00:01:00:03"),
                            ("ff05::abcd:1234", "33:33:ab:cd:12:34")):
            with self.subTest(group=group):
                if group.startswith("239"):
                    self.route("239.0.0.0/8", "dev", "va")
                f = self.frame("--dst-ip", group)
                self.assertEqual((f.dst, f.ip.dst), (want, group))
                self.assertIn(f.ip.src, ("10.77.0.1", "fd77::1") if group != "ff02::1:3" else (f.ip.src,))

    def test_a_link_local_destination(self):
        far = json.loads(ip(B, "-j", "-6", "addr", "show", "dev", "vb", "scope", "link"))[0]["addr_info"]
        address = next(a["local"] for a in far if a.get("local"))
        f = self.frame("--dst-ip", address)
        self.assertEqual((f.dst, f.ip.dst), (mac(B, "vb"), address))
        self.assertTrue(f.ip.src.startswith("fe80::"), f.ip.src)

    def test_no_address_of_the_family(self):
        self.refused("send", "-i", "qa", "--dst-ip", "fd00::5", rc=1, names=["fd00::5"])
        self.refused("send", "-i", "qa", "--dst-ip", "fd00::5", "--dst-mac", NOBODY, rc=2, names=["--src-ip"])

    def test_the_destination_mac_as_given_asks_nobody(self):
        ip(A, "neigh", "flush", "dev", "va")
        self.frame("--dst-ip", "10.77.0.96", "--dst-mac", NOBODY)
        self.assertIsNone(self.entry("10.77.0.96"))


if __name__ == "__main__":
    main()
