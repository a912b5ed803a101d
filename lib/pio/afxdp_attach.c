/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching, and what is said of an interface that does not take the program. */
#include "afxdp_dispatcher.h"
#include "afxdp_foreign.h"
#include "afxdp_program_parts.h"
#include "bpf_load.h"

#include "lib/log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WHAT_ATTACH "cannot attach the XDP program"

/* A page without the room that drivers keep before and behind a packet in it: the order of what all of them take. */
#define MTU_ONE_BUFFER 3400

/* Where the program is to go. */
struct target {
	int ifindex;
	const char *ifname;
	bool native;
};

static int mtu_of(const char *ifname)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int mtu = 0;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	if (fd >= 0) {
		if (ioctl(fd, SIOCGIFMTU, &ifr) == 0)
			mtu = ifr.ifr_mtu;
		close(fd);
	}
	return mtu;
}

static int refused_for_foreign(const struct afxdp_program *p, int rc, const char *ifname, const struct afxdp_foreign *f,
			       struct err *e)
{
	char text[160];

	err_set(e, rc, EXIT_RUN, WHAT_ATTACH, p->name, "%s has an XDP program already: %s", ifname,
		afxdp_foreign_describe(f, text, sizeof(text)));
	if (f->link_id)
		err_hint(e, "stop the process that holds it, or: bpftool link detach id %u", f->link_id);
	else if (f->looked)
		err_hint(e, "stop the program's owner, or: ip link set dev %s %s off", ifname,
			 f->mode == FOREIGN_GENERIC     ? "xdpgeneric"
			 : f->mode == FOREIGN_OFFLOADED ? "xdpoffload"
							: "xdp");
	else
		err_hint(e, "stop the program's owner; as root, the error says how it is attached");
	return rc;
}

static int refused_for_dispatcher(const struct afxdp_program *p, int rc, const char *ifname,
				  const struct afxdp_foreign *f, const char *why, struct err *e)
{
	char text[160];

	err_set(e, rc, rc == -EOPNOTSUPP ? EXIT_CAPABILITY : EXIT_RUN, WHAT_ATTACH, p->name,
		"%s has libxdp's dispatcher already, %s, which ours cannot join: %s", ifname,
		afxdp_foreign_describe(f, text, sizeof(text)), why);
	err_hint(e,
		 "stop the owners of the programs in it (xdp-loader status %s shows them), or: xdp-loader unload %s "
		 "--all",
		 ifname, ifname);
	return rc;
}

/*
 * From Linux 6.13 on a program that moves a packet's metadata stands only for a function that is known to do so, which
 * those of older dispatchers are not: then the one without times joins. 1: neither does, and *why says the reason.
 */
static int open_and_join(struct afxdp_program *p, const struct target *t, struct bpf_object **obj, bool *multi_buffer,
			 char *why, size_t size, struct err *e)
{
	for (;;) {
		int rc = afxdp_program_open(p, obj, e);

		if (rc)
			return rc;
		*multi_buffer = p->multi_buffer;
		if (!afxdp_dispatcher_join(p->dispatcher, *obj, t->ifindex, t->native, multi_buffer, why, size))
			return 0;
		bpf_object__close(*obj);
		if (!p->timed)
			return 1;
		log_debug("%s: no times of arrival, since libxdp's dispatcher does not take a program that notes them: "
			  "%s",
			  p->name, why);
		p->timed = false;
	}
}

/* Another copy of the program, since the one that is loaded cannot stand for a function of the dispatcher. */
static int join(struct afxdp_program *p, int rc, const struct target *t, const struct afxdp_foreign *f, struct err *e)
{
	struct bpf_object *obj;
	bool multi_buffer;
	char why[320];

	if (t->native && f->mode == FOREIGN_GENERIC)
		return refused_for_dispatcher(p, -EOPNOTSUPP, t->ifname, f, "it would be in native mode", e);
	if (t->native != (f->mode == FOREIGN_NATIVE))
		return refused_for_dispatcher(p, rc, t->ifname, f, "it would be in generic mode", e);
	if (!p->dispatcher && afxdp_dispatcher_create(&p->dispatcher))
		return err_set(e, -ENOMEM, EXIT_RUN, WHAT_ATTACH, p->name, "no memory");
	int joined = open_and_join(p, t, &obj, &multi_buffer, why, sizeof(why), e);

	if (joined < 0)
		return joined;
	if (joined)
		return refused_for_dispatcher(p, rc, t->ifname, f, why, e);
	rc = afxdp_program_use(p, obj, e);
	if (rc) {
		afxdp_dispatcher_leave(p->dispatcher);
		bpf_object__close(obj);
		return rc;
	}
	p->joined = true;
	p->multi_buffer = multi_buffer;
	log_debug("%s: XDP program id %u joined libxdp's dispatcher", p->name, p->id);
	return 0;
}

static int somebody_is_there(struct afxdp_program *p, int rc, const struct target *t, struct err *e)
{
	struct afxdp_foreign f;

	if (afxdp_foreign_find(t->ifindex, &f) || !f.id)
		return err_set(e, rc, EXIT_RUN, WHAT_ATTACH, p->name, "%s",
			       rc == -EEXIST ? "a device on top of it (a bond, a bridge) has an XDP program"
					     : strerror(-rc));
	if (strcmp(f.name, AFXDP_DISPATCHER_NAME) == 0)
		return join(p, rc, t, &f, e);
	return refused_for_foreign(p, rc, t->ifname, &f, e);
}

static int refused(const struct afxdp_program *p, int rc, const char *ifname, bool native, struct err *e)
{
	int mtu = mtu_of(ifname);

	switch (rc) {
	case -EPERM:
		return bpf_forbidden(WHAT_ATTACH, p->name, e);
	case -ENOSPC: /* veth */
		err_set(e, rc, EXIT_CAPABILITY, WHAT_ATTACH, p->name,
			"its peer has more transmit queues than %s has receive queues", ifname);
		err_hint(e, "ethtool -L %s rx N, with as many as the peer sends on", ifname);
		return rc;
	case -EOPNOTSUPP:
		if (!native || mtu > MTU_ONE_BUFFER)
			break;
		return err_set(e, rc, EXIT_CAPABILITY, WHAT_ATTACH, p->name, "the driver has no native XDP");
	default:
		break;
	}
	if (native && mtu <= MTU_ONE_BUFFER && rc == -ERANGE) { /* veth looks at what the other end may send */
		err_set(e, rc, EXIT_CAPABILITY, WHAT_ATTACH, p->name,
			"the driver takes no native XDP program with an MTU as large as the peer's");
		err_hint(e, "an MTU of %d or less at the peer, or --xdp-mode generic", MTU_ONE_BUFFER);
		return rc;
	}
	if (native && mtu > MTU_ONE_BUFFER &&
	    (rc == -ERANGE || rc == -EINVAL || rc == -EMSGSIZE || rc == -EOPNOTSUPP)) {
		err_set(e, rc, EXIT_CAPABILITY, WHAT_ATTACH, p->name,
			"the driver takes no native XDP program with the MTU %d%s (%s)", mtu,
			p->multi_buffer ? "" : ", nor does this kernel take one for packets of several buffers",
			strerror(-rc));
		err_hint(e, "ip link set dev %s mtu %d or less, or --xdp-mode generic", ifname, MTU_ONE_BUFFER);
		return rc;
	}
	return err_set(e, rc, native ? EXIT_CAPABILITY : EXIT_RUN, WHAT_ATTACH, p->name, "%s mode: %s",
		       native ? "native" : "generic", strerror(-rc));
}

int afxdp_program_attach(struct afxdp_program *p, int ifindex, const char *ifname, bool native, struct err *e)
{
	struct bpf_link_create_opts opts = {
		.sz = sizeof(opts),
		.flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE,
	};
	const struct target t = {ifindex, ifname, native};
	int fd = bpf_link_create(p->prog_fd, ifindex, BPF_XDP, &opts);

	if (fd == -EBUSY || fd == -EEXIST)
		return somebody_is_there(p, fd, &t, e);
	if (fd < 0)
		return refused(p, fd, ifname, native, e);
	p->link_fd = fd;
	log_debug("%s: XDP program id %u attached in %s mode", p->name, p->id, native ? "native" : "generic");
	return 0;
}
