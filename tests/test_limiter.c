/* SPDX-License-Identifier: Apache-2.0 */
/* The departure-time bucket, against exact arithmetic and a clock that the test turns. */
#include "limiter_case.h"

static void departs_exactly_for_ten_billion_packets(void **state)
{
	static const uint64_t rates[] = {500000,     1000000,     3000000,      1200000000,
					 1700000000, 33333000000, 100000000000, 14880952000000};
	struct limiter l;

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		init(&l, rates[i], 32, 0);
		for (uint64_t k = 1; k <= 10000000000ULL; k *= 10) {
			uint64_t exact = (uint64_t)((uint128)k * 1000000000000000ULL / rates[i]);
			uint64_t got = limiter_departure(&l, k) - START;

			assert_in_range(got, exact, exact + 3);
		}
	}
}

static void low_rates_leave_one_by_one(void **state)
{
	struct limiter l;

	(void)state;
	init(&l, pps(100000), 32, S / 10);
	for (uint64_t k = 0; k < 1000; k++) {
		struct limiter_claim c = limiter_claim(&l, 64, START + k * 10000 + k % 2 * 5000); /* or a little late */

		assert_int_equal(c.n, 1);
		assert_int_equal(c.departure_ns, START + k * 10000);
	}
}

static void clumps_are_bounded_by_burst(void **state)
{
	struct limiter l;

	(void)state;
	for (uint32_t burst = 1; burst <= 64; burst *= 2) {
		init(&l, pps(100000000), burst, S / 10);
		for (int i = 0; i < 100; i++)
			assert_in_range(limiter_claim(&l, 64, START).n, 1, burst);
		/* Late by 10 ms, a million packets: still no larger clump. */
		for (int i = 0; i < 100; i++)
			assert_in_range(limiter_claim(&l, 64, START + S / 100).n, 1, burst);
	}
}

/* Whatever the number of claimers and their order: each position once, in departure order. */
static void claims_cover_the_schedule_once(void **state)
{
	struct limiter l;
	uint64_t next = 0;
	uint64_t now = START;

	(void)state;
	init(&l, pps(1000000), 32, S / 10);
	for (uint32_t i = 0; i < 100000; i++) {
		struct limiter_claim c = limiter_claim(&l, i % 7 + 1, now);

		assert_int_equal(c.departure_ns, limiter_departure(&l, next));
		assert_in_range(c.n, 1, i % 7 + 1);
		next += c.n;
		now = c.departure_ns > now ? c.departure_ns : now;
	}
}

static void a_stall_is_repaid_up_to_catch_up(void **state)
{
	struct limiter l;
	struct limiter_claim c;
	uint64_t sent = 0;
	uint64_t now = START + S;

	(void)state;
	/* 1 s late at 10 kpps with 100 ms of patience: positions before 0.9 s are passed over, 9000 of them. */
	init(&l, pps(10000), 32, S / 10);
	c = limiter_claim(&l, 64, now);
	assert_int_equal(c.departure_ns, START + S * 9 / 10);
	sent += c.n;
	for (;;) {
		c = limiter_claim(&l, 64, now);
		if (c.departure_ns >= now)
			break;
		assert_true(c.n <= 32);
		sent += c.n;
	}
	assert_in_range(sent, 1000, 1001);
	assert_int_equal(limiter_claimed(&l) - c.n - sent, 9000);
}

static void without_catch_up_nothing_is_repaid(void **state)
{
	struct limiter l;
	struct limiter_claim c;

	(void)state;
	init(&l, pps(10000), 32, 0);
	c = limiter_claim(&l, 64, START + S + 50000);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.departure_ns, START + S);
	/* A claim that is late by less than an interval is on time. */
	assert_int_equal(limiter_claim(&l, 64, START + S + 150000).departure_ns, START + S + 100000);
}

static uint64_t positions_in(uint64_t micro_pps, uint64_t ns)
{
	struct tx_pace p = pace_of(micro_pps, 32);
	struct limiter l;

	limiter_init(&l, &p, 0, START, START + ns);
	return limiter_positions(&l);
}

/* N / r seconds hold N positions, whether or not the interval is a whole number of ns. */
static void nothing_departs_at_or_after_the_end(void **state)
{
	(void)state;
	assert_int_equal(positions_in(pps(1000), 0), 0);
	assert_int_equal(positions_in(pps(1000), 1), 1);
	assert_int_equal(positions_in(pps(1000), 1000000), 1);
	assert_int_equal(positions_in(pps(1000), 1000001), 2);
	assert_int_equal(positions_in(pps(1000), 5 * S), 5000);
	assert_int_equal(positions_in(500000, 8 * S), 4);
	assert_int_equal(positions_in(pps(33333), 10 * S), 333330);
}

/* Early, on time or late, in clumps: together the claims are the schedule, and then it is over. */
static void a_schedule_is_claimed_to_its_end_and_no_further(void **state)
{
	static const uint64_t rates[] = {1000, 999983, 40000000};
	static const uint64_t lateness[] = {0, S / 1000, S / 20};

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned i = 0; i < 3; i++) {
			struct tx_pace p = pace_of(pps(rates[r]), 32);
			struct limiter_claim c = {.departure_ns = START};
			struct limiter l;
			uint64_t sum = 0;

			limiter_init(&l, &p, S, START, START + S / 50);
			do {
				c = limiter_claim(&l, 64, c.departure_ns + lateness[i]);
				sum += c.n;
			} while (c.n);
			assert_int_equal(sum, (rates[r] + 49) / 50);
			assert_int_equal(limiter_claim(&l, 64, START).n, 0);
			assert_int_equal(limiter_claim(&l, 64, START + S).n, 0);
		}
}

static void unlimited_gives_what_is_asked(void **state)
{
	struct tx_pace p = {.burst = 32};
	struct limiter l;
	struct limiter_claim c;

	(void)state;
	limiter_init(&l, &p, S / 10, START, START + S);
	c = limiter_claim(&l, 64, START + 17);
	assert_int_equal(c.n, 64);
	assert_int_equal(c.departure_ns, START + 17);
	assert_int_equal(limiter_claim(&l, 64, START + 2 * S).n, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(departs_exactly_for_ten_billion_packets),
		cmocka_unit_test(low_rates_leave_one_by_one),
		cmocka_unit_test(clumps_are_bounded_by_burst),
		cmocka_unit_test(claims_cover_the_schedule_once),
		cmocka_unit_test(a_stall_is_repaid_up_to_catch_up),
		cmocka_unit_test(without_catch_up_nothing_is_repaid),
		cmocka_unit_test(nothing_departs_at_or_after_the_end),
		cmocka_unit_test(a_schedule_is_claimed_to_its_end_and_no_further),
		cmocka_unit_test(unlimited_gives_what_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
