/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_source: what one sender sends of one stream: the stream's plan, the flows of it that are this sender's, or its
 * packets of a replay, and where it is among them.
 *
 * Set up by the main thread, then the sender's.
 */
#ifndef SQUALL_GEN_TX_SOURCE_H
#define SQUALL_GEN_TX_SOURCE_H

#include "lib/core/plan.h"
#include "lib/err.h"
#include "lib/pio/pio.h"
#include "replay.h"

#define TX_QUOTA_NONE UINT64_MAX
/* The most that is written, and handed over, at once. */
#define TX_BURST_MAX 512U
/* So many sizes are gone through one by one. */
#define TX_FEW_SIZES 8U

/* A size as a packet needs it, in few bytes: what of a struct tx_size UDP over one IP header has, and what follows. */
struct tx_mix_size {
	_Alignas(32) uint16_t len;
	uint16_t stamp;     /* where it is in the frame, */
	uint8_t turn;       /* and by how many bits the sum of its bytes is to be turned: 8 from an odd place on */
	uint8_t n_smaller;  /* of few sizes: how many are smaller than this one, */
	uint16_t length[2]; /* network byte order */
	uint16_t sum[2];
	uint16_t smaller[TX_FEW_SIZES - 1]; /* and where their stamps are */
};

_Static_assert(sizeof(struct tx_mix_size) == 32, "a size is found by a shift, in one line of the processor's cache");

/* Where a sender of flows is. */
struct tx_at {
	uint64_t flow;  /* in the table */
	uint32_t size;  /* of the next packet, in the plan's cycle */
	uint32_t round; /* through the flows, since the cycle was moved on last */
	uint32_t shift; /* by how much it has been */
	/* For stamps. The packets of a flow are numbered by the rounds. */
	uint32_t sequence;
	uint32_t number; /* of the next packet's flow */
};

struct tx_source {
	const struct tx_plan *plan;
	struct replay_cursor replay; /* of a replay, instead of flows */
	unsigned char *entries;      /* of its flows, in the order in which they are sent */
	uint64_t n_flows;
	/*
	 * The cycle of sizes goes on from packet to packet, so that each run of it has every size in proportion. After
	 * cycle_rounds rounds through the flows both begin together; then the cycle is moved on by one, up to
	 * cycle_shifts times in all, so that every flow comes to have every size in proportion.
	 */
	uint32_t cycle_rounds, cycle_shifts;
	uint64_t quota; /* packets in all, or TX_QUOTA_NONE */
	uint64_t step;  /* from a flow to the next in the table, in flows of this sender's */
	unsigned q, n;  /* sender q of n */
	/* For stamps: the number of the first of its flows, from one to the next in the order of the table, and of all.
	 */
	uint32_t number, number_step, number_span;
	/*
	 * The sizes, and the plan's cycle of them, which goes on behind its end for as many packets as are written at
	 * once. So none of these has to ask where it ends.
	 */
	struct tx_mix_size *sizes;
	uint16_t *cycle;
	struct tx_at at;
	/* Of one of several sources: */
	unsigned group;        /* of the merge */
	int shape;             /* enum tx_shape (tx_fill.h) */
	uint64_t left;         /* of the quota */
	uint64_t start_ns;     /* monotonic: it sends nothing before */
	_Atomic uint64_t sent; /* packets that the queue took; any thread reads */
};

/*
 * Deals the flows: sender q of n gets the flows q, q + n, ...; `count` packets are dealt by flow (packet k belongs to
 * flow k mod F), TX_QUOTA_NONE: no quota. stop: not 0 ends it early, may be NULL. Allocates the tables:
 * tx_source_free() releases them on every path. -ENOMEM; -EINTR with EXIT_DONE when it was stopped.
 */
int tx_source_init(struct tx_source *s, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, const volatile int *stop, struct err *e);
/*
 * The same for a replay, in place of flows: sender q of n gets the packets q, q + n, ... of it. ring: this sender's of
 * a streamed replay, else NULL.
 */
void tx_source_init_replay(struct tx_source *s, const struct tx_plan *plan, const struct replay *replay,
			   struct replay_ring *ring, unsigned q, unsigned n);
void tx_source_free(struct tx_source *s);

/* How many of the source's first `packets` packets are of flow n of the plan; 0 for one that is not the source's. */
uint64_t tx_source_sent(const struct tx_source *s, uint64_t packets, uint64_t n);

/* Writes a whole packet of the source, so that a plan in which nothing changes needs no more than this. */
void tx_source_prime(const struct tx_source *s, struct pio_frame *f);

static inline bool tx_source_is_empty(const struct tx_source *s)
{
	return !s->n_flows && !s->replay.replay;
}

#endif
