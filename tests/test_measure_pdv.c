/* SPDX-License-Identifier: Apache-2.0 */
/* How much longer than the shortest packets took: the same with a clock in common and without one. */
#include "measures.h"

#include "lib/core/rand.h"

#include <stdlib.h>

#define PACKETS 20000U
#define STREAMS 2U

/* Clocks that are so far apart, at either side of where the stamps' 40 bits come round. */
static const uint64_t apart[] = {
	0, 5, 1ULL << 20, (1ULL << 39) - 3, 1ULL << 39, (1ULL << 40) - 100, 0x123456789abcdefULL};

static uint64_t took[PACKETS];

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct report_measure measured(struct measure **m, enum measure_clock clock, uint64_t add, unsigned threads)
{
	static const struct measure_stream streams[STREAMS] = {{0, "even"}, {1, "odd"}};
	const struct measure_conf conf = {
		.run = MEASURE_TEST_RUN,
		.flows = STREAMS,
		.threads = threads,
		.clock = clock,
		.arrivals = PIO_CLOCK_MONOTONIC,
		.n_streams = STREAMS,
		.streams = streams,
	};

	*m = measure_ok(&conf);
	for (uint32_t i = 0; i < PACKETS; i++)
		came(*m, i % threads, i % STREAMS, i / STREAMS, 1000 * i, 1000 * i + took[i] + add);
	return result_of(*m, NULL, 0);
}

/* Within what a histogram is exact to of the distance from the reference, which is one of the first packets. */
static void near(uint64_t value, uint64_t exact, uint64_t least, uint64_t first)
{
	uint64_t at = exact + least;
	uint64_t far = at > first ? at - first : first - at;
	uint64_t off = value > exact ? value - exact : exact - value;

	if (off > far / 128 + 1)
		fail_msg("%lu, not %lu", (unsigned long)value, (unsigned long)exact);
}

static void check(const struct report_pdv *p, const uint64_t *sorted, uint32_t n, uint64_t first)
{
	assert_true(p->known);
#define NEAR(key, in_a_million) \
	near(p->key, sorted[((uint64_t)n * in_a_million + 999999) / 1000000 - 1] - sorted[0], sorted[0], first);
	REPORT_QUANTILES(NEAR)
#undef NEAR
	assert_int_equal(p->max, sorted[n - 1] - sorted[0]);
}

static void against_the_times_themselves(uint64_t least, uint64_t spread, uint64_t first)
{
	uint64_t random = 7;
	uint64_t sorted[STREAMS + 1][PACKETS];

	for (uint32_t i = 0; i < PACKETS; i++) {
		took[i] = i ? least + rand_next(&random) % spread : first;
		sorted[STREAMS][i] = took[i];
		sorted[i % STREAMS][i / STREAMS] = took[i];
	}
	qsort(sorted[STREAMS], PACKETS, sizeof(uint64_t), ascending);
	for (unsigned s = 0; s < STREAMS; s++)
		qsort(sorted[s], PACKETS / STREAMS, sizeof(uint64_t), ascending);
	for (size_t k = 0; k < sizeof(apart) / sizeof(apart[0]); k++)
		for (unsigned threads = 1; threads <= 3; threads += 2) {
			struct measure *m;
			struct report_measure r = measured(&m, MEASURE_CLOCK_NONE, apart[k], threads);

			assert_null(r.clock);
			assert_int_equal(r.total.latency->total, 0);
			check(&r.total.pdv, sorted[STREAMS], PACKETS, first);
			for (unsigned s = 0; s < STREAMS; s++)
				check(&r.streams[s].pdv, sorted[s], PACKETS / STREAMS, first);
			measure_close(m);
		}
}

static void without_a_clock(void **state)
{
	(void)state;
	against_the_times_themselves(1000, 500, 1200);
	against_the_times_themselves(50000000, 3000, 50000000); /* the first is the shortest */
	against_the_times_themselves(50000000, 3000, 50400000); /* and slower than all others */
	against_the_times_themselves(1000, 1, 1000);
	against_the_times_themselves(7, 1000000000, 400000000);
}

/* By the latencies' own histogram. */
static void with_a_clock(void **state)
{
	struct measure *m;
	struct report_measure r;

	(void)state;
	for (uint32_t i = 0; i < PACKETS; i++)
		took[i] = 100 + i % 10;
	r = measured(&m, MEASURE_CLOCK_SAME_HOST, 0, 1);
	assert_true(r.total.pdv.known);
	assert_int_equal(r.total.pdv.p50, 4);
	assert_int_equal(r.total.pdv.p90, 8);
	assert_int_equal(r.total.pdv.max, 9);
	measure_close(m);
}

static void of_nothing(void **state)
{
	const struct measure_conf conf = {.run = MEASURE_RUN_ANY, .threads = 1};
	struct measure *m = measure_ok(&conf);

	(void)state;
	assert_false(result_of(m, NULL, 0).total.pdv.known);
	measure_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_clock),
		cmocka_unit_test(with_a_clock),
		cmocka_unit_test(of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
