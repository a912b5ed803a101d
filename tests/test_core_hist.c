/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hist h, other;

/* Every bucket begins where the one before it ends, and holds what lies between. */
static void buckets_cover_all_without_a_gap(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		assert_true(hist_low(i) < hist_low(i + 1));
		assert_int_equal(hist_bucket(hist_low(i)), i);
		assert_int_equal(hist_bucket(hist_low(i + 1) - 1), i);
	}
	assert_int_equal(hist_low(0), 0);
	assert_int_equal(hist_low(HIST_BUCKETS), 1ULL << HIST_TOP);
	assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
}

/* A value that stands alone is read back within 1 %, whatever its size. */
static void the_error_is_below_one_percent(void **state)
{
	(void)state;
	for (uint64_t v = 1; v < 1ULL << (HIST_TOP - 1); v += v / 301 + 1) {
		uint64_t read;

		memset(&h, 0, sizeof(h));
		/* Others on both sides, so that neither bound is the value. */
		hist_add(&h, 0, 1);
		hist_add(&h, v, 10);
		hist_add(&h, v * 2, 1);
		read = hist_quantile(&h, 500000);
		assert_true((read > v ? read - v : v - read) * 100 < v || read == v);
	}
}

/* Values of which some are the same as the one before, in any portions. */
static void all_at_once_are_added_as_each_by_itself(void **state)
{
	static uint64_t values[65];
	uint64_t seed = 1;

	(void)state;
	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	for (unsigned round = 0; round < 2000; round++) {
		uint32_t n = round % 65;

		for (uint32_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			values[i] = i && seed >> 63 ? values[i - 1] : seed >> (seed >> 40) % 64;
			hist_add(&other, values[i], 1);
		}
		hist_add_all(&h, values, n);
		assert_memory_equal(&h, &other, sizeof(h));
	}
	assert_true(h.total > 50000);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Against the values themselves, sorted; in two parts that are merged. */
static void quantiles_are_those_of_the_values(void **state)
{
	static const uint32_t at[] = {1, 500000, 900000, 990000, 999000, 999900, 1000000};
	enum { N = 20000 };
	static uint64_t values[N];
	uint64_t seed = 1, sum = 0;

	(void)state;
	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	for (unsigned i = 0; i < N; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		values[i] = seed >> (24 + (seed >> 60));
		sum += values[i];
		hist_add(i % 3 ? &h : &other, values[i], 1);
	}
	hist_merge(&h, &other);
	qsort(values, N, sizeof(values[0]), by_size);
	assert_int_equal(h.total, N);
	assert_int_equal(h.sum, sum);
	assert_int_equal(h.greatest, values[N - 1]);
	assert_int_equal(h.least - 1, values[0]);
	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint64_t rank = ((uint64_t)N * at[i] + 999999) / 1000000;
		uint64_t exact = values[rank ? rank - 1 : 0];
		uint64_t read = hist_quantile(&h, at[i]);

		assert_true((read > exact ? read - exact : exact - read) * 100 <= exact);
	}
}

static void the_ends_are_exact_and_empty_is_zero(void **state)
{
	(void)state;
	memset(&h, 0, sizeof(h));
	assert_int_equal(hist_quantile(&h, 990000), 0);
	hist_merge(&h, &other);
	memset(&h, 0, sizeof(h));
	hist_add(&h, 123457, 1000);
	assert_int_equal(hist_quantile(&h, 500000), 123457);
	assert_int_equal(hist_quantile(&h, 1000000), 123457);
	hist_add(&h, UINT64_MAX / 4096, 1);
	assert_int_equal(hist_quantile(&h, 1000000), UINT64_MAX / 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_cover_all_without_a_gap),
		cmocka_unit_test(the_error_is_below_one_percent),
		cmocka_unit_test(all_at_once_are_added_as_each_by_itself),
		cmocka_unit_test(quantiles_are_those_of_the_values),
		cmocka_unit_test(the_ends_are_exact_and_empty_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
