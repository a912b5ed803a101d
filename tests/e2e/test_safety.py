# SPDX-License-Identifier: Apache-2.0
"""Questions before harm: an unlimited run where the machine's own traffic goes."""
import os
import pty
import select
import signal

from lab import A, B, Case, QUIET, Squall, ip, main, minus, sent, squall

FLOOD = ("send", "-i", "qa", *QUIET, "--pps", "unlimited", "--count", 100)
SSH = {"SSH_CONNECTION": "192.0.2.1 50000 10.78.0.1 22"}


class Question(Case):
    def default_route(self, *args):
        ip(A, *args, "route", "add", "default", "dev", "qa")
        self.addCleanup(ip, A, *args, "route", "del", "default", check=False)

    def refuses(self, *args, says, **kw):
        before = sent(A, "qa")
        run = self.refused(*FLOOD, *args, rc=3, names=[says, "--yes", "--pps"], **kw)
        self.assertEqual(sent(A, "qa"), before)
        return run

    def test_the_default_route(self):
        self.ok(squall(A, *FLOOD))
        self.default_route()
        self.refuses(says="default route")
        self.refuses("--bps", "unlimited", says="default route")
        self.refuses("--pps", 0, says="default route")
        for args in (("--yes",), ("-y",), ("--pps", "10k"), ("--bps", "10M")):
            run = self.ok(squall(A, *FLOOD, *args))
            self.assertEqual(run.end_record["tx"]["packets"], 100)
            self.assertIn("default route", " ".join(run.json["start"]["warnings"]))

    def test_the_default_route_of_ipv6(self):
        ip(A, "addr", "add", "fd78::1/64", "dev", "va", "nodad")
        self.addCleanup(ip, A, "addr", "del", "fd78::1/64", "dev", "va")
        ip(A, "-6", "route", "add", "default", "via", "fd78::2", "dev", "va")
        self.addCleanup(ip, A, "-6", "route", "del", "default")
        self.refused("send", "-i", "va", "--dst-ip", "10.77.0.2", "--pps", "unlimited", "--count", 1, rc=3, names=["default route"])
        self.ok(squall(A, *FLOOD))  # qa is another interface

    def test_this_ssh_session(self):
        self.refuses(says="SSH", env=SSH)
        self.ok(squall(A, *FLOOD, "--yes", env=SSH))
        self.ok(squall(A, *FLOOD, "--pps", "10k", env=SSH))
        for other in ("192.0.2.1 50000 10.77.0.1 22", "", "x", "1 2", "192.0.2.1 50000 10.78.0.1x 22", "a" * 10_000, "1 2 " + "b" * 10_000):
            self.ok(squall(A, *FLOOD, env={"SSH_CONNECTION": other}))

    def test_an_ssh_session_over_a_link_local_address(self):
        local = "fe80::5:1"
        ip(A, "addr", "add", f"{local}/64", "dev", "va", "nodad")
        self.addCleanup(ip, A, "addr", "del", f"{local}/64", "dev", "va")
        self.refused("send", "-i", "va", "--dst-ip", "10.77.0.2", "--pps", "unlimited", "--count", 1, rc=3, names=["SSH"],
                     env={"SSH_CONNECTION": f"fe80::9%va 50000 {local}%va 22"})

    def test_the_default_rate_is_no_flood(self):
        self.default_route()
        run = self.ok(squall(A, "send", "-i", "qa", *QUIET, "-d", "100ms"))
        self.assertEqual(run.end_record["tx"]["requested_pps"], 100_000)

    def answer(self, text):
        """On a terminal; (exit code, what stood there)."""
        master, slave = pty.openpty()
        before = sent(A, "qa")
        run = Squall(A, *FLOOD, stdin=slave, stderr=slave)
        os.close(slave)
        said = b""
        while b"yes to go on" not in said and select.select([master], [], [], 5)[0]:
            said += os.read(master, 1000)
        if text is None:
            run.signal(signal.SIGINT)
        else:
            os.write(master, text.encode())
        run.end(10)
        os.close(master)
        self.assertEqual(minus(sent(A, "qa"), before)[0], 100 if run.rc == 0 else 0)
        self.assertIsNotNone(run.json)
        return run.rc, said.decode()

    def test_on_a_terminal(self):
        self.default_route()
        code, said = self.answer("yes\n")
        self.assertEqual(code, 0)
        self.assertRegex(said, "qa carries this machine's default route")
        for text in ("y\n", "\n", "no\n", "yes yes\n", "YES\n", "\x04", "x" * 200 + "\n"):
            with self.subTest(text=text):
                self.assertEqual(self.answer(text)[0], 3)
        self.assertEqual(self.answer(None)[0], 3)

    def test_everything_is_not_taken_by_mistake(self):
        self.refused("recv", "-i", "qb", "--rx-mode", "all", "--yes", where=B, names=["--allow-match-all"])
        self.refused("recv", "-i", "qb", "--rx-mode", "cidr", "--rx-cidr", "::/0", "--yes", where=B, names=["--allow-match-all"])


if __name__ == "__main__":
    main()
