/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several receiving threads get the packets of the same flows, in whatever order they come to run: what they count
 * together is what was dealt out, in all and of each flow.
 */
#include "lib/core/rand.h"
#include "measures.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 3U
#define FLOWS   7U
#define BURST   16U

static struct {
	struct measure *m;
	_Atomic unsigned ready;
	_Atomic uint64_t next;
	uint64_t count;
	_Atomic uint64_t lost, twice, of_flow[FLOWS];
} run;

struct receiver {
	pthread_t thread;
	unsigned number;
};

/* Packet n of the run is packet n / FLOWS of flow n mod FLOWS; one in 16 is lost, one in 32 comes twice. */
static unsigned deal(uint64_t n, struct stamped *s)
{
	const uint64_t chance = rand_mix(n + 1) % 64;

	stamped_usual(s, (uint32_t)(n % FLOWS), (uint32_t)(n / FLOWS), n);
	if (chance < 4)
		atomic_fetch_add(&run.lost, 1);
	else
		atomic_fetch_add(&run.of_flow[n % FLOWS], 1);
	if (chance >= 4 && chance < 6)
		atomic_fetch_add(&run.twice, 1);
	return chance < 4 ? 0 : chance < 6 ? 2 : 1;
}

static void *receive(void *arg)
{
	const struct receiver *r = arg;
	struct measure_worker *w = measure_worker(run.m, r->number);
	struct stamped *s = calloc(BURST, sizeof(*s));

	measure_clocks(w);
	atomic_fetch_add(&run.ready, 1);
	while (atomic_load(&run.ready) < THREADS)
		;
	for (;;) {
		uint64_t from = atomic_fetch_add(&run.next, BURST);
		struct pio_frame frames[2 * BURST];
		uint64_t when[2 * BURST];
		unsigned n = 0;

		if (from >= run.count)
			break;
		for (unsigned i = 0; i < BURST; i++) {
			for (unsigned copies = deal(from + i, &s[i]); copies; copies--) {
				when[n] = from + i + 500;
				frames[n++] = s[i].frame;
			}
		}
		measure_frames(w, frames, n, when, 0);
	}
	free(s);
	return NULL;
}

static uint64_t sent_of(const void *arg, uint32_t flow)
{
	(void)arg;
	return (run.count - flow + FLOWS - 1) / FLOWS;
}

static void run_it(bool per_flow, enum measure_clock clock)
{
	const struct measure_conf conf = {
		.run = MEASURE_TEST_RUN,
		.flows = FLOWS,
		.threads = THREADS,
		.per_flow = per_flow,
		.clock = clock,
		.arrivals = PIO_CLOCK_MONOTONIC,
	};
	struct receiver receivers[THREADS];
	const struct measure_sent sent = {
		.packets = run.count, .numbers = run.count, .flows = FLOWS, .of_flow = sent_of};
	struct measure_counts live;
	struct report_measure r;

	run.m = measure_ok(&conf);
	run.ready = 0;
	run.next = 0;
	run.lost = 0;
	run.twice = 0;
	for (unsigned i = 0; i < FLOWS; i++)
		run.of_flow[i] = 0;
	for (unsigned i = 0; i < THREADS; i++) {
		receivers[i].number = i;
		assert_int_equal(pthread_create(&receivers[i].thread, NULL, receive, &receivers[i]), 0);
	}
	measure_counts(run.m, &live); /* as a report does meanwhile */
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(receivers[i].thread, NULL);
	r = result_of(run.m, &sent, FLOWS);
	assert_int_equal(r.total.counts.late, 0); /* the windows are wide */
	assert_int_equal(r.total.counts.unique, run.count - run.lost);
	assert_int_equal(r.total.counts.duplicate, run.twice);
	assert_int_equal(r.total.lost, run.lost);
	/* All took 500 ns: without a clock nobody knows, but that none took longer than others. */
	assert_true(r.total.pdv.known && r.total.pdv.max == 0);
	if (clock != MEASURE_CLOCK_NONE) {
		assert_int_equal(r.total.latency->total, r.total.counts.unique);
		assert_true(r.total.latency->least - 1 == 500 && r.total.latency->greatest == 500);
	}
	assert_int_equal(r.n_flows, per_flow ? FLOWS : 0);
	for (unsigned i = 0; i < r.n_flows; i++) {
		const struct report_flow *f = &r.flows[i];

		assert_int_equal(f->unique, run.of_flow[f->flow]);
		assert_int_equal(f->lost, sent_of(NULL, f->flow) - run.of_flow[f->flow]);
		assert_int_equal(f->bytes, (14 + 20 + 8 + 18) * f->stamped);
		assert_int_equal(f->have_latency, clock != MEASURE_CLOCK_NONE);
		if (f->have_latency)
			assert_true(f->latency_min == 500 && f->latency_max == 500);
	}
	measure_close(run.m);
}

static void what_threads_count_adds_up(void **state)
{
	(void)state;
	run.count = FLOWS * BURST * 3000;
	run_it(false, MEASURE_CLOCK_SAME_HOST);
	run_it(true, MEASURE_CLOCK_SAME_HOST);
	run_it(true, MEASURE_CLOCK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_threads_count_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
