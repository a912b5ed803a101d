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

/* Which of the head's words the bytes from `at` on are. */
static unsigned head_word(uint16_t at)
{
	unsigned i = 0;

	while (i < FILTER_HEAD_WORDS && filter_head_at[i] != at)
		i++;
	return i;
}

static void add_to_head(struct filter_compiled *c, unsigned word, uint64_t mask, uint64_t value)
{
	c->head_mask[word] |= core_be64(mask);
	c->head[word] |= core_be64(value);
}

enum filter_verdict filter_compiled_slowly(const struct filter_compiled *c, const unsigned char *data, uint32_t len)
{
	const bool plain = len >= FILTER_PLAIN_LEN && be16_at(data + ETH_MACS_LEN) == TYPE_IP4 &&
			   data[ETH_HEADER_LEN] == 0x45 && !(be16_at(data + ETH_HEADER_LEN + 6) & 0x3fff);

	/* A plain one that is here does not meet a condition. */
	return !(plain && c->has_tests) && filter_matches(&c->filter, data, len) ? FILTER_YES : FILTER_NO;
}

void filter_compile(struct filter_compiled *c, const struct filter *f)
{
	*c = (struct filter_compiled){.filter = *f, .has_tests = f->all || f->n};
	add_to_head(c, 0, 0xffffff0000000000, 0x0800450000000000);
	add_to_head(c, 1, 0x3fff000000000000, 0);
	for (unsigned i = 0, end; i < f->n; i = end) {
		for (end = i + 1; end < f->n && f->match[end].kind == f->match[i].kind; end++)
			;
		for (unsigned k = i; k < end; k++) {
			struct filter_test t = test_of(&f->match[k]);
			unsigned word = head_word(t.at);

			t.next = (uint16_t)(end - k);
			t.last = k + 1 == end;
			if (end == i + 1 && !t.span && word < FILTER_HEAD_WORDS) {
				c->udp = c->udp || (f->match[k].kind == FILTER_PROTO && f->match[k].proto == PROTO_UDP);
				add_to_head(c, word, t.mask, t.lo);
			} else {
				c->tests[c->n++] = t;
			}
		}
	}
}
