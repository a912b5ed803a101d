/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_internal: what the files of the measurement share. measure.c has the memory and the clocks, measure_hot.c
 * what is done for each packet, measure_result.c what is told in the end.
 */
#ifndef SQUALL_RX_MEASURE_INTERNAL_H
#define SQUALL_RX_MEASURE_INTERNAL_H

#include "lib/core/hist.h"
#include "lib/core/seqwin.h"
#include "lib/core/stamp.h"
#include "measure.h"

#include <stdatomic.h>

/*
 * What is kept of a flow: with the smallest window it is one cache line. `last` is the last unique packet: how long it
 * took, in the upper 40 bits (ns, as stamp_elapsed() tells it), then the low 23 bits of its number and a 1; 0: none
 * yet.
 */
struct measure_record {
	struct seqwin win;
	uint64_t last;
	uint64_t words[];
};

_Static_assert(sizeof(struct measure_record) == 32, "four words more make a cache line");

/* Flows from `from` up to the next tier's have windows of mask + 1 words. */
#define MEASURE_TIERS 3U
struct measure_tier {
	uint32_t from;
	uint32_t mask;
	uint32_t stride; /* bytes from a flow's record to the next one's */
	unsigned char *records;
};

/* With per_flow. Threads that share it add to it atomically. */
struct measure_flow {
	uint64_t unique, duplicate, late, reordered, bytes;
	uint64_t first_ns, last_ns;                        /* by the stamps' clock; first + 1, so that 0 is none yet */
	uint64_t latency_sum, latency_least, latency_most; /* least + 1 likewise */
	uint64_t jitter;                                   /* of RFC 3550, times 16 */
	uint32_t longest, extent;
};

/* What one thread keeps of one stream. */
struct measure_part {
	struct stats_measure counts; /* the live block: other threads read it */
	uint64_t jitter, jitters;    /* times 16; how many went in */
	uint64_t first_ns, last_ns;  /* of stamped packets, by the stamps' clock; first + 1, 0: none yet */
	uint32_t longest;
	uint64_t began, before_first; /* flows whose first packet had another number than 0; the sum of these */
	struct hist latency, ipdv, gap, extent;
	struct hist longer, shorter; /* without a clock: than the reference */
};

/* A packet in several frames, as far as it has come. */
struct measure_chain {
	bool open;
	uint32_t end;  /* where its stamp ends; 0: it has none */
	uint32_t seen; /* bytes */
	uint64_t arrival_ns;
	unsigned char tail[STAMP_LEN];
};

struct measure_worker {
	struct measure *m;
	struct measure_tier tiers[MEASURE_TIERS];
	struct measure_flow *flows; /* NULL: none are kept */
	struct measure_part *parts; /* by stream */
	const uint32_t *first_flow; /* by stream; one more behind the last */
	unsigned n_parts, current;  /* the stream of the packet before */
	bool shared;
	bool has_clock;
	int32_t run; /* the run that is followed; MEASURE_RUN_ANY: none yet */
	uint32_t limit;
	uint32_t near;       /* flows of the run below it are followed, and of the first tier; 0: no run is known */
	uint32_t flows_seen; /* highest flow + 1 */
	/* Added to a time, they make it one by the stamps' clock; and that one of the wall clock. */
	uint64_t now_add, arrival_add, wall_add;
	bool clocks_read;
	uint64_t reference; /* measure.reference, once it is known */
	struct measure_chain chain;
};

struct measure {
	struct measure_conf conf;
	struct measure_tier tiers[MEASURE_TIERS];
	unsigned char *records;
	struct measure_flow *flows;
	uint64_t records_size, flows_size;
	uint64_t limit;
	unsigned n_parts;
	uint32_t *first_flow;
	struct measure_stream *streams;
	struct measure_worker *workers;
	struct measure_part *parts; /* of worker w, stream s: w * n_parts + s */
	struct measure_part *sums;  /* of the result */
	struct report_measured *told;
	struct report_flow *told_flows;
	_Alignas(128) _Atomic int32_t run;
	_Atomic bool run_learnt;
	_Atomic uint64_t reference; /* without a clock: a transit of the first packets, + 1; 0: nothing came */
	uint64_t floor_ns;          /* taken off every latency */
};

/* What the result is made of, beside what it tells: of a stream, or of all. */
struct measure_sums {
	uint64_t expected, flows;
	uint64_t beyond; /* flows with packets whose numbers nobody gave them */
};

/*
 * Whether what was counted adds up, into out->books; out->total and the streams are filled. all: the sum of the
 * streams' sums, as the flows have it. flow_unique: of all flows; with per_flow. measure_books.c has it.
 */
void measure_books(const struct measure *m, const struct measure_sent *sent, const struct measure_sums *sums,
		   const struct measure_sums *all, uint64_t flow_unique, struct report_measure *out);

/* The stamp's run was seen and none is followed yet: follows it, or the one that another thread was faster with. */
void measure_learn(struct measure_worker *w, uint16_t run);

/* ---- measure_rare.c ---- */

/*
 * Without a clock in common: n packets that came first of their number took so long, and some time more or less that
 * nobody knows but that is the same for all, as stamp_elapsed() tells it (int64_t). The worker's thread.
 */
void measure_varied(struct measure_worker *w, struct measure_part *part, const uint64_t *transit, unsigned n);

/* The first packet of a flow. The worker's thread. */
void measure_flow_began(struct measure_part *part, const struct measure_record *r, uint32_t sequence);

/* How much longer than the shortest packets took, of a sum of parts (RFC 5481 section 4.2). */
void measure_pdv(const struct measure_part *sum, bool has_clock, struct report_pdv *out);

static inline const struct measure_tier *measure_tier_of(const struct measure_tier *tiers, uint32_t flow)
{
	return &tiers[(flow >= tiers[1].from) + (flow >= tiers[2].from)];
}

static inline struct measure_record *measure_record_of(const struct measure_tier *tiers, uint32_t flow, uint32_t *mask)
{
	const struct measure_tier *t = measure_tier_of(tiers, flow);

	*mask = t->mask;
	return (void *)(t->records + (uint64_t)(flow - t->from) * t->stride);
}

#endif
