/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_several.h"

#include "tx_fill.h"
#include "tx_hold.h"

#include <string.h>

/* What has no limit is handed over in clumps of so many where others wait for their time. */
#define BESIDE_SCHEDULE 32U

/* What leaves together. */
struct clump {
	uint32_t n;
	uint32_t taken;        /* positions: the packets, and those that were passed over */
	uint64_t departure_ns; /* of the first position */
	bool scheduled;
	uint8_t source[TX_BURST_MAX];
	uint64_t departures[TX_BURST_MAX]; /* where scheduled */
};

/* Writes the source's next n packets. The frames hold its template. */
static void patch(struct tx_source *s, struct pio_frame *f, uint32_t n, uint64_t time_ns)
{
	switch (s->shape) {
#define PATCH(shape) \
	case TX_SHAPE_##shape: \
		tx_fill(s, &s->at, f, n, time_ns, TX_SHAPE_##shape); \
		break;
		TX_SHAPES_OF_FLOWS(PATCH)
#undef PATCH
	}
}

/* What holds another source's packet gets the template anew. */
static inline void claim_frame(struct tx_worker *w, const struct pio_pool *pool, unsigned source, struct pio_frame *f)
{
	const struct tx_source *s = &w->sources[source];
	uint32_t slot = pio_slot_of(pool, f->data, 1);

	if (slot < pool->frames && w->holds[slot] == source)
		return;
	if (s->shape == TX_SHAPE_FIXED)
		tx_source_prime(s, f);
	else
		memcpy(f->data, s->plan->frame, s->plan->max_len);
	if (slot < pool->frames)
		w->holds[slot] = (unsigned char)source;
}

void tx_several_fill(struct tx_worker *w, unsigned source, struct pio_frame *f, uint64_t time_ns)
{
	claim_frame(w, w->queue->port->pool, source, f);
	patch(&w->sources[source], f, 1, time_ns);
}

/*
 * Packets from .. to - 1 of a clump: of each source all together, so that it is asked once what kind it is. Which
 * packets are a source's is kept as a list, last first written and first first read.
 */
static void fill(struct tx_worker *w, const struct clump *c, struct pio_frame *frames, uint32_t from, uint32_t to,
		 uint64_t time_ns)
{
	const struct pio_pool *pool = w->queue->port->pool;
	struct pio_frame own[TX_BURST_MAX];
	uint16_t where[TX_BURST_MAX], next[TX_BURST_MAX];
	uint16_t first[CONFIG_STREAMS_MAX];
	uint64_t sources = 0;

	if (to - from == 1) {
		tx_several_fill(w, c->source[from], &frames[from], time_ns);
		return;
	}
	for (uint32_t i = to; i-- > from;) {
		unsigned source = c->source[i];

		next[i] = sources >> source & 1 ? first[source] : TX_BURST_MAX;
		first[source] = (uint16_t)i;
		sources |= 1ULL << source;
	}
	for (; sources; sources &= sources - 1) {
		unsigned source = (unsigned)__builtin_ctzll(sources);
		uint32_t n = 0;

		for (uint32_t i = first[source]; i != TX_BURST_MAX; i = next[i]) {
			claim_frame(w, pool, source, &frames[i]);
			where[n] = (uint16_t)i;
			own[n++] = frames[i];
		}
		patch(&w->sources[source], own, n, time_ns);
		for (uint32_t i = 0; i < n; i++)
			frames[where[i]].len = own[i].len;
	}
}

/* The positions that leave together with the earliest, which departs at departure_ns. */
static void gather(struct tx_merge *m, uint64_t departure_ns, uint32_t max, uint64_t now_ns, struct clump *c)
{
	c->scheduled = true;
	c->departure_ns = departure_ns;
	do {
		int source = tx_merge_take(m);

		c->taken++;
		if (source >= 0) {
			c->source[c->n] = (uint8_t)source;
			c->departures[c->n++] = departure_ns;
		}
		if (c->taken == max)
			return;
		departure_ns = tx_merge_departure(m, max - c->taken, now_ns);
	} while (departure_ns != TX_MERGE_NEVER && tx_merge_joins(m, departure_ns, c->departure_ns, c->taken, now_ns));
}

static void gather_unlimited(struct tx_merge *m, uint32_t max, uint64_t now_ns, struct clump *c)
{
	int source;

	c->scheduled = false;
	c->departure_ns = now_ns;
	while (c->n < max && (source = tx_merge_take_unlimited(m, now_ns)) >= 0)
		c->source[c->n++] = (uint8_t)source;
	c->taken = c->n;
}

static void abandon(struct tx_worker *w, const struct clump *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		w->merge->groups[w->sources[c->source[i]].group].abandoned++;
}

/* What was sent, by stream, and how late. */
static void account(struct tx_worker *w, const struct clump *c, uint32_t sent, uint64_t now_ns)
{
	for (uint32_t i = 0; i < sent; i++)
		stats_add(&w->sources[c->source[i]].sent, 1);
	for (uint32_t i = 0, alike; c->scheduled && i < sent; i += alike) {
		uint64_t departure = c->departures[i];

		for (alike = 1; i + alike < sent && c->departures[i + alike] == departure; alike++)
			;
		hist_add(&w->lateness, now_ns > departure ? now_ns - departure : 0, alike);
	}
}

/* As the loop of one source does it: written before the departure, handed over at it. False: the run is over. */
static bool send_clump(struct tx_worker *w, struct waiter *waiter, const struct clump *c, uint64_t now_ns)
{
	struct pio_frame frames[TX_BURST_MAX];
	const bool stamps = w->stamped;
	bool waits = c->departure_ns > now_ns;
	uint32_t ready = 0;
	uint32_t sent = 0;

	/* Stamps say when packets leave, which is known then. */
	if (stamps && waits) {
		now_ns = waiter_until(waiter, c->departure_ns, w->stop);
		if (!now_ns) {
			abandon(w, c);
			return false;
		}
		waits = false;
	}
	tx_stamps_look(w, now_ns);
	do {
		uint32_t before = sent;
		uint32_t filled = ready;

		ready += ready < c->n ? pio_get(w->queue, frames + ready, c->n - ready) : 0;
		uint64_t stamp_ns = (stamps && filled ? clock_mono_ns() : now_ns) + w->clock_add;

		if (filled < ready)
			fill(w, c, frames, filled, ready, stamp_ns);
		if (waits) {
			now_ns = waiter_until(waiter, c->departure_ns, w->stop);
			if (!now_ns) {
				abandon(w, c);
				break;
			}
			waits = false;
		}
		if (sent < ready)
			sent += pio_tx(w->queue, frames + sent, ready - sent);
		if (sent > before)
			waiter_progress(waiter);
		else if (c->n && !tx_keep_trying(w, c->scheduled, waiter))
			break;
	} while (sent < c->n);
	if (sent < ready)
		pio_put(w->queue, frames + sent, ready - sent);
	account(w, c, sent, now_ns);
	return sent == c->n;
}

/* The next clump. False: it is not known before *until_ns, or there is none any more (TX_MERGE_NEVER). */
static bool next_clump(struct tx_worker *w, uint32_t burst, uint64_t now_ns, struct clump *c, uint64_t *until_ns)
{
	struct tx_merge *m = w->merge;
	const bool late = tx_out_of_time(w, false, now_ns);
	const uint64_t departure = tx_merge_departure(m, burst, now_ns);
	const uint64_t unlimited = late ? TX_MERGE_NEVER : tx_merge_unlimited_from(m);

	c->n = c->taken = 0;
	*until_ns = unlimited;
	if (departure > now_ns && unlimited <= now_ns) {
		gather_unlimited(m, departure == TX_MERGE_NEVER || burst < BESIDE_SCHEDULE ? burst : BESIDE_SCHEDULE,
				 now_ns, c);
		return true;
	}
	if (departure == TX_MERGE_NEVER || (unlimited > now_ns && unlimited < departure))
		return false;
	gather(m, departure, burst, now_ns, c);
	return true;
}

void tx_several_run(struct tx_worker *w)
{
	const uint32_t burst = tx_burst_of(w);
	struct waiter waiter;
	struct clump c = {0};

	waiter_init(&waiter, w->sleeps);
	while (!tx_stopped(w)) {
		uint64_t now = clock_mono_ns();
		uint64_t until;

		if (next_clump(w, burst, now, &c, &until)) {
			if (tx_out_of_time(w, c.scheduled, now) || !send_clump(w, &waiter, &c, now))
				return;
		} else if (until == TX_MERGE_NEVER) {
			if (!tx_merge_is_spent(w->merge))
				waiter_until(&waiter, w->end_ns, w->stop);
			return;
		} else {
			waiter_until(&waiter, until < w->end_ns ? until : w->end_ns, w->stop);
		}
	}
}
