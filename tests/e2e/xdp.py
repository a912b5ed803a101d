# SPDX-License-Identifier: Apache-2.0
"""XDP programs that are not squall's, attached by the test, and what is attached to an interface. Knows nothing of squall."""
import ctypes
import os
import platform
import socket
import struct

from lab import Inside, link

SYS_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_LOAD, PROG_TEST_RUN, LINK_CREATE = 5, 10, 28
LIVE_FRAMES = 2  # BPF_F_TEST_XDP_LIVE_FRAMES
PROG_TYPE_XDP, ATTACH_XDP = 6, 37
XDP_PASS = 2
FLAGS = {"generic": 2, "native": 4}  # XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, 128)
    fd = libc.syscall(SYS_BPF, command, buffer, len(attributes))
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return fd


def load(name, *instructions):
    """A program of (code, registers, immediate) each; without any: r0 = XDP_PASS, exit. Its file descriptor."""
    instructions = instructions or ((0xB7, 0, XDP_PASS), (0x95, 0, 0))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=BBhi", i[0], i[1], 0, i[2]) for i in instructions))
    licence = ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("=IIQQIIQII16sII", PROG_TYPE_XDP, len(instructions), ctypes.addressof(code),
                                      ctypes.addressof(licence), 0, 0, 0, 0, 0, name.encode(), 0, ATTACH_XDP))


def send_without_room(where, dev, frame, n, longer_by=208):
    """Sends n frames from inside the driver, lengthened at the front by so much that hardly any of its 256 bytes is left."""
    redirect, adjust_head, ifindex = 23, 44, link(where, dev)["ifindex"]
    with Inside(where):
        fd = load("pusher", (0xB7, 2, -longer_by), (0x85, 0, adjust_head), (0xB7, 1, ifindex), (0xB7, 2, 0), (0x85, 0, redirect), (0x95, 0, 0))
        data = ctypes.create_string_buffer(frame, len(frame))
        bpf(PROG_TEST_RUN, struct.pack("=IIIIQQIIIIQQIII", fd, 0, len(frame), 0, ctypes.addressof(data), 0, n, 0, 0, 0, 0, 0, LIVE_FRAMES, 0, 0))
    os.close(fd)


def set_by_netlink(ifindex, fd, mode):
    """RTM_SETLINK with IFLA_XDP in the namespace of this thread; fd -1 takes the program away."""
    xdp = struct.pack("=HHiHHI", 8, 1, fd, 8, 3, FLAGS[mode])
    body = struct.pack("=BxHiII", 0, 0, ifindex, 0, 0) + struct.pack("=HH", 4 + len(xdp), 43 | 0x8000) + xdp
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.send(struct.pack("=IHHII", 16 + len(body), 19, 5, 1, 0) + body)
        error = -struct.unpack("=i", s.recv(4096)[16:20])[0]
    if error:
        raise OSError(error, f"IFLA_XDP: {os.strerror(error)}")


class Foreign:
    """Somebody's program on an interface until close(); by "netlink" or by a BPF "link", in native or generic mode."""

    def __init__(self, where, dev, by, mode, name="somebodys"):
        self.where, self.by, self.mode = where, by, mode
        self.ifindex = link(where, dev)["ifindex"]
        fd = load(name)
        with Inside(where):
            if by == "link":
                self.link = bpf(LINK_CREATE, struct.pack("=IIII", fd, self.ifindex, ATTACH_XDP, FLAGS[mode]))
            else:
                set_by_netlink(self.ifindex, fd, mode)
        os.close(fd)
        self.id = program(where, dev)["id"]

    def close(self):
        if self.by == "link":
            os.close(self.link)
            return
        with Inside(self.where):
            set_by_netlink(self.ifindex, -1, self.mode)


def program(where, dev):
    """What is attached: {"id", "mode" (native or generic), …}; None: nothing."""
    attached = (link(where, dev).get("xdp") or {}).get("attached") or []
    return {"id": attached[0]["prog"]["id"], "mode": {1: "native", 2: "generic"}[attached[0]["mode"]]} if attached else None
