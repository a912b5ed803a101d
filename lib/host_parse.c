/* SPDX-License-Identifier: Apache-2.0 */
#include "host_internal.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* The room doubles whenever n is a power of two. */
void *host_grow(void *array, size_t n, size_t size)
{
	char *p = array;

	if ((n & (n - 1)) == 0)
		p = reallocarray(array, n ? 2 * n : 1, size);
	if (p)
		memset(p + n * size, 0, size);
	return p;
}

struct ip host_ip(int af, const void *bytes)
{
	struct ip ip = {.family = af == AF_INET ? 4 : 6};

	memcpy(ip.b, bytes, ip_bits(&ip) / 8);
	return ip;
}

static int index_nested(const struct nlattr *a, const struct nlattr **tb, unsigned max)
{
	return host_nl_index_attrs(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a), tb, max);
}

static void read_string(const struct nlattr *a, char *out, size_t size)
{
	if (!a)
		return;
	size_t n = strnlen(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));

	n = n < size ? n : size - 1;
	memcpy(out, mnl_attr_get_payload(a), n);
	out[n] = '\0';
}

static int read_ip(const struct nlattr *a, int af, struct ip *out)
{
	if (!a)
		return 0;
	if (mnl_attr_get_payload_len(a) != (af == AF_INET ? 4 : 16))
		return -EBADMSG;
	*out = host_ip(af, mnl_attr_get_payload(a));
	return 0;
}

static int parse_linkinfo(const struct nlattr *a, struct host_link *l)
{
	const struct nlattr *tb[IFLA_INFO_DATA + 1];
	const struct nlattr *vlan[IFLA_VLAN_PROTOCOL + 1];
	uint16_t proto = htons(0x8100);

	if (index_nested(a, tb, IFLA_INFO_DATA))
		return -EBADMSG;
	read_string(tb[IFLA_INFO_KIND], l->kind, sizeof(l->kind));
	if (strcmp(l->kind, "vlan") != 0 || !tb[IFLA_INFO_DATA])
		return 0;
	if (index_nested(tb[IFLA_INFO_DATA], vlan, IFLA_VLAN_PROTOCOL) ||
	    host_nl_read_attr(vlan[IFLA_VLAN_ID], &l->vlan_id, sizeof(l->vlan_id)) ||
	    host_nl_read_attr(vlan[IFLA_VLAN_PROTOCOL], &proto, sizeof(proto)))
		return -EBADMSG;
	l->vlan_proto = ntohs(proto);
	return 0;
}

static int parse_link(struct host *h, const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[IFLA_LINK_NETNSID + 1];
	const struct ifinfomsg *m = host_nl_open_message(nlh, sizeof(*m), tb, IFLA_LINK_NETNSID);
	struct host_link *l;

	if (!m || !tb[IFLA_IFNAME])
		return -EBADMSG;
	if (m->ifi_family == AF_BRIDGE)
		return 0;
	l = host_grow(h->links, h->n_links, sizeof(*l));
	if (!l)
		return -ENOMEM;
	h->links = l;
	l += h->n_links;
	l->index = m->ifi_index;
	l->loopback = m->ifi_flags & IFF_LOOPBACK;
	l->up = m->ifi_flags & IFF_UP;
	l->carrier = m->ifi_flags & IFF_LOWER_UP;
	l->speed_mbps = -1;
	l->numa_node = -1;
	read_string(tb[IFLA_IFNAME], l->name, sizeof(l->name));
	if (tb[IFLA_ADDRESS] && mnl_attr_get_payload_len(tb[IFLA_ADDRESS]) == sizeof(l->mac)) {
		memcpy(l->mac.b, mnl_attr_get_payload(tb[IFLA_ADDRESS]), sizeof(l->mac));
		l->ethernet = m->ifi_type == ARPHRD_ETHER;
	}
	if (host_nl_read_attr(tb[IFLA_MTU], &l->mtu, sizeof(l->mtu)) ||
	    host_nl_read_attr(tb[IFLA_NUM_TX_QUEUES], &l->tx_queues, sizeof(l->tx_queues)) ||
	    host_nl_read_attr(tb[IFLA_NUM_RX_QUEUES], &l->rx_queues, sizeof(l->rx_queues)) ||
	    host_nl_read_attr(tb[IFLA_LINK], &l->parent, sizeof(l->parent)) ||
	    (tb[IFLA_LINKINFO] && parse_linkinfo(tb[IFLA_LINKINFO], l)))
		return -EBADMSG;
	if (tb[IFLA_LINK_NETNSID]) /* the index counts in another namespace */
		l->parent = 0;
	h->n_links++;
	return 0;
}

static int parse_addr(struct host *h, const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[IFA_FLAGS + 1];
	const struct ifaddrmsg *m = host_nl_open_message(nlh, sizeof(*m), tb, IFA_FLAGS);
	struct host_addr *a;
	uint32_t flags;

	if (!m)
		return -EBADMSG;
	if (m->ifa_family != AF_INET && m->ifa_family != AF_INET6)
		return 0;
	/* With a peer IFA_ADDRESS is the peer's and IFA_LOCAL ours; IPv6 without one has IFA_ADDRESS only. */
	const struct nlattr *ours = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];

	if (!ours)
		return -EBADMSG;
	a = host_grow(h->addrs, h->n_addrs, sizeof(*a));
	if (!a)
		return -ENOMEM;
	h->addrs = a;
	a += h->n_addrs;
	flags = m->ifa_flags;
	if (read_ip(ours, m->ifa_family, &a->ip) || host_nl_read_attr(tb[IFA_FLAGS], &flags, sizeof(flags)) ||
	    m->ifa_prefixlen > ip_bits(&a->ip))
		return -EBADMSG;
	a->link = (int)m->ifa_index;
	a->prefix_len = m->ifa_prefixlen;
	a->scope = m->ifa_scope;
	a->tentative = flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED);
	a->deprecated = flags & IFA_F_DEPRECATED;
	h->n_addrs++;
	return 0;
}

static int read_next_hop(const struct nlattr **tb, int af, struct host_route *r)
{
	uint16_t via_af = 0;

	if (read_ip(tb[RTA_GATEWAY], af, &r->gateway))
		return -EBADMSG;
	if (!tb[RTA_VIA])
		return 0;
	/* struct rtvia: the family, then the address without padding. */
	if (host_nl_read_attr(tb[RTA_VIA], &via_af, sizeof(via_af)) || (via_af != AF_INET && via_af != AF_INET6) ||
	    mnl_attr_get_payload_len(tb[RTA_VIA]) != sizeof(via_af) + (via_af == AF_INET ? 4 : 16))
		return -EBADMSG;
	r->gateway = host_ip(via_af, (const char *)mnl_attr_get_payload(tb[RTA_VIA]) + sizeof(via_af));
	return 0;
}

static int add_route(struct host *h, const struct host_route *r, unsigned flags)
{
	struct host_route *p;

	if (flags & RTNH_F_DEAD)
		return 0;
	p = host_grow(h->routes, h->n_routes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	h->routes = p;
	p[h->n_routes] = *r;
	p[h->n_routes++].onlink = flags & RTNH_F_ONLINK;
	return 0;
}

static int parse_multipath(struct host *h, const struct nlattr *a, int af, struct host_route *r)
{
	const struct nlattr *tb[RTA_VIA + 1];
	const char *p = mnl_attr_get_payload(a);
	size_t len = mnl_attr_get_payload_len(a);
	size_t first = h->n_routes;

	while (len > 0) {
		const struct rtnexthop *nh = (const void *)p;

		if (len < sizeof(*nh) || nh->rtnh_len < sizeof(*nh) || nh->rtnh_len > len ||
		    host_nl_index_attrs(p + sizeof(*nh), nh->rtnh_len - sizeof(*nh), tb, RTA_VIA))
			return -EBADMSG;
		r->link = nh->rtnh_ifindex;
		r->gateway = (struct ip){0};
		if (read_next_hop(tb, af, r))
			return -EBADMSG;
		int rc = add_route(h, r, nh->rtnh_flags);

		if (rc)
			return rc;
		size_t step = host_nl_align(nh->rtnh_len);

		if (step >= len)
			break;
		p += step;
		len -= step;
	}
	if (h->n_routes - first > 1)
		for (size_t i = first; i < h->n_routes; i++)
			h->routes[i].multipath = true;
	return 0;
}

static int parse_route(struct host *h, const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[RTA_VIA + 1];
	const struct rtmsg *m = host_nl_open_message(nlh, sizeof(*m), tb, RTA_VIA);
	struct host_route r = {0};

	if (!m)
		return -EBADMSG;
	/* Routes that a plain packet does not take: cached exceptions, other types of service, source-specific ones. */
	if ((m->rtm_family != AF_INET && m->rtm_family != AF_INET6) || (m->rtm_flags & RTM_F_CLONED) || m->rtm_tos ||
	    m->rtm_src_len)
		return 0;
	r.dst.ip.family = m->rtm_family == AF_INET ? 4 : 6;
	r.dst.len = m->rtm_dst_len;
	r.table = m->rtm_table;
	r.type = m->rtm_type;
	if (r.dst.len > ip_bits(&r.dst.ip) || (r.dst.len && !tb[RTA_DST]) ||
	    read_ip(tb[RTA_DST], m->rtm_family, &r.dst.ip) || read_ip(tb[RTA_PREFSRC], m->rtm_family, &r.prefsrc) ||
	    host_nl_read_attr(tb[RTA_PRIORITY], &r.metric, sizeof(r.metric)) ||
	    host_nl_read_attr(tb[RTA_TABLE], &r.table, sizeof(r.table)) ||
	    host_nl_read_attr(tb[RTA_OIF], &r.link, sizeof(r.link)) || read_next_hop(tb, m->rtm_family, &r))
		return -EBADMSG;
	if (tb[RTA_MULTIPATH])
		return parse_multipath(h, tb[RTA_MULTIPATH], m->rtm_family, &r);
	return add_route(h, &r, m->rtm_flags);
}

static int parse_neigh(struct host *h, const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[NDA_LLADDR + 1];
	const struct ndmsg *m = host_nl_open_message(nlh, sizeof(*m), tb, NDA_LLADDR);
	struct host_neigh *n;

	if (!m)
		return -EBADMSG;
	if (m->ndm_family != AF_INET && m->ndm_family != AF_INET6)
		return 0;
	n = host_grow(h->neighs, h->n_neighs, sizeof(*n));
	if (!n)
		return -ENOMEM;
	h->neighs = n;
	n += h->n_neighs;
	if (!tb[NDA_DST] || read_ip(tb[NDA_DST], m->ndm_family, &n->ip))
		return -EBADMSG;
	n->link = m->ndm_ifindex;
	n->state = m->ndm_state;
	n->has_mac = tb[NDA_LLADDR] && mnl_attr_get_payload_len(tb[NDA_LLADDR]) == sizeof(n->mac);
	if (n->has_mac)
		memcpy(n->mac.b, mnl_attr_get_payload(tb[NDA_LLADDR]), sizeof(n->mac));
	h->n_neighs++;
	return 0;
}

int host_parse(struct host *h, const void *msgs, size_t len)
{
	const char *p = msgs;

	while (len > 0) {
		const struct nlmsghdr *nlh = (const void *)p;
		int rc = 0;

		if (len < sizeof(*nlh) || nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > len)
			return -EBADMSG;
		switch (nlh->nlmsg_type) {
		case RTM_NEWLINK:
			rc = parse_link(h, nlh);
			break;
		case RTM_NEWADDR:
			rc = parse_addr(h, nlh);
			break;
		case RTM_NEWROUTE:
			rc = parse_route(h, nlh);
			break;
		case RTM_NEWNEIGH:
			rc = parse_neigh(h, nlh);
			break;
		}
		if (rc)
			return rc;
		size_t step = host_nl_align(nlh->nlmsg_len);

		if (step >= len)
			break;
		p += step;
		len -= step;
	}
	return 0;
}
