/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_foreign.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const mode_names[] = {"in native mode", "in generic mode", "on the device itself"};

static bool look_at_program(struct afxdp_foreign *f)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(f->id);

	if (fd < 0)
		return false;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
		snprintf(f->name, sizeof(f->name), "%s", info.name);
	close(fd);
	return true;
}

/* The index is one of the link's own namespace, so the program has to be the same too. */
static bool is_its_link(uint32_t id, int ifindex, uint32_t prog_id)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_link_get_fd_by_id(id);
	int rc;

	if (fd < 0)
		return false;
	rc = bpf_obj_get_info_by_fd(fd, &info, &size);
	close(fd);
	return rc == 0 && info.type == BPF_LINK_TYPE_XDP && info.xdp.ifindex == (uint32_t)ifindex &&
	       info.prog_id == prog_id;
}

static void look_for_link(struct afxdp_foreign *f, int ifindex)
{
	uint32_t id = 0;

	while (bpf_link_get_next_id(id, &id) == 0) {
		if (is_its_link(id, ifindex, f->id)) {
			f->link_id = id;
			return;
		}
	}
}

int afxdp_foreign_find(int ifindex, struct afxdp_foreign *out)
{
	struct bpf_xdp_query_opts q = {.sz = sizeof(q)};
	int rc = bpf_xdp_query(ifindex, 0, &q);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	if (q.drv_prog_id) {
		out->id = q.drv_prog_id;
		out->mode = FOREIGN_NATIVE;
	} else if (q.skb_prog_id) {
		out->id = q.skb_prog_id;
		out->mode = FOREIGN_GENERIC;
	} else {
		out->id = q.hw_prog_id;
		out->mode = FOREIGN_OFFLOADED;
	}
	if (!out->id)
		return 0;
	out->looked = look_at_program(out);
	if (out->looked)
		look_for_link(out, ifindex);
	return 0;
}

char *afxdp_foreign_describe(const struct afxdp_foreign *f, char *buf, unsigned size)
{
	char by[32] = "netlink";

	if (f->link_id)
		snprintf(by, sizeof(by), "BPF link id %u", f->link_id);
	snprintf(buf, size, "the program %s%s(id %u), attached %s%s%s", f->name, f->name[0] ? " " : "", f->id,
		 mode_names[f->mode], f->looked ? " by " : "", f->looked ? by : "");
	return buf;
}
