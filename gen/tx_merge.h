/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_merge: which packet of several sources comes next at one sender: the groups of streams that share a pace merged by
 * departure time, and in each of them the turns of its streams.
 *
 * A position that was claimed from a group's limiter waits here until it is the earliest of all groups (of equal ones
 * the first group's). What belongs to a stream that has not begun yet, or has sent all that it had, is passed over:
 * it is nobody's packet. Groups without a limit have no times: they are asked when nothing is due; there, and where the
 * run's count was dealt, the turns of those that have nothing to send are the others'.
 *
 * Sender's thread. Pure: time comes from the caller.
 */
#ifndef SQUALL_GEN_TX_MERGE_H
#define SQUALL_GEN_TX_MERGE_H

#include "limiter.h"
#include "poisson.h"
#include "stream_set.h"
#include "tx_source.h"

/* A sender's part of a group. */
struct tx_group {
	struct limiter *limiter;
	struct poisson poisson; /* in use: the departures are drawn instead of claimed */
	const uint8_t *cycle;   /* of sources */
	uint32_t n_cycle, at;
	/*
	 * Where the turns of who has none to take go to others: from each turn to the next of a source that is there.
	 * It is made anew when one begins or ends, so that nobody walks over the turns of the absent for each packet.
	 * NULL: every turn is a position.
	 */
	uint16_t *next;
	uint64_t changes_ns;   /* from then on next is not what it should be; 0: now */
	uint64_t members;      /* a bit for each source */
	uint64_t begun_ns;     /* from then on all of them have begun */
	uint64_t left;         /* packets that its sources still have for this sender, or TX_QUOTA_NONE */
	uint64_t departure_ns; /* of the positions that are claimed and not taken, */
	uint32_t claimed;      /* and how many they are */
	bool over;             /* it has no more for this sender, */
	bool ended;            /* and that because the schedule ended */
	uint64_t passed;       /* positions that were passed over */
	uint64_t abandoned;    /* positions that were taken and not yet due at the stop */
};

struct tx_merge {
	struct tx_source *sources; /* one a stream, of the set's order */
	unsigned n_groups;
	unsigned n_limited;         /* of them: those that have a schedule and part in this sender */
	unsigned earliest;          /* the group of the last tx_merge_departure() */
	bool counted;               /* as the set's */
	struct tx_group *unlimited; /* NULL: none */
	struct tx_group groups[];
};

#define TX_MERGE_NEVER UINT64_MAX

/*
 * The part of queue q of n in the set's streams: sources (set->n of them, the caller's, not yet set up) and groups with
 * limiters[0 .. n_groups - 1], which the caller initialises before tx_merge_begin(). stop, errors: as tx_source_init().
 * tx_merge_free() releases the merge on every path; the sources are the caller's to free.
 */
int tx_merge_create(struct tx_merge **out, const struct stream_set *set, struct tx_source *sources,
		    struct limiter *limiters, unsigned q, unsigned n, const volatile int *stop, struct err *e);
void tx_merge_free(struct tx_merge *m);

/* The run starts at start_ns; for queue q of n, as above. */
void tx_merge_begin(struct tx_merge *m, const struct stream_set *set, uint64_t start_ns, unsigned q, unsigned n);

/* When the next position of all schedules departs, claiming up to max (>= 1) of one; TX_MERGE_NEVER: they are over. */
uint64_t tx_merge_departure(struct tx_merge *m, uint32_t max, uint64_t now_ns);

/*
 * After tx_merge_departure(), which gave departure_ns: whether that position may leave along with earlier ones, the
 * first of which departs at first_ns, and of which there are n: it departs with that one, or is due as well at now_ns
 * or departs as near to it as a clump is long, within what the burst allows.
 */
bool tx_merge_joins(const struct tx_merge *m, uint64_t departure_ns, uint64_t first_ns, uint32_t n, uint64_t now_ns);

/* Takes the position of the last tx_merge_departure(). Its source; negative: it is passed over. */
int tx_merge_take(struct tx_merge *m);

/* The next packet without a limit: its source. Negative: no stream of them has begun yet, or all are over. */
int tx_merge_take_unlimited(struct tx_merge *m, uint64_t now_ns);

/* When the first of the streams without a limit that are not over begins, or has begun; TX_MERGE_NEVER: none is left.
 */
uint64_t tx_merge_unlimited_from(const struct tx_merge *m);

/* No source has anything left: the sender is done before the run is. */
bool tx_merge_is_spent(const struct tx_merge *m);

#endif
