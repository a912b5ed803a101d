/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter: one aggregate rate for any number of senders.
 *
 * A token bucket in departure time: position k of the schedule departs at start + k * interval. Senders claim positions
 * from one shared counter, so the sum is exact whatever their number, and no error accumulates. A claim is a clump of
 * positions that leave together: one at low rates, at most `burst` always. In a schedule of groups (--burst-profile)
 * the interval is from group to group, all positions of a group depart at its time, and a claim is of one group.
 *
 * Lateness: what the senders fell behind is repaid in clumps of at most `burst`, but no more than `catch_up_ns` of
 * schedule: positions that lie further back are passed over.
 *
 * The rate may change on the way: a new segment of the schedule begins at the first position that nobody has claimed,
 * at the very time that it had. Positions are counted from the segment's start, and the counter holds the segment's
 * number as well, so that a claim made by a segment that has just ended fails and is made anew: no lock, no second
 * look.
 *
 * Any thread claims; everything else is the main thread's. Pure: time comes from the caller.
 */
#ifndef SQUALL_GEN_LIMITER_H
#define SQUALL_GEN_LIMITER_H

#include "lib/core/plan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A clump that is on time spans at most this much of the schedule: below 250 kpps packets leave one by one. */
#define LIMITER_CLUMP_NS 4000U
#define LIMITER_SEGMENTS 8U /* that are kept: a claim that began so many changes ago is one that fails */

/* Written before its number is in the counter. */
struct limiter_segment {
	_Atomic uint64_t start_ns;      /* departure of its position 0, */
	_Atomic uint64_t start_frac;    /* and 2^-32 of a ns */
	_Atomic uint64_t interval_ns;   /* the same two */
	_Atomic uint64_t interval_frac; /* of the interval */
	_Atomic uint64_t positions;     /* how many it has until the end of the run; all bits set: no end */
	_Atomic uint64_t clump;         /* positions of one claim that is on time */
};

struct limiter {
	bool unlimited;
	uint32_t burst;
	uint32_t group;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t catch_up_ns;
	struct pacer_rate base; /* the interval that the run began with; zero: unlimited */
	struct pacer_rate interval;
	int steps;       /* how far the rate is from there now */
	uint64_t before; /* positions of the segments that have ended */
	_Alignas(128) struct limiter_segment segments[LIMITER_SEGMENTS];
	_Alignas(128) _Atomic uint64_t next; /* the segment's number, 8 bits, and in it the next position to claim */
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

/* When position k of the present segment departs. */
uint64_t limiter_departure(const struct limiter *l, uint64_t k);

/* Of the present segment, for who draws departures instead of claiming them: any thread. */
double limiter_interval_ns(const struct limiter *l);
bool limiter_makes_clumps(const struct limiter *l);

/*
 * Multiplies the rate by 1.1 so many times, or divides it when steps is negative; as many steps back give the very rate
 * that was. Nothing that is not claimed yet moves forward but by the new interval. False, and nothing changes, when
 * unlimited or when the rate would leave what can be kept (a billion a second, one an hour). Main thread.
 */
bool limiter_scale(struct limiter *l, int steps);

/* Main thread. Positions claimed or passed over until now, and those that the whole run has as things stand. */
uint64_t limiter_claimed(const struct limiter *l);
uint64_t limiter_positions(const struct limiter *l);

/* How long after the start the schedule gives the first n positions, at least: the next one's time. Main thread. */
uint64_t limiter_span(const struct limiter *l, uint64_t n);

#endif
