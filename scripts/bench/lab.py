# SPDX-License-Identifier: Apache-2.0
"""What the bench stands on: the laboratory and a sink, processes in it, and independent looks at what arrives."""
import contextlib, json, os, signal, socket, struct, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import netlab
from netlab import A, B, Failed, Inside, NAME, NOBODY, ROOT, TMP, ip, link, received, sent, sh, until, veth

SQUALL = os.environ.get("SQUALL", os.path.join(ROOT, "build/release/squall"))
BARE = os.path.join(ROOT, "build/release/bench/bare_xsk")
SO_TIMESTAMPNS = 35

running = []


def up():
    """Returns whether there is a sink: an ifb device takes every frame and does nothing with it."""
    netlab.up()
    try:
        ip(A, "link", "add", "sink", "numtxqueues", 2, "numrxqueues", 2, "type", "ifb")
    except Failed:
        return False
    ip(A, "addr", "add", "10.78.0.1/24", "dev", "sink")
    ip(A, "link", "set", "sink", "up")
    return True


def down():
    for p in running:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
    netlab.down()


def start(ns, *cmd, cpu=None, out=subprocess.DEVNULL, err=subprocess.DEVNULL):
    """A process group in the namespace (trafgen forks), kept to one CPU, or those of a text like "0,1", if asked."""
    cmd = [str(c) for c in cmd]
    if cpu is not None:
        cmd = ["taskset", "-c", str(cpu if isinstance(cpu, str) else cpu % os.cpu_count()), *cmd]
    with Inside(ns) if ns else contextlib.nullcontext():
        p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    running.append(p)
    return p


def reporter(ns, *cmd, cpu=None):
    """Starts a program that writes one JSON document when it ends; said() gives what it wrote besides."""
    fd, path = tempfile.mkstemp(dir=TMP)
    log = open(path + ".log", "w+")
    p = start(ns, *cmd, cpu=cpu, out=fd, err=log)
    os.close(fd)
    p.report, p.log, p.what = path, log, " ".join([os.path.basename(cmd[0]), *map(str, cmd[1:])])
    return p


def squall(ns, *args, cpu=None, under=()):
    """Starts squall, under another program if given; finish() gives what it reported."""
    return reporter(ns, *under, SQUALL, *args, "--no-tui", "-y", "--json", cpu=cpu)


def bare(ns, *args, cpu=None):
    """Starts the bare AF_XDP loop; report() gives what it found."""
    return reporter(ns, BARE, *args, cpu=cpu)


def said(p):
    with open(p.log.name) as f:
        return f.read()


def finish(p, timeout=120):
    """Waits for a squall and returns the `end` of its report, with its seconds of a processor."""
    end = report(p, timeout)["end"]
    end["user_s"], end["system_s"] = p.user_s, p.system_s
    return end


def report(p, timeout=120):
    """Waits for a reporter and returns its document; then p.user_s and p.system_s are the processor time that it took."""
    deadline = time.monotonic() + timeout
    while True:
        pid, status, usage = os.wait4(p.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            raise Failed(f"{p.what}: no end within {timeout} s")
        time.sleep(0.01)
    p.returncode = os.waitstatus_to_exitcode(status)
    p.log.close()
    if p.returncode:
        raise Failed(f"{p.what}: exit {p.returncode}: {said(p).strip()[-600:]}")
    p.user_s, p.system_s = usage.ru_utime, usage.ru_stime
    with open(p.report) as f:
        return json.load(f)


def steady_rate(p, ns, dev, counted, seconds):
    """Packets a second by the kernel's counter (sent or received), from half a second after the first ones on; then stops p."""
    count = lambda: counted(ns, dev)[0]
    first = count()
    until(lambda: count() > first + 1000 or p.poll() is not None, 10, f"the first packets of {p.args[0]} on {dev}")
    time.sleep(0.5)
    c0, t0 = count(), time.monotonic()
    time.sleep(seconds)
    c1, t1 = count(), time.monotonic()
    if p.poll() is not None:
        raise Failed(f"{' '.join(p.args)} ended early")
    os.killpg(p.pid, signal.SIGINT)
    p.wait(20)
    return (c1 - c0) / (t1 - t0)


class Listener:
    """The first sender's packet on vb, by the kernel's receive time."""

    def __init__(self):
        with Inside(B):
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            self.s.bind(("vb", 0x0800))
        self.s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.s.settimeout(5)

    def first(self):
        """Unix time in ns of the first UDP packet to port 9000."""
        while True:
            try:
                data, anc, _, _ = self.s.recvmsg(256, 64)
            except socket.timeout:
                raise Failed("no packet came within 5 s")
            if data[23] == 17 and data[36:38] == b"\x23\x28":
                sec, ns = struct.unpack("qq", anc[0][2])
                self.s.close()
                return sec * 10**9 + ns


class Capture:
    """Times (ns) of the UDP packets that arrive at vb, by tcpdump."""

    def __init__(self):
        self.path = os.path.join(TMP, "capture")
        self.log = open(self.path + ".log", "w+")
        self.p = start(B, "tcpdump", "-i", "vb", "-n", "-s", 64, "-B", 65536, "-Q", "in", "--time-stamp-precision=nano", "-w",
                       self.path, "udp dst port 9000", err=self.log)
        until(lambda: "listening" in open(self.log.name).read(), 10, "tcpdump listens")

    def stop(self):
        time.sleep(1.3)  # the ring hands over a block only when it is full, or after a second
        self.p.send_signal(signal.SIGINT)
        self.p.wait(20)
        with open(self.path, "rb") as f:
            b = f.read()
        times, off = [], 24
        while off + 16 <= len(b):
            sec, ns, kept = struct.unpack_from("<III", b, off)
            times.append(sec * 10**9 + ns)
            off += 16 + kept
        return times
