/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/units.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct rate_case {
	const char *text;
	enum rate_kind kind;
	enum rate_layer layer;
	uint64_t micro;
};

static void check_rates(int (*parse)(const char *, struct rate *), const struct rate_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rate r = {0};

		if (parse(cases[i].text, &r))
			fail_msg("'%s' was refused", cases[i].text);
		if (r.kind != cases[i].kind || r.micro != cases[i].micro || r.layer != cases[i].layer)
			fail_msg("'%s': kind %d layer %d micro %llu", cases[i].text, r.kind, r.layer,
				 (unsigned long long)r.micro);
	}
}

static void pps_values(void **state)
{
	static const struct rate_case cases[] = {
		{"1M", RATE_VALUE, 0, 1000000000000},
		{"2.5k", RATE_VALUE, 0, 2500000000},
		{"0.5", RATE_VALUE, 0, 500000},
		{".5", RATE_VALUE, 0, 500000},
		{"1e6", RATE_VALUE, 0, 1000000000000},
		{"1E+6", RATE_VALUE, 0, 1000000000000},
		{"25e-1", RATE_VALUE, 0, 2500000},
		{"14.88Mpps", RATE_VALUE, 0, 14880000000000},
		{"100 kp/s", RATE_VALUE, 0, 100000000000},
		{"  7 pps ", RATE_VALUE, 0, 7000000},
		{"1Ki", RATE_VALUE, 0, 1024000000},
		{"1 gi", RATE_VALUE, 0, 1073741824000000},
		{"3t", RATE_VALUE, 0, 3000000000000000000},
		/* 2^53 + 1 and tenths are what a double would lose. */
		{"9007199254740.993", RATE_VALUE, 0, 9007199254740993000},
		{"0.1", RATE_VALUE, 0, 100000},
		{"0.000001", RATE_VALUE, 0, 1},
		{"0.0000014", RATE_VALUE, 0, 1},
		{"0.0000015", RATE_VALUE, 0, 2},
		{"18446744073709.551615", RATE_VALUE, 0, UINT64_MAX},
		{"000000000000000000000000000000000001", RATE_VALUE, 0, 1000000},
		{"10000000000000000000000000000000000e-34", RATE_VALUE, 0, 1000000},
		{"80%", RATE_PERCENT, 0, 80000000},
		{"0.5 %", RATE_PERCENT, 0, 500000},
		{"100%", RATE_PERCENT, 0, 100000000},
		{"0", RATE_UNLIMITED, 0, 0},
		{"0.0kpps", RATE_UNLIMITED, 0, 0},
		{"unlimited", RATE_UNLIMITED, 0, 0},
		{" Line-Rate ", RATE_UNLIMITED, 0, 0},
		{"linerate", RATE_UNLIMITED, 0, 0},
		{"none", RATE_UNLIMITED, 0, 0},
		{"MAX", RATE_UNLIMITED, 0, 0},
		{"off", RATE_UNLIMITED, 0, 0},
	};

	(void)state;
	check_rates(units_parse_pps, cases, COUNT(cases));
}

static void bps_values(void **state)
{
	static const struct rate_case cases[] = {
		{"10G", RATE_VALUE, RATE_L1, 10000000000000000},
		{"10Gbps", RATE_VALUE, RATE_L1, 10000000000000000},
		{"2.5Gbit/s", RATE_VALUE, RATE_L1, 2500000000000000},
		{"100 mbit", RATE_VALUE, RATE_L1, 100000000000000},
		{"100Mbits", RATE_VALUE, RATE_L1, 100000000000000},
		{"1 kb/s", RATE_VALUE, RATE_L1, 1000000000},
		{"8bit", RATE_VALUE, RATE_L1, 8000000},
		{"1Kibit", RATE_VALUE, RATE_L1, 1024000000},
		{"9.5Gbpsl2", RATE_VALUE, RATE_L2, 9500000000000000},
		{"100Mbps l1", RATE_VALUE, RATE_L1, 100000000000000},
		{"100Mbps L3", RATE_VALUE, RATE_L3, 100000000000000},
		{"1M l2", RATE_VALUE, RATE_L2, 1000000000000},
		{"80%", RATE_PERCENT, RATE_L1, 80000000},
		{"off", RATE_UNLIMITED, RATE_L1, 0},
	};

	(void)state;
	check_rates(units_parse_bps, cases, COUNT(cases));
}

static void rates_refused(void **state)
{
	static const char *const wrong[] = {
		"",      " ",        "nan",  "inf",       "infinity", "-1",    "+1",     "1x",    "1e",
		"1e+",   "e6",       ".",    "1..2",      "1.2.3",    "1,5",   "0x10",   "1kk",   "k",
		"1 k k", "1pp",      "pps",  "1ppsx",     "1bps",     "80% %", "%",      "1k%",   "1 0",
		"maxi",  "unlimite", "1M/s", "1\xc2\xb5", "1Kipp",    "1iM",   "nan(1)", "1e6.5", "--5",
	};
	static const char *const beyond[] = {
		"18446744073709.551616",
		"1e400",
		"1e99999999999",
		"99999999999999999999999999999999999999999",
		"1e14",
		"0.0000009",
		"1e-7",
		"1e-99999",
		"0.00000000000000000000000000000000000001",
		"100.000001%",
		"0%",
		"101%",
		"16777217Ti",
	};
	struct rate r;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		if (units_parse_pps(wrong[i], &r) != -EINVAL)
			fail_msg("'%s' is no packet rate", wrong[i]);
	}
	for (size_t i = 0; i < COUNT(beyond); i++) {
		if (units_parse_pps(beyond[i], &r) != -ERANGE || units_parse_bps(beyond[i], &r) != -ERANGE)
			fail_msg("'%s' is out of range", beyond[i]);
	}
	assert_int_equal(units_parse_bps("1pps", &r), -EINVAL);
	assert_int_equal(units_parse_bps("1Gbpsl4", &r), -EINVAL);
	assert_int_equal(units_parse_bps("1Gbpsl0", &r), -EINVAL);
	assert_int_equal(units_parse_bps("1Gbpsl22", &r), -EINVAL);
	assert_int_equal(units_parse_bps("80% l2", &r), -EINVAL);
	assert_int_equal(units_parse_pps("1M l2", &r), -EINVAL);
}

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{"30s", 30000000000},
		{"5m", 300000000000},
		{"1h", 3600000000000},
		{"1.5s", 1500000000},
		{"200ms", 200000000},
		{"50us", 50000},
		{"50\xc2\xb5s", 50000},
		{"50\xce\xbcs", 50000},
		{"10ns", 10},
		{"1h30m", 5400000000000},
		{"1h 30 m", 5400000000000},
		{"2m0.25s", 120250000000},
		{" 30 S ", 30000000000},
		{"0", 0},
		{"0s", 0},
		{"0.000000001s", 1},
		{"1e3ms", 1000000000},
		{"18446744073709551615ns", UINT64_MAX},
		{"18446744073s709551615ns", UINT64_MAX},
	};
	static const char *const wrong[] = {"",    " ",    "30",    "s",   "-1s",    "5 parsecs", "1x",
					    "1s5", "1s 5", "1e",    "nan", "1.2.3s", "1mm",       "00x",
					    "1s,", "min",  "1 min", "0 0", "1ss",    "inf",       "1\xc2\xb5"};
	static const char *const beyond[] = {"18446744073709551616ns", "18446744073s709551616ns", "6000000h", "0.5ns",
					     "1e30s"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ns = 1;
		if (units_parse_time(cases[i].text, &ns) || ns != cases[i].ns)
			fail_msg("'%s': %llu", cases[i].text, (unsigned long long)ns);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		if (units_parse_time(wrong[i], &ns) != -EINVAL)
			fail_msg("'%s' is no time", wrong[i]);
	}
	for (size_t i = 0; i < COUNT(beyond); i++) {
		if (units_parse_time(beyond[i], &ns) != -ERANGE)
			fail_msg("'%s' is out of range", beyond[i]);
	}
}

static void sizes_and_counts(void **state)
{
	static const char *const no_size[] = {"",      "64x", "-64",  "6.4", "1e3", "0x40",
					      "64 64", "B",   "64BB", "1k",  "nan"};
	static const char *const no_count[] = {"",     "1e",    "1x",      "-5",    "1.5",
					       "1e-1", "0.1k5", "nan",     "1Ki",   "1 1",
					       "0x10", "1kk",   "1.0001k", "1e-99", "1.00000000000000000000000001"};
	uint64_t v;

	(void)state;
	assert_int_equal(units_parse_size("64", &v), 0);
	assert_int_equal(v, 64);
	assert_int_equal(units_parse_size(" 9000 b ", &v), 0);
	assert_int_equal(v, 9000);
	assert_int_equal(units_parse_size("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(units_parse_size("18446744073709551616", &v), -ERANGE);
	for (size_t i = 0; i < COUNT(no_size); i++) {
		if (units_parse_size(no_size[i], &v) != -EINVAL)
			fail_msg("'%s' is no size", no_size[i]);
	}

	static const struct {
		const char *text;
		uint64_t n;
	} counts[] = {{"1000", 1000},  {"1k", 1000},
		      {"2M", 2000000}, {"1e6", 1000000},
		      {"1.5k", 1500},  {"0", 0},
		      {"10e-1", 1},    {"3 G", 3000000000},
		      {"1.0", 1},      {"18446744073709551615", UINT64_MAX},
		      {"0.001k", 1}};

	for (size_t i = 0; i < COUNT(counts); i++) {
		if (units_parse_count(counts[i].text, &v) || v != counts[i].n)
			fail_msg("'%s': %llu", counts[i].text, (unsigned long long)v);
	}
	for (size_t i = 0; i < COUNT(no_count); i++) {
		if (units_parse_count(no_count[i], &v) != -EINVAL)
			fail_msg("'%s' is no count", no_count[i]);
	}
	assert_int_equal(units_parse_count("18446744073709551616", &v), -ERANGE);
	assert_int_equal(units_parse_count("19e18", &v), -ERANGE);
	assert_int_equal(units_parse_count("20000000T", &v), -ERANGE);
}

static void formatted_for_people(void **state)
{
	static const struct {
		double v;
		const char *text;
	} si[] = {
		{0, "0"},           {1, "1"},          {0.5, "0.5"},           {0.000001, "0.000001"},
		{999, "999"},       {1000, "1 k"},     {100000, "100 k"},      {14880952, "14.88 M"},
		{1.25e9, "1.25 G"}, {999.94, "999.9"}, {999.96, "1 k"},        {9.9996, "10"},
		{99.996, "100"},    {999999, "1 M"},   {1.2345e13, "12.35 T"}, {1.5e15, "1.5 P"},
		{2e18, "2 E"},      {-1500, "-1.5 k"}, {-1e-9, "0"},           {NAN, "-"},
		{INFINITY, "-"},    {DBL_MAX, "-"},
	};
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "0 s"},
		{10, "10 ns"},
		{20000, "20 us"},
		{1500, "1.5 us"},
		{1234567, "1.234 ms"},
		{100000000, "100 ms"},
		{1500000000, "1.500 s"},
		{30000000000, "30 s"},
		{59999999999, "59.999 s"},
		{150000000000, "2 m 30 s"},
		{300000000000, "5 m"},
		{5400000000000, "1 h 30 m"},
		{3601000000000, "1 h 1 s"},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < COUNT(si); i++)
		assert_string_equal(units_format_si(si[i].v, buf, sizeof(buf)), si[i].text);
	for (size_t i = 0; i < COUNT(times); i++)
		assert_string_equal(units_format_time(times[i].ns, buf, sizeof(buf)), times[i].text);
}

static void rates_typed_again(void **state)
{
	static const char *const bps[] = {"100k",       "0.5",      "80%",       "0.000001%", "unlimited",
					  "14.880952M", "10G",      "9.5Gbpsl2", "1bpsl3",    "18.446744073709551615T",
					  "999",        "1.000001k"};
	struct rate r, again;
	char buf[64];

	(void)state;
	for (size_t i = 0; i < COUNT(bps); i++) {
		assert_int_equal(units_parse_bps(bps[i], &r), 0);
		assert_string_equal(units_format_rate(&r, buf, sizeof(buf)), bps[i]);
		assert_int_equal(units_parse_bps(buf, &again), 0);
		assert_true(r.kind == again.kind && r.layer == again.layer && r.micro == again.micro);
	}
	assert_int_equal(units_parse_pps("1Ki", &r), 0);
	assert_string_equal(units_format_rate(&r, buf, sizeof(buf)), "1.024k");
	assert_string_equal(units_format_rate(&(struct rate){0}, buf, sizeof(buf)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pps_values),        cmocka_unit_test(bps_values),
		cmocka_unit_test(rates_refused),     cmocka_unit_test(times),
		cmocka_unit_test(sizes_and_counts),  cmocka_unit_test(formatted_for_people),
		cmocka_unit_test(rates_typed_again),
	};

	/* A terminal interface sets a locale; where one with a decimal comma exists, nothing may change. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
