/* SPDX-License-Identifier: Apache-2.0 */
/* How long a waiter sleeps, on a clock that the test turns. */
#include "gen/wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US 1000ULL
#define MS 1000000ULL
#define S  1000000000ULL

static void a_precise_waiter_sleeps_no_nearer_than_it_was_seen_late(void **state)
{
	struct waiter w;

	(void)state;
	waiter_init(&w, false);
	for (int i = 0; i < 10000; i++)
		waiter_woke(&w, S, S + 60 * US);
	/* Settled: far enough for a wake-up that is as late as those, not so far that it spins for long. */
	assert_in_range(w.margin_ns, 60 * US, 130 * US);
	assert_int_equal(waiter_sleep_end(&w, S + 2 * MS, S), S + 2 * MS - w.margin_ns);
	assert_int_equal(waiter_sleep_end(&w, S + w.margin_ns, S), 0);
	/* Once later than ever before: the next sleep allows for it. */
	waiter_woke(&w, S, S + 400 * US);
	assert_in_range(S + 2 * MS - waiter_sleep_end(&w, S + 2 * MS, S), 400 * US, 1 * MS);
	/* However late: a departure that is a second away is not spun for. */
	waiter_woke(&w, S, S + S);
	assert_in_range(waiter_sleep_end(&w, S + 10 * MS, S), S + 8 * MS, S + 10 * MS);
}

static void a_stop_is_noticed_in_time(void **state)
{
	struct waiter w;

	(void)state;
	for (int sleeps = 0; sleeps <= 1; sleeps++) {
		waiter_init(&w, sleeps);
		assert_in_range(waiter_sleep_end(&w, 3600 * S, S), S + 1, S + 20 * MS);
	}
}

/* At any rate: never spins, wakes no more than 1,000 times a second, never before the time, and at most 1 ms after. */
static void a_sleeping_waiter_wakes_a_thousand_times_a_second_at_most(void **state)
{
	static const uint64_t gaps[] = {1 * US, 70 * US, 100 * US, 999 * US, 1 * MS, 1001 * US, 7 * MS};

	(void)state;
	for (unsigned i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		uint64_t now = S;
		unsigned wakes = 0;
		struct waiter w;

		waiter_init(&w, true);
		for (uint64_t t = S + gaps[i]; t < 3 * S; t += gaps[i]) {
			uint64_t before = now;

			if (t <= now)
				continue;
			now = waiter_sleep_end(&w, t, now);
			assert_in_range(now, t, t + MS);
			assert_true(!wakes || now - before >= MS);
			waiter_woke(&w, now, now);
			wakes++;
		}
		assert_in_range(wakes, 2 * S / (7 * MS) - 1, 2001);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_precise_waiter_sleeps_no_nearer_than_it_was_seen_late),
		cmocka_unit_test(a_stop_is_noticed_in_time),
		cmocka_unit_test(a_sleeping_waiter_wakes_a_thousand_times_a_second_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
