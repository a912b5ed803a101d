/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_part: adds packets whose stamps were found to what is kept of their flows and of their stream (its part).
 * shared and per_flow are constants: other threads may count the same flows; flows are counted one by one.
 */
#ifndef SQUALL_RX_MEASURE_PART_H
#define SQUALL_RX_MEASURE_PART_H

#include "measure_flow.h"

#include <string.h>

/* So many packets are added to a part at one time. */
#define MEASURE_CHUNK 64U

/* What they add to it. */
struct tally {
	struct measure_counts c;
	uint64_t took[MEASURE_CHUNK], ipdv[MEASURE_CHUNK];
};

/* measure_record.last of a packet */
#define TOOK_AT     (64U - STAMP_TIME_BITS)
#define NUMBER_BITS ((1ULL << TOOK_AT) - 1)

static inline uint64_t last_of(uint64_t took, uint32_t sequence)
{
	return took | ((2ULL * sequence + 1) & NUMBER_BITS);
}

/* By clocks that differ it may seem to have come before it was sent. */
static inline uint64_t latency_of(uint64_t took)
{
	int64_t latency = (int64_t)took >> TOOK_AT;

	return latency < 0 ? 0 : (uint64_t)latency;
}

static inline uint64_t size_of(int64_t change)
{
	return (uint64_t)(change < 0 ? -change : change);
}

static void flush(struct measure_part *part, struct tally *t)
{
#define FLUSH(key, help) \
	if (t->c.key) \
		stats_add(&part->counts.key, t->c.key);
	STATS_MEASURE(FLUSH)
#undef FLUSH
	memset(&t->c, 0, sizeof(t->c));
}

/* ---- a packet ---- */

static __attribute__((noinline)) void came_behind(struct measure_part *part, struct tally *t, uint32_t overtaken)
{
	t->c.reordered++;
	hist_add(&part->extent, overtaken, 1);
}

/* Any packet. True: it is the first to come of its number. */
static inline __attribute__((always_inline)) bool came(struct measure_worker *w, struct measure_part *part,
						       struct tally *t, const struct measure_item *it,
						       const bool shared, const bool per_flow)
{
	const uint32_t mask = measure_tier_of(w->tiers, measure_item_flow(it))->mask;
	struct measure_record *r = it->record;
	struct seqwin_seen seen = seqwin_add(&r->win, r->words, mask, (uint32_t)it->sequence, shared);
	uint32_t overtaken = 0;

	if (seen.run_ended > part->longest)
		part->longest = seen.run_ended;
	switch (seen.verdict) {
	case SEQWIN_NEW:
		if (seen.number < seen.highest) {
			overtaken = seqwin_overtaken(r->words, mask, &seen, shared);
			overtaken += !overtaken; /* the highest, at least, whatever another thread is at */
			came_behind(part, t, overtaken);
		}
		break;
	case SEQWIN_DUPLICATE:
		t->c.duplicate++;
		break;
	case SEQWIN_LATE:
		t->c.late++;
	}
	if (per_flow)
		flow_came(&w->flows[measure_item_flow(it)], it, &seen, overtaken, shared);
	return seen.verdict == SEQWIN_NEW;
}

static __attribute__((noinline)) bool came_alone(struct measure_worker *w, struct measure_part *part, struct tally *t,
						 const struct measure_item *it)
{
	return came(w, part, t, it, false, false);
}

static __attribute__((noinline)) bool came_shared(struct measure_worker *w, struct measure_part *part, struct tally *t,
						  const struct measure_item *it)
{
	return came(w, part, t, it, true, false);
}

static __attribute__((noinline)) void flow_began(struct measure_worker *w, struct measure_part *part,
						 const struct measure_record *r, uint32_t flow, uint32_t sequence)
{
	measure_flow_began(part, r, sequence);
	if (flow >= w->flows_seen)
		w->flows_seen = flow + 1;
}

/* Later than all before. */
static __attribute__((noinline)) void came_later(struct measure_part *part, uint64_t arrival_ns, uint64_t last_ns)
{
	if (last_ns)
		hist_add(&part->gap, arrival_ns + 1 - last_ns, 1);
	else
		part->first_ns = arrival_ns + 1;
}

/* How long packets took that came first of their number, from `took` in the upper 40 bits. */
static inline void took_so_long(struct measure_worker *w, struct measure_part *part, uint64_t *took, unsigned n)
{
	if (w->has_clock && n && hist_all_same(took, n)) {
		hist_add(&part->latency, latency_of(took[0]), n);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		took[i] = w->has_clock ? latency_of(took[i]) : (uint64_t)((int64_t)took[i] >> TOOK_AT);
	if (w->has_clock)
		hist_add_all(&part->latency, took, n);
	else
		measure_varied(w, part, took, n);
}

/* A part while packets are added to it. */
struct adding {
	struct measure_worker *w;
	struct measure_part *part;
	struct tally *t;
	uint64_t *took, *ipdv; /* behind the last in the tally */
	uint64_t last_ns, bytes, jitter;
	unsigned later; /* came later than all before */
	unsigned began;
};

static inline struct adding adding_begin(struct measure_worker *w, struct measure_part *part, struct tally *t)
{
	return (struct adding){.w = w,
			       .part = part,
			       .t = t,
			       .took = t->took,
			       .ipdv = t->ipdv,
			       .last_ns = part->last_ns,
			       .jitter = part->jitter};
}

/* The time from one packet to the next of a flow changed by so much. */
static inline __attribute__((always_inline)) void adding_change(struct adding *a, const struct measure_item *it,
								uint64_t change, const bool shared, const bool per_flow)
{
	a->jitter = jitter_next(a->jitter, change);
	if (per_flow)
		flow_jitter(&a->w->flows[measure_item_flow(it)], change, shared);
}

/*
 * What is kept of how long packets took is theirs that came first: `took` is the time in the upper 40 bits, as
 * stamp_elapsed() tells it, so that a difference of two is right whatever the lower ones are.
 */
static inline __attribute__((always_inline)) void adding_packet(struct adding *a, const struct measure_item *it,
								const bool shared, const bool per_flow)
{
	struct measure_record *r = it->record;
	const uint64_t before = seqwin_load(&r->last, shared);
	uint64_t took, last, since, change;
	bool next = false;

	/* Apart from what becomes of it, so that the sums check each other. Queues may be read in turn: times go back.
	 */
	a->bytes += it->len;
	if (it->arrival_ns >= a->last_ns) {
		came_later(a->part, it->arrival_ns, a->last_ns);
		a->last_ns = it->arrival_ns + 1;
		a->later++;
	}
	if (!per_flow)
		next = before && seqwin_add_next(&r->win, it->word, (uint32_t)it->sequence, shared);
	if (__builtin_expect(!next, 0)) {
		/* A copy, so that what mostly comes is never in memory but in registers. */
		const struct measure_item copy = *it;

		if (!(per_flow ? came(a->w, a->part, a->t, it, shared, true)
		      : shared ? came_shared(a->w, a->part, a->t, &copy)
			       : came_alone(a->w, a->part, a->t, &copy)))
			return;
	}
	took = (it->arrival_ns - it->place) << TOOK_AT;
	last = last_of(took, (uint32_t)it->sequence);
	seqwin_store(&r->last, last, shared);
	*a->took++ = took;
	if (per_flow && a->w->has_clock)
		flow_took(&a->w->flows[measure_item_flow(it)], latency_of(took), shared);
	if (__builtin_expect(!before, 0)) {
		flow_began(a->w, a->part, r, measure_item_flow(it), (uint32_t)it->sequence);
		a->began++;
		return;
	}
	/* In the midst of a block the numbers do not wrap: there is no borrow from the time. */
	since = last - before - last_of(0, 1) + last_of(0, 0);
	change = size_of((int64_t)since >> TOOK_AT);
	if (__builtin_expect(!next || since & NUMBER_BITS, 0)) {
		change = size_of((int64_t)(took - (before & ~NUMBER_BITS)) >> TOOK_AT);
		if (since & NUMBER_BITS) {
			adding_change(a, it, change, shared, per_flow);
			return;
		}
	}
	adding_change(a, it, change, shared, per_flow);
	*a->ipdv++ = change;
}

/* n packets were added. */
static inline __attribute__((always_inline)) void adding_end(struct adding *a, unsigned n)
{
	struct tally *t = a->t;
	const unsigned fresh = (unsigned)(a->took - t->took);

	if (n > a->later)
		hist_add(&a->part->gap, 0, n - a->later);
	a->part->last_ns = a->last_ns;
	a->part->jitter = a->jitter;
	a->part->jitters += fresh - a->began;
	t->c.stamped += n;
	t->c.bytes += a->bytes;
	t->c.unique += fresh;
	took_so_long(a->w, a->part, t->took, fresh);
	hist_add_all(&a->part->ipdv, t->ipdv, (uint32_t)(a->ipdv - t->ipdv));
}

#endif
