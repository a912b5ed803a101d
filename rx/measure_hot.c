/* SPDX-License-Identifier: Apache-2.0 */
/* What is done for each packet. */
#include "lib/ether.h"
#include "measure_flow.h"
#include "stamp_find.h"

#include <string.h>

/* Stamps are looked for in so many packets before what is kept of their flows is: by then it is in the cache. */
#define CHUNK 32U

/* What the packets of a chunk add to a part. */
struct tally {
	struct measure_counts c;
	uint64_t latency[CHUNK], ipdv[CHUNK];
};

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

/*
 * Apart from what becomes of them, so that the sums check each other. The queues of a device may be read in turn, and
 * times go back then.
 */
static inline void came_at(struct measure_part *part, const struct measure_item *items, unsigned n, struct tally *t)
{
	uint64_t last_ns = part->last_ns, bytes = 0;
	unsigned later = 0;

	t->c.stamped += n;
	if (!last_ns) {
		last_ns = part->first_ns = items[0].arrival_ns + 1;
		later = 1;
	}
	for (const struct measure_item *it = items, *const end = items + n; it < end; it++) {
		bytes += it->len;
		if (it->arrival_ns < last_ns)
			continue;
		hist_add(&part->gap, it->arrival_ns + 1 - last_ns, 1);
		last_ns = it->arrival_ns + 1;
		later++;
	}
	if (n > later)
		hist_add(&part->gap, 0, n - later);
	part->last_ns = last_ns;
	t->c.bytes += bytes;
}

/*
 * Packets of one part. What is kept of how long packets took is theirs that came first: `took` is the time in the upper
 * 40 bits, as stamp_elapsed() tells it, so that a difference of two is right whatever the lower ones are.
 */
static inline __attribute__((always_inline)) void part_add(struct measure_worker *w, struct measure_part *part,
							   const struct measure_item *items, unsigned n,
							   struct tally *t, const bool shared, const bool per_flow)
{
	const unsigned low_bits = MEASURE_LAST_NUMBER_BITS;
	const uint64_t low = (1ULL << low_bits) - 1;
	/* Without a clock in common, transits are told from each other only. */
	const int64_t least = w->has_clock ? 0 : INT64_MIN;
	uint64_t jitter = part->jitter;
	unsigned fresh = 0, changes = 0, ipdvs = 0;

	came_at(part, items, n, t);
	for (unsigned i = 0; i < n; i++) {
		const struct measure_item *it = &items[i];
		struct measure_record *r = it->record;
		uint64_t took, before;
		int64_t latency;

		if (per_flow) {
			if (!came(w, part, t, it, shared, true))
				continue;
		} else if (__builtin_expect(!seqwin_add_next(&r->win, it->word, (uint32_t)it->sequence, shared), 0) &&
			   !(shared ? came_shared(w, part, t, it) : came_alone(w, part, t, it))) {
			continue;
		}
		took = (it->arrival_ns - it->place) << low_bits;
		before = seqwin_load(&r->last, shared);
		seqwin_store(&r->last, took | (it->sequence & low), shared);
		latency = (int64_t)took >> low_bits;
		t->latency[fresh] = (uint64_t)(latency < least ? least : latency);
		if (per_flow && w->has_clock)
			flow_took(&w->flows[measure_item_flow(it)], t->latency[fresh], shared);
		fresh++;
		if (__builtin_expect(before != 0, 1)) {
			int64_t change = (int64_t)(took - (before & ~low)) >> low_bits;
			uint64_t size = (uint64_t)(change < 0 ? -change : change);

			jitter = jitter_next(jitter, size);
			changes++;
			t->ipdv[ipdvs] = size;
			ipdvs += ((before + 1 - it->sequence) & low) == 0;
			if (per_flow)
				flow_jitter(&w->flows[measure_item_flow(it)], size, shared);
		} else {
			measure_flow_began(part, r, (uint32_t)it->sequence);
		}
	}
	part->jitter = jitter;
	part->jitters += changes;
	t->c.unique += fresh;
	if (w->has_clock)
		hist_add_all(&part->latency, t->latency, fresh);
	else
		measure_varied(w, part, t->latency, fresh);
	hist_add_all(&part->ipdv, t->ipdv, ipdvs);
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

/* How many of the first of these packets are of the part that the one before was of. */
static inline unsigned of_part(const struct measure_worker *w, const struct measure_item *items, unsigned n)
{
	const uint32_t from = w->first_flow[w->current], to = w->first_flow[w->current + 1];
	unsigned i = 0;

	if (w->n_parts == 1)
		return n;
	while (i < n && measure_item_flow(&items[i]) >= from && measure_item_flow(&items[i]) < to)
		i++;
	return i;
}

static inline __attribute__((always_inline)) void all(struct measure_worker *w, const struct measure_item *items,
						      unsigned n, struct tally *t, const bool shared,
						      const bool per_flow)
{
	while (n) {
		const unsigned some = of_part(w, items, n);

		if (!some) {
			flush(&w->parts[w->current], t);
			w->current = part_of(w, measure_item_flow(items));
			continue;
		}
		part_add(w, &w->parts[w->current], items, some, t, shared, per_flow);
		items += some;
		n -= some;
	}
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

/* The stamp of a packet that came. Returns the next free item. */
static inline __attribute__((always_inline)) struct measure_item *look_at(struct measure_worker *w,
									  const unsigned char *stamp, uint32_t len,
									  uint64_t arrival_ns, struct measure_item *it,
									  struct tally *t)
{
	const struct measure_tier *const first = &w->tiers[0];
	uint64_t place;
	uint32_t sequence, flow, mask;
	uint16_t run;

	if (__builtin_expect(!stamp_get(stamp, &run, &place, &sequence), 0)) {
		t->c.foreign++;
		return it;
	}
	flow = (uint32_t)(place >> STAMP_TIME_BITS);
	if (__builtin_expect(run == w->run && flow < w->near, 1)) {
		it->record = (void *)(first->records + (uint64_t)flow * first->stride);
		mask = first->mask;
	} else if (!not_ours(w, run, flow, t)) {
		return it;
	} else {
		it->record = measure_record_of(w->tiers, flow, &mask);
	}
	it->word = &it->record->words[sequence / SEQWIN_BLOCK & mask];
	it->place = place;
	it->arrival_ns = arrival_ns;
	it->sequence = sequence;
	it->len = len;
	__builtin_prefetch(it->record, 1);
	__builtin_prefetch(it->word, 1);
	if (w->flows)
		__builtin_prefetch(&w->flows[flow], 1);
	if (flow >= w->flows_seen)
		w->flows_seen = flow + 1;
	return it + 1;
}

/* A frame of a packet that has several. The stamp may lie across two of them. */
static struct measure_item *chain_add(struct measure_worker *w, const struct pio_frame *f, uint64_t arrival_ns,
				      struct measure_item *it, struct tally *t)
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
		return it;
	if (c->end == STAMP_IN_FRAGMENTS)
		t->c.unreadable++;
	else if (c->end && c->end <= c->seen)
		return look_at(w, c->tail, c->seen, c->arrival_ns, it, t);
	else
		t->c.foreign++;
	return it;
}

/* A frame that is not what mostly comes. */
static __attribute__((noinline)) struct measure_item *find_slowly(struct measure_worker *w, const struct pio_frame *f,
								  uint64_t arrival_ns, struct measure_item *it,
								  struct tally *t)
{
	uint32_t end;

	if (w->chain.open || f->flags & (PIO_MORE | PIO_SUPER))
		return chain_add(w, f, arrival_ns, it, t);
	end = stamp_end_slowly(f->data, f->len);
	if (end == STAMP_IN_FRAGMENTS)
		t->c.unreadable++;
	else if (!end || end > f->len)
		t->c.foreign++;
	else
		return look_at(w, f->data + end - STAMP_LEN, f->len, arrival_ns, it, t);
	return it;
}

static unsigned find_stamps(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
			    uint64_t now_ns, struct measure_item *items, struct tally *t)
{
	/* One way for both: with one time for all it is looked at again and again. */
	const unsigned step = arrival_ns ? 1 : 0;
	const uint64_t add = arrival_ns ? w->arrival_add : w->now_add;
	const uint64_t *at = arrival_ns ? arrival_ns : &now_ns;
	struct measure_item *next = items;

	for (const struct pio_frame *end = f + n; f < end; f++, at += step) {
		uint32_t stamp = 0;

		if (!w->chain.open && !(f->flags & (PIO_MORE | PIO_SUPER)))
			stamp = f->flags & PIO_UDP4 ? stamp_end_udp4(f->data, f->len)
						    : stamp_end_plain(f->data, f->len);
		if (__builtin_expect(stamp != 0, 1))
			next = look_at(w, f->data + stamp - STAMP_LEN, f->len, *at + add, next, t);
		else
			next = find_slowly(w, f, *at + add, next, t);
	}
	return (unsigned)(next - items);
}

void measure_frames(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
		    uint64_t now_ns)
{
	struct measure_item items[CHUNK];
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
