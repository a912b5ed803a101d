/* SPDX-License-Identifier: Apache-2.0 */
#include "responder.h"

#include "lib/pio/headers.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define PACKET_LONGEST 9216U
#define POLL_MS        20

struct responder {
	int fd;
	struct respond_set set;
	struct stats_respond counts; /* several threads write: added with a locked instruction */
};

/*
 * ARP, ICMP over IPv4 and ICMPv6 right behind the IPv6 header; one tag may still be in the data. So that the rest of
 * the traffic, which may be all that the interface can carry, costs as little as can be.
 */
static int filter_socket(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LDX | BPF_IMM, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TYPE_VLAN, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TYPE_SERVICE_VLAN, 0, 2),
		BPF_STMT(BPF_LDX | BPF_IMM, 4),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TYPE_ARP, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TYPE_IP4, 0, 2),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 14 + 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROTO_ICMP, 3, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TYPE_IP6, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 14 + 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROTO_ICMP6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog prog = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ? -errno : 0;
}

/* The group in which neighbours ask for an IPv6 address (RFC 4291 section 2.7.1). */
static int join_group(int fd, int ifindex, const struct ip *ip)
{
	struct ip group = {.family = 6, .b = {0xff, 2, [11] = 1, [12] = 0xff}};
	struct packet_mreq m = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};
	struct mac mac;

	memcpy(group.b + 13, ip->b + 13, 3);
	mac = ip_multicast_mac(&group);
	memcpy(m.mr_address, mac.b, sizeof(mac.b));
	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)) ? -errno : 0;
}

static int set_up(const struct responder *r, int ifindex)
{
	const struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = core_be16(ETH_P_ALL), .sll_ifindex = ifindex};
	const int on = 1;
	int rc = filter_socket(r->fd);

	if (!rc && (setsockopt(r->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
		    setsockopt(r->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
		    bind(r->fd, (const struct sockaddr *)&to, sizeof(to))))
		rc = -errno;
	for (unsigned i = 0; !rc && i < r->set.n; i++)
		if (r->set.ip[i].family == 6)
			rc = join_group(r->fd, ifindex, &r->set.ip[i]);
	return rc;
}

int responder_open(struct responder **out, const struct respond_set *set, int ifindex, const char *name, struct err *e)
{
	struct responder *r = aligned_alloc(_Alignof(struct responder), sizeof(*r));
	int rc = -ENOMEM;

	*out = NULL;
	if (!r)
		goto fail;
	memset(r, 0, sizeof(*r));
	r->set = *set;
	/* Protocol 0: nothing comes in before it is bound, with its filter. */
	r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = r->fd < 0 ? -errno : set_up(r, ifindex);
	if (rc)
		goto fail;
	*out = r;
	return 0;
fail:
	err_set(e, rc, rc == -EPERM || rc == -EACCES ? EXIT_CAPABILITY : EXIT_RUN,
		"cannot open the socket of --respond", name, "%s", strerror(-rc));
	if (rc == -EPERM || rc == -EACCES)
		err_hint(e, "as root, or with the capability CAP_NET_RAW");
	if (r && r->fd >= 0)
		close(r->fd);
	free(r);
	return rc;
}

void responder_close(struct responder *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

static void count(struct responder *r, enum respond_kind kind)
{
	switch (kind) {
#define COUNT_KIND(key, help) \
	case RESPOND_##key: \
		atomic_fetch_add_explicit(&r->counts.key, 1, memory_order_relaxed); \
		break;
		STATS_RESPOND(COUNT_KIND)
#undef COUNT_KIND
	case RESPOND_COUNT:
		break;
	}
}

/* The request in buf, with room behind it, is answered if it is one. */
static bool answer(struct responder *r, unsigned char *buf, uint32_t len)
{
	enum respond_kind kind;
	uint32_t n = respond_answer(&r->set, buf, len, &kind);

	if (!n)
		return false;
	count(r, send(r->fd, buf, n, MSG_DONTWAIT) == (ssize_t)n ? kind : RESPOND_unanswered);
	return true;
}

bool responder_takes(struct responder *r, const struct pio_frame *f, bool answers)
{
	unsigned char buf[PACKET_LONGEST + RESPOND_GROWTH];
	enum respond_kind kind;
	struct headers h;

	if (f->len > PACKET_LONGEST)
		return false;
	headers_parse(&h, f->data, f->len);
	if (h.type != TYPE_ARP && !(h.family == 4 && h.proto == PROTO_ICMP) &&
	    !(h.family == 6 && h.proto == PROTO_ICMP6))
		return false;
	memcpy(buf, f->data, f->len);
	return answers ? answer(r, buf, f->len) : respond_answer(&r->set, buf, f->len, &kind) != 0;
}

/* The kernel takes the outermost tag off and tells it apart. Returns the length with it. */
static uint32_t put_tag_back(struct msghdr *m, unsigned char *buf, uint32_t len)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct tpacket_auxdata aux;

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			return len;
		memmove(buf + ETH_MACS_LEN + VLAN_TAG_LEN, buf + ETH_MACS_LEN, len - ETH_MACS_LEN);
		core_put16(buf + ETH_MACS_LEN,
			   core_be16(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : TYPE_VLAN));
		core_put16(buf + ETH_MACS_LEN + 2, core_be16(aux.tp_vlan_tci));
		return len + VLAN_TAG_LEN;
	}
	return len;
}

static bool take_one(struct responder *r)
{
	unsigned char buf[PACKET_LONGEST + VLAN_TAG_LEN + RESPOND_GROWTH];
	union {
		char room[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = buf, .iov_len = PACKET_LONGEST};
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(r->fd, &m, 0);

	if (n < (ssize_t)ETH_HEADER_LEN || m.msg_flags & MSG_TRUNC)
		return n >= 0;
	answer(r, buf, put_tag_back(&m, buf, (uint32_t)n));
	return true;
}

void responder_run(struct responder *r, const _Atomic bool *stop)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};

	while (!atomic_load_explicit(stop, memory_order_acquire)) {
		if (poll(&p, 1, POLL_MS) <= 0)
			continue;
		while (take_one(r) && !atomic_load_explicit(stop, memory_order_relaxed))
			;
		if (p.revents &
		    (POLLERR | POLLHUP)) { /* the interface is down or gone: its error is read and forgotten */
			int error;
			socklen_t size = sizeof(error);

			getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &size);
			poll(NULL, 0, POLL_MS);
		}
	}
}

void responder_counts(const struct responder *r, struct respond_counts *out)
{
	respond_counts_read(&r->counts, out);
}
