/* SPDX-License-Identifier: Apache-2.0 */
#include "host_internal.h"

#include <linux/rtnetlink.h>

/* The first address on the next hop's subnet, else the first one whose scope reaches (Linux, inet_select_addr). */
static const struct host_addr *source4(const struct host *h, int link, const struct ip *near, uint8_t max_scope)
{
	const struct host_addr *best = NULL;
	int best_rank = -1;

	for (size_t i = 0; i < h->n_addrs; i++) {
		const struct host_addr *a = &h->addrs[i];
		struct prefix subnet = {a->ip, a->prefix_len};
		int rank = (a->deprecated ? 0 : 2) + (prefix_contains(&subnet, near) ? 1 : 0);

		if (a->link != link || a->ip.family != 4 || a->tentative || a->scope > max_scope || rank <= best_rank)
			continue;
		best = a;
		best_rank = rank;
	}
	return best;
}

/* RFC 6724 section 3.1: the scopes of RFC 4291 section 2.7, unicast addresses mapped onto them. */
static unsigned scope6(const struct ip *ip)
{
	if (ip_is_multicast(ip))
		return ip->b[1] & 0x0f;
	if (ip_is_link_local(ip) || ip_is_loopback(ip))
		return 0x2;
	if (ip->b[0] == 0xfe && (ip->b[1] & 0xc0) == 0xc0)
		return 0x5;
	return 0xe;
}

/* RFC 6724 section 2.1, the labels of the default policy table that can differ on an Ethernet link. */
static unsigned label6(const struct ip *ip)
{
	static const struct {
		struct prefix prefix;
		unsigned label;
	} table[] = {
		{{{6, {0x20, 0x02}}, 16}, 2},
		{{{6, {0x20, 0x01}}, 32}, 5},
		{{{6, {0xfc}}, 7}, 13},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (prefix_contains(&table[i].prefix, ip))
			return table[i].label;
	return 1;
}

/* Leading bits that an address has in common with dst, as far as its own prefix reaches (section 2.2). */
static unsigned common6(const struct host_addr *a, const struct ip *dst)
{
	struct prefix p = {.ip = a->ip};

	while (p.len < a->prefix_len && prefix_contains(&(struct prefix){a->ip, (uint8_t)(p.len + 1)}, dst))
		p.len++;
	return p.len;
}

/* RFC 6724 section 5, rules 2, 3, 6 and 8; the others do not tell addresses of one link apart here. */
static bool better6(const struct host_addr *a, const struct host_addr *b, const struct ip *dst)
{
	unsigned sa = scope6(&a->ip);
	unsigned sb = scope6(&b->ip);
	bool la = label6(&a->ip) == label6(dst);
	bool lb = label6(&b->ip) == label6(dst);

	if (sa != sb)
		return sa < sb ? sa >= scope6(dst) : sb < scope6(dst);
	if (a->deprecated != b->deprecated)
		return b->deprecated;
	if (la != lb)
		return la;
	return common6(a, dst) > common6(b, dst);
}

/* A router does not forward what comes from a link-local address (RFC 4291 section 2.5.6). */
static const struct host_addr *source6(const struct host *h, int link, const struct ip *dst, bool forwarded)
{
	const struct host_addr *best = NULL;

	for (size_t i = 0; i < h->n_addrs; i++) {
		const struct host_addr *a = &h->addrs[i];

		if (a->link != link || a->ip.family != 6 || a->tentative || (forwarded && scope6(&a->ip) < scope6(dst)))
			continue;
		if (!best || better6(a, best, dst))
			best = a;
	}
	return best;
}

const struct host_addr *host_source(const struct host *h, int link, const struct ip *dst, const struct host_route *r)
{
	static const struct prefix local_groups = {{4, {224}}, 24};
	bool forwarded = r && r->gateway.family;
	bool on_link = r ? !forwarded : prefix_contains(&local_groups, dst);

	if (dst->family == 6)
		return source6(h, link, dst, forwarded);
	return source4(h, link, forwarded && r->gateway.family == 4 ? &r->gateway : dst,
		       on_link ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE);
}
