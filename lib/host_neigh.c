/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 10

/* A host that has changed its MAC does not hear the probe to its old one: after this long, ask everybody. */
#define UNICAST_MS 1000

/* Without CAP_NET_ADMIN: one datagram each time the kernel has given up or forgotten the entry. */
#define DATAGRAM_PORT 9

struct question {
	struct mnl_socket *nl;
	const struct host_path *path;
	bool unprivileged;
	unsigned unicast_ms;
	struct host_neigh entry; /* as the kernel holds it now; state 0: it has none */
};

/* A request about the next hop's neighbour entry, in buf. */
static struct nlmsghdr *request(void *buf, const struct host_path *path, uint16_t type, uint16_t state, uint8_t flags)
{
	struct nlmsghdr *req = mnl_nlmsg_put_header(buf);
	struct ndmsg *m;

	req->nlmsg_type = type;
	m = mnl_nlmsg_put_extra_header(req, sizeof(*m));
	m->ndm_family = path->next_hop.family == 4 ? AF_INET : AF_INET6;
	m->ndm_ifindex = path->l3_link;
	m->ndm_state = state;
	m->ndm_flags = flags;
	mnl_attr_put(req, NDA_DST, ip_bits(&path->next_hop) / 8, path->next_hop.b);
	return req;
}

static int take_entry(const struct nlmsghdr *nlh, void *data)
{
	struct host_neigh *entry = data;
	struct host h = {0};

	if (host_parse(&h, nlh, nlh->nlmsg_len) == 0 && h.n_neighs == 1)
		*entry = h.neighs[0];
	host_free(&h);
	return MNL_CB_OK;
}

static int look(struct question *q)
{
	_Alignas(struct nlmsghdr) char buf[128];
	int rc;

	q->entry = (struct host_neigh){0};
	rc = host_nl_talk(q->nl, request(buf, q->path, RTM_GETNEIGH, 0, 0), take_entry, &q->entry);
	return rc == -ENOENT ? 0 : rc;
}

static bool answered(const struct question *q)
{
	unsigned good = NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP;

	if (q->unprivileged)
		good |= NUD_STALE | NUD_DELAY | NUD_PROBE;
	return (q->entry.state & good) && q->entry.has_mac && !mac_is_zero(&q->entry.mac);
}

static int set_state(struct question *q, uint16_t state, uint8_t flags, uint16_t nl_flags)
{
	_Alignas(struct nlmsghdr) char buf[128];
	struct nlmsghdr *req = request(buf, q->path, RTM_NEWNEIGH, state, flags);

	req->nlmsg_flags |= nl_flags;
	return host_nl_talk(q->nl, req, NULL, NULL);
}

static int send_datagram(const struct host_path *path)
{
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(DATAGRAM_PORT),
		.sin6_scope_id = (uint32_t)path->l3_link,
	};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(DATAGRAM_PORT)};
	bool is4 = path->next_hop.family == 4;
	const struct sockaddr *to = is4 ? (const void *)&v4 : (const void *)&v6;
	char name[IF_NAMESIZE] = "";
	int rc = 0;
	int fd;

	memcpy(&v4.sin_addr, path->next_hop.b, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, path->next_hop.b, sizeof(v6.sin6_addr));
	if (!if_indextoname((unsigned)path->l3_link, name))
		return -errno;
	fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1) ||
	    sendto(fd, "", 1, 0, to, is4 ? sizeof(v4) : sizeof(v6)) < 0)
		rc = -errno;
	close(fd);
	/* The kernel's own view that the neighbour is not there; the entry says so too. */
	return rc == -EHOSTUNREACH ? 0 : rc;
}

/* Makes the kernel ask, as far as it is not doing so already. */
static int prompt(struct question *q, unsigned elapsed_ms)
{
	uint16_t state = q->entry.state;
	int rc = 0;

	if (state & NUD_INCOMPLETE)
		return 0;
	if (q->unprivileged)
		return state & ~NUD_FAILED ? 0 : send_datagram(q->path);
	if (state & (NUD_STALE | NUD_DELAY))
		rc = set_state(q, NUD_PROBE, 0, 0);
	else if ((state & NUD_PROBE) && elapsed_ms >= q->unicast_ms)
		rc = set_state(q, NUD_FAILED, 0, 0);
	else if (!(state & ~NUD_FAILED))
		rc = set_state(q, 0, NTF_USE, NLM_F_CREATE);
	if (rc == -EPERM) {
		q->unprivileged = true;
		return answered(q) ? 0 : prompt(q, elapsed_ms);
	}
	/* The entry changed between the look and the request: the next look shows how. */
	return rc == -EINVAL || rc == -ENOENT ? 0 : rc;
}

static unsigned ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned)((now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000);
}

static int wait_for_answer(struct question *q, unsigned timeout_ms, const volatile int *cancel)
{
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		unsigned elapsed;
		int rc = look(q);

		if (rc || answered(q))
			return rc;
		if (cancel && *cancel)
			return -EINTR;
		elapsed = ms_since(&start);
		if (elapsed >= timeout_ms)
			return -ETIMEDOUT;
		rc = prompt(q, elapsed);
		if (rc)
			return rc;
		poll(NULL, 0, POLL_MS);
	}
}

static const char *state_name(uint16_t state)
{
	if (state & NUD_INCOMPLETE)
		return "being asked for";
	if (state & NUD_FAILED)
		return "failed";
	if (state & (NUD_STALE | NUD_DELAY | NUD_PROBE))
		return "stale and not confirmed";
	return state ? "without a MAC" : "none";
}

int host_resolve(struct host_path *path, unsigned timeout_ms, const volatile int *cancel, struct err *e)
{
	static const char what[] = "cannot find the next hop's MAC";
	struct question q = {
		.path = path,
		.unicast_ms = timeout_ms / 2 < UNICAST_MS ? timeout_ms / 2 : UNICAST_MS,
	};
	char name[IF_NAMESIZE] = "";
	char ip[IP_STRLEN];
	char object[IP_STRLEN + IF_NAMESIZE + 16];
	int rc;

	if (path->have_mac || !path->next_hop.family)
		return 0;
	q.nl = host_nl_open(NETLINK_ROUTE);
	rc = q.nl ? wait_for_answer(&q, timeout_ms, cancel) : -errno;
	if (q.nl)
		mnl_socket_close(q.nl);
	path->neigh_state = q.entry.state;
	if (!rc) {
		path->dst_mac = q.entry.mac;
		path->have_mac = true;
		return 0;
	}
	snprintf(object, sizeof(object), "%s on %s", ip_format(&path->next_hop, ip),
		 if_indextoname((unsigned)path->l3_link, name) ? name : "a vanished link");
	if (rc == -EINTR)
		return err_set(e, rc, EXIT_RUN, what, object, "interrupted");
	if (rc != -ETIMEDOUT)
		return err_set(e, rc, EXIT_RUN, what, object, "%s", strerror(-rc));
	err_set(e, rc, EXIT_RUN, what, object, "no answer within %u ms (neighbour entry: %s)", timeout_ms,
		state_name(q.entry.state));
	err_hint(e, "check the address, the cable and the VLAN, or give --dst-mac MAC");
	return rc;
}
