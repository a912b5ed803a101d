/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A dump that the kernel interrupted because something changed is begun again this often. */
#define DUMP_TRIES 10

void host_free(struct host *h)
{
	free(h->links);
	free(h->addrs);
	free(h->routes);
	free(h->neighs);
	memset(h, 0, sizeof(*h));
}

/* Judges the control messages of one piece of a dump. 1: more follows, 0: the dump is over. */
static int dump_state(const void *piece, size_t len)
{
	const char *p = piece;

	while (len >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *nlh = (const void *)p;
		int error = 0;

		if (nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > len)
			return -EBADMSG;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			return -EAGAIN;
		/* Both carry an errno first. */
		if (nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR) {
			if (nlh->nlmsg_len >= sizeof(struct nlmsghdr) + sizeof(error))
				memcpy(&error, mnl_nlmsg_get_payload(nlh), sizeof(error));
			return error;
		}
		size_t step = host_nl_align(nlh->nlmsg_len);

		if (step >= len)
			break;
		p += step;
		len -= step;
	}
	return 1;
}

static int dump(struct mnl_socket *nl, struct host *h, uint16_t type, size_t header)
{
	_Alignas(struct nlmsghdr) char buf[HOST_NL_BUF];
	struct nlmsghdr *req = mnl_nlmsg_put_header(buf);
	int state;

	req->nlmsg_type = type;
	req->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(req, header);
	if (type == RTM_GETLINK)
		mnl_attr_put_u32(req, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (mnl_socket_sendto(nl, req, req->nlmsg_len) < 0)
		return -errno;
	do {
		ssize_t n;

		do
			n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		state = dump_state(buf, (size_t)n);
		if (state < 0)
			return state;
		int rc = host_parse(h, buf, (size_t)n);

		if (rc)
			return rc;
	} while (state > 0);
	return 0;
}

/* A socket of its own each time: what is left of an interrupted dump goes with the old one. */
static int load_once(struct host *h)
{
	static const struct {
		uint16_t type;
		size_t header;
	} dumps[] = {
		{RTM_GETLINK, sizeof(struct ifinfomsg)},
		{RTM_GETADDR, sizeof(struct ifaddrmsg)},
		{RTM_GETROUTE, sizeof(struct rtmsg)},
		{RTM_GETNEIGH, sizeof(struct ndmsg)},
	};
	struct mnl_socket *nl = host_nl_open(NETLINK_ROUTE);
	int rc = nl ? 0 : -errno;

	memset(h, 0, sizeof(*h));
	for (size_t i = 0; !rc && i < sizeof(dumps) / sizeof(dumps[0]); i++)
		rc = dump(nl, h, dumps[i].type, dumps[i].header);
	if (nl)
		mnl_socket_close(nl);
	if (rc)
		host_free(h);
	return rc;
}

int host_load(struct host *h, struct err *e)
{
	int rc = -EAGAIN;
	int sock;

	for (int i = 0; i < DUMP_TRIES && rc == -EAGAIN; i++)
		rc = load_once(h);
	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot read the network configuration", "netlink", "%s",
			       rc == -EAGAIN ? "it kept changing while it was read" : strerror(-rc));
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0) {
		rc = -errno;
		host_free(h);
		return err_set(e, rc, EXIT_RUN, "cannot ask the network drivers", "ethtool", "%s", strerror(-rc));
	}
	for (size_t i = 0; i < h->n_links; i++)
		host_link_ethtool(&h->links[i], sock);
	close(sock);
	return 0;
}

const struct host_link *host_link_by_name(const struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_links; i++)
		if (strcmp(h->links[i].name, name) == 0)
			return &h->links[i];
	return NULL;
}

const struct host_link *host_link_by_index(const struct host *h, int index)
{
	for (size_t i = 0; i < h->n_links; i++)
		if (h->links[i].index == index)
			return &h->links[i];
	return NULL;
}

const char *host_link_name(const struct host *h, int index)
{
	const struct host_link *l = host_link_by_index(h, index);

	return l ? l->name : "an unknown link";
}
