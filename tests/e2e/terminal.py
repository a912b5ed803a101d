# SPDX-License-Identifier: Apache-2.0
"""A terminal for a test: squall on a pty, its screen as a person would see it, its settings, and its shell's place."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time

from lab import BIN, children

SEQUENCE = re.compile(rb"\x1b(?:\[([?>]?)([0-9;]*)([@-~])|([()].)|([=>78M]))")


class Screen:
    """What an xterm shows, as far as terminfo(5) makes programs use it; anything else is an error."""

    def __init__(self, rows, cols):
        self.normal = None  # what the normal screen showed while the other one is there
        self.left = b""
        self.resize(rows, cols)

    def resize(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.cols for _ in range(self.rows)]
        self.row = self.col = 0
        self.last = " "

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def put(self, char):
        if self.col >= self.cols:
            self.col = 0
            self.down()
        self.cells[self.row][self.col] = self.last = char
        self.col += 1

    def down(self):
        if self.row == self.rows - 1:
            self.cells = self.cells[1:] + [[" "] * self.cols]
        else:
            self.row += 1

    def up(self):
        if self.row:
            self.row -= 1
        else:
            self.cells = [[" "] * self.cols] + self.cells[:-1]

    def erase(self, start, end):
        for at in range(max(start, 0), min(end, self.rows * self.cols)):
            self.cells[at // self.cols][at % self.cols] = " "

    def control(self, private, numbers, last):
        args = [int(n) if n else 0 for n in numbers.split(b";")]
        n, here = max(args[0], 1), self.row * self.cols + self.col
        if private:
            if last in b"hl" and 1049 in args:
                self.other(last == b"h")
        elif last == b"H":
            self.row, self.col = min(n, self.rows) - 1, min(max(args[1] if len(args) > 1 else 1, 1), self.cols) - 1
        elif last in b"ABCD":
            self.row += n * {b"A": -1, b"B": 1}.get(last, 0)
            self.col += n * {b"C": 1, b"D": -1}.get(last, 0)
            self.row, self.col = min(max(self.row, 0), self.rows - 1), min(max(self.col, 0), self.cols - 1)
        elif last == b"G":
            self.col = min(n, self.cols) - 1
        elif last == b"d":
            self.row = min(n, self.rows) - 1
        elif last == b"J":
            self.erase(0 if args[0] else here, self.rows * self.cols)
        elif last == b"K":
            line = self.row * self.cols
            self.erase(line if args[0] else here, here + 1 if args[0] == 1 else line + self.cols)
        elif last == b"X":
            self.erase(here, here + n)
        elif last == b"P":
            line = self.cells[self.row]
            self.cells[self.row] = line[: self.col] + line[self.col + n:] + [" "] * min(n, self.cols - self.col)
        elif last == b"@":
            line = self.cells[self.row]
            self.cells[self.row] = (line[: self.col] + [" "] * n + line[self.col:])[: self.cols]
        elif last == b"b":
            for _ in range(n):
                self.put(self.last)
        elif last in b"ST":
            n, blank = min(n, self.rows), [[" "] * self.cols for _ in range(min(n, self.rows))]
            self.cells = self.cells[n:] + blank if last == b"S" else blank + self.cells[: self.rows - n]
        elif last == b"r":
            self.region = args
            self.row = self.col = 0
        elif last not in b"mlht":
            raise AssertionError(f"what is ESC [ {numbers} {last}?")

    def other(self, begin):
        if begin:
            self.normal = (self.cells, self.row, self.col)
            self.clear()
        elif self.normal:
            self.cells, self.row, self.col = self.normal
            self.normal = None

    def feed(self, data):
        data = self.left + data
        self.left = b""
        while data:
            byte = data[0]
            if byte == 0x1B:
                m = SEQUENCE.match(data)
                if not m:
                    if len(data) > 24:
                        raise AssertionError(f"what is {data[:24]!r}?")
                    self.left = data
                    return
                if m[3]:
                    self.control(m[1], m[2], m[3])
                elif m[5] == b"M":
                    self.up()
                data = data[m.end():]
                continue
            size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if len(data) < size:
                self.left = data
                return
            char, data = data[:size], data[size:]
            if char == b"\r":
                self.col = 0
            elif char == b"\n":
                self.down()
            elif char == b"\b":
                self.col = max(self.col - 1, 0)
            elif char >= b" ":
                self.put(char.decode(errors="replace"))


class Terminal:
    """squall as the foreground job of a terminal. After end(): .rc, .out (all that was written), .screen."""

    def __init__(self, *args, rows=24, cols=80, env=None, before=(), background=False, stderr=None):
        self.screen = Screen(rows, cols)
        self.master, self.slave = pty.openpty()
        self.size(rows, cols)
        self.settings = termios.tcgetattr(self.slave)
        self.out = b""
        self.error = None
        self.reading = threading.Event()
        self.reading.set()
        self.change = threading.Condition()
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})}
        words = [*before, BIN, *map(str, args)]
        self.began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.setsid()
                fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
                for fd in (0, 1, 2):
                    os.dup2(self.slave, fd)
                if stderr:
                    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                job = os.fork()  # this process is the shell: with one, a stopped job can be continued
                if not job:
                    os.setpgid(0, 0)
                    if not background:
                        os.tcsetpgrp(0, os.getpid())
                    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                    os.closerange(3, 100)
                    os.execvpe(words[0], words, environment)
                os.write(self.slave, b"job %d\n" % job)
                _, status = os.waitpid(job, 0)
                os.tcsetpgrp(0, os.getpid())
                os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
            finally:
                os._exit(99)
        children.append(self)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.job = int(self.until(r"job (\d+)")[1])

    # what lab.end_children() asks of a child
    def poll(self):
        return getattr(self, "rc", None)

    def kill(self):
        os.kill(self.job, signal.SIGKILL)  # its parent is there and has not waited for it, or it would have ended too
        os.kill(self.pid, signal.SIGKILL)

    def wait(self):
        os.waitpid(self.pid, 0)

    def read(self):
        while True:
            self.reading.wait()
            ready, _, _ = select.select([self.master], [], [], 0.05)
            if not ready:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            with self.change:
                self.out += data
                try:
                    self.screen.feed(data)
                except AssertionError as e:
                    self.error = e
                self.change.notify_all()

    def size(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def resize(self, rows, cols):
        with self.change:
            self.screen.resize(rows, cols)
            self.size(rows, cols)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def signal(self, number):
        os.kill(self.job, number)

    def until(self, pattern, timeout=15, gone=False):
        """Until the screen matches (or does so no more); the match."""
        give_up = time.monotonic() + timeout
        with self.change:
            while True:
                m = re.search(pattern, self.screen.text(), re.M)
                if self.error:
                    raise self.error
                if bool(m) != gone:
                    return m
                if time.monotonic() > give_up:
                    raise AssertionError(f"{'still' if gone else 'no'} {pattern!r} on the screen:\n{self.screen.text()}")
                self.change.wait(0.1)

    def end(self, timeout=30):
        give_up = time.monotonic() + timeout
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > give_up:
                self.kill()
                self.wait()
                self.rc = -signal.SIGKILL
                raise AssertionError(f"no end within {timeout} s:\n{self.screen.text()}")
            time.sleep(0.01)
        self.rc = os.waitstatus_to_exitcode(status)
        time.sleep(0.2)  # the reader has the rest by then
        self.after = termios.tcgetattr(self.slave)
        os.close(self.slave)
        self.reader.join(5)
        os.close(self.master)
        if self.error:
            raise self.error
        return self
