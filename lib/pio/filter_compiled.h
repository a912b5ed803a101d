/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_compiled: a filter made ready for many packets. Of what packets mostly are (untagged IPv4, whole, without
 * options, no fragment: plain) all conditions of one value are one comparison of some bits of the headers, and each of
 * the others is a range of some bits at a fixed place. The rest of the packets is filter_matches()'s.
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

/* Eight bytes each, from these on, hold all that the comparison is about: type and version, and then up to the ports.
 */
#define FILTER_HEAD_WORDS 4U
static const uint16_t filter_head_at[FILTER_HEAD_WORDS] = {12, 20, 22, 30};

/* What a plain packet holds at least. */
#define FILTER_PLAIN_LEN (ETH_HEADER_LEN + IP4_HEADER_LEN + PORTS_LEN)

struct filter_compiled {
	struct filter filter;
	bool has_tests; /* they tell it of plain packets */
	bool udp;       /* all of which are UDP */
	/* Of a plain packet that may be taken the bits of the masks, as they are in memory. */
	uint64_t head[FILTER_HEAD_WORDS], head_mask[FILTER_HEAD_WORDS];
	unsigned n;
	struct filter_test tests[FILTER_MATCHES_MAX];
};

void filter_compile(struct filter_compiled *c, const struct filter *f);

enum filter_verdict {
	FILTER_NO,
	FILTER_YES,
	FILTER_YES_PLAIN, /* it is a plain packet */
};

/* What is left of a packet that the comparison is not met by. */
enum filter_verdict filter_compiled_slowly(const struct filter_compiled *c, const unsigned char *data, uint32_t len);

/* What filter_matches() tells. Pure. */
static inline enum filter_verdict filter_compiled_matches(const struct filter_compiled *c, const unsigned char *data,
							  uint32_t len)
{
	const struct filter_test *t = c->tests, *const end = t + c->n;
	uint64_t differ = 0;

	if (__builtin_expect(!c->has_tests || len < FILTER_PLAIN_LEN, 0))
		return filter_compiled_slowly(c, data, len);
#pragma GCC unroll 4
	for (unsigned i = 0; i < FILTER_HEAD_WORDS; i++)
		differ |= (core_get64(data + filter_head_at[i]) ^ c->head[i]) & c->head_mask[i];
	if (__builtin_expect(differ != 0, 0))
		return filter_compiled_slowly(c, data, len);
	while (t != end) {
		if (__builtin_expect((core_be64(core_get64(data + t->at)) & t->mask) - t->lo <= t->span, 1))
			t += t->next;
		else if (t->last)
			return FILTER_NO;
		else
			t++;
	}
	return FILTER_YES_PLAIN;
}

#endif
