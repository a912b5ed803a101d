/* SPDX-License-Identifier: Apache-2.0 */
#include "sent_filter.h"

#include "lib/core/flow.h"
#include "lib/pio/headers.h"

#include <errno.h>
#include <string.h>

/* All values that a field of the frame has, over all flows: the least and the greatest of them. */
struct span {
	uint64_t lo, hi;
};

static uint64_t read_be(const unsigned char *p, uint32_t len)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < len; i++)
		v = v << 8 | p[i];
	return v;
}

/* Where in the frame byte `at` of an entry goes. */
static uint32_t frame_offset(const struct tx_plan *plan, uint32_t at)
{
	for (uint32_t i = 0; i < plan->n_parts; i++) {
		if (at < plan->parts[i].len)
			return plan->parts[i].at + at;
		at -= plan->parts[i].len;
	}
	return UINT32_MAX;
}

/* The steps that the plan's flows take: all of them, or those from `first` on. */
static void steps_of(const struct tx_plan *plan, const struct tx_walk *w, uint64_t *first, uint64_t *last)
{
	uint64_t taken = w->every > 1 ? (plan->flows + w->every - 1) / w->every : plan->flows;
	uint64_t greatest = w->count - 1;

	*first = w->first;
	*last = w->first + taken - 1;
	if (w->order == TX_RANDOM || *last < *first || *last > greatest) {
		*first = 0;
		*last = greatest;
	}
}

static struct span values_of(const struct tx_plan *plan, const struct tx_walk *w)
{
	struct span s = {.lo = UINT64_MAX};
	uint64_t first, last, end[2];

	if (w->order == TX_LIST) {
		for (uint64_t i = 0; i < w->count; i++) {
			uint64_t v = plan->values[(w->base + i) % TX_VALUES_MAX];

			s.lo = v < s.lo ? v : s.lo;
			s.hi = v > s.hi ? v : s.hi;
		}
		return s;
	}
	steps_of(plan, w, &first, &last);
	end[0] = tx_walk_value(w, first);
	end[1] = tx_walk_value(w, last);
	if ((end[0] > end[1]) == (w->order == TX_DOWN) || first == last)
		return (struct span){.lo = end[0] < end[1] ? end[0] : end[1], .hi = end[0] < end[1] ? end[1] : end[0]};
	return (struct span){.hi = UINT64_MAX}; /* they pass the greatest value, and go on from the least */
}

/* The bytes [at, at + len) of the frame, 8 at most, as a number. */
static struct span span_at(const struct tx_plan *plan, uint32_t at, uint32_t len)
{
	uint64_t greatest = len == 8 ? UINT64_MAX : (1ULL << 8 * len) - 1;
	uint64_t fixed = read_be(plan->frame + at, len);
	struct span all = {.lo = fixed, .hi = fixed};

	for (uint32_t i = 0; i < plan->n_walks; i++) {
		const struct tx_walk *w = &plan->walks[i];
		uint32_t end = frame_offset(plan, w->end - 1U) + 1;
		uint32_t bytes = (w->bits + w->shift + 7U) / 8U;

		if (end <= at || end - bytes >= at + len)
			continue;
		if (end != at + len || bytes > len || w->shift || w->bits % 8) /* not this field alone */
			return (struct span){.hi = greatest};
		all = values_of(plan, w);
		if (bytes < len) {
			uint64_t above = fixed >> 8 * bytes << 8 * bytes;

			all.lo |= above;
			all.hi = all.hi >> 8 * bytes ? above | ((1ULL << 8 * bytes) - 1) : all.hi | above;
		}
	}
	return all.hi > greatest ? (struct span){.hi = greatest} : all;
}

/* The smallest prefix that holds every address of a field. */
static struct prefix prefix_at(const struct tx_plan *plan, uint8_t family, uint32_t at)
{
	uint32_t bytes = family == 6 ? 16 : 4, tail = family == 6 ? 8 : 4;
	struct span s = span_at(plan, at + bytes - tail, tail);
	struct prefix p = {.ip = {.family = family}, .len = (uint8_t)(8 * bytes)};

	memcpy(p.ip.b, plan->frame + at, bytes);
	for (uint64_t differ = s.lo ^ s.hi; differ; differ >>= 1)
		p.len--;
	for (uint32_t i = 0; i < tail; i++)
		p.ip.b[bytes - 1 - i] = (unsigned char)(s.lo >> 8 * i);
	for (uint32_t bit = p.len; bit < 8 * bytes; bit++)
		p.ip.b[bit / 8] &= (unsigned char)~(0x80U >> bit % 8);
	return p;
}

static bool same(const struct filter_match *a, const struct filter_match *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case FILTER_DST_MAC:
		return mac_equal(&a->mac, &b->mac);
	case FILTER_ETHERTYPE:
		return a->ethertype == b->ethertype;
	case FILTER_PROTO:
		return a->proto == b->proto;
	case FILTER_SRC:
	case FILTER_DST:
		return a->prefix.len == b->prefix.len && ip_equal(&a->prefix.ip, &b->prefix.ip);
	case FILTER_SRC_PORT:
	case FILTER_DST_PORT:
		return a->port.lo == b->port.lo && a->port.hi == b->port.hi;
	default:
		return false;
	}
}

/* Once, however many plans have it. */
static int add_once(struct filter *f, const struct filter_match *m, struct err *e)
{
	int rc;

	for (unsigned i = 0; i < f->n; i++)
		if (same(&f->match[i], m))
			return 0;
	rc = filter_add(f, m, e);
	if (rc == -ENOSPC)
		err_hint(e, "--filter with what comes back");
	return rc;
}

/* One side of a condition that has two, and with both_ways the other. */
static int add_pair(struct filter *f, struct filter_match src, struct filter_match dst, bool both_ways, struct err *e)
{
	struct filter_match back_src = dst, back_dst = src;
	int rc = add_once(f, &src, e);

	back_src.kind = src.kind;
	back_dst.kind = dst.kind;
	if (!rc)
		rc = add_once(f, &dst, e);
	if (!rc && both_ways)
		rc = add_once(f, &back_src, e);
	if (!rc && both_ways)
		rc = add_once(f, &back_dst, e);
	return rc;
}

static bool has_ports(const struct headers *h)
{
	return h->l4 && (h->proto == PROTO_UDP || h->proto == PROTO_TCP);
}

static struct filter_match empty_match(enum filter_kind kind)
{
	struct filter_match m;

	memset(&m, 0, sizeof(m));
	m.kind = kind;
	return m;
}

static int add_ip(const struct tx_plan *plan, const struct headers *h, bool ports, bool both_ways, struct filter *f,
		  struct err *e)
{
	struct filter_match proto = empty_match(FILTER_PROTO);
	struct filter_match src = empty_match(FILTER_SRC), dst = empty_match(FILTER_DST);
	int rc;

	proto.proto = h->proto;
	rc = add_once(f, &proto, e);
	src.prefix = prefix_at(plan, h->family, (uint32_t)(h->src - plan->frame));
	dst.prefix = prefix_at(plan, h->family, (uint32_t)(h->dst - plan->frame));
	if (!rc)
		rc = add_pair(f, src, dst, both_ways, e);
	if (!rc && ports) {
		uint32_t l4 = (uint32_t)(h->l4 - plan->frame);
		struct span from = span_at(plan, l4, 2), to = span_at(plan, l4 + 2, 2);

		src = empty_match(FILTER_SRC_PORT);
		dst = empty_match(FILTER_DST_PORT);
		src.port.lo = (uint16_t)from.lo;
		src.port.hi = (uint16_t)from.hi;
		dst.port.lo = (uint16_t)to.lo;
		dst.port.hi = (uint16_t)to.hi;
		rc = add_pair(f, src, dst, both_ways, e);
	}
	return rc;
}

static bool mac_at(const struct tx_plan *plan, uint32_t at, struct filter_match *m)
{
	struct span s = span_at(plan, at, sizeof(m->mac.b));

	*m = empty_match(FILTER_DST_MAC);
	memcpy(m->mac.b, plan->frame + at, sizeof(m->mac.b));
	return s.lo == s.hi;
}

static int add_raw(const struct tx_plan *plan, const struct headers *h, bool macs, bool both_ways, struct filter *f,
		   struct err *e)
{
	struct filter_match type = empty_match(FILTER_ETHERTYPE), there, back;
	int rc;

	type.ethertype = h->type;
	rc = add_once(f, &type, e);
	mac_at(plan, 0, &there);
	mac_at(plan, sizeof(there.mac.b), &back);
	if (!rc && macs)
		rc = add_once(f, &there, e);
	if (!rc && macs && both_ways)
		rc = add_once(f, &back, e);
	return rc;
}

/* What holds for all plans, so that it can be a condition. */
struct common {
	bool ip, raw;     /* some are IP packets, some are not */
	bool ports, macs; /* all have them */
};

static void look_at(const struct tx_plan *plan, bool both_ways, struct common *c)
{
	struct filter_match mac;
	struct headers h;

	headers_parse(&h, plan->frame, plan->max_len);
	c->ip = c->ip || h.family;
	c->raw = c->raw || !h.family;
	c->ports = c->ports && has_ports(&h);
	c->macs = c->macs && mac_at(plan, 0, &mac) && (!both_ways || mac_at(plan, sizeof(mac.mac.b), &mac));
}

int sent_filter_build(const struct tx_plan *plans, unsigned n, bool both_ways, struct filter *out, struct err *e)
{
	struct common c = {.ports = true, .macs = true};
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < n; i++)
		look_at(&plans[i], both_ways, &c);
	if (c.ip && c.raw) {
		err_set(e, -EINVAL, EXIT_USAGE, "cannot tell what to receive", NULL,
			"some of the streams are IP packets, and some are not");
		err_hint(e, "--filter with what comes back");
		return -EINVAL;
	}
	for (unsigned i = 0; !rc && i < n; i++) {
		struct headers h;

		headers_parse(&h, plans[i].frame, plans[i].max_len);
		rc = c.ip ? add_ip(&plans[i], &h, c.ports, both_ways, out, e)
			  : add_raw(&plans[i], &h, c.macs, both_ways, out, e);
	}
	return rc ? rc : filter_check(out, e);
}
