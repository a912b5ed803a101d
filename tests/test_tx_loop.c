/* SPDX-License-Identifier: Apache-2.0 */
/* The transmit loop over a queue made of memory that takes as much as a test lets it. */
#include "gen/plan_build.h"
#include "gen/tx_loop.h"
#include "lib/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES    128
#define FLOWS_MAX 64
#define SRC_PORT  1024

/* What the queue saw, and how it behaves. */
struct wire {
	struct pio_queue q;
	struct pio_port port;
	unsigned take;       /* frames that one tx call takes; 0: none ever */
	uint64_t fail_after; /* the queue dies after so many packets; 0: never */
	uint64_t packets;
	uint64_t per_flow[FLOWS_MAX];
	unsigned order[256];          /* the flows of the first packets */
	_Atomic bool *stop_when_full; /* set as soon as a call takes nothing */
};

static struct wire *wire_of(struct pio_queue *q)
{
	return (struct wire *)q;
}

static unsigned wire_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

static unsigned wire_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct wire *w = wire_of(q);
	unsigned done = n < w->take ? n : w->take;

	if (w->fail_after && w->packets >= w->fail_after) {
		pio_queue_fail(q, -EIO, EXIT_RUN, "cannot send", "the test says so");
		return 0;
	}
	for (unsigned i = 0; i < done; i++) {
		unsigned port = f[i].data[34] * 256U + f[i].data[35];

		assert_in_range(port, SRC_PORT, SRC_PORT + FLOWS_MAX - 1);
		assert_int_equal(f[i].len, 60);
		w->per_flow[port - SRC_PORT]++;
		if (w->packets < 256)
			w->order[w->packets] = port - SRC_PORT;
		w->packets++;
		pio_slot_done(q->port->pool, q->cache, pio_slot_of(q->port->pool, f[i].data, 1));
	}
	stats_add(&q->stats.tx.queued, done);
	stats_add(&q->stats.tx.completed, done);
	if (!done && w->stop_when_full)
		atomic_store(w->stop_when_full, true);
	return done;
}

static void wire_nothing(struct pio_queue *q)
{
	(void)q;
}

static const struct pio_queue_ops wire_ops = {
	.get = wire_get, .tx = wire_tx, .kick = wire_nothing, .sync = wire_nothing};

static struct wire *wire_new(void)
{
	struct wire *w = aligned_alloc(128, (sizeof(*w) + 127) / 128 * 128);

	assert_non_null(w);
	memset(w, 0, sizeof(*w));
	w->take = 64;
	w->q.ops = &wire_ops;
	w->q.port = &w->port;
	w->q.is_tx = true;
	assert_int_equal(pio_pool_create(&w->port.pool, FRAMES, 1514, NULL), 0);
	assert_int_equal(pio_cache_create(&w->q.cache, w->port.pool, FRAMES, false, NULL), 0);
	return w;
}

/* Every frame must have come home, whatever happened. */
static void wire_free(struct wire *w)
{
	assert_int_equal(w->q.cache->n, FRAMES);
	pio_cache_destroy(w->q.cache);
	pio_pool_destroy(w->port.pool);
	free(w);
}

static struct tx_plan *plan_of(uint64_t flows)
{
	struct config cfg = {.mode = MODE_UDP, .src_port = SRC_PORT, .dst_port = 9000, .flows = flows, .burst = 32};
	struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}};
	struct tx_plan *plan = malloc(sizeof(*plan));

	assert_non_null(plan);
	prefix_parse("10.9.9.9", &cfg.dst_ip);
	ip_parse("10.9.9.1", &ends.src_ip);
	assert_int_equal(gen_plan_build(&cfg, &ends, plan, NULL), 0);
	return plan;
}

struct run {
	_Atomic bool stop;
	struct limiter limiter;
	struct tx_worker w;
};

/* Queue q of n, unlimited, from now on. */
static void run_start(struct run *r, struct wire *wire, const struct tx_plan *plan, unsigned q, unsigned n,
		      uint64_t count, bool random_order)
{
	memset(r, 0, sizeof(*r));
	limiter_init(&r->limiter, &plan->pace, 0, clock_mono_ns(), UINT64_MAX);
	r->w.queue = &wire->q;
	r->w.limiter = &r->limiter;
	r->w.stop = &r->stop;
	r->w.end_ns = UINT64_MAX;
	assert_int_equal(tx_worker_init(&r->w, plan, q, n, count, random_order, NULL), 0);
}

static void count_is_dealt_by_flow_whatever_the_queues(void **state)
{
	static const uint64_t flows[] = {1, 2, 7, 50};
	static const uint64_t counts[] = {1, 6, 50, 1234};

	(void)state;
	for (unsigned f = 0; f < 4; f++)
		for (unsigned c = 0; c < 4; c++)
			for (unsigned queues = 1; queues <= 3; queues++) {
				struct tx_plan *plan = plan_of(flows[f]);
				uint64_t per_flow[FLOWS_MAX] = {0};

				for (unsigned q = 0; q < queues; q++) {
					struct wire *wire = wire_new();
					struct run r;

					run_start(&r, wire, plan, q, queues, counts[c], false);
					tx_worker_run(&r.w);
					for (unsigned i = 0; i < FLOWS_MAX; i++)
						per_flow[i] += wire->per_flow[i];
					tx_worker_free(&r.w);
					wire_free(wire);
				}
				/* Packet k belongs to flow k mod F. */
				for (uint64_t i = 0; i < FLOWS_MAX; i++)
					assert_int_equal(per_flow[i],
							 i < flows[f] ? (counts[c] + flows[f] - 1 - i) / flows[f] : 0);
				free(plan);
			}
}

static void a_queue_that_takes_little_gets_all_in_order(void **state)
{
	struct tx_plan *plan = plan_of(5);

	(void)state;
	for (unsigned take = 1; take <= 64; take *= 3) {
		struct wire *wire = wire_new();
		struct run r;

		wire->take = take;
		run_start(&r, wire, plan, 0, 1, 250, false);
		tx_worker_run(&r.w);
		assert_int_equal(wire->packets, 250);
		for (unsigned i = 0; i < 250; i++)
			assert_int_equal(wire->order[i], i % 5);
		tx_worker_free(&r.w);
		wire_free(wire);
	}
	free(plan);
}

static void random_order_visits_every_flow_once_a_cycle(void **state)
{
	struct tx_plan *plan = plan_of(50);
	struct wire *wire = wire_new();
	struct run r;
	unsigned in_step = 0;

	(void)state;
	run_start(&r, wire, plan, 0, 1, 100, true);
	tx_worker_run(&r.w);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(wire->per_flow[i], 2);
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(wire->order[i], wire->order[i + 50]);
		in_step += wire->order[i + 1] == wire->order[i] + 1;
	}
	assert_true(in_step < 10);
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

static void a_full_ring_is_given_up_on_stop(void **state)
{
	struct tx_plan *plan = plan_of(5);
	struct wire *wire = wire_new();
	struct run r;

	(void)state;
	wire->take = 0;
	run_start(&r, wire, plan, 0, 1, 0, false);
	wire->stop_when_full = &r.stop;
	tx_worker_run(&r.w);
	assert_int_equal(wire->packets, 0);
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

static void a_dead_queue_ends_the_loop(void **state)
{
	struct tx_plan *plan = plan_of(5);
	struct wire *wire = wire_new();
	struct run r;
	struct err e;

	(void)state;
	wire->fail_after = 100;
	wire->take = 10;
	run_start(&r, wire, plan, 0, 1, 0, false);
	tx_worker_run(&r.w);
	assert_in_range(wire->packets, 100, 109);
	assert_int_equal(pio_queue_error(&wire->q, &e), -EIO);
	assert_non_null(strstr(e.cause, "the test says so"));
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

/* A schedule of 1 ms gaps that lies behind as a whole, and of which everything is still to be sent. */
static void run_late(struct run *r, struct wire *wire, const struct tx_plan *plan, uint64_t length_ns)
{
	struct tx_pace pace = {.interval = {.ns = NS_PER_MS}, .burst = 32};
	uint64_t start = clock_mono_ns() - NS_PER_S;

	run_start(r, wire, plan, 0, 1, 0, false);
	limiter_init(&r->limiter, &pace, 3600 * NS_PER_S, start, start + length_ns);
}

static void a_schedule_is_sent_whole_and_no_further(void **state)
{
	struct tx_plan *plan = plan_of(5);
	struct wire *wire = wire_new();
	struct run r;

	(void)state;
	run_late(&r, wire, plan, 61 * NS_PER_MS);
	r.w.end_ns = clock_mono_ns() + 2 * NS_PER_MS;
	tx_worker_run(&r.w);
	assert_int_equal(wire->packets, 61);
	assert_int_equal(r.w.abandoned, 0);
	/* A run lasts as long as was asked, also when its last packet leaves earlier. */
	assert_true(r.w.last_ns >= r.w.end_ns);
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

static void what_is_too_late_after_the_end_is_not_sent(void **state)
{
	struct tx_plan *plan = plan_of(5);
	struct wire *wire = wire_new();
	struct run r;

	(void)state;
	run_late(&r, wire, plan, 61 * NS_PER_MS);
	r.w.end_ns = clock_mono_ns() - TX_GRACE_NS;
	tx_worker_run(&r.w);
	assert_int_equal(wire->packets, 0);
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

static void without_a_limit_the_end_is_the_end(void **state)
{
	struct tx_plan *plan = plan_of(5);
	struct wire *wire = wire_new();
	struct run r;

	(void)state;
	run_start(&r, wire, plan, 0, 1, 0, false);
	r.w.end_ns = clock_mono_ns();
	tx_worker_run(&r.w);
	assert_int_equal(wire->packets, 0);
	tx_worker_free(&r.w);
	wire_free(wire);
	free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(count_is_dealt_by_flow_whatever_the_queues),
		cmocka_unit_test(a_queue_that_takes_little_gets_all_in_order),
		cmocka_unit_test(random_order_visits_every_flow_once_a_cycle),
		cmocka_unit_test(a_full_ring_is_given_up_on_stop),
		cmocka_unit_test(a_dead_queue_ends_the_loop),
		cmocka_unit_test(a_schedule_is_sent_whole_and_no_further),
		cmocka_unit_test(what_is_too_late_after_the_end_is_not_sent),
		cmocka_unit_test(without_a_limit_the_end_is_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
