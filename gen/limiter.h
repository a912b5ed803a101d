/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter: one aggregate rate for any number of senders.
 *
 * A token bucket in departure time: position k of the schedule departs at start + k * interval. Senders claim positions
 * from one shared counter, so the sum is exact whatever their number, and no error accumulates. A claim is a clump of
 * positions that leave together: one at low rates, at most `burst` always.
 *
 * Lateness: what the senders fell behind is repaid in clumps of at most `burst`, but no more than `catch_up_ns` of
 * schedule: positions that lie further back are passed over.
 *
 * Any thread claims; everything else is set before the first claim. Pure: time comes from the caller.
 */
#ifndef SQUALL_GEN_LIMITER_H
#define SQUALL_GEN_LIMITER_H

#include "lib/core/plan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct limiter {
	struct pacer_rate interval; /* zero: unlimited */
	bool unlimited;
	uint32_t burst;
	uint32_t clump; /* positions of one claim that is on time */
	uint64_t start_ns;
	uint64_t catch_up_ns;
	uint64_t positions;                  /* how many the schedule has; UINT64_MAX: no end */
	_Alignas(128) _Atomic uint64_t next; /* the next position to claim */
};

struct limiter_claim {
	uint64_t departure_ns; /* when the first of them leaves */
	uint32_t n;            /* how many were claimed; 0: the schedule is over */
};

/* start_ns: departure of position 0. No position departs at or after end_ns (UINT64_MAX: no end). */
void limiter_init(struct limiter *l, const struct tx_pace *pace, uint64_t catch_up_ns, uint64_t start_ns,
		  uint64_t end_ns);

/* Claims up to max (>= 1) positions. An unlimited limiter gives max, departing now, and never ends. */
struct limiter_claim limiter_claim(struct limiter *l, uint32_t max, uint64_t now_ns);

/* When position k departs. */
uint64_t limiter_departure(const struct limiter *l, uint64_t k);

#endif
