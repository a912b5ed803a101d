/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cpu_seconds.h"
#include "lib/json_value.h"
#include "lib/report_calc.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void is_near(double value, double want)
{
	assert_true(fabs(value - want) <= 1e-12 * fabs(want));
}

static void rates_over_a_time(void **state)
{
	/* 1,000 frames of 64 and 500 of 1518 bytes with FCS, in half a second. */
	struct calc c = calc_over(1500, 60000 + 757000, 500000000);

	(void)state;
	assert_int_equal(c.packets, 1500);
	assert_int_equal(c.bytes_l2, 64000 + 759000);
	is_near(c.pps, 3000);
	is_near(c.bps_l2, 823000 * 8 * 2);
	is_near(c.bps_l1, (823000 + 1500 * 20) * 8 * 2);
	is_near(c.mean_bytes_l2, 823000 / 1500.0);
}

static void no_packets_in_a_time_is_a_rate_of_zero(void **state)
{
	struct calc c = calc_over(0, 0, 1000000000);

	(void)state;
	assert_true(c.pps == 0 && c.bps_l1 == 0 && c.bps_l2 == 0);
	assert_true(isnan(c.mean_bytes_l2));
}

static void no_time_is_no_rate(void **state)
{
	struct calc c = calc_over(5, 300, 0);

	(void)state;
	assert_true(isnan(c.pps) && isnan(c.bps_l1) && isnan(c.bps_l2));
	is_near(c.mean_bytes_l2, 64);
	c = calc_over(0, 0, 0);
	assert_true(isnan(c.pps) && isnan(c.bps_l1) && isnan(c.bps_l2) && isnan(c.mean_bytes_l2));
}

static void rates_between_first_and_last(void **state)
{
	/* 11 packets a millisecond apart: 10 gaps in 10 ms. */
	struct calc c = calc_between(11, 660, 5000000, 15000000);

	(void)state;
	is_near(c.pps, 1000);
	is_near(c.bps_l2, 1000 * 64 * 8);
	is_near(c.bps_l1, 1000 * 84 * 8);
	assert_int_equal(c.packets, 11);

	assert_true(isnan(calc_between(0, 0, 0, 0).pps));
	assert_true(isnan(calc_between(1, 60, 7, 9).pps));
	assert_true(isnan(calc_between(2, 120, 9, 9).pps));
	assert_true(isnan(calc_between(2, 120, 9, 7).bps_l1));
}

static void shares_add_up(void **state)
{
	struct calc c = calc_between(4, 240, 0, 1000000000);
	struct calc none = calc_over(0, 0, 1);

	(void)state;
	is_near(calc_share_pps(&c, 1), 0.75);
	is_near(calc_share_pps(&c, 1) + calc_share_pps(&c, 3), c.pps);
	assert_true(calc_share_pps(&none, 0) == 0);
	none = calc_over(0, 0, 0);
	assert_true(isnan(calc_share_pps(&none, 0)));
}

static void drops_are_the_sum_of_their_causes(void **state)
{
	struct tx_counts tx = {.queued = 100, .completed = 50, .dropped_driver = 3, .undecided = 4, .busy = 9};
	struct rx_counts rx = {.packets = 10, .dropped_ring = 3, .filtered = 30};

	(void)state;
	assert_int_equal(calc_tx_dropped(&tx), 3);
	assert_int_equal(calc_rx_dropped(&rx), 3);
	assert_true(calc_is_drop("dropped_ring"));
	assert_false(calc_is_drop("dropped"));
}

static void cpu_seconds_of_a_known_line(void **state)
{
	struct cpu_seconds a, b, d;

	(void)state;
	assert_int_equal(cpu_seconds_parse("cpu  100 50 200 9000 7 30 400 60 5 5\n", 100, &a), 0);
	is_near(a.user, 1.5);
	is_near(a.system, 2);
	is_near(a.irq, 0.3);
	is_near(a.softirq, 4);
	is_near(a.steal, 0.6);

	assert_int_equal(cpu_seconds_parse("cpu  200 50 200 9000 7 30 450 60 5 5\n", 100, &b), 0);
	cpu_seconds_sub(&d, &b, &a);
	is_near(d.user, 1);
	is_near(d.system, 0);
	is_near(d.softirq, 0.5);

	assert_int_equal(cpu_seconds_parse("cpu0 1 2 3", 100, &b), -EINVAL);
	cpu_seconds_sub(&d, &b, &a);
	assert_true(isnan(d.user) && isnan(d.system) && isnan(d.irq) && isnan(d.softirq) && isnan(d.steal));
}

static void cpu_seconds_of_this_machine(void **state)
{
	struct cpu_seconds a, b;

	(void)state;
	assert_int_equal(cpu_seconds_read(&a), 0);
	assert_int_equal(cpu_seconds_read(&b), 0);
	assert_true(a.user + a.system > 0);
	assert_true(b.user >= a.user && b.system >= a.system);
}

/* Each byte that is in no well-formed sequence becomes U+FFFD ("?" here), the rest stays. */
static void text_is_always_utf8(void **state)
{
	static const struct {
		const char *in;
		const char *out;
	} cases[] = {
		{"", ""},
		{"eth1 \"x\" \n", "eth1 \"x\" \n"},
		{"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
		{"\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF", "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"},
		{"a\xFFz", "a?z"},
		{"\x80", "?"},
		{"\xC0\xAF", "??"},           /* "/" in two bytes */
		{"\xE0\x9F\xBF", "???"},      /* shorter form exists */
		{"\xED\xA0\x80", "???"},      /* a surrogate */
		{"\xF0\x8F\xBF\xBF", "????"}, /* shorter form exists */
		{"\xF4\x90\x80\x80", "????"}, /* above U+10FFFF */
		{"\xF5\x80\x80\x80", "????"}, /* no such first byte */
		{"va\xE2\x82", "va??"},       /* cut off */
		{"\xE2\x82\xC3\xA9", "??\xC3\xA9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[64];
		int n = 0;
		json_t *v = json_value_text(cases[i].in);

		for (const char *p = cases[i].out; *p; p++)
			n += *p == '?' ? snprintf(want + n, sizeof(want) - (size_t)n, "\xEF\xBF\xBD")
				       : snprintf(want + n, sizeof(want) - (size_t)n, "%c", *p);
		want[n] = '\0';
		assert_string_equal(json_string_value(v), want);
		json_decref(v);
		v = json_string(want); /* jansson itself refuses what is not UTF-8 */
		assert_non_null(v);
		json_decref(v);
	}
	assert_true(json_is_null(json_value_text(NULL)));
}

static void numbers_that_json_does_not_have(void **state)
{
	json_t *v;

	(void)state;
	assert_true(json_is_null(json_value_real(NAN)));
	assert_true(json_is_null(json_value_real(INFINITY)));
	v = json_value_count(INT64_MAX);
	assert_true(json_integer_value(v) == INT64_MAX);
	json_decref(v);
	v = json_value_count(UINT64_MAX);
	assert_true(json_integer_value(v) == INT64_MAX);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_over_a_time),
		cmocka_unit_test(no_packets_in_a_time_is_a_rate_of_zero),
		cmocka_unit_test(no_time_is_no_rate),
		cmocka_unit_test(rates_between_first_and_last),
		cmocka_unit_test(shares_add_up),
		cmocka_unit_test(drops_are_the_sum_of_their_causes),
		cmocka_unit_test(cpu_seconds_of_a_known_line),
		cmocka_unit_test(cpu_seconds_of_this_machine),
		cmocka_unit_test(text_is_always_utf8),
		cmocka_unit_test(numbers_that_json_does_not_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
