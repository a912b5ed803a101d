/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for stamps in what came, and gives their packets to measure_part.h. */
#include "lib/ether.h"
#include "measure_part.h"
#include "stamp_find.h"

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

/*
 * What is found of a packet, and its flow's record, which it begins to fetch. mask: of the window's words, in bytes.
 */
static inline void fill(struct measure_item *it, struct measure_record *r, uint64_t mask, uint64_t sequence)
{
	uint64_t *word = (void *)((unsigned char *)r->words + (sequence / SEQWIN_BLOCK * sizeof(*word) & mask));

	it->record = r;
	__builtin_prefetch(r, 1);
	it->word = word;
	__builtin_prefetch(word, 1);
	it->sequence = sequence;
}

/* Masks an offset to a window's words, given how many they are less 1. */
static inline uint64_t in_bytes(uint32_t mask)
{
	return mask * sizeof(uint64_t);
}

/* A packet that came, by where its stamp would be. Returns the next free item. */
static struct measure_item *look_at(struct measure_worker *w, const unsigned char *stamp, uint32_t len,
				    uint64_t arrival_ns, struct measure_item *it, struct tally *t)
{
	struct measure_record *r;
	uint32_t sequence, flow, mask;
	uint64_t place;
	uint16_t run;

	if (!stamp_get(stamp, &run, &place, &sequence)) {
		t->c.foreign++;
		return it;
	}
	flow = (uint32_t)(place >> STAMP_TIME_BITS);
	if ((run != w->run || flow >= w->limit) && !not_ours(w, run, flow, t))
		return it;
	it->place = place;
	it->arrival_ns = arrival_ns;
	it->len = len;
	r = measure_record_of(w->tiers, flow, &mask);
	fill(it, r, in_bytes(mask), sequence);
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

/* What is found at once: a plain packet with a stamp of the run that is followed, of a flow of the first tier. */
struct quick {
	unsigned char *records;
	uint64_t stride, mask, near;
	struct stamp_run run;
};

static inline struct quick quick_of(const struct measure_worker *w)
{
	const struct measure_tier *first = &w->tiers[0];

	return (struct quick){.records = first->records,
			      .stride = first->stride,
			      .mask = in_bytes(first->mask),
			      .near = w->near,
			      .run = stamp_run((uint16_t)w->run)};
}

/* False: it is to be found slowly. */
static inline __attribute__((always_inline)) bool quick_find(const struct quick *q, const struct measure_worker *w,
							     const struct pio_frame *f, uint64_t arrival_ns,
							     struct measure_item *it)
{
	const uint64_t len = f->len;
	const unsigned char *stamp;
	uint64_t end, place, flow;
	uint32_t sequence;

	if (__builtin_expect(f->flags & PIO_UDP4, 1))
		end = stamp_end_udp4(f->data, len);
	else if (w->chain.open || f->flags & (PIO_MORE | PIO_SUPER))
		end = 0;
	else
		end = stamp_end_plain(f->data, f->len);
	if (__builtin_expect(!end, 0))
		return false;
	stamp = f->data + end - STAMP_LEN;
	it->arrival_ns = arrival_ns;
	it->len = len;
	if (__builtin_expect(!stamp_get_of(stamp, q->run, &place, &sequence), 0))
		return false;
	it->place = place;
	flow = place >> STAMP_TIME_BITS;
	if (__builtin_expect(flow >= q->near, 0))
		return false;
	fill(it, (void *)(q->records + flow * q->stride), q->mask, sequence);
	return true;
}

/* The time of arrival is *arrival + add_ns, and that of the next one `step` behind it: with 0 all have one. */
static inline __attribute__((always_inline)) unsigned find(struct measure_worker *w, const struct pio_frame *f,
							   unsigned n, const uint64_t *arrival, size_t step,
							   uint64_t add_ns, struct measure_item *items, struct tally *t,
							   const bool per_flow)
{
	struct quick q = quick_of(w);
	struct measure_item *it = items;

	for (const struct pio_frame *end = f + n; f < end; f++, arrival += step) {
		if (__builtin_expect(quick_find(&q, w, f, *arrival + add_ns, it), 1)) {
			if (per_flow)
				__builtin_prefetch(&w->flows[measure_item_flow(it)], 1);
			it++;
		} else {
			it = find_slowly(w, f, *arrival + add_ns, it, t);
			q = quick_of(w);
		}
	}
	return (unsigned)(it - items);
}

/* ---- streams ---- */

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

static inline __attribute__((always_inline)) void add(struct measure_worker *w, const struct measure_item *items,
						      unsigned n, struct tally *t, const bool shared,
						      const bool per_flow)
{
	while (n) {
		const unsigned some = of_part(w, items, n);
		struct adding a;

		if (!some) {
			flush(&w->parts[w->current], t);
			w->current = part_of(w, measure_item_flow(items));
			continue;
		}
		a = adding_begin(w, &w->parts[w->current], t);
		for (unsigned i = 0; i < some; i++)
			adding_packet(&a, &items[i], shared, per_flow);
		adding_end(&a, some);
		items += some;
		n -= some;
	}
}

static inline __attribute__((always_inline)) void measure(struct measure_worker *w, const struct pio_frame *f,
							  unsigned n, const uint64_t *arrival, size_t step,
							  uint64_t add_ns, const bool shared, const bool per_flow)
{
	struct measure_item items[MEASURE_CHUNK];
	struct tally t;

	t.c = (struct measure_counts){0};
	for (unsigned some; n; n -= some) {
		some = n < MEASURE_CHUNK ? n : MEASURE_CHUNK;
		add(w, items, find(w, f, some, arrival, step, add_ns, items, &t, per_flow), &t, shared, per_flow);
		f += some;
		arrival += some * step;
	}
	flush(&w->parts[w->current], &t);
}

void measure_frames(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
		    uint64_t now_ns)
{
	const uint64_t *arrival = arrival_ns ? arrival_ns : &now_ns;
	const size_t step = arrival_ns ? 1 : 0;
	const uint64_t add_ns = arrival_ns ? w->arrival_add : w->now_add;

	if (w->shared && w->flows)
		measure(w, f, n, arrival, step, add_ns, true, true);
	else if (w->shared)
		measure(w, f, n, arrival, step, add_ns, true, false);
	else if (w->flows)
		measure(w, f, n, arrival, step, add_ns, false, true);
	else
		measure(w, f, n, arrival, step, add_ns, false, false);
}
