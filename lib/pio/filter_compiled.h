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

#include <string.h>

/* Of the 8 bytes at `at`, as a big-endian number: lo <= (number & mask) <= lo + span. */
struct filter_test {
	uint64_t mask, lo, span;
	uint16_t at;
	uint16_t next; /* tests to go on by when it holds */
	bool last;     /* of alternatives: when it does not hold, either, the packet is not taken */
};

/* 16 bytes each, from these on, hold all that the comparison is about: type and version, and up to the ports. */
#define FILTER_HEADS 2U
static const uint16_t filter_head_at[FILTER_HEADS] = {12, 22};

typedef uint64_t filter_head __attribute__((vector_size(16)));

/* What a plain packet holds at least. */
#define FILTER_PLAIN_LEN (ETH_HEADER_LEN + IP4_HEADER_LEN + PORTS_LEN)

struct filter_compiled {
	struct filter filter;
	uint32_t plain_len; /* of packets so long at least the comparison and the tests tell it; UINT32_MAX: of none */
	bool udp;           /* all plain ones that are taken are UDP */
	/* Of a plain packet that may be taken the bits of the masks, as they are in memory. */
	filter_head head[FILTER_HEADS], head_mask[FILTER_HEADS];
	struct filter_test first; /* which has no alternatives, and mostly is the only one */
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

/* What is left of one that it, and the first test, is met by. */
enum filter_verdict filter_compiled_rest(const struct filter_compiled *c, const unsigned char *data);

static inline bool filter_test_holds(const struct filter_test *t, const unsigned char *data)
{
	return (core_be64(core_get64(data + t->at)) & t->mask) - t->lo <= t->span;
}

/* What filter_matches() tells. Pure. */
static inline enum filter_verdict filter_compiled_matches(const struct filter_compiled *c, const unsigned char *data,
							  uint32_t len)
{
	filter_head h[FILTER_HEADS], differ = {0};

	if (__builtin_expect(len < c->plain_len, 0))
		return filter_compiled_slowly(c, data, len);
#pragma GCC unroll 2
	for (unsigned i = 0; i < FILTER_HEADS; i++) {
		memcpy(&h[i], data + filter_head_at[i], sizeof(h[i]));
		differ |= (h[i] ^ c->head[i]) & c->head_mask[i];
	}
	if (__builtin_expect((differ[0] | differ[1]) != 0, 0))
		return filter_compiled_slowly(c, data, len);
	if (!filter_test_holds(&c->first, data))
		return FILTER_NO;
	return c->n ? filter_compiled_rest(c, data) : FILTER_YES_PLAIN;
}

#endif
