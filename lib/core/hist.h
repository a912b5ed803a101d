/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist: a log-linear histogram of durations in ns. Each power of two is cut into HIST_SUB buckets of one width, so what
 * is read from it is off by less than 1 / (2 * HIST_SUB), 0.8 %; values below 2 * HIST_SUB have a bucket each, and the
 * least and the greatest are exact. From 2^HIST_TOP ns (73 minutes) on the last bucket takes all.
 *
 * One writer. Histograms of several writers are merged when they are done.
 */
#ifndef SQUALL_CORE_HIST_H
#define SQUALL_CORE_HIST_H

#include "types.h"

#include <stdbool.h>

#define HIST_SUB_BITS 6U
#define HIST_SUB      (1U << HIST_SUB_BITS)
#define HIST_TOP      42U
#define HIST_BUCKETS  ((HIST_TOP - HIST_SUB_BITS + 1U) * HIST_SUB)

/* All zero: empty. */
struct hist {
	uint64_t total;
	uint64_t sum;
	uint64_t least; /* + 1, so that 0 is none yet */
	uint64_t greatest;
	uint64_t n[HIST_BUCKETS];
};

/* The position of the highest bit of v > 0. The kernel's machine has no instruction for it. */
CORE_INLINE uint32_t hist_log2(uint64_t v)
{
#ifndef __bpf__
	return 63 - (uint32_t)__builtin_clzll(v);
#else
	uint32_t r = 0;

#define HIST_HALVE(bits) \
	if (v >> (bits)) { \
		v >>= (bits); \
		r += (bits); \
	}
	HIST_HALVE(32)
	HIST_HALVE(16)
	HIST_HALVE(8)
	HIST_HALVE(4)
	HIST_HALVE(2)
	HIST_HALVE(1)
#undef HIST_HALVE
	return r;
#endif
}

CORE_INLINE uint32_t hist_bucket(uint64_t v)
{
	uint32_t shift;

	if (v >> HIST_TOP)
		return HIST_BUCKETS - 1;
	shift = hist_log2(v | HIST_SUB) - HIST_SUB_BITS;
	return shift * HIST_SUB + (uint32_t)(v >> shift);
}

/* The least value of a bucket; that of HIST_BUCKETS ends the last one. */
CORE_INLINE uint64_t hist_low(uint32_t bucket)
{
	uint32_t shift = bucket < HIST_SUB ? 0 : bucket / HIST_SUB - 1;

	return (uint64_t)(bucket - shift * HIST_SUB) << shift;
}

/* n > 0 values v. */
CORE_INLINE void hist_add(struct hist *h, uint64_t v, uint64_t n)
{
	h->total += n;
	h->sum += v * n;
	if (v > h->greatest)
		h->greatest = v;
	if (!h->least || v < h->least - 1)
		h->least = v + 1;
	h->n[hist_bucket(v)] += n;
}

/* n > 0 values. */
CORE_INLINE bool hist_all_same(const uint64_t *values, uint32_t n)
{
	uint64_t differ = 0;

#pragma GCC unroll 4
	for (uint32_t i = 0; i < n; i++)
		differ |= values[i] ^ values[0];
	return !differ;
}

/* n values. Those that are the same mostly come one after the other, and often all are. */
CORE_INLINE void hist_add_all(struct hist *h, const uint64_t *values, uint32_t n)
{
	uint64_t sum = 0, least = UINT64_MAX, greatest = 0;

	if (!n)
		return;
	if (hist_all_same(values, n)) {
		hist_add(h, values[0], n);
		return;
	}
	for (uint32_t i = 0, end; i < n; i = end) {
		const uint64_t v = values[i];

		for (end = i + 1; end < n && values[end] == v; end++)
			;
		sum += v * (end - i);
		least = v < least ? v : least;
		greatest = v > greatest ? v : greatest;
		h->n[hist_bucket(v)] += end - i;
	}
	h->total += n;
	h->sum += sum;
	if (greatest > h->greatest)
		h->greatest = greatest;
	if (!h->least || least < h->least - 1)
		h->least = least + 1;
}

/* In user space: what follows is for reports. */

static inline void hist_merge(struct hist *into, const struct hist *part)
{
	into->total += part->total;
	into->sum += part->sum;
	if (part->greatest > into->greatest)
		into->greatest = part->greatest;
	if (part->least && (!into->least || part->least < into->least))
		into->least = part->least;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		into->n[i] += part->n[i];
}

/* The value that so many in a million do not exceed: the middle of its bucket. 0 for an empty histogram. */
static inline uint64_t hist_quantile(const struct hist *h, uint32_t in_a_million)
{
	uint64_t rank = h->total / 1000000 * in_a_million + (h->total % 1000000 * in_a_million + 999999) / 1000000;
	uint64_t seen = 0;
	uint64_t v;

	if (!h->total)
		return 0;
	if (!rank)
		rank = 1;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		seen += h->n[i];
		if (seen < rank)
			continue;
		v = hist_low(i) + (hist_low(i + 1) - hist_low(i)) / 2;
		if (v < h->least - 1)
			return h->least - 1;
		return v > h->greatest || i == HIST_BUCKETS - 1 ? h->greatest : v;
	}
	return h->greatest;
}

#endif
