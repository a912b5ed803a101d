/* SPDX-License-Identifier: Apache-2.0 */
/* A permutation takes every value once, whatever the count and the seed; and its order looks like none. */
#include "lib/core/permute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_bijection(uint64_t count, uint64_t seed)
{
	unsigned char *seen = calloc(count, 1);

	assert_non_null(seen);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t v = permute(i, count, seed);

		if (v >= count || seen[v])
			fail_msg("count %llu, seed %llx: %llu gives %llu, %s", (unsigned long long)count,
				 (unsigned long long)seed, (unsigned long long)i, (unsigned long long)v,
				 v >= count ? "which is out of range" : "as another did");
		seen[v] = 1;
	}
	free(seen);
}

static void every_value_comes_once(void **state)
{
	static const uint64_t counts[] = {1,   2,   3,   4,    5,     64,    65,    254,
					  255, 256, 257, 1000, 65535, 65536, 65537, 1000000};
	static const uint64_t seeds[] = {0, 1, 0x9e3779b97f4a7c15ULL, UINT64_MAX};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (size_t s = 0; s < sizeof(seeds) / sizeof(seeds[0]); s++)
			check_bijection(counts[c], seeds[s]);
	check_bijection(1ULL << 20, 7);
	check_bijection((1ULL << 20) + 1, 7);
}

/* All small counts: there the walk back into the range is longest for its size. */
static void every_value_comes_once_for_every_small_count(void **state)
{
	(void)state;
	for (uint64_t count = 1; count <= 1100; count++)
		for (uint64_t seed = 0; seed < 4; seed++)
			check_bijection(count, seed << 40 | count);
}

static void every_value_comes_once_for_counts_and_seeds_at_random(void **state)
{
	uint64_t random = 20240607;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		uint64_t count = (rand_next(&random) >> (44 + i % 20)) + 1;

		check_bijection(count, rand_next(&random));
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define SAMPLES 200000U

/*
 * Ranges too large to go through: values side by side at its start, and values all over the rest of it (from 110,244 on
 * in the smallest), stay apart and in the range.
 */
static void samples_of_large_ranges_stay_apart(void **state)
{
	static const uint64_t counts[] = {
		0,          UINT64_MAX,       (1ULL << 63) + 1, 1ULL << 63,      (1ULL << 62) + 1,
		1ULL << 32, (1ULL << 32) + 1, 1ULL << 48,       0xfffffffffffULL};
	uint64_t *v = malloc(SAMPLES * sizeof(*v));

	(void)state;
	assert_non_null(v);
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		uint64_t last = counts[c] - 1; /* of count 0, 2^64 - 1 */
		uint64_t step = last / (SAMPLES / 2);

		for (uint64_t i = 0; i < SAMPLES; i++) {
			v[i] = permute(i % 2 ? last - i / 2 * step : i / 2, counts[c], 99);
			assert_true(v[i] <= last);
		}
		qsort(v, SAMPLES, sizeof(*v), by_value);
		for (uint64_t i = 1; i < SAMPLES; i++)
			assert_true(v[i - 1] != v[i]);
	}
	free(v);
}

static void the_seed_alone_decides(void **state)
{
	static const uint64_t counts[] = {64, 65, 1000, 65536, 1ULL << 40, 0};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (uint64_t seed = 0; seed < 50; seed++) {
			unsigned same = 0;

			for (uint64_t i = 0; i < 64; i++) {
				uint64_t v = permute(i, counts[c], seed);

				assert_true(v == permute(i, counts[c], seed));
				same += v == permute(i, counts[c], seed + 1);
			}
			/* One in `count` by chance: one of 64, at most; 16 do not come by chance. */
			assert_true(same < 16);
		}
}

/* Each of the 24 orders of four values comes for some seed, none for most of them. */
static void small_ranges_have_every_order(void **state)
{
	unsigned seen[256] = {0};
	unsigned orders = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 24000; seed++) {
		unsigned order = 0;

		for (uint64_t i = 0; i < 4; i++)
			order = order << 2 | (unsigned)permute(i, 4, seed);
		seen[order]++;
	}
	for (unsigned i = 0; i < 256; i++) {
		orders += seen[i] > 0;
		assert_true(seen[i] < 4000);
	}
	assert_int_equal(orders, 24);
}

/*
 * Of n values at random, one lands in its own place and one behind its neighbour, in the mean (Poisson: 15 or more are
 * one in 10^12). Every sixteenth of the range gets a sixteenth of the first thousand.
 */
static void the_order_looks_like_none(void **state)
{
	static const uint64_t counts[] = {1000, 4096, 65535, 1000000};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (uint64_t seed = 0; seed < 10; seed++) {
			unsigned in[16] = {0};
			unsigned fixed = 0, in_step = 0;

			for (uint64_t i = 0; i + 1 < counts[c]; i++) {
				uint64_t v = permute(i, counts[c], seed);

				fixed += v == i;
				in_step += permute(i + 1, counts[c], seed) == v + 1;
				in[v * 16 / counts[c]] += i < 1000;
			}
			assert_true(fixed < 15);
			assert_true(in_step < 15);
			for (unsigned i = 0; i < 16; i++) /* 62.5 each; five standard deviations are 38 */
				assert_in_range(in[i], 62 - 38, 63 + 38);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_comes_once),
		cmocka_unit_test(every_value_comes_once_for_every_small_count),
		cmocka_unit_test(every_value_comes_once_for_counts_and_seeds_at_random),
		cmocka_unit_test(samples_of_large_ranges_stay_apart),
		cmocka_unit_test(the_seed_alone_decides),
		cmocka_unit_test(small_ranges_have_every_order),
		cmocka_unit_test(the_order_looks_like_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
