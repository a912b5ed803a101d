/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_cases.h"

static bool decides(const struct filter *f, const unsigned char *data, uint32_t len)
{
	return matches_exact(f, data, len);
}

static void everything(void **state)
{
	struct filter f = {.all = true};

	(void)state;
	assert_int_equal(filter_check(&f, NULL), 0);
	assert_true(filter_matches(&f, (const unsigned char *)"", 1));
	memset(&f, 0, sizeof(f));
	assert_false(filter_matches(&f, (const unsigned char *)"", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {FILTER_CASES, cmocka_unit_test(everything)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
