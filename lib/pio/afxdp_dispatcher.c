/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_dispatcher.h"

#include "bpf_load.h"

#include "lib/log.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xdp/libxdp.h>

/* What the watching process has to know; in memory of both. */
struct member {
	uint32_t id; /* of the program; 0: not in a dispatcher */
	int ifindex;
	enum xdp_attach_mode mode;
};

struct afxdp_dispatcher {
	struct member *member;
	struct xdp_program *program; /* ours, while it is in a dispatcher */
};

/* libxdp returns a number only and says the reason to its log: the first thing that it said. */
static char first_said[256];

__attribute__((format(printf, 2, 0))) static int note_said(enum libxdp_print_level level, const char *fmt, va_list ap)
{
	char line[sizeof(first_said)];

	if (level == LIBXDP_DEBUG)
		return 0;
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	line[strcspn(line, "\n")] = '\0';
	log_debug("libxdp: %s", line);
	if (!first_said[0])
		snprintf(first_said, sizeof(first_said), "%s", line);
	return n;
}

static void listen_to_libxdp(void)
{
	bpf_log_quiet();
	libxdp_set_print(note_said);
	first_said[0] = '\0';
}

int afxdp_dispatcher_create(struct afxdp_dispatcher **out)
{
	struct afxdp_dispatcher *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->member = mmap(NULL, sizeof(*d->member), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d->member == MAP_FAILED) {
		free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

/*
 * libxdp may have attached the program alone: when the dispatcher went away meanwhile, or where it is told not to use
 * one. That is not what was asked for, and would stay behind as a program without a link.
 */
static int check_company(int ifindex, bool *multi_buffer)
{
	struct xdp_multiprog *all = xdp_multiprog__get_from_ifindex(ifindex);
	int rc = 0;

	if (libxdp_get_error(all))
		return -EAGAIN;
	if (xdp_multiprog__is_legacy(all) || xdp_multiprog__program_count(all) < 2)
		rc = -EAGAIN;
	*multi_buffer = *multi_buffer && xdp_multiprog__xdp_frags_support(all);
	xdp_multiprog__close(all);
	return rc;
}

static int explain(int rc, char *why, size_t size)
{
	snprintf(why, size, "%s%s%s", first_said, first_said[0] ? ": " : "",
		 rc == -EAGAIN ? "it went away meanwhile" : strerror(-rc));
	return rc;
}

int afxdp_dispatcher_join(struct afxdp_dispatcher *d, struct bpf_object *obj, int ifindex, bool native,
			  bool *multi_buffer, char *why, size_t size)
{
	struct xdp_program_opts opts = {.sz = sizeof(opts), .obj = obj};
	enum xdp_attach_mode mode = native ? XDP_MODE_NATIVE : XDP_MODE_SKB;
	int rc;

	listen_to_libxdp();
	d->program = xdp_program__create(&opts);
	rc = (int)libxdp_get_error(d->program);
	if (rc) {
		d->program = NULL;
		return explain(rc, why, size);
	}
	xdp_program__set_xdp_frags_support(d->program, *multi_buffer);
	rc = xdp_program__attach(d->program, ifindex, mode, 0);
	if (!rc) {
		*d->member = (struct member){xdp_program__id(d->program), ifindex, mode};
		rc = check_company(ifindex, multi_buffer);
		if (!rc)
			return 0;
		afxdp_dispatcher_leave(d);
		return explain(rc, why, size);
	}
	xdp_program__close(d->program);
	d->program = NULL;
	return explain(rc, why, size);
}

static void detach(struct xdp_program *program, const struct member *m)
{
	char name[IF_NAMESIZE] = "";
	int rc = xdp_program__detach(program, m->ifindex, m->mode, 0);

	if (!rc || !if_indextoname((unsigned)m->ifindex, name)) /* or it is gone with the interface */
		return;
	log_warn(
		"%s: the XDP program id %u stays in libxdp's dispatcher, where it passes every packet on (%s); to take "
		"it out: xdp-loader unload %s --id %u",
		name, m->id, first_said[0] ? first_said : strerror(-rc), name, m->id);
}

void afxdp_dispatcher_leave(struct afxdp_dispatcher *d)
{
	if (!d->program)
		return;
	listen_to_libxdp();
	detach(d->program, d->member);
	d->member->id = 0;
	xdp_program__close(d->program);
	d->program = NULL;
}

void afxdp_dispatcher_undo(void *dispatcher)
{
	const struct afxdp_dispatcher *d = dispatcher;
	struct xdp_program *program;

	if (!d->member->id)
		return;
	listen_to_libxdp();
	program = xdp_program__from_id(d->member->id);
	if (libxdp_get_error(program))
		return;
	detach(program, d->member);
	xdp_program__close(program);
}

void afxdp_dispatcher_destroy(struct afxdp_dispatcher *d)
{
	if (!d)
		return;
	afxdp_dispatcher_leave(d);
	munmap(d->member, sizeof(*d->member));
	free(d);
}
