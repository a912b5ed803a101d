# SPDX-License-Identifier: Apache-2.0
"""The dashboard on a terminal: what it shows, its keys, and that the terminal is as it was afterwards."""
import os
import re
import signal
import time

from lab import BIN, TMP, A, Case, main, sh, until
from terminal import Terminal

LOOP = ("send", "-i", "loop:sink", "--dst-ip", "192.0.2.9")
# Figures with a prefix: "99.93 k", "1 M".
PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
LINE = r"^ {name} +([0-9.]+) ?([kMG]?){unit}"


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def threads_cpu(pid, name):
    """Seconds of processor time that the thread of that name has had."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as f:
            head, rest = f.read().rsplit(")", 1)
        if head.split("(", 1)[1] == name:
            fields = rest.split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    raise AssertionError(f"no thread {name}")


class Dashboard(Case):
    def near(self, t, name, unit, value, delta):
        """It shows about that; more than one look, since one may fall into the middle of an update."""

        def figure():
            m = t.until(LINE.format(name=name, unit=unit))
            return abs(float(m[1]) * PREFIX[m[2]] - value) <= delta

        try:
            until(figure, timeout=15)
        except AssertionError:
            self.fail(f"{name} is not near {value}:\n{t.screen.text()}")

    def given_back(self, t):
        """The terminal's settings, its normal screen, a visible cursor, and scrolling of the whole screen."""
        self.assertEqual(t.after, t.settings)
        self.assertIsNone(t.screen.normal)
        self.assertGreater(t.out.rfind(b"\x1b[?25h"), t.out.rfind(b"\x1b[?25l"))
        self.assertEqual(t.screen.region, [1, t.screen.rows])

    def ended(self, t, rc=0):
        t.end()
        self.assertEqual(t.rc, rc, t.screen.text())
        self.given_back(t)
        return t

    def total(self, t):
        return int(re.search(rb"\ntx +(\d+) ", t.out[t.out.rfind(b"ran for"):])[1])

    def test_it_shows_the_run_and_tells_its_end(self):
        t = Terminal(*LOOP, "--pps", "10k", "-d", "60s", rows=30, cols=100)
        t.until(r"squall send  loop:sink +running  0:0\d of 1:00")
        t.until(r"0:0[3-9] of 1:00")
        self.near(t, "now", "pps", 10_000, 3000)
        self.near(t, "L1", "bit/s", 6.72e6, 2e6)
        self.near(t, "L2", "bit/s", 5.12e6, 1.5e6)
        t.until(r"asked for +10 kpps, [0-9.]+ % of it sent now")
        t.press("q")
        self.ended(t)
        self.assertIn("ended by user", t.screen.text())
        # what the plan says stands above it, as in the text form
        self.assertRegex(t.out.decode(), r"(?s)^.*pattern +UDP over IPv4.*\x1b\[\?1049h.*\x1b\[\?1049l.*ran for")
        self.assertGreater(self.total(t), 10_000)

    def test_the_rate_follows_the_keys(self):
        t = Terminal(*LOOP, "--pps", "10k", "-d", "60s")
        t.until("asked for +10 kpps")
        t.press("++=")
        t.until(r"asked for +13.31 kpps.*changed \d times?")
        t.until("the rate is now 13.31 kpps")
        t.until(r"^ now +1[23][0-9.]* kpps")
        t.press("-")
        t.until("asked for +12.1 kpps")
        t.signal(signal.SIGUSR2)
        t.until("asked for +11 kpps")
        t.press("q")
        self.ended(t)
        self.assertRegex(t.screen.text(), r"rate changed \d times, to 11 kpps at last")
        self.assertIn("squall: the rate is now 13.31 kpps", t.screen.text())

    def test_pages_and_sizes(self):
        t = Terminal(*LOOP, "--pps", "10k", "-d", "60s", "--queues", 2, "--flows", 2)
        t.until("asked for")
        t.press("4")
        t.until("next hop +02:00:00:00:00:02")
        t.press("\t3")
        t.until("completed: packets that the device gave back")
        t.press("2")
        t.until("^ queue +cpu +busy")
        t.press("\x1b[C\x1b[D?")
        t.until("ten per cent faster")
        t.press("\x1b")
        t.until("asked for")
        for rows, cols in ((10, 40), (60, 200), (3, 12), (24, 80)):
            t.resize(rows, cols)
            t.until(r"^tx 10|^tx 9" if rows == 3 else "squall send  loop:sink")
            self.assertEqual(t.screen.region, [1, rows])
            self.assertLessEqual(max(len(line) for line in t.screen.text().split("\n")), cols)
        t.press("q")
        self.ended(t)

    def test_it_ends_by_itself(self):
        self.assertIn("ended by duration", self.ended(Terminal(*LOOP, "-d", "1s", "--pps", "1k")).screen.text())
        self.assertIn("ended by count", self.ended(Terminal(*LOOP, "--count", 900, "--pps", "1k")).screen.text())

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            t = Terminal(*LOOP, "-d", "60s")
            t.until("asked for")
            if number == signal.SIGINT:
                t.press("\x03")
            else:
                t.signal(number)
            self.assertIn("ended by signal", self.ended(t).screen.text())

    def test_the_second_signal(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k")
        t.until("asked for")
        t.signal(signal.SIGSTOP)  # so that both are there when it looks
        until(lambda: state(t.job) == "T")
        t.signal(signal.SIGINT)
        t.signal(signal.SIGTERM)
        t.signal(signal.SIGCONT)
        self.ended(t, 130)

    def test_a_fault_gives_the_terminal_back(self):
        for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGQUIT):
            t = Terminal(*LOOP, "-d", "60s", before=("sh", "-c", 'ulimit -c 0; exec "$@"', "sh"))
            t.until("asked for")
            t.signal(number)
            self.ended(t, -number & 0xFF)

    def test_suspended_and_continued(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k")
        t.until("asked for")
        t.press("\x1a")
        until(lambda: state(t.job) == "T")
        t.until("asked for", gone=True)
        self.assertIsNone(t.screen.normal)
        t.signal(signal.SIGCONT)
        t.until("asked for")
        t.press("q")
        self.ended(t)

    def test_stopped_from_elsewhere(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k")
        t.until("asked for")
        t.signal(signal.SIGSTOP)
        until(lambda: state(t.job) == "T")
        t.signal(signal.SIGCONT)
        t.until("asked for")
        t.press("q")
        self.ended(t)

    def test_in_the_background_it_is_text(self):
        t = Terminal(*LOOP, "-d", "1s", "--pps", "1k", "--interval", "200ms", background=True).end()
        self.assertEqual(t.rc, 0)
        self.assertNotIn(b"\x1b", t.out)
        self.assertRegex(t.out, rb"\[0:00\.\d\d\d\] tx ")

    def test_terminals_that_cannot(self):
        for term, why in (("dumb", "cannot place its cursor"), ("no-such", "is not known"), ("", "is not set")):
            t = Terminal(*LOOP, "-d", "300ms", "--pps", "1k", env={"TERM": term}).end()
            self.assertEqual(t.rc, 0)
            self.assertNotIn(b"\x1b", t.out)
            self.assertNotIn(b"dashboard", t.out)
            t = Terminal(*LOOP, "-d", "300ms", "--pps", "1k", "--start", env={"TERM": term}).end()
            self.assertEqual(t.rc, 0)
            self.assertRegex(t.out.decode(), f"warning: there is no dashboard: .*{why}")

    def test_other_forms_have_none(self):
        for form in ("--no-tui", "--json", "--json-stream", "--csv", "--quiet", "--dry-run"):
            t = Terminal(*LOOP, "-d", "500ms", "--pps", "1k", form).end()
            self.assertEqual(t.rc, 0)
            self.assertNotIn(b"\x1b", t.out, form)

    def test_no_terminal(self):
        out = sh(BIN, *LOOP, "-d", "300ms", "--pps", "1k")
        self.assertIn("ended by duration", out)
        self.assertNotIn("\x1b", out)

    def test_no_colours_and_no_unicode(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k", env={"NO_COLOR": "1", "LC_ALL": "C"})
        t.until("^ *##")
        t.press("q")
        self.ended(t)
        self.assertNotRegex(t.out, rb"\x1b\[[0-9;]*3[0-7]m")
        self.assertNotRegex(t.out, rb"[\x80-\xff]")

    def test_a_standard_error_of_its_own(self):
        path = os.path.join(TMP, "tui-stderr")
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k", stderr=path)
        t.until("asked for")
        t.press("+")
        t.until("the rate is now 1.1 kpps")

        def read():
            with open(path, encoding="utf-8") as f:
                return f.read()

        until(lambda: read() == "squall: the rate is now 1.1 kpps\n")  # at once, not at the end
        t.press("q")
        self.ended(t)
        self.assertEqual(read(), "squall: the rate is now 1.1 kpps\n")
        self.assertNotIn("rate is now", t.screen.text())

    def test_a_terminal_that_takes_nothing(self):
        """A connection that hangs holds nobody up."""
        t = Terminal(*LOOP, "-d", "6s", "--pps", "1k", rows=60, cols=200)
        t.until("asked for")
        t.reading.clear()
        for i in range(30):  # each page is another: more than a terminal holds
            t.press("2345"[i % 4])
            time.sleep(0.1)
        until(lambda: not os.path.exists(f"/proc/{t.job}") or state(t.job) == "Z", what="the end")
        self.assertLess(time.monotonic() - t.began, 15)
        t.reading.set()
        t.end()
        self.assertEqual((t.rc, t.after), (0, t.settings))

    def test_a_terminal_that_goes_away(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k")
        t.until("asked for")
        os.kill(t.pid, signal.SIGKILL)  # the session's leader: the kernel hangs up
        t.wait()
        t.rc = -signal.SIGKILL
        until(lambda: not os.path.exists(f"/proc/{t.job}") or state(t.job) == "Z", what="the end")

    def test_it_costs_little(self):
        t = Terminal(*LOOP, "-d", "60s", "--pps", "1k", rows=60, cols=200)
        t.until("asked for")
        before, at = threads_cpu(t.job, "squall"), time.monotonic()
        t.until("running  0:0[6-9]")
        self.assertLess((threads_cpu(t.job, "squall") - before) / (time.monotonic() - at), 0.02)
        t.press("q")
        self.ended(t)


class OnAnInterface(Case):
    def test_the_mode_and_its_reason(self):
        t = Terminal("send", "-i", "afxdp:qa", "--dst-ip", "10.78.0.2", "-d", "60s", "--pps", "1k", rows=30, cols=120,
                     before=("ip", "netns", "exec", A))
        t.until("afxdp: (native|generic), copy")
        t.until("not zero-copy veth")
        t.until("XDP mode ")
        t.press("q")
        t.end()
        self.assertEqual((t.rc, t.after), (0, t.settings))

    def test_a_receiver(self):
        t = Terminal("recv", "-i", "afpacket:qa", "-d", "60s", before=("ip", "netns", "exec", A))
        t.until("squall recv  afpacket:qa +running")
        t.until("^ +RX")
        t.press("+")  # nothing is sent: it has no meaning
        t.press("q")
        t.end()
        self.assertEqual((t.rc, t.after), (0, t.settings))
        self.assertIn(b"receiving on afpacket:qa: the filter is active", t.out)
        self.assertNotIn("rate", t.screen.text().split("ran for")[1].split("\n", 2)[2])


if __name__ == "__main__":
    main()
