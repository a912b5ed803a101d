/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_compiled.h"

/* Eight bytes of a plain packet in which the fields are, and how far up from the lowest bit of them. */
#define AT_MAC      0U
#define MAC_UP      16U
#define AT_PROTO    (ETH_HEADER_LEN + 6U)
#define PROTO_UP    32U
#define AT_SRC      (ETH_HEADER_LEN + 8U)
#define AT_DST      (ETH_HEADER_LEN + 16U)
#define DST_UP      32U
#define AT_PORTS    (ETH_HEADER_LEN + 16U)
#define SRC_PORT_UP 16U

static struct filter_test exactly(uint16_t at, uint64_t mask, uint64_t value)
{
	return (struct filter_test){.at = at, .mask = mask, .lo = value & mask};
}

static struct filter_test never(void)
{
	return (struct filter_test){.lo = 1};
}

static struct filter_test address(const struct prefix *p, uint16_t at, unsigned up)
{
	uint64_t mask;

	if (p->ip.family != 4)
		return never();
	mask = p->len ? UINT32_MAX << (32 - p->len) & UINT32_MAX : 0;
	return exactly(at, mask << up, (uint64_t)core_be32(core_get32(p->ip.b)) << up);
}

static struct filter_test ports(const struct filter_match *m, unsigned up)
{
	return (struct filter_test){.at = AT_PORTS,
				    .mask = 0xffffULL << up,
				    .lo = (uint64_t)m->port.lo << up,
				    .span = (uint64_t)(m->port.hi - m->port.lo) << up};
}

static struct filter_test test_of(const struct filter_match *m)
{
	uint64_t mac = 0;

	switch (m->kind) {
	case FILTER_DST_MAC:
		for (unsigned i = 0; i < sizeof(m->mac.b); i++)
			mac = mac << 8 | m->mac.b[i];
		return exactly(AT_MAC, UINT64_MAX << MAC_UP, mac << MAC_UP);
	case FILTER_ETHERTYPE:
		return m->ethertype == TYPE_IP4 ? exactly(0, 0, 0) : never();
	case FILTER_PROTO:
		return exactly(AT_PROTO, 0xffULL << PROTO_UP, (uint64_t)m->proto << PROTO_UP);
	case FILTER_SRC:
		return address(&m->prefix, AT_SRC, 0);
	case FILTER_DST:
		return address(&m->prefix, AT_DST, DST_UP);
	case FILTER_SRC_PORT:
		return ports(m, SRC_PORT_UP);
	case FILTER_DST_PORT:
		return ports(m, 0);
	case FILTER_VLAN:
	case FILTER_KINDS:
		break;
	}
	return never();
}

/* Whether the bytes that a test is about are in the comparison's. */
static bool in_heads(const struct filter_test *t)
{
	for (unsigned i = 0; i < sizeof(t->mask); i++)
		if ((uint8_t)(t->mask >> (56 - 8 * i)) && t->at + i < filter_head_at[0])
			return false;
	return true;
}

static void add_to_heads(struct filter_compiled *c, const struct filter_test *t)
{
	const unsigned second = filter_head_at[1];

	for (unsigned i = 0; i < sizeof(t->mask); i++) {
		const unsigned at = t->at + i, head = at >= second;
		const unsigned char mask = (unsigned char)(t->mask >> (56 - 8 * i)),
				    value = (unsigned char)(t->lo >> (56 - 8 * i));

		if (!mask)
			continue;
		((unsigned char *)&c->head_mask[head])[at - filter_head_at[head]] |= mask;
		((unsigned char *)&c->head[head])[at - filter_head_at[head]] |= value;
	}
}

enum filter_verdict filter_compiled_slowly(const struct filter_compiled *c, const unsigned char *data, uint32_t len)
{
	const bool plain = len >= c->plain_len && be16_at(data + ETH_MACS_LEN) == TYPE_IP4 &&
			   data[ETH_HEADER_LEN] == 0x45 && !(be16_at(data + ETH_HEADER_LEN + 6) & 0x3fff);

	/* A plain one that is here does not meet a condition. */
	return !plain && filter_matches(&c->filter, data, len) ? FILTER_YES : FILTER_NO;
}

__attribute__((noinline)) enum filter_verdict filter_compiled_rest(const struct filter_compiled *c,
								   const unsigned char *data)
{
	for (const struct filter_test *t = c->tests, *const end = t + c->n; t != end;) {
		if (filter_test_holds(t, data))
			t += t->next;
		else if (t->last)
			return FILTER_NO;
		else
			t++;
	}
	return FILTER_YES_PLAIN;
}

void filter_compile(struct filter_compiled *c, const struct filter *f)
{
	const struct filter_test type_and_version = exactly(12, 0xffffff0000000000, 0x0800450000000000),
				 whole = exactly(20, 0x3fff000000000000, 0), holds = exactly(0, 0, 0);
	bool is_first = true;

	*c = (struct filter_compiled){
		.filter = *f, .plain_len = f->all || f->n ? FILTER_PLAIN_LEN : UINT32_MAX, .first = holds};
	add_to_heads(c, &type_and_version);
	add_to_heads(c, &whole);
	for (unsigned i = 0, end; i < f->n; i = end) {
		bool alone;

		for (end = i + 1; end < f->n && f->match[end].kind == f->match[i].kind; end++)
			;
		alone = end == i + 1;
		for (unsigned k = i; k < end; k++) {
			struct filter_test t = test_of(&f->match[k]);

			t.next = (uint16_t)(end - k);
			t.last = k + 1 == end;
			if (alone && !t.span && t.mask && in_heads(&t)) {
				c->udp = c->udp || (f->match[k].kind == FILTER_PROTO && f->match[k].proto == PROTO_UDP);
				add_to_heads(c, &t);
			} else if (alone && is_first) {
				c->first = t;
				is_first = false;
			} else {
				c->tests[c->n++] = t;
			}
		}
	}
}
