/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "headers.h"

#include <string.h>

static inline bool in_prefix(const struct prefix *p, uint8_t family, const unsigned char *ip)
{
	if (p->ip.family != family)
		return false;
	for (unsigned at = 0; at < p->len; at += 32) {
		uint32_t mask = p->len - at >= 32 ? UINT32_MAX : ~(UINT32_MAX >> (p->len - at));

		if ((core_get32(p->ip.b + at / 8) ^ core_get32(ip + at / 8)) & core_be32(mask))
			return false;
	}
	return true;
}

static inline bool in_ports(const struct filter_match *m, const struct headers *h, uint32_t at)
{
	uint16_t port;

	if (!h->l4 || h->l4_len < PORTS_LEN)
		return false;
	port = be16_at(h->l4 + at);
	return port >= m->port.lo && port <= m->port.hi;
}

static inline bool condition_holds(const struct filter_match *m, const struct headers *h, const unsigned char *data,
				   uint32_t len)
{
	switch (m->kind) {
	case FILTER_DST_MAC:
		return len >= ETH_HEADER_LEN && memcmp(data, m->mac.b, sizeof(m->mac.b)) == 0;
	case FILTER_VLAN:
		return h->vlan == m->vlan;
	case FILTER_ETHERTYPE:
		return h->type == m->ethertype;
	case FILTER_PROTO:
		return h->family && h->proto == m->proto;
	case FILTER_SRC:
		return h->family && in_prefix(&m->prefix, h->family, h->src);
	case FILTER_DST:
		return h->family && in_prefix(&m->prefix, h->family, h->dst);
	case FILTER_SRC_PORT:
		return in_ports(m, h, 0);
	case FILTER_DST_PORT:
		return in_ports(m, h, 2);
	case FILTER_KINDS:
		break;
	}
	return false;
}

static bool is_local(const struct filter *f, uint8_t family, const unsigned char *ip)
{
	for (unsigned i = 0; i < f->n_locals; i++)
		if (f->locals[i].family == family && memcmp(f->locals[i].b, ip, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

static bool is_management(const struct filter *f, const struct headers *h)
{
	bool ports = h->l4 && h->l4_len >= PORTS_LEN;

	if (h->type == TYPE_ARP)
		return true;
	if (!h->family || !h->l4)
		return false;
	if (h->family == 6 && h->proto == PROTO_ICMP6)
		return h->l4[0] >= ND_TYPE_FIRST && h->l4[0] <= ND_TYPE_LAST;
	if (!ports || (h->proto != PROTO_TCP && h->proto != PROTO_UDP))
		return false;
	if (be16_at(h->l4) == PORT_DNS && is_local(f, h->family, h->dst))
		return true;
	return h->proto == PROTO_TCP && (be16_at(h->l4) == PORT_SSH || be16_at(h->l4 + 2) == PORT_SSH) &&
	       (is_local(f, h->family, h->src) || is_local(f, h->family, h->dst));
}

bool filter_matches(const struct filter *f, const unsigned char *data, uint32_t len)
{
	unsigned asked = 0;
	unsigned met = 0;
	struct headers h;

	if (f->all)
		return true;
	headers_parse(&h, data, len);
	if (f->keep_management)
		return !is_management(f, &h);
	for (unsigned i = 0; i < f->n; i++) {
		const struct filter_match *m = &f->match[i];

		asked |= 1U << m->kind;
		if (condition_holds(m, &h, data, len))
			met |= 1U << m->kind;
	}
	return asked && met == asked;
}
