# SPDX-License-Identifier: Apache-2.0
"""AF_XDP with few privileges and little memory to lock: what is missing is named, and what the error says to do is enough."""
import re

from lab import A, B, Case, QUIET, main, squall

NOBODY_ID = 65534
SEND = ("send", "-i", "afxdp:qa", *QUIET, "--count", 50)
RECV = ("recv", "-i", "afxdp:qb", "-d", "20ms")
SMALL = (*RECV, "--rx-frames", 1024)
RECEIVES = ("net_raw", "bpf", "perfmon", "net_admin")  # and room to lock memory


def only(*capabilities):
    """An ordinary user with these and no other capabilities."""
    sets = ",".join(f"+{c}" for c in capabilities) or "-all"
    return ("setpriv", "--reuid", NOBODY_ID, "--clear-groups", f"--inh-caps={sets}", *((f"--ambient-caps={sets}",) if capabilities else ()))


def limited(soft, hard=None):
    return ("prlimit", f"--memlock={soft}:{hard or soft}")


WITHOUT_IPC_LOCK = ("capsh", "--drop=cap_ipc_lock", "--", "-c", 'exec "$0" "$@"')


class Privileged(Case):
    def works(self, args, before):
        before = [str(b) for b in before]
        return self.ok(squall(B if args[0] == "recv" else A, *args, before=before))

    def lacks(self, args, before, *names):
        return self.refused(*args, rc=6, where=B if args[0] == "recv" else A, names=names, before=[str(b) for b in before])


class Capabilities(Privileged):
    def test_sending_needs_one(self):
        self.works(SEND, only("net_raw"))
        for capabilities in ((), ("net_admin", "bpf", "perfmon", "ipc_lock")):
            self.lacks(SEND, only(*capabilities), "CAP_NET_RAW is missing")

    def test_receiving_needs_these(self):
        self.works(RECV, only(*RECEIVES, "ipc_lock"))
        for missing in RECEIVES:
            with self.subTest(missing=missing):
                run = self.lacks(RECV, only("ipc_lock", *(c for c in RECEIVES if c != missing)), f"CAP_{missing.upper()} is missing")
                # With those that are named it works.
                named = re.findall("CAP_([A-Z_]+)", run.json["error"]["try"].split(";")[0])
                self.works(RECV, only("ipc_lock", *(n.lower() for n in named)))

    def test_all_that_are_missing_at_once(self):
        self.lacks(RECV, only("net_raw", "ipc_lock"), "CAP_BPF and CAP_PERFMON and CAP_NET_ADMIN are missing")

    def test_what_the_best_backend_lacks_another_does_not_need(self):
        start = self.works(("recv", "-i", "qb", "-d", "20ms"), only("net_raw")).json["start"]
        self.assertRegex(start["backend"], "^afpacket: ")
        self.assertRegex(start["backend_why"], "^afxdp: CAP_BPF and")

    def test_a_mode_that_was_asked_for_is_no_reason_to_step_down(self):
        """Every capability but one: the interface could do better, this process may not."""
        run = self.lacks(("recv", "-i", "afxdp:qb", "--xdp-mode", "generic", "-d", "20ms"), only("net_raw", "ipc_lock", "bpf", "perfmon"), "CAP_NET_ADMIN is missing")
        self.assertNotIn("--xdp-mode", run.err)


class LockedMemory(Privileged):
    def test_the_limit_is_nothing_to_who_may_lock(self):
        for limit in (0, 4096, 65536):
            for args in (SEND, RECV):
                self.works(args, limited(limit))

    def test_a_limit_that_can_be_raised_is(self):
        """Soft limits are the process' own to raise as far as the hard ones."""
        for args in (SEND, SMALL):
            self.works(args, (*limited(65536, 6 << 20), *WITHOUT_IPC_LOCK))

    def test_what_to_type(self):
        for args, queues in ((SEND, "1 queue,"), (SMALL, "2 queues,")):
            with self.subTest(args=args):
                run = self.lacks(args, (*limited(65536), *WITHOUT_IPC_LOCK), "limit of locked memory", "CAP_IPC_LOCK", f"[0-9]+ KiB of {queues}", "ulimit -l [0-9]+")
                kib = int(re.search("ulimit -l ([0-9]+)", run.json["error"]["try"])[1])
                self.works(args, ("bash", "-c", f'ulimit -l {kib} && exec "$0" "$@"', *WITHOUT_IPC_LOCK))
                self.works(args, (*limited(kib * 1024), *only(*RECEIVES)))
                self.lacks(args, (*limited((kib - 4) * 1024), *only(*RECEIVES)), "limit of locked memory")

    def test_fewer_frames_or_queues_need_less(self):
        small = (*limited(6 << 20), *WITHOUT_IPC_LOCK)
        self.lacks(RECV, small, "65536 KiB of 2 queues", "--queues", "--rx-frames")  # 16,384 frames of 2,048 bytes each
        self.lacks((*RECV, "--queues", 1), small, "32768 KiB of 1 queue,")
        self.works((*RECV, "--queues", 1, "--rx-frames", 2048), small)

    def test_the_best_backend_that_may_lock_enough(self):
        start = self.works(("recv", "-i", "qb", "-d", "20ms"), (*limited(65536), *WITHOUT_IPC_LOCK)).json["start"]
        self.assertRegex(start["backend"], "^afpacket: ")
        self.assertRegex(start["backend_why"], "^afxdp: the limit of locked memory")


if __name__ == "__main__":
    main()
