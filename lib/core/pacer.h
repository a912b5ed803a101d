/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pacer: the token bucket in departure time. Position k of the schedule leaves at start + k * interval; positions are
 * claimed from one shared counter, so the sum over all claimers is exact and an error never accumulates: the interval
 * is kept to 2^-32 ns, which is under 3 ns after 10^10 positions.
 *
 * A position is a packet; a bit rate is made an interval of packets where the plan is built.
 */
#ifndef SQUALL_CORE_PACER_H
#define SQUALL_CORE_PACER_H

#include "types.h"

struct pacer_rate {
	uint64_t ns;   /* whole nanoseconds between two positions */
	uint32_t frac; /* and 2^-32 of one */
};

/* The longest interval that is kept: an hour. */
#define PACER_INTERVAL_MAX_NS 3600000000000ULL

/* The offset of position k from the start, in ns. Exact to 1 ns for k * interval < 2^64 ns (584 years). */
CORE_INLINE uint64_t pacer_offset(const struct pacer_rate *r, uint64_t k)
{
	return k * r->ns + (k >> 32) * r->frac + (((k & 0xffffffff) * r->frac) >> 32);
}

/* The same from a start that is first_frac * 2^-32 ns after a whole one, and the fraction there. */
CORE_INLINE uint64_t pacer_offset_from(const struct pacer_rate *r, uint32_t first_frac, uint64_t k)
{
	return k * r->ns + (k >> 32) * r->frac + (((k & 0xffffffff) * r->frac + first_frac) >> 32);
}

CORE_INLINE uint32_t pacer_frac_from(const struct pacer_rate *r, uint32_t first_frac, uint64_t k)
{
	return (uint32_t)(k * r->frac + first_frac);
}

#endif
