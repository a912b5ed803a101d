/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_loop: one sending thread: claims departures, waits for them, patches frames, hands them to its queue.
 */
#ifndef SQUALL_GEN_TX_LOOP_H
#define SQUALL_GEN_TX_LOOP_H

#include "lib/core/hist.h"
#include "lib/err.h"
#include "lib/pio/pio.h"
#include "limiter.h"
#include "poisson.h"
#include "stream_set.h"
#include "tx_merge.h"
#include "tx_source.h"

/* Set up by the main thread; from tx_worker_run() on the queue's thread's, except what is marked. */
struct tx_worker {
	struct pio_queue *queue;
	struct tx_source *sources;
	unsigned n_sources;
	/* Of several sources; NULL: one, which has the limiter. */
	struct tx_merge *merge;
	unsigned char *holds; /* by slot of the pool: the source whose template is in it */
	struct limiter *limiter;
	struct poisson poisson; /* set up after the limiter; in use: this worker's departures in place of claims */
	uint64_t end_ns;        /* monotonic: nothing departs at or after it; UINT64_MAX: no end */
	const _Atomic bool *stop;
	const volatile int *hurry; /* not 0: what takes long to set up is broken off (tx_source_init()); may be NULL */
	bool sleeps;               /* wait without spinning (--pacing sleep) */
	bool stamped;              /* of several sources: packets have stamps */
	bool stamps_tai;           /* stamps carry times of CLOCK_TAI, not of CLOCK_MONOTONIC: */
	uint64_t clock_add;        /* so far is that one from the monotonic one, */
	uint64_t clock_read_ns;    /* when it was looked at last */
	uint64_t abandoned;        /* positions claimed that were not yet due at the stop; read after the thread */
	_Atomic uint64_t
		last_ns;   /* monotonic: when the device had taken the last packet; 0: not yet. Any thread reads */
	_Atomic bool done; /* the loop has ended and the queue is drained */
	/*
	 * From the departure to the hand-over, for every packet handed over; of a clump, that of its first. Empty when
	 * unlimited. Read after the thread. A cache line of its own keeps the workers of an array apart as well.
	 */
	_Alignas(128) struct hist lateness;
};

/* How long a queue may take to give back what it was handed. */
#define TX_DRAIN_NS 1000000000ULL
/*
 * What was due before end_ns is still sent until this long after it: a thread that the kernel held off its processor
 * for a few time slices then owes nothing.
 */
#define TX_GRACE_NS 20000000ULL

/*
 * A worker of one source, queue q of n (tx_source_init()), which is written into every frame of w->queue; the caller
 * has set that. Main thread. -ENOMEM. tx_worker_free() releases it on every path.
 */
int tx_worker_init(struct tx_worker *w, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, struct err *e);
/* The same for a replay (tx_source_init_replay()). Nothing is primed. */
int tx_worker_init_replay(struct tx_worker *w, const struct tx_plan *plan, const struct replay *replay,
			  struct replay_ring *ring, unsigned q, unsigned n, struct err *e);
/*
 * The streams of a set, each a source (tx_merge_create()). Nothing is primed. tx_merge_begin() follows when the
 * limiters are initialised.
 */
int tx_worker_init_several(struct tx_worker *w, const struct stream_set *set, struct limiter *limiters, unsigned q,
			   unsigned n, struct err *e);
void tx_worker_free(struct tx_worker *w);

/* Runs until the quotas are sent, the end has come, *stop is set, or the queue is dead; then drains. Queue's thread. */
void tx_worker_run(struct tx_worker *w);

#endif
