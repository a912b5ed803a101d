/* SPDX-License-Identifier: Apache-2.0 */
/* tx_wire: a transmit queue made of memory that shows a test every frame, and a worker that sends into it. */
#ifndef SQUALL_TESTS_TX_WIRE_H
#define SQUALL_TESTS_TX_WIRE_H

#include "gen/plan_build.h"
#include "gen/tx_loop.h"
#include "lib/clock.h"
#include "option_case.h"

#include <stdlib.h>

#define TX_WIRE_FRAMES 64U

struct tx_wire {
	struct pio_queue q; /* first */
	struct pio_port port;
	void (*saw)(void *arg, const unsigned char *frame, uint32_t len);
	void *arg;
};

static unsigned tx_wire_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

static unsigned tx_wire_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct tx_wire *w = (struct tx_wire *)q;

	for (unsigned i = 0; i < n; i++) {
		w->saw(w->arg, f[i].data, f[i].len);
		pio_slot_done(q->port->pool, q->cache, pio_slot_of(q->port->pool, f[i].data, 1));
	}
	stats_add(&q->stats.tx.queued, n);
	stats_add(&q->stats.tx.completed, n);
	return n;
}

static void tx_wire_nothing(struct pio_queue *q)
{
	(void)q;
}

static const struct pio_queue_ops tx_wire_ops = {
	.get = tx_wire_get, .tx = tx_wire_tx, .kick = tx_wire_nothing, .sync = tx_wire_nothing};

static inline struct tx_wire *tx_wire_new(void (*saw)(void *arg, const unsigned char *frame, uint32_t len), void *arg)
{
	struct tx_wire *w = aligned_alloc(128, (sizeof(*w) + 127) / 128 * 128);

	assert_non_null(w);
	memset(w, 0, sizeof(*w));
	w->q.ops = &tx_wire_ops;
	w->q.port = &w->port;
	w->q.is_tx = true;
	w->saw = saw;
	w->arg = arg;
	assert_int_equal(pio_pool_create(&w->port.pool, TX_WIRE_FRAMES, GEN_FRAME_MAX, NULL), 0);
	assert_int_equal(pio_cache_create(&w->q.cache, w->port.pool, TX_WIRE_FRAMES, false, NULL), 0);
	return w;
}

/* Every frame must have come home. */
static inline void tx_wire_free(struct tx_wire *w)
{
	assert_int_equal(w->q.cache->n, TX_WIRE_FRAMES);
	pio_cache_destroy(w->q.cache);
	pio_pool_destroy(w->port.pool);
	free(w);
}

/* Queue q of n sends its part of count packets, as fast as they go. */
static inline void tx_wire_send(struct tx_wire *w, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
				bool random_order)
{
	static const struct tx_pace unlimited = {.burst = 32};
	_Atomic bool stop = false;
	struct limiter limiter;
	struct tx_worker worker = {.queue = &w->q, .limiter = &limiter, .end_ns = UINT64_MAX, .stop = &stop};
	struct err e;

	limiter_init(&limiter, &unlimited, 0, clock_mono_ns(), UINT64_MAX);
	if (tx_worker_init(&worker, plan, q, n, count, random_order, &e))
		fail_msg("%s", e.cause);
	tx_worker_run(&worker);
	tx_worker_free(&worker);
}

/* The plan of a command line, whose options are then in cfg. */
static inline void tx_wire_plan(const char *line, struct tx_plan *plan)
{
	struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}};
	struct ip first;
	struct err e;

	good(line);
	gen_check(&cfg, &problems);
	if (problems.n)
		fail_msg("%s: %s: %s", line, problems.e[0].object, problems.e[0].cause);
	prefix_hosts(&cfg.src_ip, &first);
	ends.src_ip = first;
	ip_parse(strstr(cfg.tunnel, ":") ? "2001:db8::7" : "192.0.2.7", &ends.outer_src);
	if (gen_plan_build(&cfg, &ends, plan, &e))
		fail_msg("%s: %s", line, e.cause);
}

#endif
