/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "lib/core/types.h"

#include <string.h>

#define ETH_HLEN      14U
#define ETHERTYPE_AT  12U
#define VLAN_TAG_LEN  4U
#define TAGS_MAX      2U
#define IP4_HLEN_MIN  20U
#define IP6_HLEN      40U
#define IP6_EXT_MAX   8U
#define IP6_EXT_MIN   8U
#define PORTS_LEN     4U
#define PORT_SSH      22U
#define PORT_DNS      53U
#define ND_TYPE_FIRST 133U /* router solicitation */
#define ND_TYPE_LAST  137U /* redirect */

enum { TYPE_IP4 = 0x0800, TYPE_ARP = 0x0806, TYPE_VLAN = 0x8100, TYPE_IP6 = 0x86dd, TYPE_SERVICE_VLAN = 0x88a8 };

enum {
	PROTO_HOP_BY_HOP = 0,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AUTHENTICATION = 51,
	PROTO_ICMP6 = 58,
	PROTO_DST_OPTIONS = 60,
};

/* What the conditions ask about, as far as the packet is whole. */
struct headers {
	const unsigned char *src, *dst; /* IP addresses */
	const unsigned char *l4;        /* NULL: a later fragment, or nothing of it is there */
	uint32_t l4_len;                /* bytes from l4 to the end of the packet */
	uint16_t type;                  /* behind the tags; 0: none */
	uint16_t vlan;                  /* of the outermost tag, or NO_VLAN */
	uint8_t family;                 /* 0: not IP, or broken */
	uint8_t proto;
};

#define NO_VLAN 0xffff

static inline uint16_t be16_at(const unsigned char *p)
{
	return core_be16(core_get16(p));
}

static inline bool is_tag(uint16_t type)
{
	return type == TYPE_VLAN || type == TYPE_SERVICE_VLAN;
}

static inline void set_l4(struct headers *h, const unsigned char *l3, uint32_t at, uint32_t len)
{
	if (at < len) {
		h->l4 = l3 + at;
		h->l4_len = len - at;
	}
}

static inline void parse_ip4(struct headers *h, const unsigned char *l3, uint32_t len)
{
	uint32_t hlen;

	if (len < IP4_HLEN_MIN || l3[0] >> 4 != 4)
		return;
	hlen = (l3[0] & 15U) * 4U;
	if (hlen < IP4_HLEN_MIN || hlen > len)
		return;
	h->family = 4;
	h->proto = l3[9];
	h->src = l3 + 12;
	h->dst = l3 + 16;
	if ((be16_at(l3 + 6) & 0x1fff) == 0)
		set_l4(h, l3, hlen, len);
}

/* RFC 8200 section 4: lengths count 8 octets beyond the first 8; the authentication header's counts 4 (RFC 4302). */
static void parse_ip6(struct headers *h, const unsigned char *l3, uint32_t len)
{
	uint32_t at = IP6_HLEN;
	uint8_t next;

	if (len < IP6_HLEN || l3[0] >> 4 != 6)
		return;
	next = l3[6];
	for (unsigned i = 0; i <= IP6_EXT_MAX; i++) {
		bool later_fragment = false;
		uint32_t size;

		if (next != PROTO_HOP_BY_HOP && next != PROTO_ROUTING && next != PROTO_DST_OPTIONS &&
		    next != PROTO_FRAGMENT && next != PROTO_AUTHENTICATION) {
			set_l4(h, l3, at, len);
			break;
		}
		if (i == IP6_EXT_MAX || len - at < IP6_EXT_MIN)
			return;
		if (next == PROTO_FRAGMENT) {
			size = IP6_EXT_MIN;
			later_fragment = (be16_at(l3 + at + 2) & 0xfff8) != 0;
		} else if (next == PROTO_AUTHENTICATION) {
			size = (l3[at + 1] + 2U) * 4U;
		} else {
			size = (l3[at + 1] + 1U) * 8U;
		}
		if (size > len - at)
			return;
		next = l3[at];
		at += size;
		if (later_fragment)
			break;
	}
	h->family = 6;
	h->proto = next;
	h->src = l3 + 8;
	h->dst = l3 + 24;
}

static inline void parse(struct headers *h, const unsigned char *data, uint32_t len)
{
	uint32_t at = ETH_HLEN;
	uint16_t type;

	*h = (struct headers){.vlan = NO_VLAN};
	if (len < ETH_HLEN)
		return;
	type = be16_at(data + ETHERTYPE_AT);
	for (unsigned tags = 0; tags < TAGS_MAX && is_tag(type); tags++) {
		if (len - at < VLAN_TAG_LEN)
			return;
		if (tags == 0)
			h->vlan = be16_at(data + at) & 0xfff;
		type = be16_at(data + at + 2);
		at += VLAN_TAG_LEN;
	}
	h->type = type;
	if (type == TYPE_IP4)
		parse_ip4(h, data + at, len - at);
	else if (type == TYPE_IP6)
		parse_ip6(h, data + at, len - at);
}

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
		return len >= ETH_HLEN && memcmp(data, m->mac.b, sizeof(m->mac.b)) == 0;
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

/* One protocol and one range of destination ports: what receivers mostly ask for. filter_add() keeps the order. */
static inline bool is_port_filter(const struct filter *f)
{
	return f->n == 2 && f->match[0].kind == FILTER_PROTO && f->match[1].kind == FILTER_DST_PORT;
}

/* Untagged IPv4 without options, whole, and no fragment: what packets mostly are. */
static inline bool is_plain_ip4(const unsigned char *data, uint32_t len)
{
	const unsigned char *l3 = data + ETH_HLEN;

	return len >= ETH_HLEN + IP4_HLEN_MIN + PORTS_LEN && be16_at(data + ETHERTYPE_AT) == TYPE_IP4 &&
	       l3[0] == 0x45 && (be16_at(l3 + 6) & 0x3fff) == 0;
}

/* Out of line, so that the usual case saves no registers. */
static __attribute__((noinline)) bool matches_any(const struct filter *f, const unsigned char *data, uint32_t len)
{
	unsigned asked = 0;
	unsigned met = 0;
	struct headers h;

	if (f->all)
		return true;
	parse(&h, data, len);
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

bool filter_matches(const struct filter *f, const unsigned char *data, uint32_t len)
{
	const unsigned char *l3 = data + ETH_HLEN;

	if (!is_port_filter(f) || !is_plain_ip4(data, len))
		return matches_any(f, data, len);
	uint16_t port = be16_at(l3 + IP4_HLEN_MIN + 2);

	return l3[9] == f->match[0].proto && port >= f->match[1].port.lo && port <= f->match[1].port.hi;
}
