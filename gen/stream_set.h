/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_set: the streams of one run, and the groups of them that share a pace.
 *
 * Streams without a rate of their own form one group: its schedule has a position for each of their packets, dealt by a
 * cycle of shares. A stream with a rate of its own is a group of itself. Streams without any limit form one group, too,
 * which has no schedule and takes turns by shares.
 *
 * Prepared by the main thread, then only read.
 */
#ifndef SQUALL_GEN_STREAM_SET_H
#define SQUALL_GEN_STREAM_SET_H

#include "lib/config.h"
#include "lib/core/plan.h"
#include "lib/err.h"
#include "replay.h"
#include "stream_cycle.h"

struct stream {
	const struct config *cfg;
	const struct tx_plan *plan;
	const struct replay *replay; /* NULL: what is sent is the plan's */
	uint64_t delay_ns;           /* from the start of the run to its own */
	uint64_t count;              /* packets; 0: no limit */
	unsigned group;
	bool own_rate;
};

struct stream_group {
	struct tx_pace pace;
	uint64_t delay_ns; /* the least of its streams' */
	uint64_t count;    /* of all its streams together; 0: some have no limit */
	unsigned n;        /* streams */
	unsigned first;    /* of them: a stream of its own rate begins its flows on a queue of its own */
	uint32_t n_cycle;
	const uint8_t *cycle; /* of streams */
};

struct stream_set {
	unsigned n, n_groups;
	bool counted; /* the run's count is dealt: a stream that has sent its part leaves its turns to the others */
	struct stream streams[CONFIG_STREAMS_MAX];
	struct stream_group groups[CONFIG_STREAMS_MAX + 1];
	uint8_t cycle[STREAM_CYCLE_MAX];           /* of those that share the run's rate, or the lack of one */
	uint8_t cycle_unlimited[STREAM_CYCLE_MAX]; /* of those that have no limit beside them */
	uint8_t own[CONFIG_STREAMS_MAX];           /* the cycles of one */
};

/* Whether its item in the file says a rate or bursts on time, so that its pace is not the run's. */
bool stream_has_own_rate(const struct config *stream);

/* The one stream of a run without a list of them. */
void stream_set_one(struct stream_set *set, const struct config *cfg, const struct tx_plan *plan,
		    const struct replay *replay);

/*
 * The streams of cfg->streams, whose plans (n of them, the caller's, which outlive the set) are built. link_bps: for
 * percentages; 0: unknown. The errors of pace_of() about the rate that streams share.
 */
int stream_set_list(struct stream_set *set, const struct config *cfg, const struct tx_plan *plans, uint64_t link_bps,
		    struct err *e);

/* Packets to send in all; 0: no limit. */
uint64_t stream_set_count(const struct stream_set *set);

/* The largest frame of all. */
uint32_t stream_set_max_len(const struct stream_set *set);

/* Packets a second that all together ask for; negative: unlimited. */
double stream_set_pps(const struct stream_set *set);

/* How many packets a second a stream asks for, as long as it sends; negative: unlimited. */
double stream_pps(const struct stream_set *set, unsigned stream);

/* How many of n queues a group can use: a flow stays on one queue, and all streams of a group are on all its queues. */
unsigned stream_group_queues(const struct stream_set *set, unsigned group, unsigned n);

/* How many of n queues some group uses. */
unsigned stream_set_queues(const struct stream_set *set, unsigned n);

/* Which of the group's senders queue q of n is; stream_group_queues() or more: none of them. */
unsigned stream_group_sender(const struct stream_set *set, unsigned group, unsigned q, unsigned n);

#endif
