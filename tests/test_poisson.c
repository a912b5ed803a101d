/* SPDX-License-Identifier: Apache-2.0 */
/* Random departures against the distribution that they are to have, on a clock that the test turns. */
#include "limiter_case.h"

#include "gen/poisson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 200000U

static uint64_t at[N];

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The first N departures of all queues together, each claimed when it is due. */
static void depart(uint64_t micro_pps, uint64_t seed, unsigned queues)
{
	struct limiter l;

	init(&l, micro_pps, 32, 0);
	for (unsigned q = 0, i = 0; q < queues; q++) {
		struct poisson p;

		poisson_init(&p, &l, seed, q, queues);
		for (unsigned mine = N / queues + (q < N % queues); mine; mine--, i++) {
			struct limiter_claim c = poisson_claim(&p, &l, 1, START);

			assert_int_equal(c.n, 1);
			at[i] = c.departure_ns;
		}
	}
	qsort(at, N, sizeof(at[0]), by_time);
}

/*
 * Mean, standard deviation, and the greatest distance of the gaps' distribution from 1 - exp(-x / mean). That many
 * departures have them within 0.22 %, 0.32 % and 1.95 / sqrt(N), at one in a thousand (Kolmogorov and Smirnov).
 */
static void judge(double mean_ns, unsigned n)
{
	static uint64_t gaps[N];
	double sum = 0, squares = 0, distance = 0, mean;

	for (unsigned i = 1; i < n; i++) {
		gaps[i - 1] = at[i] - at[i - 1];
		sum += (double)gaps[i - 1];
		squares += (double)gaps[i - 1] * (double)gaps[i - 1];
	}
	n--;
	mean = sum / n;
	qsort(gaps, n, sizeof(gaps[0]), by_time);
	for (unsigned i = 0; i < n; i++) {
		double f = 1 - exp(-((double)gaps[i] + 0.5) / mean_ns);

		distance = fmax(distance, fmax(fabs(f - (double)i / n), fabs(f - (i + 1.0) / n)));
	}
	assert_true(fabs(mean / mean_ns - 1) < 0.01);
	assert_true(fabs(sqrt(squares / n - mean * mean) / mean_ns - 1) < 0.01);
	assert_true(distance < 1.95 / sqrt(n));
}

static void gaps_are_exponential(void **state)
{
	static const uint64_t rates[] = {500000, 1700000000, 10000000000, 200000000000};

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t seed = 0; seed < 3; seed++) {
			depart(rates[i], seed, 1);
			judge(1e15 / (double)rates[i], N);
		}
}

/* Queues run out at different times when each has as many: what is judged is well before that. */
static void queues_together_are_one_process(void **state)
{
	(void)state;
	for (unsigned queues = 2; queues <= 5; queues++) {
		depart(pps(10000), 7, queues);
		judge(1e5, N / 10 * 9);
	}
}

static void a_seed_is_a_schedule(void **state)
{
	static uint64_t first[N];
	unsigned same = 0;

	(void)state;
	depart(pps(10000), 1, 2);
	memcpy(first, at, sizeof(at));
	depart(pps(10000), 1, 2);
	assert_memory_equal(first, at, sizeof(at));
	depart(pps(10000), 2, 2);
	for (unsigned i = 0; i < N; i++)
		same += first[i] == at[i];
	assert_true(same < 10);
}

/* Neither when a claim is made nor how much it takes changes when packets depart, and all up to the end do. */
static void the_schedule_is_absolute(void **state)
{
	struct tx_pace pace = pace_of(pps(10000), 32);
	struct limiter_claim c;
	struct poisson p;
	struct limiter l;
	uint64_t due = 0, sum = 0;

	(void)state;
	depart(pps(10000), 3, 1);
	while (at[due] < START + S)
		due++;
	limiter_init(&l, &pace, S, START, START + S);
	poisson_init(&p, &l, 3, 0, 1);
	while (c = poisson_claim(&p, &l, 64, START + sum * 101000), c.n) {
		assert_in_range(c.n, 1, 32);
		assert_int_equal(c.departure_ns, at[sum]);
		sum += c.n;
	}
	assert_int_equal(sum, due);
	assert_int_equal(p.drawn, due);
	assert_int_equal(poisson_rest(&p, &l), 0);
}

static void a_stall_is_repaid_up_to_catch_up(void **state)
{
	struct limiter_claim c;
	struct poisson p;
	struct limiter l;
	uint64_t sum = 0;

	(void)state;
	init(&l, pps(10000), 32, S / 10);
	poisson_init(&p, &l, 3, 0, 1);
	/* 1 s late: about 9,000 are passed over and 1,000 repaid, give or take five standard deviations. */
	while (c = poisson_claim(&p, &l, 64, START + S), c.departure_ns <= START + S) {
		assert_true(c.departure_ns >= START + S * 9 / 10);
		sum += c.n;
	}
	assert_in_range(sum, 840, 1160);
	assert_in_range(p.drawn - sum, 8520, 9480);
}

/* A rate that nothing keeps: what is passed over is as many as the mean gives, and is not drawn one by one. */
static void a_stall_of_billions_is_passed_over_at_once(void **state)
{
	struct limiter_claim c;
	struct poisson p;
	struct limiter l;

	(void)state;
	init(&l, pps(10000000000), 32, S / 10);
	poisson_init(&p, &l, 3, 0, 1);
	for (uint64_t hour = 1; hour <= 24; hour++) {
		uint64_t now = START + hour * 3600 * S;
		uint64_t passed = now - START - S / 10;
		double due = (double)passed * 10;

		c = poisson_claim(&p, &l, 64, now);
		assert_int_equal(c.n, 32);
		assert_in_range(c.departure_ns, now - S / 10, now - S / 10 + 100);
		assert_true(fabs((double)p.drawn / due - 1) < 1e-6);
	}
}

static void the_rate_can_change(void **state)
{
	struct poisson p;
	struct limiter l;

	(void)state;
	init(&l, pps(10000), 32, 0);
	poisson_init(&p, &l, 5, 0, 1);
	assert_true(limiter_scale(&l, 7)); /* 1.1^7 */
	for (unsigned i = 0; i < N; i++)
		at[i] = poisson_claim(&p, &l, 1, START).departure_ns;
	judge(1e5 / 1.9487171, N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_exponential),
		cmocka_unit_test(queues_together_are_one_process),
		cmocka_unit_test(a_seed_is_a_schedule),
		cmocka_unit_test(the_schedule_is_absolute),
		cmocka_unit_test(a_stall_is_repaid_up_to_catch_up),
		cmocka_unit_test(a_stall_of_billions_is_passed_over_at_once),
		cmocka_unit_test(the_rate_can_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
