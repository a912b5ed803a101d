/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a measurement add up, and where they do not the report says what is wrong. */
#include "measures.h"
#include "rx/measure_internal.h"

#include <string.h>

static const struct measure_conf usual = {
	.run = MEASURE_TEST_RUN,
	.flows = 100,
	.threads = 1,
	.per_flow = true,
	.clock = MEASURE_CLOCK_SAME_HOST,
	.arrivals = PIO_CLOCK_MONOTONIC,
};

static uint64_t sent_20(const void *arg, uint32_t flow)
{
	(void)arg;
	return flow == 6 ? 0 : 20;
}

/* What of the packets that the device was not heard of any more came, was sent; what did not, was not. */
static void what_is_undecided_was_sent_if_it_came(void **state)
{
	(void)state;
	for (uint32_t undecided = 0; undecided <= 5; undecided++) {
		const struct measure_sent sent = {
			.packets = 15, .undecided = 5, .numbers = 20, .flows = 1, .of_flow = sent_20};
		struct measure *m = measure_ok(&usual);
		struct report_measure r;

		for (uint32_t i = 0; i < 15 + undecided; i++)
			came(m, 0, 0, i, 0, 1);
		r = result_of(m, &sent, 1);
		assert_int_equal(r.total.counts.unique, 15 + undecided);
		assert_int_equal(r.total.lost, 0);
		assert_int_equal(r.not_sent, 5 - undecided);
		assert_int_equal(r.flows[0].lost, 5 - undecided);
		measure_close(m);
	}
}

/* Packets that came of one flow of ten that were sent 20 of, with these figures of the sender: what does not add up. */
static void flawed(uint32_t n_came, const struct measure_sent *sent, const char *says)
{
	struct measure *m = measure_ok(&usual);
	struct report_measure r;
	struct err e;

	for (uint32_t i = 0; i < n_came; i++)
		came(m, 0, 0, i, 0, 1);
	assert_int_equal(measure_result(m, sent, 1, &r, &e), 0);
	if (!strstr(r.books, says) || (!says[0] && r.books[0]))
		fail_msg("\"%s\" does not say \"%s\"", r.books, says);
	measure_close(m);
}

static void books_that_do_not_close_are_told(void **state)
{
	struct measure_sent sent = {.packets = 20, .numbers = 20, .flows = 1, .of_flow = sent_20};
	struct measure *m;
	struct report_measure r;
	struct err e;

	(void)state;
	flawed(20, &sent, "");
	flawed(21, &sent, "packets of 1 flows came with numbers that none of them was sent with");
	sent.numbers = 21;
	flawed(20, &sent, "21 packets were handed to the device, but 20 by flow");
	sent.numbers = 20;
	sent.packets = 18;
	sent.undecided = 1;
	flawed(20, &sent, "20 packets came for the first time, but only 19 were sent");
	sent.undecided = 2;
	flawed(20, &sent, "");
	m = measure_ok(&usual);
	came(m, 0, 0, 0, 0, 1);
	stats_add(&m->parts->counts.stamped, 1);
	assert_int_equal(measure_result(m, NULL, 1, &r, &e), 0);
	assert_string_equal(r.books, "2 packets were stamped, but 1 unique, 0 duplicate and 0 late");
	measure_close(m);
	m = measure_ok(&usual);
	came(m, 0, 0, 0, 0, 1);
	stats_add(&m->parts->counts.stamped, 1);
	stats_add(&m->parts->counts.unique, 1);
	assert_int_equal(measure_result(m, NULL, 1, &r, &e), 0);
	assert_string_equal(r.books, "2 packets were unique, but 1 by flow");
	measure_close(m);
}

/* Of a receiver alone: which of the lost it may just have come too late for. */
static void what_was_sent_before_the_first_that_came(void **state)
{
	struct measure_conf conf = usual;
	struct report_measure r;
	struct measure *m;

	(void)state;
	conf.window = 96;
	m = measure_ok(&conf);
	for (uint32_t i = 0; i < 10; i++)
		came(m, 0, 0, i, 0, 1); /* from the beginning on */
	for (uint32_t i = 7; i < 20; i++)
		if (i != 12)
			came(m, 0, 1, i, 0, 1); /* 0 to 6 and 12 are missing */
	for (uint32_t i = 1000; i < 1020; i++)
		came(m, 0, 2, i, 0, 1); /* so far on that nobody looks for what was before */
	r = result_of(m, NULL, 3);
	assert_int_equal(r.total.lost, 8);
	assert_int_equal(r.joined, 1);
	assert_int_equal(r.began, 1);
	assert_int_equal(r.before_first, 7);
	measure_close(m);
	m = measure_ok(&usual);
	came(m, 0, 0, 3, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		came(m, 0, 0, i, 0, 1); /* overtaken, not lost */
	r = result_of(m, NULL, 1);
	assert_int_equal(r.total.lost, 0);
	assert_int_equal(r.before_first, 0);
	measure_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_undecided_was_sent_if_it_came),
		cmocka_unit_test(books_that_do_not_close_are_told),
		cmocka_unit_test(what_was_sent_before_the_first_that_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
