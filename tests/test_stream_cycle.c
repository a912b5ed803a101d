/* SPDX-License-Identifier: Apache-2.0 */
/* The round of shares: exact, even, and drawn from the seed. */
#include "gen/stream_cycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define STREAMS_MOST 64

static const struct {
	unsigned n;
	uint32_t shares[5];
	uint32_t len; /* their sum over their common divisor */
} cases[] = {
	{1, {1}, 1},
	{1, {7}, 1},
	{2, {3, 1}, 4},
	{2, {300, 100}, 4},
	{3, {1, 1, 1}, 3},
	{3, {7, 4, 1}, 12},
	{5, {1, 2, 3, 4, 5}, 15},
	{2, {16383, 1}, 16384},
	{4, {6, 10, 15, 1}, 32},
};

static uint8_t cycle[STREAM_CYCLE_MAX];

/* In any number of positions from any place on, a stream has its part, and not one whole position more or less. */
static void is_even(const uint32_t *shares, unsigned n, uint32_t len)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += shares[i];
	for (unsigned s = 0; s < n; s++) {
		double part = (double)shares[s] / (double)sum;
		double ahead = 0, most = 0, least = 0;

		for (uint32_t k = 0; k < len; k++) {
			ahead += (cycle[k] == s) - part;
			most = ahead > most ? ahead : most;
			least = ahead < least ? ahead : least;
		}
		assert_true(ahead < 1e-6 && ahead > -1e-6); /* over the round exactly */
		assert_true(most - least < 2);
	}
}

static void a_round_has_the_shares(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			assert_int_equal(stream_cycle_len(cases[i].shares, cases[i].n), cases[i].len);
			memset(cycle, 0xff, sizeof(cycle));
			stream_cycle_fill(cases[i].shares, cases[i].n, seed, cycle);
			is_even(cases[i].shares, cases[i].n, cases[i].len);
			if (cases[i].len < STREAM_CYCLE_MAX)
				assert_int_equal(cycle[cases[i].len], 0xff);
		}
}

static void the_seed_draws_the_order(void **state)
{
	static const uint32_t equal[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	uint8_t first[8], other[8];
	unsigned different = 0;

	(void)state;
	stream_cycle_fill(equal, 8, 1, first);
	stream_cycle_fill(equal, 8, 1, other);
	assert_memory_equal(first, other, 8);
	for (uint64_t seed = 2; seed < 22; seed++) {
		stream_cycle_fill(equal, 8, seed, other);
		different += memcmp(first, other, 8) != 0;
	}
	assert_in_range(different, 18, 20);
}

static void a_count_is_dealt_by_the_round(void **state)
{
	static const uint32_t shares[3] = {7, 4, 1};
	const uint32_t len = 12;

	(void)state;
	stream_cycle_fill(shares, 3, 1, cycle);
	for (uint64_t count = 0; count < 50; count++) {
		uint64_t counted[3] = {0};

		for (uint64_t k = 0; k < count; k++)
			counted[cycle[k % len]]++;
		for (uint8_t s = 0; s < 3; s++)
			assert_int_equal(stream_cycle_share(cycle, len, s, count), counted[s]);
	}
	assert_int_equal(stream_cycle_share(cycle, len, 0, 12000000000000), 7000000000000);
}

static void sixty_four_streams(void **state)
{
	uint32_t shares[STREAMS_MOST];

	(void)state;
	for (unsigned i = 0; i < STREAMS_MOST; i++)
		shares[i] = i + 1;
	assert_int_equal(stream_cycle_len(shares, STREAMS_MOST), 65 * 32);
	stream_cycle_fill(shares, STREAMS_MOST, 9, cycle);
	is_even(shares, STREAMS_MOST, 65 * 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_has_the_shares),
		cmocka_unit_test(the_seed_draws_the_order),
		cmocka_unit_test(a_count_is_dealt_by_the_round),
		cmocka_unit_test(sixty_four_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
