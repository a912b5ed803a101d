/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_compiled.h"

/* Eight bytes of a plain packet in which the fields are, and how far up from the lowest bit of them. */
#define AT_MAC      0U
#define MAC_UP      16U
#define AT_PROTO    (ETH_HEADER_LEN + 2U)
#define AT_ADDRS    (ETH_HEADER_LEN + 12U)
#define SRC_UP      32U
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

static struct filter_test address(const struct prefix *p, unsigned up)
{
	uint64_t mask = p->len ? UINT32_MAX << (32 - p->len) & UINT32_MAX : 0;

	return p->ip.family == 4 ? exactly(AT_ADDRS, mask << up, (uint64_t)core_be32(core_get32(p->ip.b)) << up)
				 : never();
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
		return exactly(AT_PROTO, 0xff, m->proto);
	case FILTER_SRC:
		return address(&m->prefix, SRC_UP);
	case FILTER_DST:
		return address(&m->prefix, 0);
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

/* Two tests of the same bytes that must both hold are one, if each is of one value. */
static bool joined(struct filter_test *before, const struct filter_test *t)
{
	if (before->at != t->at || before->span || t->span)
		return false;
	before->mask |= t->mask;
	before->lo |= t->lo;
	return true;
}

void filter_compile(struct filter_compiled *c, const struct filter *f)
{
	struct filter_test *before = NULL; /* the one before, if it has no alternatives */

	*c = (struct filter_compiled){.filter = *f, .has_tests = f->all || f->n};
	for (unsigned i = 0, end; i < f->n; i = end) {
		for (end = i + 1; end < f->n && f->match[end].kind == f->match[i].kind; end++)
			;
		for (unsigned k = i; k < end; k++) {
			struct filter_test t = test_of(&f->match[k]);

			t.next = (uint16_t)(end - k);
			t.last = k + 1 == end;
			if (end == i + 1 && before && joined(before, &t))
				continue;
			c->tests[c->n] = t;
			before = end == i + 1 ? &c->tests[c->n] : NULL;
			c->n++;
		}
	}
}
