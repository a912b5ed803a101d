/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_compiled: a filter made ready for many packets. Of what packets mostly are (untagged IPv4, whole, without
 * options, no fragment) each condition is a range of some bits at a fixed place; the rest is filter_matches()'s.
 */
#ifndef SQUALL_PIO_FILTER_COMPILED_H
#define SQUALL_PIO_FILTER_COMPILED_H

#include "filter.h"
#include "headers.h"

/* Of the 8 bytes at `at`, as a big-endian number: lo <= (number & mask) <= lo + span. */
struct filter_test {
	uint64_t mask, lo, span;
	uint16_t at;
	uint16_t next; /* tests to go on by when it holds */
	bool last;     /* of alternatives: when it does not hold, either, the packet is not taken */
};

struct filter_compiled {
	struct filter filter;
	bool has_tests; /* they tell it of plain packets */
	unsigned n;
	struct filter_test tests[FILTER_MATCHES_MAX];
};

void filter_compile(struct filter_compiled *c, const struct filter *f);

static inline bool filter_is_plain(const unsigned char *data, uint32_t len)
{
	const uint32_t is_ip4 = core_be32(0x08004500U), ip4 = core_be32(0xffffff00U);

	return len >= ETH_HEADER_LEN + IP4_HEADER_LEN + PORTS_LEN &&
	       (core_get32(data + ETH_MACS_LEN) & ip4) == is_ip4 &&
	       !(core_get16(data + ETH_HEADER_LEN + 6) & core_be16(0x3fff));
}

/* What filter_matches() tells. Pure. */
static inline bool filter_compiled_matches(const struct filter_compiled *c, const unsigned char *data, uint32_t len)
{
	const struct filter_test *t = c->tests, *const end = t + c->n;

	if (__builtin_expect(!c->has_tests || !filter_is_plain(data, len), 0))
		return filter_matches(&c->filter, data, len);
	while (t != end) {
		if (__builtin_expect((core_be64(core_get64(data + t->at)) & t->mask) - t->lo <= t->span, 1))
			t += t->next;
		else if (t->last)
			return false;
		else
			t++;
	}
	return true;
}

#endif
