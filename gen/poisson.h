/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poisson: departures at random, with exponential gaps, as an absolute schedule.
 *
 * Each of Q senders draws a process of its own of a Q-th of the rate; the sum of independent Poisson processes is one
 * of the whole rate, so they share nothing but the limiter, from which they take the present interval. A gap is drawn
 * in ns and 2^-32 of one and added up exactly. The same seed, queue and number of queues give the same departures.
 *
 * Lateness is repaid as by the limiter: in clumps of at most `burst`, and what is older than catch_up_ns is passed
 * over.
 */
#ifndef SQUALL_GEN_POISSON_H
#define SQUALL_GEN_POISSON_H

#include "limiter.h"

/* One sender's. */
struct poisson {
	uint32_t queues; /* 0: not in use */
	uint32_t next_frac;
	uint64_t next_ns; /* the next departure */
	uint64_t rand;
	uint64_t drawn; /* departures claimed or passed over */
};

/* Queue q of n. The first departure comes a drawn gap after l->start_ns. l is limited, and its pace no groups. */
void poisson_init(struct poisson *p, const struct limiter *l, uint64_t seed, unsigned q, unsigned n);

/* As limiter_claim(), for this sender alone. */
struct limiter_claim poisson_claim(struct poisson *p, const struct limiter *l, uint32_t max, uint64_t now_ns);

/* About how many more departures there would be before l->end_ns, by the mean. */
uint64_t poisson_rest(const struct poisson *p, const struct limiter *l);

#endif
