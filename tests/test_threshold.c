/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that are kept, passed by the least, and such that nobody can know about. */
#include "lib/threshold.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct config cfg;
static struct hist latency;
static struct report_measure measure;
static struct threshold_values values;
static struct report_threshold got[REPORT_THRESHOLDS_MAX];
static const struct err kept = {.code = EXIT_DONE}; /* the rate was */

static int clear(void **state)
{
	(void)state;
	memset(&cfg, 0, sizeof(cfg));
	memset(&latency, 0, sizeof(latency));
	measure = (struct report_measure){.clock = "same host", .total = {.latency = &latency}};
	values = (struct threshold_values){.measure = &measure, .rx_pps = NAN, .requested_pps = -1, .tx_pps = NAN};
	return 0;
}

static struct ratio ratio(const char *text)
{
	struct ratio r = {0};

	if (units_parse_ratio(text, &r))
		fail_msg("%s is no ratio", text);
	return r;
}

/* The one threshold that is set. */
static bool met(const char *name)
{
	assert_int_equal(threshold_judge(&cfg, &values, got), 1);
	assert_string_equal(got[0].name, name);
	return got[0].ok;
}

static void ratios(void **state)
{
	struct measure_counts *c = &measure.total.counts;

	(void)state;
	c->unique = 1000;
	measure.total.loss_ratio = 0.01;
	cfg.max_loss = ratio("1%");
	assert_true(met("max-loss"));
	cfg.max_loss = ratio("0.009999");
	assert_false(met("max-loss"));
	assert_true(fabs(got[0].limit - 0.009999) < 1e-15 && fabs(got[0].value - 0.01) < 1e-15);
	measure.total.loss_ratio = 0;
	cfg.max_loss = ratio("0");
	assert_true(met("max-loss"));
	clear(NULL);
	c->unique = 1000;
	c->duplicate = 5;
	cfg.max_duplicates = ratio("0.5%");
	assert_true(met("max-duplicates"));
	c->duplicate = 6;
	assert_false(met("max-duplicates"));
	clear(NULL);
	c->unique = 1000;
	c->reordered = 1;
	cfg.max_reordered = ratio("0");
	assert_false(met("max-reordered"));
	c->reordered = 0;
	assert_true(met("max-reordered"));
}

static void latencies(void **state)
{
	(void)state;
	hist_add(&latency, 1000, 99);
	hist_add(&latency, 500000, 1);
	cfg.max_latency_p99_ns = 1100;
	assert_true(met("max-latency-p99"));
	hist_add(&latency, 500000, 1); /* now 99 % are no longer below */
	assert_false(met("max-latency-p99"));
}

/* Clocks that are apart make a latency of nothing of it. */
static void clocks_apart(void **state)
{
	(void)state;
	hist_add(&latency, 0, 51);
	hist_add(&latency, 1000, 49);
	measure.total.counts.unique = 100;
	measure.early = 50;
	cfg.max_latency_p99_ns = 2000;
	assert_true(met("max-latency-p99"));
	measure.early = 51;
	assert_false(met("max-latency-p99"));
	assert_true(isnan(got[0].value));
	assert_string_equal(got[0].unknown, "most packets came before they were sent, by these clocks");
}

static void rates(void **state)
{
	(void)state;
	assert_int_equal(units_parse_pps("100k", &cfg.min_rate), 0);
	values.rx_pps = 100000;
	assert_true(met("min-rate"));
	values.rx_pps = 99999.9;
	assert_false(met("min-rate"));
	clear(NULL);
	cfg.strict_rate = true;
	values.sent = true;
	/* Of some streams only: they have no sum, but one of them may have missed its rate. */
	assert_true(met("strict-rate"));
	assert_true(isnan(got[0].limit));
	values.rate_missed = true;
	assert_false(met("strict-rate"));
	values.rate_missed = false;
	values.requested_pps = 1000;
	values.tx_pps = 999.99;
	assert_true(met("strict-rate"));
	values.rate_missed = true;
	assert_false(met("strict-rate"));
}

/* What is not known is not met, whatever the limit. */
static void unknown(void **state)
{
	struct err e = {0};

	(void)state;
	cfg.max_loss = cfg.max_duplicates = cfg.max_reordered = ratio("100%");
	cfg.max_latency_p99_ns = UINT64_MAX;
	assert_int_equal(units_parse_pps("0.000001", &cfg.min_rate), 0);
	measure.total.loss_ratio = NAN; /* nothing was to come, and nothing came */
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(threshold_judge(&cfg, &values, got), 5);
		for (unsigned i = 0; i < 5; i++) {
			assert_false(got[i].ok);
			assert_true(isnan(got[i].value));
		}
		assert_true(threshold_tell(got, 5, "loop:", &kept, &e));
		assert_int_equal(e.code, EXIT_THRESHOLD);
		values.measure = round ? &measure : NULL;
	}
	clear(NULL);
	hist_add(&latency, 1, 1); /* of no use without a clock */
	measure.clock = NULL;
	measure.no_clock = "the sender's clock is another's";
	cfg.max_latency_p99_ns = 1000;
	assert_false(met("max-latency-p99"));
	threshold_tell(got, 1, "vb", &kept, &e);
	assert_string_equal(e.cause, "--max-latency-p99 1 us cannot be judged: the sender's clock is another's");
}

/* One threshold that would be met, were it not for something that nobody knows. */
static void in_doubt(const char *name, const char *why)
{
	assert_false(met(name));
	assert_true(isnan(got[0].value));
	assert_string_equal(got[0].unknown, why);
}

static void a_part_of_the_packets_is_not_enough(void **state)
{
	struct measure_counts *c = &measure.total.counts;

	(void)state;
	c->unique = 1000;
	hist_add(&latency, 1, 1000);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = {"max-loss", "max-duplicates", "max-reordered", "max-latency-p99"};

		cfg = (struct config){0};
		if (i == 3)
			cfg.max_latency_p99_ns = 1000;
		else
			*(i == 0 ? &cfg.max_loss : i == 1 ? &cfg.max_duplicates : &cfg.max_reordered) = ratio("50%");
		assert_true(met(names[i]));
		c->unfollowed = 1;
		in_doubt(names[i], "flows beyond --flow-limit were not measured");
		c->unfollowed = 0;
		measure.partly = true;
		in_doubt(names[i], "flows beyond --flow-limit were not measured");
		measure.partly = false;
		snprintf(measure.books, sizeof(measure.books), "1 is not 2");
		in_doubt(names[i], "the measurement's books do not close");
		measure.books[0] = '\0';
	}
	/* What is worse than it may be stays so, whatever else is unknown. */
	cfg = (struct config){.max_loss = ratio("1%")};
	measure.total.loss_ratio = 0.02;
	c->unfollowed = 1;
	assert_false(met("max-loss"));
	assert_true(fabs(got[0].value - 0.02) < 1e-9);
}

/* Late packets may have come twice, or behind others: it depends on the limit whether that matters. */
static void late_packets_leave_it_open(void **state)
{
	static const char why[] = "packets came too late to be told apart: a larger --window tells more";
	struct measure_counts *c = &measure.total.counts;

	(void)state;
	c->unique = 1000;
	c->duplicate = c->reordered = 10;
	c->late = 10;
	cfg.max_duplicates = ratio("2%");
	assert_true(met("max-duplicates"));
	c->late = 11;
	in_doubt("max-duplicates", why);
	cfg = (struct config){.max_reordered = ratio("2%")};
	in_doubt("max-reordered", why);
	c->late = 10;
	assert_true(met("max-reordered"));
}

/* A rate that was missed and a threshold that was: one error tells of both. */
static void both_kinds_are_told(void **state)
{
	struct err rate = {.code = EXIT_RATE,
			   .what = "the requested rate was not reached",
			   .object = "va",
			   .cause = "7 packets of the schedule were not sent in time",
			   .hint = "a lower --pps"};
	struct err e = {.code = EXIT_DONE};

	(void)state;
	measure.total.counts.unique = 1000;
	measure.total.loss_ratio = 0.5;
	cfg.max_loss = ratio("0");
	cfg.strict_rate = values.sent = values.rate_missed = true;
	values.requested_pps = 5;
	assert_int_equal(threshold_judge(&cfg, &values, got), 2);
	assert_false(got[0].ok || got[1].ok);
	assert_true(threshold_tell(got, 2, "vb", &rate, &e));
	assert_int_equal(e.code, EXIT_RATE);
	assert_string_equal(e.what, "the requested rate was not reached, and a threshold was not met");
	assert_string_equal(e.object, "va");
	assert_string_equal(
		e.cause,
		"7 packets of the schedule were not sent in time; lost 50 %, at most 0 was allowed (--max-loss)");
	assert_string_equal(e.hint, "a lower --pps");
	measure.total.loss_ratio = 0;
	threshold_judge(&cfg, &values, got);
	assert_true(threshold_tell(got, 2, "vb", &rate, &e));
	assert_string_equal(e.what, rate.what);
	assert_string_equal(e.cause, rate.cause);
}

static void sentences(void **state)
{
	struct err e = {.code = EXIT_DONE};

	(void)state;
	measure.total.counts.unique = 1000;
	measure.total.loss_ratio = 0.0102;
	measure.total.counts.duplicate = 1;
	cfg.max_loss = ratio("0");
	cfg.max_duplicates = ratio("5%");
	assert_int_equal(threshold_judge(&cfg, &values, got), 2);
	assert_true(threshold_tell(got, 2, "loop:", &kept, &e));
	assert_string_equal(e.what, "a threshold was not met");
	assert_string_equal(e.object, "loop:");
	assert_string_equal(e.cause, "lost 1.02 %, at most 0 was allowed (--max-loss)");
	cfg.max_duplicates = ratio("0");
	threshold_judge(&cfg, &values, got);
	threshold_tell(got, 2, "loop:", &kept, &e);
	assert_string_equal(e.what, "thresholds were not met");
	assert_string_equal(e.cause, "lost 1.02 %, at most 0 was allowed (--max-loss); "
				     "duplicates 0.1 %, at most 0 was allowed (--max-duplicates)");
	measure.total.loss_ratio = 0;
	measure.total.counts.duplicate = 0;
	threshold_judge(&cfg, &values, got);
	e.code = EXIT_DONE;
	assert_false(threshold_tell(got, 2, "loop:", &kept, &e));
	assert_int_equal(e.code, EXIT_DONE);
	assert_int_equal(threshold_judge(&(struct config){0}, &values, got), 0);
}

static void reads_back(const char *text, uint64_t pico, const char *shown)
{
	struct ratio r = ratio(text);
	char buf[32];

	assert_true(r.set);
	assert_int_equal(r.pico, pico);
	assert_string_equal(units_format_ratio(&r, buf, sizeof(buf)), shown);
}

static void ratios_as_text(void **state)
{
	static const char *const wrong[] = {"", "-1", "1.1", "101%", "5%%", "x", "0.5x", "% 5", "2"};
	struct ratio r;
	char buf[32];

	(void)state;
	reads_back("0", 0, "0");
	reads_back("1", 1000000000000, "1");
	reads_back("100%", 1000000000000, "1");
	reads_back("0.05", 50000000000, "0.05");
	reads_back("5 %", 50000000000, "0.05");
	reads_back("1e-6", 1000000, "0.000001");
	reads_back("0.000000000001", 1, "0.000000000001");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!units_parse_ratio(wrong[i], &r))
			fail_msg("\"%s\" is taken", wrong[i]);
	assert_string_equal(units_format_ratio(&(struct ratio){0}, buf, sizeof(buf)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ratios, clear),
		cmocka_unit_test_setup(latencies, clear),
		cmocka_unit_test_setup(clocks_apart, clear),
		cmocka_unit_test_setup(rates, clear),
		cmocka_unit_test_setup(unknown, clear),
		cmocka_unit_test_setup(sentences, clear),
		cmocka_unit_test(ratios_as_text),
		cmocka_unit_test_setup(a_part_of_the_packets_is_not_enough, clear),
		cmocka_unit_test_setup(late_packets_leave_it_open, clear),
		cmocka_unit_test_setup(both_kinds_are_told, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
