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

static void prime_frame(void *arg, struct pio_frame *f)
{
	const struct tx_plan *plan = arg;

	memcpy(f->data, plan->frame, plan->len);
}

int tx_worker_init(struct tx_worker *w, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, struct err *e)
{
	uint64_t own = plan->flows > q ? (plan->flows - q + n - 1) / n : 0;
	uint64_t step = random_order && own > 2 ? scatter_step(own) : 1;

	w->plan = plan;
	w->n_flows = own;
	w->quota = count ? quota_of(count, plan->flows, q, n, own) : TX_QUOTA_NONE;
	w->flows = aligned_alloc(128, ((own ? own : 1) * sizeof(*w->flows) + 127) / 128 * 128);
	if (!w->flows)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot make the flow table", NULL,
			       "no memory for %" PRIu64 " flows", own);
	for (uint64_t i = 0, at = 0; i < own; i++, at = (at + step) % own)
		tx_flow_at(plan, q + at * n, &w->flows[i]);
	pio_prime(w->queue, prime_frame, (void *)(uintptr_t)plan);
	return 0;
}

void tx_worker_free(struct tx_worker *w)
{
	free(w->flows);
	w->flows = NULL;
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

/* Writes one flow each into n frames. */
static inline __attribute__((always_inline)) void patch_run(struct pio_frame *frames, const struct tx_flow *flows,
							    uint32_t n, uint32_t l3, uint32_t len,
							    const uint32_t family)
{
	for (uint32_t i = 0; i < n; i++) {
		if (family == TX_UDP4)
			tx_patch_udp4(frames[i].data + l3, &flows[i], 0);
		else if (family == TX_UDP6)
			tx_patch_udp6(frames[i].data + l3, &flows[i], 0);
		frames[i].len = len;
	}
}

/*
 * Sends n <= TX_BURST_MAX packets of the next flows; *at is the position in the flow table. Returns how many the queue
 * took: fewer when keep_trying() says so.
 */
static inline __attribute__((always_inline)) uint32_t send_clump(struct tx_worker *w, struct waiter *waiter,
								 uint64_t *at, uint32_t n, const uint32_t family)
{
	struct pio_frame frames[TX_BURST_MAX];
	const uint32_t len = w->plan->len;
	const uint32_t l3 = w->plan->l3;
	const struct tx_flow *flows = w->flows;
	const uint64_t n_flows = w->n_flows;
	uint64_t flow = *at;
	uint32_t ready = 0;
	uint32_t sent = 0;

	while (sent < n) {
		uint32_t before = sent;
		uint32_t filled = ready;

		ready += pio_get(w->queue, frames + ready, n - ready);
		while (filled < ready) {
			uint64_t to_end = n_flows - flow;
			uint32_t run = to_end < ready - filled ? (uint32_t)to_end : ready - filled;

			patch_run(frames + filled, &flows[flow], run, l3, len, family);
			filled += run;
			flow = flow + run == n_flows ? 0 : flow + run;
		}
		sent += pio_tx(w->queue, frames + sent, ready - sent);
		if (sent > before)
			waiter_progress(waiter);
		else if (!keep_trying(w, waiter))
			break;
	}
	if (sent < ready)
		pio_put(w->queue, frames + sent, ready - sent);
	*at = flow;
	return sent;
}

static inline __attribute__((always_inline)) void send_all(struct tx_worker *w, const uint32_t family)
{
	struct waiter waiter;
	const uint32_t wish = w->queue->port->caps.tx_burst;
	const uint32_t burst = !wish ? TX_BURST : wish < TX_BURST_MAX ? wish : TX_BURST_MAX;
	uint64_t left = w->quota;
	uint64_t at = 0;

	waiter_init(&waiter);
	if (!waiter_until(&waiter, w->limiter->start_ns, w->stop))
		return;
	while (left && !stopped(w)) {
		uint64_t now = clock_mono_ns();
		struct limiter_claim c = limiter_claim(w->limiter, left < burst ? (uint32_t)left : burst, now);
		uint32_t sent;

		if (!c.n) {
			waiter_until(&waiter, w->end_ns, w->stop);
			break;
		}
		if (out_of_time(w, now))
			break;
		if (c.departure_ns > now && !waiter_until(&waiter, c.departure_ns, w->stop)) {
			w->abandoned += c.n;
			break;
		}
		sent = send_clump(w, &waiter, &at, c.n, family);
		left -= left == TX_QUOTA_NONE ? 0 : sent;
		if (sent < c.n)
			break;
	}
}

void tx_worker_run(struct tx_worker *w)
{
	struct tx_counts before, after;
	uint64_t now;

	if (w->n_flows) {
		switch (w->plan->family) {
		case TX_UDP4:
			send_all(w, TX_UDP4);
			break;
		case TX_UDP6:
			send_all(w, TX_UDP6);
			break;
		default:
			send_all(w, TX_RAW);
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
