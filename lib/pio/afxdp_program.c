/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_program.h"

#include "afxdp_foreign.h"
#include "afxdp_rules.h"
#include "bpf_load.h"

#include "afxdp.skel.h" /* needs struct rules */
#include "lib/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WHAT_LOAD   "cannot load the XDP program"
#define WHAT_ATTACH "cannot attach the XDP program"
#define WHAT_SOCKET "cannot give the socket to the XDP program"

/* A page without the room that drivers keep before and behind a packet in it: the order of what all of them take. */
#define MTU_ONE_BUFFER 3400

struct afxdp_program {
	char name[96];
	struct bpf_object *obj;
	int prog_fd;
	int sockets_fd;
	int link_fd; /* -1: not attached */
	uint32_t id;
	bool multi_buffer;
};

/* Sets the constants and sizes. The object's own maps are found by the names in afxdp.bpf.c. */
static int prepare(struct bpf_object *obj, const struct rules *rules, unsigned queues, bool multi_buffer)
{
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);
	struct bpf_map *constants = bpf_object__find_map_by_name(obj, ".rodata.rules");
	struct bpf_map *sockets = bpf_object__find_map_by_name(obj, "sockets");
	int rc;

	if (!prog || !constants || !sockets)
		return -ENOENT;
	rc = bpf_map__set_initial_value(constants, rules, sizeof(*rules));
	if (rc)
		return rc;
	if (multi_buffer)
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_XDP_HAS_FRAGS);
	return bpf_map__set_max_entries(sockets, queues);
}

static int load(struct afxdp_program *p, const void *elf, size_t size, struct rules *rules, unsigned queues,
		struct err *e)
{
	int rc = bpf_open(&p->obj, elf, size, p->name, e);

	if (rc)
		return rc;
	rules->fragmented = p->multi_buffer;
	rc = prepare(p->obj, rules, queues, p->multi_buffer);
	if (rc)
		return err_set(e, rc, EXIT_RUN, WHAT_LOAD, p->name, "%s", strerror(-rc));
	return bpf_load(p->obj, p->name, e);
}

static int note_loaded(struct afxdp_program *p, struct err *e)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	p->prog_fd = bpf_program__fd(bpf_object__next_program(p->obj, NULL));
	p->sockets_fd = bpf_map__fd(bpf_object__find_map_by_name(p->obj, "sockets"));
	if (bpf_obj_get_info_by_fd(p->prog_fd, &info, &size))
		return err_set(e, -errno, EXIT_RUN, WHAT_LOAD, p->name, "%s", strerror(errno));
	p->id = info.id;
	return 0;
}

int afxdp_program_load(struct afxdp_program **out, const char *object_name, const struct filter *filter,
		       unsigned queues, struct err *e)
{
	struct afxdp_program *p = calloc(1, sizeof(*p));
	struct rules rules;
	size_t size;
	const void *elf = afxdp__elf_bytes(&size);
	int rc;

	*out = NULL;
	if (!p)
		return err_set(e, -ENOMEM, EXIT_RUN, WHAT_LOAD, object_name, "no memory");
	snprintf(p->name, sizeof(p->name), "%s", object_name);
	p->link_fd = -1;
	p->multi_buffer = true;
	afxdp_rules_compile(filter, &rules);
	rc = load(p, elf, size, &rules, queues, e);
	if (rc == -EINVAL) {
		/* Kernels before 5.18 refuse the flag for packets of several buffers. */
		bpf_object__close(p->obj);
		p->obj = NULL;
		p->multi_buffer = false;
		rc = load(p, elf, size, &rules, queues, NULL) ? rc : 0;
	}
	if (!rc)
		rc = note_loaded(p, e);
	if (rc)
		afxdp_program_close(p);
	else
		*out = p;
	return rc;
}

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

static int refused_for_foreign(const struct afxdp_program *p, int rc, int ifindex, const char *ifname, struct err *e)
{
	struct afxdp_foreign f;
	char text[160];

	if (afxdp_foreign_find(ifindex, &f) || !f.id) {
		err_set(e, rc, EXIT_RUN, WHAT_ATTACH, p->name, "%s",
			rc == -EEXIST ? "a device on top of it (a bond, a bridge) has an XDP program" : strerror(-rc));
		return rc;
	}
	err_set(e, rc, EXIT_RUN, WHAT_ATTACH, p->name, "%s has an XDP program already: %s", ifname,
		afxdp_foreign_describe(&f, text, sizeof(text)));
	if (f.link_id)
		err_hint(e, "stop the process that holds it, or: bpftool link detach id %u", f.link_id);
	else if (f.looked)
		err_hint(e, "stop the program's owner, or: ip link set dev %s %s off", ifname,
			 f.mode == FOREIGN_GENERIC     ? "xdpgeneric"
			 : f.mode == FOREIGN_OFFLOADED ? "xdpoffload"
						       : "xdp");
	else
		err_hint(e, "stop the program's owner; as root, the error says how it is attached");
	return rc;
}

static int refused(const struct afxdp_program *p, int rc, int ifindex, const char *ifname, bool native, struct err *e)
{
	int mtu = mtu_of(ifname);

	switch (rc) {
	case -EPERM:
		return bpf_forbidden(WHAT_ATTACH, p->name, e);
	case -EBUSY:
	case -EEXIST:
		return refused_for_foreign(p, rc, ifindex, ifname, e);
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
	struct bpf_link_create_opts opts = {.sz = sizeof(opts),
					    .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE};
	int fd = bpf_link_create(p->prog_fd, ifindex, BPF_XDP, &opts);

	if (fd < 0)
		return refused(p, fd, ifindex, ifname, native, e);
	p->link_fd = fd;
	log_debug("%s: XDP program id %u attached in %s mode", p->name, p->id, native ? "native" : "generic");
	return 0;
}

int afxdp_program_put_socket(struct afxdp_program *p, unsigned queue, int xsk_fd, struct err *e)
{
	uint32_t key = queue;

	if (bpf_map_update_elem(p->sockets_fd, &key, &xsk_fd, BPF_ANY) == 0)
		return 0;
	return err_set(e, -errno, EXIT_RUN, WHAT_SOCKET, p->name, "queue %u: %s", queue, strerror(errno));
}

void afxdp_program_drop_socket(struct afxdp_program *p, unsigned queue)
{
	uint32_t key = queue;

	bpf_map_delete_elem(p->sockets_fd, &key);
}

uint32_t afxdp_program_id(const struct afxdp_program *p)
{
	return p->id;
}

bool afxdp_program_multi_buffer(const struct afxdp_program *p)
{
	return p->multi_buffer;
}

void afxdp_program_close(struct afxdp_program *p)
{
	if (!p)
		return;
	if (p->link_fd >= 0)
		close(p->link_fd);
	bpf_object__close(p->obj);
	free(p);
}
