/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xdp_links: programs on links of a namespace of our own. va and vb are a silent veth pair, with two receive queues and
 * one transmit queue each; i0 is an ifb, whose driver knows no native XDP. Everything is gone with the process.
 */
#ifndef SQUALL_TESTS_XDP_LINKS_H
#define SQUALL_TESTS_XDP_LINKS_H

#include "host_namespaces.h"

#include "lib/pio/afxdp_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const struct filter all = {.all = true};
static struct err err;
static bool have_bpf;

static inline void need_bpf(void)
{
	const char *required = getenv("SQUALL_REQUIRE");

	if (have_bpf)
		return;
	if (required && (strstr(required, "bpf") || strstr(required, "afxdp")))
		fail_msg("BPF is required, and a program was not loaded: %s", err.cause);
	print_message("not run: loading and attaching programs needs root (%s)\n", err.cause);
	skip();
}

static inline struct afxdp_program *must_load(const struct filter *filter)
{
	struct afxdp_program *p;

	if (afxdp_program_load(&p, "afxdp:test", filter, 2, false, &err))
		fail_msg("%s", err.cause);
	return p;
}

static inline int attach(struct afxdp_program *p, const char *link, bool native)
{
	memset(&err, 0, sizeof(err));
	return afxdp_program_attach(p, (int)if_nametoindex(link), link, native, &err);
}

static inline void must_attach(struct afxdp_program *p, const char *link, bool native)
{
	if (attach(p, link, native))
		fail_msg("%s: %s", link, err.cause);
}

static inline uint32_t id_on(const char *link, bool native)
{
	struct bpf_xdp_query_opts q = {.sz = sizeof(q)};

	assert_int_equal(bpf_xdp_query((int)if_nametoindex(link), 0, &q), 0);
	return native ? q.drv_prog_id : q.skb_prog_id;
}

static inline void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* A child in which fn succeeded, and which waits to be killed. */
static inline pid_t child_that(bool (*fn)(void *arg), void *arg)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (!fn(arg) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Without root there is nothing to try, and the tests say so. */
static inline int xdp_links_make(void **state)
{
	struct afxdp_program *p;

	(void)state;
	if (namespaces_make()) {
		snprintf(err.cause, sizeof(err.cause), "no namespace: %s", strerror(errno));
		return 0;
	}
	if (afxdp_program_load(&p, "afxdp:test", &all, 1, false, &err))
		return 0;
	afxdp_program_close(p);
	have_bpf = true;
	run(here, "set -e; ip link add va numtxqueues 2 numrxqueues 2 type veth peer name vb numtxqueues 2 "
		  "numrxqueues 2; ethtool -L va rx 2 tx 1; ethtool -L vb rx 2 tx 1; ip link add i0 type ifb; "
		  "for d in va vb i0; do ip link set $d addrgenmode none; ip link set $d arp off up; done");
	return 0;
}

#endif
