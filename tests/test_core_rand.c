/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The published first values of splitmix64 for seed 1234567. */
static void published_sequence(void **state)
{
	static const uint64_t expected[] = {
		6457827717110365317ULL, 3203168211198807973ULL,  9817491932198370423ULL,
		4593380528125082431ULL, 16408922859458223821ULL,
	};
	uint64_t seed = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(rand_next(&seed) == expected[i]);
}

/* A loss of 1 % is meant to be 1 %: the values are spread evenly over their range, whatever the seed. */
static void evenly_spread(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		unsigned in[16] = {0};
		uint64_t s = seed;

		for (unsigned i = 0; i < 160000; i++)
			in[rand_next(&s) >> 60]++;
		for (unsigned i = 0; i < 16; i++) /* 10,000 each; five standard deviations are 485 */
			assert_in_range(in[i], 10000 - 485, 10000 + 485);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_sequence),
		cmocka_unit_test(evenly_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
