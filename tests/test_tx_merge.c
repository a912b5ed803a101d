/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the packets of several streams at one sender, on a clock that the test turns. */
#include "streams_case.h"

#include "lib/clock.h"

#include <time.h>

#define START 1000000000ULL

static struct streams s;
static struct limiter *limiters;
static struct tx_source sources[CONFIG_STREAMS_MAX];
static struct tx_merge *m;

/* Queue q of n, from START on until end_ns after it; 0: no end. */
static void begin(const char *text, unsigned q, unsigned n, uint64_t end_ns)
{
	streams_make(&s, text);
	limiters = aligned_alloc(128, s.set.n_groups * sizeof(*limiters));
	assert_non_null(limiters);
	memset(sources, 0, sizeof(sources));
	assert_int_equal(tx_merge_create(&m, &s.set, sources, limiters, q, n, NULL, NULL), 0);
	for (unsigned i = 0; i < s.set.n_groups; i++)
		limiter_init(&limiters[i], &s.set.groups[i].pace, 100 * NS_PER_MS, START + s.set.groups[i].delay_ns,
			     end_ns ? START + end_ns : UINT64_MAX);
	tx_merge_begin(m, &s.set, START, q, n);
}

static void end(void)
{
	tx_merge_free(m);
	for (unsigned i = 0; i < s.set.n; i++)
		tx_source_free(&sources[i]);
	free(limiters);
	streams_free(&s);
}

/* The next packet of a sender that is always on time; its departure after the start. Negative: there is none. */
static int next(uint64_t *at)
{
	for (;;) {
		uint64_t departure = tx_merge_departure(m, 64, START + *at);
		int source;

		if (departure == TX_MERGE_NEVER)
			return -1;
		assert_true(departure >= START + *at);
		*at = departure - START;
		source = tx_merge_take(m);
		if (source >= 0)
			return source;
	}
}

static void shares_are_exact_and_in_the_order_of_the_seed(void **state)
{
	static const char text[] = "pps: 1000\nseed: %u\nstreams:\n"
				   "  - {dst-ip: 10.0.0.1, share: 3}\n  - {dst-ip: 10.0.0.2, share: 2}\n"
				   "  - {dst-ip: \"::1\"}\n";
	char order[4][61] = {0};

	(void)state;
	for (unsigned run = 0; run < 4; run++) {
		unsigned n[3] = {0};
		uint64_t at = 0;
		char yaml[256];

		snprintf(yaml, sizeof(yaml), text, run < 2 ? 5 : run + 10);
		begin(yaml, 0, 1, 0);
		for (unsigned k = 0; k < 60; k++) {
			int source = next(&at);

			assert_in_range(source, 0, 2);
			assert_int_equal(at, k * NS_PER_MS);
			order[run][k] = (char)('a' + source);
			n[source]++;
		}
		assert_int_equal(n[0], 30);
		assert_int_equal(n[1], 20);
		assert_int_equal(n[2], 10);
		end();
	}
	assert_string_equal(order[0], order[1]);
	assert_true(strcmp(order[0], order[2]) != 0 || strcmp(order[0], order[3]) != 0);
}

/* By departure, of equal ones the first group's: the streams that share first. */
static void own_rates_stand_beside_shares(void **state)
{
	unsigned n[4] = {0};
	uint64_t at = 0, before = 0;
	int last = -1;

	(void)state;
	begin("pps: 3000\nstreams:\n  - {dst-ip: 10.0.0.1, share: 2}\n  - {dst-ip: 10.0.0.2}\n"
	      "  - {dst-ip: 10.0.0.3, pps: 500}\n  - {dst-ip: 10.0.0.4, burst-profile: 5/10ms}\n",
	      0, 1, NS_PER_S);
	for (int source; (source = next(&at)) >= 0; last = source) {
		n[source]++;
		assert_true(at >= before);
		if (at == before && last >= 2)
			assert_true(source >= last);
		if (source == 2)
			assert_int_equal(at % (2 * NS_PER_MS), 0);
		if (source == 3)
			assert_int_equal(at % (10 * NS_PER_MS), 0);
		before = at;
	}
	assert_int_equal(n[0], 2000);
	assert_int_equal(n[1], 1000);
	assert_int_equal(n[2], 500);
	assert_int_equal(n[3], 500);
	assert_false(tx_merge_is_spent(m));
	end();
}

static void nothing_leaves_before_its_start(void **state)
{
	uint64_t first[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, at = 0;
	unsigned n[3] = {0}, group;

	(void)state;
	begin("pps: 1000\nstreams:\n  - {dst-ip: 10.0.0.1}\n  - {dst-ip: 10.0.0.2, start-delay: 300ms}\n"
	      "  - {dst-ip: 10.0.0.3, pps: 10, start-delay: 550ms}\n",
	      0, 1, NS_PER_S);
	for (int source; (source = next(&at)) >= 0; n[source]++)
		first[source] = at < first[source] ? at : first[source];
	group = s.set.streams[1].group;
	assert_in_range(first[0], 0, NS_PER_MS);
	assert_in_range(first[1], 300 * NS_PER_MS, 301 * NS_PER_MS);
	assert_int_equal(first[2], 550 * NS_PER_MS);
	/* Its turns pass by: the other stream does not get them. */
	assert_int_equal(n[0], 500);
	assert_int_equal(n[1], 350);
	assert_int_equal(n[2], 5);
	assert_int_equal(m->groups[group].passed, 150);
	end();
}

/* At a rate at which positions are claimed in clumps, too, the first packet is the first after the start. */
static void a_start_is_exact_at_high_rates(void **state)
{
	uint64_t at = 0, late = 0;
	unsigned sent = 0;

	(void)state;
	begin("pps: 10M\nstreams:\n  - {dst-ip: 10.0.0.1}\n  - {dst-ip: 10.0.0.2, start-delay: 20ms}\n", 0, 1,
	      21 * NS_PER_MS);
	for (int source; (source = next(&at)) >= 0;) {
		sent += source == 1;
		late = source == 1 && !late ? at - 20 * NS_PER_MS : late;
	}
	assert_in_range(late, 0, 200);
	assert_int_equal(sent, 5000);
	end();
}

static void when_all_begin_late_the_schedule_does(void **state)
{
	uint64_t at = 0;

	(void)state;
	begin("pps: 1000\nstreams:\n  - {dst-ip: 10.0.0.1, start-delay: 1h}\n  - {dst-ip: 10.0.0.2, start-delay: 2h}\n",
	      0, 1, 0);
	assert_int_equal(next(&at), 0);
	assert_in_range(at, 3600 * NS_PER_S, 3600 * NS_PER_S + NS_PER_MS);
	assert_true(m->groups[0].passed <= 1);
	end();
}

static void so_many_packets_and_no_more(void **state)
{
	unsigned n[3] = {0};
	uint64_t at = 0, last = 0;

	(void)state;
	begin("pps: 1000\nstreams:\n  - {dst-ip: 10.0.0.0/29, flows: 3, burst-profile: 10}\n  - {dst-ip: 10.0.0.2}\n"
	      "  - {dst-ip: 10.0.0.3, pps: 100, burst-profile: 7}\n",
	      0, 1, NS_PER_S);
	for (int source; (source = next(&at)) >= 0; n[source]++)
		last = source == 2 ? at : last;
	assert_int_equal(n[0], 10);
	assert_int_equal(n[1], 500);
	assert_int_equal(n[2], 7);
	assert_int_equal(last, 60 * NS_PER_MS);
	assert_int_equal(stream_set_count(&s.set), 0);
	end();
	at = 0;
	begin("burst-profile: 5\nstreams:\n  - {dst-ip: 10.0.0.1}\n  - {dst-ip: 10.0.0.2, burst-profile: 6}\n", 0, 1,
	      0);
	for (unsigned k = 0; k < 11; k++)
		assert_true(next(&at) >= 0);
	assert_int_equal(next(&at), -1);
	assert_true(tx_merge_is_spent(m));
	assert_int_equal(stream_set_count(&s.set), 11);
	end();
}

/* Whatever the queues: each stream its part by the round, each flow of it as often as others or once more. */
static void a_count_is_dealt(void **state)
{
	static const unsigned counts[] = {1, 2, 99, 1000};

	(void)state;
	for (unsigned c = 0; c < 4; c++)
		for (unsigned queues = 1; queues <= 3; queues++) {
			uint64_t n[2] = {0};
			char yaml[256];

			snprintf(yaml, sizeof(yaml),
				 "count: %u\nstreams:\n  - {dst-ip: 10.0.0.0/24, flows: 7, share: 4}\n"
				 "  - {dst-ip: 10.0.1.0/24, flows: 5}\n",
				 counts[c]);
			for (unsigned q = 0; q < queues; q++) {
				uint64_t at = 0;

				begin(yaml, q, queues, 0);
				for (int source; (source = next(&at)) >= 0;)
					n[source]++;
				assert_true(tx_merge_is_spent(m));
				assert_int_equal(stream_set_count(&s.set), counts[c]);
				end();
			}
			assert_int_equal(n[0] + n[1], counts[c]);
			assert_in_range(n[1], counts[c] / 5, (counts[c] + 4) / 5);
		}
}

static void what_has_no_limit_takes_turns(void **state)
{
	unsigned n[4] = {0};

	(void)state;
	begin("pps: unlimited\nstreams:\n  - {dst-ip: 10.0.0.1, share: 5}\n  - {dst-ip: 10.0.0.2, start-delay: 1s}\n"
	      "  - {dst-ip: 10.0.0.3, pps: 10}\n  - {dst-ip: 10.0.0.4, pps: unlimited, share: 3, burst-profile: 30}\n",
	      0, 1, 0);
	assert_int_equal(s.set.n_groups, 2);
	assert_int_equal(tx_merge_unlimited_from(m), START);
	for (unsigned k = 0; k < 80; k++)
		n[tx_merge_take_unlimited(m, START)]++;
	assert_int_equal(n[0], 50);
	assert_int_equal(n[1], 0);
	assert_int_equal(n[3], 30);
	for (unsigned k = 0; k < 60; k++)
		n[tx_merge_take_unlimited(m, START + NS_PER_S)]++;
	assert_int_equal(n[0], 100);
	assert_int_equal(n[1], 10);
	assert_int_equal(n[3], 30);
	assert_int_equal(tx_merge_departure(m, 1, START), START); /* the one with a rate */
	assert_int_equal(tx_merge_take(m), 2);
	end();
	begin("pps: unlimited\nstreams:\n  - {dst-ip: 10.0.0.1, start-delay: 2s}\n  - {dst-ip: 10.0.0.2, start-delay: "
	      "1s}\n",
	      0, 1, 0);
	assert_int_equal(tx_merge_take_unlimited(m, START), -1);
	assert_int_equal(tx_merge_unlimited_from(m), START + NS_PER_S);
	assert_int_equal(tx_merge_departure(m, 1, START), TX_MERGE_NEVER);
	end();
}

/* Processor time that so many packets of streams without a limit take, each of the first one. */
static uint64_t time_of(const char *text, unsigned packets)
{
	struct timespec before, after;

	begin(text, 0, 1, 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	for (unsigned k = 0; k < packets; k++)
		assert_int_equal(tx_merge_take_unlimited(m, START), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	end();
	return (uint64_t)(after.tv_sec - before.tv_sec) * NS_PER_S + (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
}

/* However many turns they have in a round: nobody goes over them for each packet. */
static void those_that_are_not_there_take_no_time(void **state)
{
	const unsigned packets = 100000;
	uint64_t alone = time_of("pps: unlimited\nstreams:\n  - {dst-ip: 10.0.0.1}\n", packets);
	uint64_t beside = time_of("pps: unlimited\nstreams:\n  - {dst-ip: 10.0.0.1}\n"
				  "  - {dst-ip: 10.0.0.2, share: 16383, start-delay: 1h}\n",
				  packets);

	(void)state;
	assert_true(beside < 100 * alone); /* of 16384 */
}

/* Whoever comes or goes: the others' turns are in the order of the round, and none is lost to one who is not there. */
static void turns_of_those_that_come_and_go(void **state)
{
	unsigned n[4] = {0};

	(void)state;
	begin("pps: unlimited\nstreams:\n  - {dst-ip: 10.0.0.1, share: 500}\n"
	      "  - {dst-ip: 10.0.0.2, share: 300, burst-profile: 700}\n"
	      "  - {dst-ip: 10.0.0.3, share: 7000, start-delay: 1s}\n  - {dst-ip: 10.0.0.4, start-delay: 2s}\n",
	      0, 1, 0);
	for (unsigned k = 0; k < 1600; k++)
		n[tx_merge_take_unlimited(m, START)]++;
	assert_int_equal(n[0], 1000);
	assert_int_equal(n[1], 600);
	for (unsigned k = 0; k < 15100; k++)
		n[tx_merge_take_unlimited(m, START + NS_PER_S)]++;
	assert_int_equal(n[1], 700);
	assert_int_equal(n[0], 2000); /* two rounds of 500 and 7000, wherever they begin */
	for (unsigned k = 0; k < 7501; k++)
		n[tx_merge_take_unlimited(m, START + 3 * NS_PER_S)]++;
	assert_int_equal(n[3], 1);
	assert_int_equal(n[0], 2500);
	end();
}

/* A sender that is late sends in the same order as one that is not. */
static void lateness_changes_no_order(void **state)
{
	static const char text[] = "pps: 3M\nstreams:\n  - {dst-ip: 10.0.0.1, share: 2}\n  - {dst-ip: 10.0.0.2}\n"
				   "  - {dst-ip: 10.0.0.3, pps: 777k}\n  - {dst-ip: 10.0.0.4, burst-profile: 3/9us}\n";
	static int order[2][5000];

	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		uint64_t at = 0;

		begin(text, 0, 1, 0);
		for (unsigned k = 0; k < 5000; k++) {
			if (!late) {
				order[0][k] = next(&at);
				continue;
			}
			tx_merge_departure(m, 1 + k % 64, START + 5 * NS_PER_MS);
			order[1][k] = tx_merge_take(m);
		}
		end();
	}
	assert_memory_equal(order[0], order[1], sizeof(order[0]));
}

static void clumps_are_what_is_due(void **state)
{
	uint64_t first;

	(void)state;
	begin("pps: 100k\nburst: 4\nstreams:\n  - {dst-ip: 10.0.0.1}\n  - {dst-ip: 10.0.0.2, pps: 100k}\n", 0, 1, 0);
	first = tx_merge_departure(m, 64, START);
	tx_merge_take(m);
	/* The other stream's first is of the same time; their second ones are not, */
	assert_true(tx_merge_joins(m, tx_merge_departure(m, 64, START), first, 1, START));
	tx_merge_take(m);
	assert_false(tx_merge_joins(m, tx_merge_departure(m, 64, START), first, 2, START));
	/* but when they are late they leave along, up to the burst. */
	assert_true(tx_merge_joins(m, tx_merge_departure(m, 64, START), first, 2, START + NS_PER_MS));
	assert_false(tx_merge_joins(m, tx_merge_departure(m, 64, START), first, 4, START + NS_PER_MS));
	end();
}

static void streams_at_random_are_not_in_step(void **state)
{
	unsigned n[2] = {0}, together = 0;
	uint64_t at = 0, before = 0;

	(void)state;
	begin("spacing: poisson\nstreams:\n  - {dst-ip: 10.0.0.1, pps: 10k}\n  - {dst-ip: 10.0.0.2, pps: 10k}\n", 0, 1,
	      NS_PER_S);
	for (int source; (source = next(&at)) >= 0; n[source]++) {
		together += at == before;
		before = at;
	}
	/* Four standard deviations: 4 * sqrt(10000). */
	assert_in_range(n[0], 9600, 10400);
	assert_in_range(n[1], 9600, 10400);
	assert_true(together < 50);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_exact_and_in_the_order_of_the_seed),
		cmocka_unit_test(own_rates_stand_beside_shares),
		cmocka_unit_test(nothing_leaves_before_its_start),
		cmocka_unit_test(a_start_is_exact_at_high_rates),
		cmocka_unit_test(when_all_begin_late_the_schedule_does),
		cmocka_unit_test(so_many_packets_and_no_more),
		cmocka_unit_test(a_count_is_dealt),
		cmocka_unit_test(what_has_no_limit_takes_turns),
		cmocka_unit_test(those_that_are_not_there_take_no_time),
		cmocka_unit_test(turns_of_those_that_come_and_go),
		cmocka_unit_test(lateness_changes_no_order),
		cmocka_unit_test(clumps_are_what_is_due),
		cmocka_unit_test(streams_at_random_are_not_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
