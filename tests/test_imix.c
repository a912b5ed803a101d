/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/imix.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MTU_FRAME 1518U

struct part {
	uint32_t size, weight; /* in hundredths */
};

static struct imix mix; /* too large for a stack */

static void parses_to(const char *text, const struct part *want, unsigned n)
{
	struct err e = {0};

	if (imix_parse(text, MTU_FRAME, &mix, &e))
		fail_msg("%s: %s", text, e.cause);
	assert_int_equal(mix.n, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(mix.size[i], want[i].size);
		assert_int_equal(mix.weight[i], want[i].weight);
	}
}

static void refused(const char *text, int rc, const char *word)
{
	struct err e = {0};

	if (imix_parse(text, MTU_FRAME, &mix, &e) != rc)
		fail_msg("\"%s\" is not refused as it should be", text);
	assert_int_equal(e.code, EXIT_USAGE);
	assert_string_equal(e.object, text);
	if (!strstr(e.cause, word))
		fail_msg("\"%s\" is not in \"%s\"", word, e.cause);
	assert_true(e.hint[0]);
}

/* What the presets' sources say, written down here once more. */
static void presets_are_what_their_sources_say(void **state)
{
	static const struct {
		const char *name;
		unsigned n;
		struct part part[4];
	} want[] = {
		{"simple", 3, {{64, 700}, {594, 400}, {1518, 100}}},
		{"simple-570", 3, {{64, 700}, {570, 400}, {1518, 100}}},
		{"csit", 3, {{64, 2800}, {570, 1600}, {1518, 400}}},
		{"otg-imix", 3, {{64, 700}, {570, 400}, {1518, 100}}},
		{"otg-ipsec", 4, {{90, 5867}, {92, 200}, {594, 2366}, {1418, 1567}}},
		{"otg-ipv6", 4, {{60, 5867}, {496, 200}, {594, 2366}, {1518, 1567}}},
		{"otg-standard", 4, {{58, 5867}, {62, 200}, {594, 2366}, {1518, 1567}}},
		{"otg-tcp", 4, {{90, 5867}, {92, 200}, {594, 2366}, {1518, 1567}}},
	};
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		parses_to(want[i].name, want[i].part, want[i].n);
		assert_string_equal(mix.name, want[i].name);
	}
	while (imix_presets[n].name) {
		assert_true(imix_presets[n].source[0]);
		n++;
	}
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
}

static void lists_have_weights_of_two_decimals(void **state)
{
	(void)state;
	parses_to("64:7,594:4,1518:1", (struct part[]){{64, 700}, {594, 400}, {1518, 100}}, 3);
	parses_to("128:0.01", (struct part[]){{128, 1}}, 1);
	parses_to("128:58.6,129:58.67", (struct part[]){{128, 5860}, {129, 5867}}, 2);
	parses_to("9018:1000000", (struct part[]){{9018, 100000000}}, 1);
	parses_to("64:1,64:2.5,128:1", (struct part[]){{64, 350}, {128, 100}}, 2); /* one size said twice is one */
}

static void junk_is_refused_with_what_is_wrong(void **state)
{
	static const char *const parts[] = {":",
					    "64:",
					    ":1",
					    "64:7,",
					    ",64:7",
					    "64:7,,65:1",
					    "64:7 ",
					    " 64:7",
					    "64:7;",
					    "64:-7",
					    "-64:7",
					    "64:+7",
					    "0x40:7",
					    "64.5:7",
					    "0:1",
					    "9019:1",
					    "64:7:1",
					    "64:1e2",
					    "64:.5",
					    "64:5.",
					    "64:1.234",
					    "64:0",
					    "64:0.00",
					    "64:1000001",
					    "64:99999999999999999999",
					    "99999999999999999999:1"};

	(void)state;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		refused(parts[i], -EINVAL, "");
	refused("64:0", -EINVAL, "above 0");
	refused("64:1.234", -EINVAL, "two decimals");
	refused("9019:1", -EINVAL, "9018");
	refused("64:1000000.00,64:0.01", -ERANGE, "too large");
	refused("", -EINVAL, "empty");
	refused("simpel", -EINVAL, "no name");
	refused("Simple", -EINVAL, "no name");
}

static void more_sizes_than_a_plan_holds_are_refused(void **state)
{
	char *text = malloc(12 * (TX_SIZES_MAX + 1));
	char *at = text;
	struct err e;

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i <= TX_SIZES_MAX; i++)
		at += sprintf(at, "%s%u:1", i ? "," : "", 64 + i);
	assert_int_equal(imix_parse(text, MTU_FRAME, &mix, &e), -E2BIG);
	*strrchr(text, ',') = '\0';
	assert_int_equal(imix_parse(text, MTU_FRAME, &mix, &e), 0);
	assert_int_equal(mix.n, TX_SIZES_MAX);
	free(text);
}

/* RFC 6985 section 3: the table of letters. */
static void genomes_have_the_letters_of_rfc_6985(void **state)
{
	static const struct part all[] = {{64, 100},   {128, 100},  {256, 100},  {512, 100}, {1024, 100},
					  {1280, 100}, {1518, 100}, {2112, 100}, {9000, 100}};

	(void)state;
	parses_to("abcdefghi", all, 9);
	parses_to("z", (struct part[]){{MTU_FRAME, 100}}, 1);
	parses_to("gz", (struct part[]){{1518, 200}}, 1); /* an MTU of 1500 makes them one size */
	parses_to("aaaaaaaddddg", (struct part[]){{64, 700}, {512, 400}, {1518, 100}}, 3);
	parses_to("7a4dg", (struct part[]){{64, 700}, {512, 400}, {1518, 100}}, 3);
	parses_to("2aga2g", (struct part[]){{64, 300}, {1518, 300}}, 2);
	parses_to("1000000a", (struct part[]){{64, 100000000}}, 1);
	refused("j", -ERANGE, "16000");
	refused("k", -EINVAL, "no genome");
	refused("A", -EINVAL, "no genome");
	refused("7", -EINVAL, "no genome");
	refused("a7", -EINVAL, "no genome");
	refused("0a", -EINVAL, "1 to 1000000");
	refused("1000001a", -EINVAL, "1 to 1000000");
	refused("1000000aa", -ERANGE, "too large");
	refused("a d", -EINVAL, "no genome");
}

static void what_is_raised_is_merged(void **state)
{
	(void)state;
	parses_to("58:1,62:2,70:4,594:8", (struct part[]){{58, 100}, {62, 200}, {70, 400}, {594, 800}}, 4);
	assert_int_equal(imix_raise(&mix, 70), 2);
	assert_int_equal(mix.n, 2);
	assert_int_equal(mix.size[0], 70);
	assert_int_equal(mix.weight[0], 700);
	assert_int_equal(mix.size[1], 594);
	assert_int_equal(mix.weight[1], 800);
	assert_int_equal(imix_raise(&mix, 70), 0);
	assert_int_equal(mix.n, 2);
}

static void near(double got, double want)
{
	if (got < want - 1e-9 || got > want + 1e-9)
		fail_msg("%.12g is not %.12g", got, want);
}

static void the_mean_is_that_of_packets(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(imix_parse("simple", MTU_FRAME, &mix, &e), 0);
	near(imix_mean(&mix), (64 * 7 + 594 * 4 + 1518) / 12.0);
	assert_int_equal(imix_parse("100:0.25,200:0.75", MTU_FRAME, &mix, &e), 0);
	near(imix_mean(&mix), 175);
}

/*
 * The cycle has each size in proportion; and after any number of packets each size has come as often as its share of
 * them, within one packet.
 */
static void cycle_is_exact_and_even(const char *text, unsigned length)
{
	static uint16_t cycle[TX_CYCLE_MAX];
	struct err e;
	double sum = 0;

	assert_int_equal(imix_parse(text, MTU_FRAME, &mix, &e), 0);
	assert_int_equal(imix_cycle(&mix, cycle, TX_CYCLE_MAX), length);
	for (unsigned i = 0; i < mix.n; i++)
		sum += mix.weight[i];
	for (unsigned i = 0; i < mix.n; i++) {
		unsigned seen = 0;

		for (unsigned k = 0; k < length; k++) {
			double due = mix.weight[i] / sum * (k + 1);

			assert_true(cycle[k] < mix.n);
			seen += cycle[k] == i;
			if (seen < due - 1.000001 || seen > due + 1.000001)
				fail_msg("%s: size %u has come %u times in %u packets", text, mix.size[i], seen, k + 1);
		}
		near(seen, length * (mix.weight[i] / sum));
	}
}

static void cycles_are_exact_and_spread(void **state)
{
	(void)state;
	cycle_is_exact_and_even("64:1", 1);
	cycle_is_exact_and_even("64:1000000", 1);
	cycle_is_exact_and_even("64:1,128:1", 2);
	cycle_is_exact_and_even("64:2,128:4", 3);
	cycle_is_exact_and_even("64:9999,128:1", 10000);
	cycle_is_exact_and_even("64:0.5,128:1.5", 4);
	cycle_is_exact_and_even("simple", 12);
	cycle_is_exact_and_even("csit", 12);
	cycle_is_exact_and_even("otg-imix", 12);
	cycle_is_exact_and_even("otg-ipsec", 10000);
	cycle_is_exact_and_even("otg-tcp", 10000);
	cycle_is_exact_and_even("abcdefghi", 9);
	cycle_is_exact_and_even("5a3b2cdefg", 14);
}

static void a_cycle_that_is_too_long_is_refused(void **state)
{
	static uint16_t cycle[16];
	struct err e;

	(void)state;
	assert_int_equal(imix_parse("64:16,128:1", MTU_FRAME, &mix, &e), 0);
	assert_int_equal(imix_cycle(&mix, cycle, 16), 0);
	assert_int_equal(imix_parse("64:15,128:1", MTU_FRAME, &mix, &e), 0);
	assert_int_equal(imix_cycle(&mix, cycle, 16), 16);
	mix.n = 0;
	assert_int_equal(imix_cycle(&mix, cycle, 16), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_are_what_their_sources_say),
		cmocka_unit_test(lists_have_weights_of_two_decimals),
		cmocka_unit_test(junk_is_refused_with_what_is_wrong),
		cmocka_unit_test(more_sizes_than_a_plan_holds_are_refused),
		cmocka_unit_test(genomes_have_the_letters_of_rfc_6985),
		cmocka_unit_test(what_is_raised_is_merged),
		cmocka_unit_test(the_mean_is_that_of_packets),
		cmocka_unit_test(cycles_are_exact_and_spread),
		cmocka_unit_test(a_cycle_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
