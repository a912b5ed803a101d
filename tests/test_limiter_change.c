/* SPDX-License-Identifier: Apache-2.0 */
/* The limiter when its rate changes on the way, and when packets leave in groups. */
#include "limiter_case.h"

#include <pthread.h>

/* The next position keeps its time; those after it have the new interval, exactly, however many changes there were. */
static void a_change_of_rate_makes_no_burst_and_no_error(void **state)
{
	/* 2^-32 ns, by the definition: the base's interval, a tenth slower or faster each step, rounded up. */
	const uint128 base = ((uint128)1000000000000000ULL << 32) / 33333000000 + 1;
	const uint128 faster = (base * 10 + 10) / 11;
	const uint128 slower = (base * 11 + 9) / 10;
	const struct {
		int step;
		uint128 interval;
	} parts[] = {{0, base}, {1, faster}, {-1, base}, {-1, slower}, {1, base}, {1, faster}};
	struct limiter l;
	uint128 exact = (uint128)START << 32;
	uint64_t sum = 0;

	(void)state;
	init(&l, 33333000000, 32, 0);
	for (unsigned p = 0; p < 6; p++) {
		if (p)
			assert_true(limiter_scale(&l, parts[p].step));
		for (unsigned i = 0; i < 10007; i++) {
			uint64_t due = (uint64_t)(exact >> 32);
			struct limiter_claim c = limiter_claim(&l, 64, due);

			assert_int_equal(c.departure_ns, due);
			assert_int_equal(c.n, 1);
			exact += parts[p].interval;
			sum++;
		}
		assert_int_equal(limiter_claimed(&l), sum);
		assert_int_equal(limiter_span(&l, sum), (uint64_t)(exact >> 32) - START);
	}
}

/* Hours on end: a change after 10^10 positions starts where the exact schedule is, to a ns for rounding the rate. */
static void a_change_after_ten_billion_packets_is_exact(void **state)
{
	const uint64_t k = 10000000000ULL;
	struct limiter l;
	uint64_t due;

	(void)state;
	init(&l, 1700000000, 32, 0);
	due = START + (uint64_t)((uint128)k * 1000000000000000ULL / 1700000000);
	atomic_store(&l.next, k);
	assert_in_range(limiter_claim(&l, 1, START).departure_ns, due, due + 3);
	assert_true(limiter_scale(&l, 3));
	assert_true(limiter_scale(&l, -3));
	due = START + (uint64_t)((uint128)(2 * k) * 1000000000000000ULL / 1700000000);
	assert_in_range(limiter_departure(&l, k - 1), due, due + 6);
}

/* What the run has in all, and where its rate cannot go. */
static void a_changed_schedule_still_ends(void **state)
{
	struct tx_pace p = pace_of(pps(1100), 32);
	struct tx_pace unlimited = {.burst = 32};
	struct limiter l;
	uint64_t sum = 0;
	uint32_t n;

	(void)state;
	limiter_init(&l, &p, S, START, START + 10 * S);
	for (; sum < 5500; sum++) /* half of the time */
		assert_int_equal(limiter_claim(&l, 1, START).n, 1);
	assert_true(limiter_scale(&l, -1)); /* the other half at 1000 pps */
	assert_in_range(limiter_positions(&l), 10499, 10501);
	while ((n = limiter_claim(&l, 64, START).n))
		sum += n;
	assert_int_equal(sum, limiter_positions(&l));

	limiter_init(&l, &unlimited, S, START, START + 10 * S);
	assert_false(limiter_scale(&l, 1));
	assert_int_equal(limiter_claim(&l, 64, START).n, 64);
	init(&l, pps(1000), 32, 0);
	assert_false(limiter_scale(&l, 0));
	assert_false(limiter_scale(&l, 100000));
	assert_false(limiter_scale(&l, -100000));
	assert_int_equal(limiter_departure(&l, 1), START + S / 1000);
}

/* Bursts of N every T: N positions at each multiple of T, in claims of what a sender can take. */
static void groups_leave_together(void **state)
{
	static const uint32_t sizes[] = {1, 2, 64, 100, 1000};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct tx_pace p = {.interval.ns = S / 100, .burst = 32, .group = sizes[i]};
		struct limiter_claim c;
		struct limiter l;
		uint64_t sum = 0;

		limiter_init(&l, &p, S, START, START + S);
		assert_int_equal(limiter_positions(&l), 100 * sizes[i]);
		/* Early, or late by less than an interval, or by three. */
		while (c = limiter_claim(&l, 48, START + sum % 7 * S / 200), c.n) {
			uint64_t last = sum + c.n - 1;

			assert_int_equal(c.departure_ns, START + sum / sizes[i] * (S / 100));
			assert_int_equal(sum / sizes[i], last / sizes[i]); /* of one group */
			assert_in_range(c.n, 1, 48);
			sum += c.n;
		}
		assert_int_equal(sum, 100 * sizes[i]);
	}
}

static void a_group_keeps_together_when_late_or_changed(void **state)
{
	struct tx_pace p = {.interval.ns = 1100, .burst = 32, .group = 10};
	struct limiter_claim c;
	struct limiter l;

	(void)state;
	limiter_init(&l, &p, 0, START, UINT64_MAX);
	assert_int_equal(limiter_claim(&l, 3, START).n, 3);
	/* Late within the interval: the rest of the group, no part of it anew. */
	c = limiter_claim(&l, 4, START + 1000);
	assert_int_equal(c.n, 4);
	assert_int_equal(c.departure_ns, START);
	/* In the middle of a group: the rest leaves at its time, the next one an interval of the new rate later. */
	assert_true(limiter_scale(&l, 1));
	c = limiter_claim(&l, 64, START);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.departure_ns, START);
	assert_int_equal(limiter_claimed(&l), 10);
	c = limiter_claim(&l, 64, START);
	assert_int_equal(c.n, 10);
	assert_int_equal(c.departure_ns, START + 1000);
	/* Late by two and a half: two are passed over. */
	c = limiter_claim(&l, 64, START + 4500);
	assert_int_equal(c.departure_ns, START + 4000);
	assert_int_equal(limiter_claimed(&l), 50);
}

struct claimer {
	struct limiter *l;
	pthread_t thread;
	_Atomic uint64_t claimed;
};

static void *claim_much(void *arg)
{
	struct claimer *c = arg;
	uint64_t sum = 0;

	/* Never late, so that nothing is passed over. */
	for (int i = 0; i < 300000; i++)
		sum += limiter_claim(c->l, 7, START).n;
	atomic_store(&c->claimed, sum);
	return NULL;
}

static void claims_during_changes_are_made_once(void **state)
{
	struct claimer claimers[3];
	static struct limiter l;
	uint64_t sum = 0;
	bool running = true;

	(void)state;
	init(&l, pps(10000000), 32, 0);
	for (int i = 0; i < 3; i++) {
		claimers[i].l = &l;
		atomic_init(&claimers[i].claimed, 0);
		assert_int_equal(pthread_create(&claimers[i].thread, NULL, claim_much, &claimers[i]), 0);
	}
	for (int i = 0; running; i++) {
		assert_true(limiter_scale(&l, i % 2 ? -1 : 1));
		running = !atomic_load(&claimers[0].claimed);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(claimers[i].thread, NULL), 0);
		sum += atomic_load(&claimers[i].claimed);
	}
	assert_int_equal(limiter_claimed(&l), sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_of_rate_makes_no_burst_and_no_error),
		cmocka_unit_test(a_change_after_ten_billion_packets_is_exact),
		cmocka_unit_test(a_changed_schedule_still_ends),
		cmocka_unit_test(claims_during_changes_are_made_once),
		cmocka_unit_test(groups_leave_together),
		cmocka_unit_test(a_group_keeps_together_when_late_or_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
