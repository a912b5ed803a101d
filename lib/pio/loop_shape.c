/* SPDX-License-Identifier: Apache-2.0 */
/* The sender's side of a wire that has a rate, a delay or impairments. */
#include "flow_hash.h"
#include "lib/clock.h"
#include "loop_wire.h"

/* How far ahead the wire may be busy before it holds the sender. */
#define BUSY_MAX (NS_PER_MS << LOOP_TIME_SHIFT)

static bool happens(uint64_t *rand, uint64_t chance)
{
	return chance && (rand_next(rand) < chance || chance == UINT64_MAX);
}

static void complete(struct loop_tx *tx, uint32_t bytes)
{
	stats_add(&tx->q.stats.tx.completed, 1);
	stats_add(&tx->q.stats.tx.completed_bytes, bytes);
}

/* ---- rate ---- */

struct departures {
	uint64_t at; /* of the next frame, in wire time */
	uint64_t interval;
	uint64_t add_ns; /* from wire time to the due time */
};

/* Reserves the wire for up to *n frames; *n becomes how many it can take now. */
static struct departures departures_claim(struct loop *loop, unsigned *n)
{
	const uint64_t interval = loop->options.interval;
	const uint64_t delay = loop->options.delay_ns;
	uint64_t was;
	uint64_t now;
	uint64_t at;
	uint64_t room;

	if (!interval)
		return (struct departures){.add_ns = clock_mono_ns() + delay};
	now = (clock_mono_ns() - loop->start_ns) << LOOP_TIME_SHIFT;
	was = atomic_load_explicit(&loop->free_at, memory_order_relaxed);
	do {
		at = was > now ? was : now;
		room = at > now + BUSY_MAX ? 0 : (now + BUSY_MAX - at) / interval + 1;
		if (room > *n)
			room = *n;
	} while (!atomic_compare_exchange_weak_explicit(&loop->free_at, &was, at + room * interval,
							memory_order_relaxed, memory_order_relaxed));
	*n = (unsigned)room;
	return (struct departures){.at = at, .interval = interval, .add_ns = loop->start_ns + delay};
}

static void departures_return(struct loop *loop, unsigned n)
{
	if (n && loop->options.interval)
		atomic_fetch_sub_explicit(&loop->free_at, n * loop->options.interval, memory_order_relaxed);
}

/* When the next of the frames arrives. */
static uint64_t departures_next(struct departures *d)
{
	d->at += d->interval;
	return (d->at >> LOOP_TIME_SHIFT) + d->add_ns;
}

/* ---- frames held for reordering ---- */

static uint32_t *list_of(struct loop_hold *h, uint64_t flow)
{
	return &h->first[flow % LOOP_HOLD_LISTS];
}

static unsigned held_of_flow(struct loop_hold *h, uint64_t flow)
{
	unsigned n = 0;

	if (!h || !h->n)
		return 0;
	for (uint32_t i = *list_of(h, flow); i != LOOP_HOLD_NONE; i = h->held[i].next)
		n += h->held[i].flow == flow;
	return n;
}

static void hold_frame(struct loop_hold *h, uint64_t flow, const struct pio_frame *f, uint32_t wait)
{
	uint32_t id = h->free;
	uint32_t *at = list_of(h, flow);

	h->free = h->held[id].next;
	h->n++;
	while (*at != LOOP_HOLD_NONE)
		at = &h->held[*at].next;
	*at = id;
	h->held[id] = (struct loop_held){.flow = flow, .next = LOOP_HOLD_NONE, .len = f->len, .wait = wait};
	memcpy(h->data + (size_t)id * h->stride, f->data, f->len);
}

/* Unlinks the frame that *at names and sends it. There is room on the wire. */
static void leave(struct loop_tx *tx, uint32_t *at, uint64_t due_ns)
{
	struct loop_hold *h = tx->hold;
	uint32_t id = *at;
	struct loop_held *x = &h->held[id];

	loop_wire_put(&tx->wires[flow_hash_pick(x->flow, tx->n_wires)], h->data + (size_t)id * h->stride, x->len,
		      due_ns);
	if (x->overtaken)
		stats_add(&tx->did->reordered, 1);
	complete(tx, x->len);
	*at = x->next;
	x->next = h->free;
	h->free = id;
	h->n--;
}

/* A frame of the flow was delivered: those that were held before it, up to `end`, have waited for one more. */
static void overtake(struct loop_hold *h, uint64_t flow, uint32_t end)
{
	for (uint32_t i = *list_of(h, flow); i != end; i = h->held[i].next) {
		if (h->held[i].flow == flow) {
			h->held[i].overtaken = true;
			h->held[i].wait -= h->held[i].wait > 0;
		}
	}
}

/*
 * A later frame of the flow was delivered. What leaves now is itself a later frame to those held before it. Only
 * frames of this flow can have waited long enough.
 */
static void release(struct loop_tx *tx, uint64_t flow, uint64_t due_ns)
{
	struct loop_hold *h = tx->hold;
	uint32_t *at = list_of(h, flow);

	overtake(h, flow, LOOP_HOLD_NONE);
	while (*at != LOOP_HOLD_NONE) {
		struct loop_held *x = &h->held[*at];

		if (x->wait) {
			at = &x->next;
			continue;
		}
		uint32_t next = x->next;

		leave(tx, at, due_ns);
		overtake(h, flow, next);
		at = list_of(h, flow);
	}
}

/* Sends what no later frame will release, oldest first, as far as there is room. */
static void flush_held(struct loop_tx *tx)
{
	struct loop_hold *h = tx->hold;
	const struct loop_options *o = &tx->loop->options;
	uint64_t due = clock_mono_ns() + o->delay_ns;

	for (unsigned list = 0; list < LOOP_HOLD_LISTS && h->n; list++) {
		uint32_t *at = &h->first[list];

		while (*at != LOOP_HOLD_NONE) {
			if (!loop_wire_room(&tx->wires[flow_hash_pick(h->held[*at].flow, tx->n_wires)], 1))
				break;
			leave(tx, at, due);
		}
	}
	loop_publish_all(tx);
	h->flushing = h->n > 0;
}

/* ---- the queue ---- */

static unsigned shaped_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

/* Loses, doubles, holds or delivers one frame. False when the wire is full: then nothing has happened. */
static bool pass(struct loop_tx *tx, const struct pio_frame *f, struct departures *d)
{
	const struct loop_options *o = &tx->loop->options;
	struct loop_hold *h = tx->hold;
	uint64_t flow = tx->n_wires > 1 || h ? flow_hash(f->data, f->len) : 0;
	struct loop_wire *w = &tx->wires[flow_hash_pick(flow, tx->n_wires)];
	unsigned held = held_of_flow(h, flow);
	unsigned most = (o->duplicate ? 2 : 1) + held;
	uint64_t due;
	bool twice;

	/* Room for all that may come of it, asked before any dice are thrown. */
	if (loop_wire_room(w, most) < most)
		return false;
	due = departures_next(d);
	stats_add(&tx->q.stats.tx.queued, 1);
	if (happens(&tx->rand, o->loss)) {
		stats_add(&tx->did->lost, 1);
		complete(tx, f->len);
		return true;
	}
	twice = happens(&tx->rand, o->duplicate);
	if (h && happens(&tx->rand, o->reorder) && !twice && held < LOOP_HOLD_FLOW && h->n < LOOP_HOLD_FRAMES) {
		hold_frame(h, flow, f, 1 + (uint32_t)(rand_next(&tx->rand) % LOOP_HOLD_FLOW));
		return true;
	}
	loop_wire_put(w, f->data, f->len, due);
	if (twice) {
		loop_wire_put(w, f->data, f->len, due);
		stats_add(&tx->did->duplicated, 1);
	}
	complete(tx, f->len);
	if (held)
		release(tx, flow, due);
	return true;
}

/* A sink that takes its time. */
static bool swallow(struct loop_tx *tx, const struct pio_frame *f)
{
	stats_add(&tx->q.stats.tx.queued, 1);
	complete(tx, f->len);
	return true;
}

static unsigned shaped_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct loop_tx *tx = (struct loop_tx *)q;
	struct loop *loop = tx->loop;
	struct pio_pool *pool = q->port->pool;
	unsigned claimed = n;
	struct departures d = departures_claim(loop, &claimed);
	bool full = claimed < n;
	unsigned i;

	for (i = 0; i < claimed; i++) {
		uint32_t id = loop_slot_to_send(pool, &f[i], q->port->caps.max_frame);

		if (id == UINT32_MAX) {
			full = false;
			break;
		}
		if (!(tx->n_wires ? pass(tx, &f[i], &d) : swallow(tx, &f[i]))) {
			full = true;
			break;
		}
		pio_slot_done(pool, q->cache, id);
	}
	departures_return(loop, claimed - i);
	loop_publish_all(tx);
	if (full)
		stats_add(&q->stats.tx.ring_full, 1);
	if (i)
		stats_add(&q->stats.tx.batches, 1);
	return i;
}

static void shaped_kick(struct pio_queue *q)
{
	struct loop_tx *tx = (struct loop_tx *)q;

	if (tx->hold && tx->hold->flushing)
		flush_held(tx);
}

static void shaped_stop(struct pio_queue *q)
{
	struct loop_tx *tx = (struct loop_tx *)q;

	if (tx->hold)
		flush_held(tx);
}

static void shaped_sync(struct pio_queue *q)
{
	(void)q;
}

/* A full wire that nobody reads: what is held will never leave. */
static void shaped_give_up(struct pio_queue *q)
{
	const struct loop_tx *tx = (const struct loop_tx *)q;

	if (tx->hold)
		stats_add(&q->stats.tx.dropped_end, tx->hold->n);
}

const struct pio_queue_ops loop_shaped_ops = {.get = shaped_get,
					      .tx = shaped_tx,
					      .kick = shaped_kick,
					      .sync = shaped_sync,
					      .stop = shaped_stop,
					      .give_up = shaped_give_up};
