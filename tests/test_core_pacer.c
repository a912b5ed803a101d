/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ULL

__extension__ typedef unsigned __int128 wide;

/* The interval of a rate, events in so many seconds, cut to 2^-32 ns. */
static struct pacer_rate rate(uint64_t events, uint64_t seconds)
{
	wide scaled = (((wide)seconds * SECOND) << 32) / events;

	return (struct pacer_rate){.ns = (uint64_t)(scaled >> 32), .frac = (uint32_t)scaled};
}

static uint64_t exact(const struct pacer_rate *r, uint64_t k)
{
	return (uint64_t)(((((wide)r->ns) << 32 | r->frac) * k) >> 32);
}

static const struct {
	uint64_t events, seconds;
} rates[] = {
	{1, 10},          {1, 1},         {3, 1},          {7, 1},           {100, 1},
	{1000, 1},        {99999, 1},     {100000, 1},     {333333, 1},      {1488095, 1},
	{14880952, 1},    {148809523, 1}, {1000000007, 1}, {12500000000, 1}, {123456789, 10000},
	{50000000000, 1},
};

#define N_RATES (sizeof(rates) / sizeof(rates[0]))

/* k up to 10^12, dense at first and at every power of two, as far as the contract goes (k * interval < 2^64 ns). */
static void offset_is_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_RATES; i++) {
		struct pacer_rate r = rate(rates[i].events, rates[i].seconds);
		uint64_t k = 0;

		while (k <= 1000000000000ULL) {
			if ((wide)k * (r.ns + 1) >> 64)
				break;
			assert_true(pacer_offset(&r, k) == exact(&r, k));
			k += k < 1000 ? 1 : k / 97;
		}
		for (unsigned bit = 10; bit < 40; bit++) {
			for (k = (1ULL << bit) - 1; k <= (1ULL << bit) + 1; k++)
				if (!((wide)k * (r.ns + 1) >> 64))
					assert_true(pacer_offset(&r, k) == exact(&r, k));
		}
	}
}

/* What the header promises: under 3 ns after 10^10 positions, for any rate that gets there. */
static void error_does_not_accumulate(void **state)
{
	const uint64_t k = 10000000000ULL;

	(void)state;
	for (size_t i = 0; i < N_RATES; i++) {
		struct pacer_rate r = rate(rates[i].events, rates[i].seconds);
		wide ideal = (wide)k * rates[i].seconds * SECOND / rates[i].events;

		if (ideal >> 64)
			continue;
		assert_true(pacer_offset(&r, k) <= ideal);
		assert_true(ideal - pacer_offset(&r, k) <= 3);
	}
}

static void zero_interval_is_no_wait(void **state)
{
	struct pacer_rate none = {0, 0};

	(void)state;
	assert_true(pacer_offset(&none, 0) == 0);
	assert_true(pacer_offset(&none, UINT64_MAX) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_is_exact),
		cmocka_unit_test(error_does_not_accumulate),
		cmocka_unit_test(zero_interval_is_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
