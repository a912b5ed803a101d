/* SPDX-License-Identifier: Apache-2.0 */
/* What is done for each packet. */
#include "lib/ether.h"
#include "measure_internal.h"
#include "stamp_find.h"

#include <string.h>

/* Stamps are looked for in so many packets before what is kept of their flows is: by then it is in the cache. */
#define CHUNK 32U

/* A packet with a stamp of the run. */
struct item {
	struct measure_record *record; /* its flow's */
	uint32_t mask;                 /* of that */
	uint32_t flow;
	uint32_t sequence;
	uint32_t len;
	uint64_t time_ns;    /* as in the stamp */
	uint64_t arrival_ns; /* by the stamps' clock */
};

/* Values of a histogram that come several times in a row. */
struct run {
	uint64_t value;
	uint64_t n;
};

static inline __attribute__((always_inline)) void run_add(struct run *r, struct hist *h, uint64_t value)
{
	if (value != r->value) {
		if (r->n)
			hist_add(h, r->value, r->n);
		r->value = value;
		r->n = 0;
	}
	r->n++;
}

static inline void run_end(struct run *r, struct hist *h)
{
	if (r->n)
		hist_add(h, r->value, r->n);
	r->n = 0;
}

/* What a burst adds to a part. */
struct tally {
	struct measure_counts c;
	uint64_t jitters;
	struct run latency, ipdv, gap;
};

static void flush(struct measure_part *part, struct tally *t)
{
#define FLUSH(key, help) \
	if (t->c.key) \
		stats_add(&part->counts.key, t->c.key);
	STATS_MEASURE(FLUSH)
#undef FLUSH
	run_end(&t->latency, &part->latency);
	run_end(&t->ipdv, &part->ipdv);
	run_end(&t->gap, &part->gap);
	part->jitters += t->jitters;
	t->jitters = 0;
	memset(&t->c, 0, sizeof(t->c));
}

/* ---- with per_flow ---- */

static inline __attribute__((always_inline)) void flow_add(uint64_t *counter, uint64_t n, const bool shared)
{
	if (shared)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	else
		*counter += n;
}

/* Makes *p the greater, or with 0 as none the lesser, of itself and v. */
#define FLOW_EXTREME(name, type, keeps) \
	static inline void name(type *p, type v, const bool shared) \
	{ \
		type was = shared ? __atomic_load_n(p, __ATOMIC_RELAXED) : *p; \
\
		if (!shared) \
			*p = keeps ? was : v; \
		else \
			while (!(keeps) && \
			       !__atomic_compare_exchange_n(p, &was, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
				; \
	}
FLOW_EXTREME(flow_most, uint64_t, was >= v)
FLOW_EXTREME(flow_least, uint64_t, (was && was <= v))
FLOW_EXTREME(flow_most32, uint32_t, was >= v)

static void flow_came(struct measure_flow *f, const struct item *it, const struct seqwin_seen *seen, uint32_t overtaken,
		      const bool shared)
{
	flow_add(&f->bytes, it->len, shared);
	flow_least(&f->first_ns, it->arrival_ns + 1, shared);
	flow_most(&f->last_ns, it->arrival_ns + 1, shared);
	if (seen->run_ended)
		flow_most32(&f->longest, seen->run_ended, shared);
	switch (seen->verdict) {
	case SEQWIN_NEW:
		flow_add(&f->unique, 1, shared);
		if (overtaken) {
			flow_add(&f->reordered, 1, shared);
			flow_most32(&f->extent, overtaken, shared);
		}
		break;
	case SEQWIN_DUPLICATE:
		flow_add(&f->duplicate, 1, shared);
		break;
	case SEQWIN_LATE:
		flow_add(&f->late, 1, shared);
	}
}

static void flow_took(struct measure_flow *f, uint64_t latency, const bool shared)
{
	flow_add(&f->latency_sum, latency, shared);
	flow_least(&f->latency_least, latency + 1, shared);
	flow_most(&f->latency_most, latency, shared);
}

/* RFC 3550 section 6.4.1 and its appendix A.8: times 16, rounded. */
static inline uint64_t jitter_next(uint64_t jitter, uint64_t change)
{
	return jitter + change - ((jitter + 8) >> 4);
}

/* ---- a packet ---- */

static inline __attribute__((always_inline)) int64_t sign_40(uint64_t v)
{
	return (int64_t)(v << (64 - STAMP_TIME_BITS)) >> (64 - STAMP_TIME_BITS);
}

/* at: when, + 1. The queues of a device may be read in turn, and times go back then. */
static inline __attribute__((always_inline)) void came_at(struct measure_part *part, struct tally *t, uint64_t at)
{
	if (__builtin_expect(!part->last_ns, 0))
		part->first_ns = at;
	else
		run_add(&t->gap, &part->gap, at > part->last_ns ? at - part->last_ns : 0);
	if (at > part->last_ns)
		part->last_ns = at;
}

/* The first to come of a packet. */
static inline __attribute__((always_inline)) void came_first(struct measure_worker *w, struct measure_part *part,
							     struct tally *t, struct measure_record *r,
							     struct measure_flow *f, const struct item *it,
							     const bool shared)
{
	const int64_t transit = stamp_elapsed(it->arrival_ns, it->time_ns);
	const uint64_t before = seqwin_load(&r->last, shared);
	const uint32_t number_mask = (1U << MEASURE_LAST_NUMBER_BITS) - 1;
	const uint64_t latency = transit < 0 ? 0 : (uint64_t)transit;

	seqwin_store(&r->last, (uint64_t)transit << MEASURE_LAST_NUMBER_BITS | (it->sequence & number_mask), shared);
	if (w->has_clock) {
		run_add(&t->latency, &part->latency, latency);
		if (f)
			flow_took(f, latency, shared);
	}
	if (__builtin_expect(before != 0, 1)) {
		int64_t change = sign_40((uint64_t)transit - (before >> MEASURE_LAST_NUMBER_BITS));
		uint64_t size = (uint64_t)(change < 0 ? -change : change);

		part->jitter = jitter_next(part->jitter, size);
		t->jitters++;
		if (((uint32_t)before + 1 - it->sequence) % (number_mask + 1) == 0)
			run_add(&t->ipdv, &part->ipdv, size);
		if (f)
			seqwin_store(&f->jitter, jitter_next(seqwin_load(&f->jitter, shared), size), shared);
	}
}

static __attribute__((noinline)) void came_behind(struct measure_part *part, struct tally *t, uint32_t overtaken)
{
	t->c.reordered++;
	hist_add(&part->extent, overtaken, 1);
}

static inline __attribute__((always_inline)) void one(struct measure_worker *w, struct measure_part *part,
						      struct tally *t, const struct item *it, const bool shared,
						      const bool per_flow)
{
	const uint32_t mask = it->mask;
	struct measure_record *r = it->record;
	struct measure_flow *f = per_flow ? &w->flows[it->flow] : NULL;
	struct seqwin_seen seen = seqwin_add(&r->win, r->words, mask, it->sequence, shared);
	uint32_t overtaken = 0;

	came_at(part, t, it->arrival_ns + 1);
	if (seen.run_ended > part->longest)
		part->longest = seen.run_ended;
	switch (seen.verdict) {
	case SEQWIN_NEW:
		t->c.unique++;
		if (__builtin_expect(seen.number < seen.highest, 0)) {
			overtaken = seqwin_overtaken(r->words, mask, &seen, shared);
			overtaken += !overtaken; /* the highest, at least, whatever another thread is at */
			came_behind(part, t, overtaken);
		}
		came_first(w, part, t, r, f, it, shared);
		break;
	case SEQWIN_DUPLICATE:
		t->c.duplicate++;
		break;
	case SEQWIN_LATE:
		t->c.late++;
	}
	if (per_flow)
		flow_came(f, it, &seen, overtaken, shared);
}

static __attribute__((noinline)) unsigned part_of(const struct measure_worker *w, uint32_t flow)
{
	unsigned low = 0, high = w->n_parts;

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (flow >= w->first_flow[middle])
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Apart from what becomes of them, so that the sums check each other. */
static inline void count_stamped(const struct item *items, unsigned n, struct tally *t)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += items[i].len;
	t->c.stamped += n;
	t->c.bytes += bytes;
}

static inline __attribute__((always_inline)) void all(struct measure_worker *w, const struct item *items, unsigned n,
						      struct tally *t, const bool shared, const bool per_flow)
{
	struct measure_part *part = &w->parts[w->current];
	uint32_t from = w->first_flow[w->current];
	uint32_t to = w->first_flow[w->current + 1];
	unsigned counted = 0;

	for (unsigned i = 0; i < n; i++) {
		if (__builtin_expect(items[i].flow < from || items[i].flow >= to, 0)) {
			count_stamped(items + counted, i - counted, t);
			counted = i;
			flush(part, t);
			w->current = part_of(w, items[i].flow);
			part = &w->parts[w->current];
			from = w->first_flow[w->current];
			to = w->first_flow[w->current + 1];
		}
		one(w, part, t, &items[i], shared, per_flow);
	}
	count_stamped(items + counted, n - counted, t);
}

/* ---- finding stamps ---- */

/* A stamp of another run, or of a flow that is not followed. False: it does not count. */
static __attribute__((noinline)) bool not_ours(struct measure_worker *w, uint16_t run, uint32_t flow, struct tally *t)
{
	if (w->run == MEASURE_RUN_ANY)
		measure_learn(w, run);
	if (run != w->run) {
		t->c.foreign++;
		t->c.other_run++;
		return false;
	}
	if (flow >= w->limit) {
		t->c.unfollowed++;
		return false;
	}
	return true;
}

static inline __attribute__((always_inline)) unsigned look_at(struct measure_worker *w, const unsigned char *stamp,
							      uint32_t len, uint64_t arrival_ns, struct item *it,
							      struct tally *t)
{
	struct measure_record *r;
	struct stamp s;
	uint32_t mask;

	if (!stamp_read(stamp, &s)) {
		t->c.foreign++;
		return 0;
	}
	if (__builtin_expect(s.run != w->run || s.flow >= w->limit, 0) && !not_ours(w, s.run, s.flow, t))
		return 0;
	r = measure_record_of(w->tiers, s.flow, &mask);
	__builtin_prefetch(r, 1);
	__builtin_prefetch(&r->words[s.sequence / SEQWIN_BLOCK & mask], 1);
	if (w->flows)
		__builtin_prefetch(&w->flows[s.flow], 1);
	if (s.flow >= w->flows_seen)
		w->flows_seen = s.flow + 1;
	*it = (struct item){.record = r,
			    .mask = mask,
			    .flow = s.flow,
			    .sequence = s.sequence,
			    .len = len,
			    .time_ns = s.time_ns,
			    .arrival_ns = arrival_ns};
	return 1;
}

/* A frame of a packet that has several. The stamp may lie across two of them. */
static __attribute__((noinline)) unsigned chain_add(struct measure_worker *w, const struct pio_frame *f,
						    uint64_t arrival_ns, struct item *it, struct tally *t)
{
	struct measure_chain *c = &w->chain;

	if (!c->open) {
		*c = (struct measure_chain){
			.open = true, .end = stamp_end_slowly(f->data, f->len), .arrival_ns = arrival_ns};
		if (f->flags & PIO_SUPER)
			c->end = STAMP_IN_FRAGMENTS;
	}
	for (uint32_t i = 0; c->end && i < STAMP_LEN; i++) {
		uint32_t at = c->end - STAMP_LEN + i;

		if (at >= c->seen && at - c->seen < f->len)
			c->tail[i] = f->data[at - c->seen];
	}
	c->seen += f->len;
	c->open = f->flags & PIO_MORE;
	if (c->open)
		return 0;
	if (c->end == STAMP_IN_FRAGMENTS)
		t->c.unreadable++;
	else if (c->end && c->end <= c->seen)
		return look_at(w, c->tail, c->seen, c->arrival_ns, it, t);
	else
		t->c.foreign++;
	return 0;
}

static unsigned find_stamps(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
			    uint64_t now_ns, struct item *items, struct tally *t)
{
	const uint64_t now = now_ns + w->now_add, add = w->arrival_add;
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t arrival = arrival_ns ? arrival_ns[i] + add : now;
		uint32_t end;

		if (__builtin_expect(w->chain.open || f[i].flags & (PIO_MORE | PIO_SUPER), 0)) {
			found += chain_add(w, &f[i], arrival, &items[found], t);
			continue;
		}
		end = stamp_end(f[i].data, f[i].len);
		if (end == STAMP_IN_FRAGMENTS)
			t->c.unreadable++;
		else if (!end || end > f[i].len)
			t->c.foreign++;
		else
			found += look_at(w, f[i].data + end - STAMP_LEN, f[i].len, arrival, &items[found], t);
	}
	return found;
}

void measure_frames(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
		    uint64_t now_ns)
{
	struct item items[CHUNK];
	struct tally t = {0};

	for (unsigned at = 0; at < n; at += CHUNK) {
		unsigned some = n - at < CHUNK ? n - at : CHUNK;
		unsigned found = find_stamps(w, f + at, some, arrival_ns ? arrival_ns + at : NULL, now_ns, items, &t);

		if (w->shared && w->flows)
			all(w, items, found, &t, true, true);
		else if (w->shared)
			all(w, items, found, &t, true, false);
		else if (w->flows)
			all(w, items, found, &t, false, true);
		else
			all(w, items, found, &t, false, false);
	}
	flush(&w->parts[w->current], &t);
}
