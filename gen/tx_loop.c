/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_loop.h"

#include "gcd.h"
#include "lib/clock.h"
#include "lib/core/patch.h"
#include "wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Packets of one round, and the most that a backend may wish for. */
#define TX_BURST     128U
#define TX_BURST_MAX 512U

/* A step that visits all n once, near n / golden ratio so that neighbours lie far apart. */
static uint64_t scatter_step(uint64_t n)
{
	uint64_t step = (uint64_t)((double)n * 0.6180339887) | 1;

	while (gcd(step, n) != 1)
		step += 2;
	return step;
}

/* Packet k belongs to flow k mod flows: each flow gets count / flows packets, the first count % flows one more. */
static uint64_t quota_of(uint64_t count, uint64_t flows, unsigned q, unsigned n, uint64_t own)
{
	uint64_t rest = count % flows;
	uint64_t with_one_more = rest > q ? (rest - q + n - 1) / n : 0;

	return count / flows * own + with_one_more;
}

/* A whole packet, so that a plan in which nothing changes needs no more than this. */
static void prime_frame(void *arg, struct pio_frame *f)
{
	const struct tx_worker *w = arg;

	memcpy(f->data, w->plan->frame, w->plan->max_len);
	if (w->n_flows)
		tx_put(w->plan, w->entries, &w->plan->sizes[0], f->data, 0);
}

int tx_worker_init(struct tx_worker *w, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, struct err *e)
{
	uint64_t own = plan->flows > q ? (plan->flows - q + n - 1) / n : 0;
	uint64_t step = random_order && own > 2 ? scatter_step(own) : 1;

	w->plan = plan;
	w->n_flows = own;
	w->quota = count ? quota_of(count, plan->flows, q, n, own) : TX_QUOTA_NONE;
	w->entries = aligned_alloc(128, own * plan->entry / 128 * 128 + 128);
	if (!w->entries)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot make the flow table", NULL,
			       "no memory for %" PRIu64 " flows", own);
	for (uint64_t i = 0, at = 0; i < own; i++, at = (at + step) % own)
		tx_entry_at(plan, q + at * n, w->entries + i * plan->entry);
	pio_prime(w->queue, prime_frame, w);
	return 0;
}

void tx_worker_init_replay(struct tx_worker *w, const struct tx_plan *plan, const struct replay *replay, unsigned q,
			   unsigned n)
{
	const uint64_t total = replay->total;

	w->plan = plan;
	replay_cursor_init(&w->replay, replay, q, n);
	w->quota = !total ? TX_QUOTA_NONE : total > q ? (total - q + n - 1) / n : 0;
}

void tx_worker_free(struct tx_worker *w)
{
	free(w->entries);
	w->entries = NULL;
}

static bool stopped(const struct tx_worker *w)
{
	return atomic_load_explicit(w->stop, memory_order_relaxed);
}

/* A schedule ends by itself; what it still holds at the end may be a little late. */
static bool out_of_time(const struct tx_worker *w, uint64_t now_ns)
{
	return now_ns >= w->end_ns && (w->limiter->unlimited || now_ns - w->end_ns >= TX_GRACE_NS);
}

/* False when a sender that makes no headway should give up: told to stop, out of time, or on a dead queue. */
static bool keep_trying(struct tx_worker *w, struct waiter *waiter)
{
	pio_kick(w->queue);
	if (stopped(w) || pio_queue_error(w->queue, NULL) || out_of_time(w, clock_mono_ns()))
		return false;
	waiter_back_off(waiter);
	return true;
}

/*
 * What a packet of the plan needs, so that the usual kinds have a loop of their own: SHAPE_PORTS is one part of 12
 * bytes (addresses and ports of UDP and TCP) and the checksums that the flow alone decides: two over IPv4, one over
 * IPv6.
 */
enum shape {
	SHAPE_FIXED,
	SHAPE_PORTS_4,
	SHAPE_PORTS_6,
	SHAPE_ONE_SIZE,
	SHAPE_SIZES,
	SHAPE_REPLAY,       /* the frames are a capture's, */
	SHAPE_REPLAY_TIMED, /* and so are the departures */
};

static enum shape shape_of(const struct tx_worker *w)
{
	const struct tx_plan *plan = w->plan;

	if (w->replay.replay)
		return w->replay.replay->original ? SHAPE_REPLAY_TIMED : SHAPE_REPLAY;
	if (plan->n_sizes > 1)
		return SHAPE_SIZES;
	if (!plan->n_parts && !plan->sums[0].follows)
		return SHAPE_FIXED;
	if (plan->n_parts == 1 && plan->parts[0].len == 12 && plan->entry == 16 && !plan->sums[0].follows)
		return plan->n_sums == 2 ? SHAPE_PORTS_4 : plan->n_sums == 1 ? SHAPE_PORTS_6 : SHAPE_ONE_SIZE;
	return SHAPE_ONE_SIZE;
}

/* Which size the next packet has. */
struct sizes_at {
	uint32_t next;  /* in the plan's cycle */
	uint32_t round; /* where the next round through the flows starts in it */
};

/* Writes one flow each into n frames. */
static inline __attribute__((always_inline)) void patch_run(const struct tx_plan *plan, struct pio_frame *frames,
							    const unsigned char *entries, uint32_t n,
							    struct sizes_at *sizes, const enum shape shape)
{
	const uint32_t part = plan->parts[0].at;
	const uint32_t check[2] = {plan->sums[0].at, plan->sums[1].at};
	const uint32_t stride = plan->entry;
	const struct tx_size *size = &plan->sizes[0];
	const uint32_t len = size->len;

	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *entry =
			entries + (size_t)i * (shape == SHAPE_PORTS_4 || shape == SHAPE_PORTS_6 ? 16 : stride);
		unsigned char *frame = frames[i].data;

		if (shape == SHAPE_PORTS_4 || shape == SHAPE_PORTS_6) {
			__builtin_memcpy(frame + part, entry, 12);
			__builtin_memcpy(frame + check[0], entry + 12, 2);
			if (shape == SHAPE_PORTS_4)
				__builtin_memcpy(frame + check[1], entry + 14, 2);
			frames[i].len = len;
		} else if (shape == SHAPE_FIXED) {
			frames[i].len = len;
		} else {
			if (shape == SHAPE_SIZES) {
				size = &plan->sizes[plan->cycle[sizes->next]];
				sizes->next = sizes->next + 1 == plan->n_cycle ? 0 : sizes->next + 1;
				tx_put_lengths(plan, size, frame);
			}
			tx_put_flow(plan, entry, frame);
			tx_put_sums(plan, entry, size, frame, 0);
			frames[i].len = size->len;
		}
	}
}

/* Where a sender of flows is. */
struct flows_at {
	uint64_t flow; /* in the table */
	struct sizes_at sizes;
};

/* Writes the next n packets into frames. */
static inline __attribute__((always_inline)) void fill(struct tx_worker *w, struct pio_frame *frames, uint32_t n,
						       struct flows_at *at, const enum shape shape)
{
	const struct tx_plan *plan = w->plan;
	const uint64_t n_flows = w->n_flows;
	uint64_t flow = at->flow;

	if (shape == SHAPE_REPLAY || shape == SHAPE_REPLAY_TIMED) {
		replay_fill(&w->replay, frames, n);
		return;
	}
	for (uint32_t filled = 0; filled < n;) {
		uint64_t to_end = n_flows - flow;
		uint32_t run = to_end < n - filled ? (uint32_t)to_end : n - filled;

		patch_run(plan, frames + filled, w->entries + flow * plan->entry, run, &at->sizes, shape);
		filled += run;
		flow += run;
		if (flow == n_flows) {
			flow = 0;
			at->sizes.round = at->sizes.round + 1 == plan->n_cycle ? 0 : at->sizes.round + 1;
			at->sizes.next = at->sizes.round;
		}
	}
	at->flow = flow;
}

/* When the next packets depart, up to max of them. */
static inline __attribute__((always_inline)) struct limiter_claim claim(struct tx_worker *w, uint32_t max,
									uint64_t now_ns, const enum shape shape)
{
	const struct limiter *l = w->limiter;

	if (shape == SHAPE_REPLAY_TIMED)
		return replay_claim(&w->replay, l->start_ns, w->end_ns, l->catch_up_ns, max < l->burst ? max : l->burst,
				    now_ns);
	if (w->poisson.queues)
		return poisson_claim(&w->poisson, l, max, now_ns);
	return limiter_claim(w->limiter, max, now_ns);
}

/*
 * Sends what was claimed at now_ns, <= TX_BURST_MAX packets. The frames are written before their departure, so that at
 * it they only have to be handed over. Returns how many the queue took: fewer when told to stop before the departure,
 * or when keep_trying() says so.
 */
static inline __attribute__((always_inline)) uint32_t send_clump(struct tx_worker *w, struct waiter *waiter,
								 struct flows_at *at, const struct limiter_claim *c,
								 uint64_t now_ns, const enum shape shape)
{
	struct pio_frame frames[TX_BURST_MAX];
	const uint32_t n = c->n;
	const bool paced = shape == SHAPE_REPLAY_TIMED || !w->limiter->unlimited;
	bool waits = c->departure_ns > now_ns;
	uint32_t ready = 0;
	uint32_t sent = 0;

	while (sent < n) {
		uint32_t before = sent;
		uint32_t filled = ready;

		ready += pio_get(w->queue, frames + ready, n - ready);
		fill(w, frames + filled, ready - filled, at, shape);
		if (waits) {
			now_ns = waiter_until(waiter, c->departure_ns, w->stop);
			if (!now_ns) {
				w->abandoned += n;
				break;
			}
			waits = false;
		}
		sent += pio_tx(w->queue, frames + sent, ready - sent);
		if (sent > before)
			waiter_progress(waiter);
		else if (!keep_trying(w, waiter))
			break;
	}
	if (sent < ready)
		pio_put(w->queue, frames + sent, ready - sent);
	if (paced && sent)
		hist_add(&w->lateness, now_ns - c->departure_ns, sent);
	return sent;
}

static inline __attribute__((always_inline)) void send_all(struct tx_worker *w, const enum shape shape)
{
	struct flows_at at = {0};
	struct waiter waiter;
	const uint32_t wish = w->queue->port->caps.tx_burst;
	const uint32_t burst = !wish ? TX_BURST : wish < TX_BURST_MAX ? wish : TX_BURST_MAX;
	uint64_t left = w->quota;

	waiter_init(&waiter, w->sleeps);
	if (!waiter_until(&waiter, w->limiter->start_ns, w->stop))
		return;
	while (left && !stopped(w)) {
		uint64_t now = clock_mono_ns();
		struct limiter_claim c = claim(w, left < burst ? (uint32_t)left : burst, now, shape);
		uint32_t sent;

		if (!c.n) {
			waiter_until(&waiter, w->end_ns, w->stop);
			break;
		}
		if (out_of_time(w, now))
			break;
		sent = send_clump(w, &waiter, &at, &c, now, shape);
		left -= left == TX_QUOTA_NONE ? 0 : sent;
		if (sent < c.n)
			break;
	}
}

void tx_worker_run(struct tx_worker *w)
{
	struct tx_counts before, after;
	uint64_t now;

	if (w->n_flows || w->replay.replay) {
		switch (shape_of(w)) {
		case SHAPE_FIXED:
			send_all(w, SHAPE_FIXED);
			break;
		case SHAPE_PORTS_4:
			send_all(w, SHAPE_PORTS_4);
			break;
		case SHAPE_PORTS_6:
			send_all(w, SHAPE_PORTS_6);
			break;
		case SHAPE_ONE_SIZE:
			send_all(w, SHAPE_ONE_SIZE);
			break;
		case SHAPE_SIZES:
			send_all(w, SHAPE_SIZES);
			break;
		case SHAPE_REPLAY:
			send_all(w, SHAPE_REPLAY);
			break;
		case SHAPE_REPLAY_TIMED:
			send_all(w, SHAPE_REPLAY_TIMED);
		}
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
