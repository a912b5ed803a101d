/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_loop.h"

#include "lib/clock.h"
#include "tx_fill.h"
#include "tx_hold.h"
#include "tx_several.h"
#include "wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int sources_alloc(struct tx_worker *w, unsigned n, struct err *e)
{
	w->sources = calloc(n, sizeof(*w->sources));
	if (!w->sources)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", NULL, "no memory");
	w->n_sources = n;
	return 0;
}

static void prime(void *arg, struct pio_frame *f)
{
	tx_source_prime(arg, f);
}

int tx_worker_init(struct tx_worker *w, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, struct err *e)
{
	int rc = sources_alloc(w, 1, e);

	if (!rc)
		rc = tx_source_init(&w->sources[0], plan, q, n, count ? count : TX_QUOTA_NONE, random_order, w->hurry,
				    e);
	if (!rc)
		pio_prime(w->queue, prime, &w->sources[0]);
	return rc;
}

int tx_worker_init_replay(struct tx_worker *w, const struct tx_plan *plan, const struct replay *replay,
			  struct replay_ring *ring, unsigned q, unsigned n, struct err *e)
{
	int rc = sources_alloc(w, 1, e);

	if (!rc)
		tx_source_init_replay(&w->sources[0], plan, replay, ring, q, n);
	return rc;
}

int tx_worker_init_several(struct tx_worker *w, const struct stream_set *set, struct limiter *limiters, unsigned q,
			   unsigned n, struct err *e)
{
	const struct pio_pool *pool = w->queue->port->pool;
	int rc = sources_alloc(w, set->n, e);

	if (rc)
		return rc;
	w->holds = malloc(pool->frames);
	if (!w->holds)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", NULL, "no memory");
	memset(w->holds, TX_HOLDS_NOTHING, pool->frames);
	rc = tx_merge_create(&w->merge, set, w->sources, limiters, q, n, w->hurry, e);
	for (unsigned i = 0; !rc && i < set->n; i++)
		if (!tx_source_is_empty(&w->sources[i])) {
			w->sources[i].shape = (int)tx_shape_of(&w->sources[i]);
			w->stamped = w->stamped || w->sources[i].plan->stamped;
		}
	return rc;
}

void tx_worker_free(struct tx_worker *w)
{
	tx_merge_free(w->merge);
	free(w->holds);
	w->merge = NULL;
	w->holds = NULL;
	for (unsigned i = 0; i < w->n_sources; i++)
		tx_source_free(&w->sources[i]);
	free(w->sources);
	w->sources = NULL;
	w->n_sources = 0;
}

/*
 * How many packets of a streamed replay can be had, up to max; waits for the first. *since: when the wait began, 0:
 * there was none. 0: no more will come, or tx_keep_trying() says so.
 */
static uint32_t wait_for_packets(struct tx_worker *w, struct replay_cursor *c, struct waiter *waiter, uint32_t max,
				 uint64_t *since)
{
	uint64_t ready = replay_ready(c);

	*since = ready ? 0 : clock_mono_ns();
	while (!ready) {
		/* In this order: what was put in before the end is still to be had. */
		bool ended = atomic_load_explicit(&c->ring->ended, memory_order_acquire);

		ready = replay_ready(c);
		if (!ready && (ended || !tx_keep_trying(w, !w->limiter->unlimited, waiter)))
			return 0;
	}
	waiter_progress(waiter);
	return ready < max ? (uint32_t)ready : max;
}

/* When the next packets depart, up to max of them. */
static inline __attribute__((always_inline)) struct limiter_claim
claim(struct tx_worker *w, struct tx_source *s, uint32_t max, uint64_t now_ns, const enum tx_shape shape)
{
	const struct limiter *l = w->limiter;

	if (shape == TX_SHAPE_REPLAY_TIMED)
		return replay_claim(&s->replay, l->start_ns, w->end_ns, l->catch_up_ns, max < l->burst ? max : l->burst,
				    now_ns);
	if (w->poisson.queues)
		return poisson_claim(&w->poisson, l, max, now_ns);
	return limiter_claim(w->limiter, max, now_ns);
}

/* What is handed over this much later than planned gets a stamp that says so. */
#define STAMP_LATE_NS 2000

/*
 * Sends what was claimed at now_ns, <= TX_BURST_MAX packets. The frames are written before their departure, so that at
 * it they only have to be handed over. Returns how many the queue took: fewer when told to stop before the departure,
 * or when tx_keep_trying() says so.
 */
static inline __attribute__((always_inline)) uint32_t send_clump(struct tx_worker *w, struct tx_source *s,
								 struct waiter *waiter, struct tx_at *at,
								 const struct limiter_claim *c, uint64_t now_ns,
								 const enum tx_shape shape)
{
	struct pio_frame frames[TX_BURST_MAX];
	const uint32_t n = c->n;
	const bool paced = shape == TX_SHAPE_REPLAY_TIMED || !w->limiter->unlimited;
	bool waits = c->departure_ns > now_ns;
	const struct tx_at first = *at;
	uint64_t stamp_ns = waits ? c->departure_ns : now_ns;
	uint32_t ready = 0;
	uint32_t sent = 0;

	while (sent < n) {
		uint32_t before = sent;
		uint32_t filled = ready;

		ready += pio_get(w->queue, frames + ready, n - ready);
		if (tx_shape_is_stamped(shape) && filled) /* the ring was full meanwhile */
			stamp_ns = clock_mono_ns();
		tx_fill(s, at, frames + filled, ready - filled, stamp_ns + w->clock_add, shape);
		if (waits) {
			now_ns = waiter_until(waiter, c->departure_ns, w->stop);
			if (!now_ns) {
				w->abandoned += n;
				break;
			}
			waits = false;
			/* A late thread is the sender's lateness, not the packets' latency. */
			if (tx_shape_is_stamped(shape) && now_ns - c->departure_ns > STAMP_LATE_NS) {
				*at = first;
				tx_fill(s, at, frames, ready, now_ns + w->clock_add, shape);
			}
		}
		sent += pio_tx(w->queue, frames + sent, ready - sent);
		if (sent > before)
			waiter_progress(waiter);
		else if (!tx_keep_trying(w, !w->limiter->unlimited, waiter))
			break;
	}
	if (sent < ready)
		pio_put(w->queue, frames + sent, ready - sent);
	if (paced && sent)
		hist_add(&w->lateness, now_ns - c->departure_ns, sent);
	return sent;
}

static inline __attribute__((always_inline)) void send_all(struct tx_worker *w, const enum tx_shape shape)
{
	struct tx_source *s = &w->sources[0];
	struct tx_at at = s->at;
	struct waiter waiter;
	const uint32_t burst = tx_burst_of(w);
	uint64_t left = s->quota;

	waiter_init(&waiter, w->sleeps);
	/* A stream may begin after the end. */
	if (!waiter_until(&waiter, w->limiter->start_ns < w->end_ns ? w->limiter->start_ns : w->end_ns, w->stop))
		return;
	while (left && !tx_stopped(w)) {
		uint32_t max = left < burst ? (uint32_t)left : burst;
		uint64_t waited_since = 0;
		uint64_t now;
		struct limiter_claim c;
		uint32_t sent;

		if ((shape == TX_SHAPE_REPLAY || shape == TX_SHAPE_REPLAY_TIMED) && s->replay.ring) {
			max = wait_for_packets(w, &s->replay, &waiter, max, &waited_since);
			if (!max)
				break;
		}
		now = clock_mono_ns();
		c = claim(w, s, max, now, shape);
		if (waited_since && c.n && c.departure_ns <= now)
			replay_late(&s->replay, now - waited_since);
		if (!c.n) {
			waiter_until(&waiter, w->end_ns, w->stop);
			break;
		}
		if (tx_out_of_time(w, !w->limiter->unlimited, now))
			break;
		if (tx_shape_is_stamped(shape))
			tx_stamps_look(w, now);
		sent = send_clump(w, s, &waiter, &at, &c, now, shape);
		left -= left == TX_QUOTA_NONE ? 0 : sent;
		if (sent < c.n)
			break;
	}
}

void tx_worker_run(struct tx_worker *w)
{
	struct tx_counts before, after;
	uint64_t now;

	if (w->merge) {
		tx_several_run(w);
	} else if (!tx_source_is_empty(&w->sources[0])) {
		switch (tx_shape_of(&w->sources[0])) {
#define SEND(shape) \
	case TX_SHAPE_##shape: \
		send_all(w, TX_SHAPE_##shape); \
		break;
			TX_SHAPES_OF_FLOWS(SEND)
			SEND(REPLAY)
			SEND(REPLAY_TIMED)
#undef SEND
		}
		replay_cursor_close(&w->sources[0].replay);
	}
	now = clock_mono_ns();
	atomic_store_explicit(&w->last_ns, now, memory_order_relaxed);
	tx_counts_read(&w->queue->stats.tx, &before);
	pio_drain(w->queue, now + TX_DRAIN_NS);
	pio_sync(w->queue);
	tx_counts_read(&w->queue->stats.tx, &after);
	if (after.completed != before.completed)
		atomic_store_explicit(&w->last_ns, clock_mono_ns(), memory_order_relaxed);
	atomic_store_explicit(&w->done, true, memory_order_release);
}
