/* SPDX-License-Identifier: Apache-2.0 */
/* A list of streams in a file: what each has, from whom, and what is refused, where and in which words. */
#include "streams_case.h"

#include <stdio.h>

static struct streams s;

static void good(const char *text)
{
	streams_read(&s, text);
	if (s.problems.n)
		fail_msg("%s: %s: %s", text, s.problems.e[0].object, s.problems.e[0].cause);
}

/* One problem, about object, whose cause begins with "f.yaml:LINE: " (0: no place) and has word in it. */
static void bad(const char *text, const char *object, unsigned line, const char *word)
{
	const struct err *e = &s.problems.e[0];
	char place[32] = "";

	streams_read(&s, text);
	if (line)
		snprintf(place, sizeof(place), "f.yaml:%u: ", line);
	if (s.problems.n != 1 || strcmp(e->object, object) != 0 || strncmp(e->cause, place, strlen(place)) != 0 ||
	    !strstr(e->cause, word))
		fail_msg("%s: %u problems, the first: %s: %s", text, s.problems.n, e->object, e->cause);
	option_free(&s.cfg);
}

#define ONE "streams:\n  - dst-ip: 10.0.0.1\n"

static void a_stream_has_the_runs_unless_it_says_otherwise(void **state)
{
	const struct config *c;

	(void)state;
	good("pps: 5k\ndst-ip: 10.0.0.1\nflows: 3\nvary: [dscp=1-3]\nttl: 9\nstreams:\n"
	     "  - name: a.b-c_9\n    flows: 2\n    vary: dscp=5-6\n    share: 7\n"
	     "  - {}\n  - {dst-ip: \"::1\", vary: src-port=1-3, ttl: 3, start-delay: 2s, bps: 1G}\n");
	assert_int_equal(s.cfg.n_streams, 3);
	c = s.cfg.streams;
	assert_string_equal(c[0].name, "a.b-c_9");
	assert_string_equal(c[1].name, "2");
	assert_int_equal(c[0].flows, 2);
	assert_int_equal(c[1].flows, 3);
	assert_int_equal(c[0].vary.n, 1); /* in place of the run's, and not added to it */
	assert_string_equal(c[0].vary.text[0], "dscp=5-6");
	assert_string_equal(c[1].vary.text[0], "dscp=1-3");
	assert_int_equal(c[0].ttl, 9);
	assert_int_equal(c[2].ttl, 3);
	assert_int_equal(c[2].dst_ip.ip.family, 6);
	assert_int_equal(c[0].share, 7);
	assert_int_equal(c[1].share, 1);
	assert_int_equal(c[2].start_delay_ns, 2000000000);
	assert_true(option_said(&c[0], OPTION_FLOWS) && !option_said(&c[0], OPTION_TTL) &&
		    option_given(&c[0], OPTION_TTL));
	/* A bit rate of its own is all of its rate. */
	assert_true(stream_has_own_rate(&c[2]) && !stream_has_own_rate(&c[0]));
	assert_int_equal(c[2].pps.kind, RATE_UNSET);
	assert_int_equal(c[0].pps.micro, 5000000000);
	option_free(&s.cfg);
	assert_null(s.cfg.streams);
}

static void rates_of_their_own(void **state)
{
	(void)state;
	streams_make(&s, "burst-profile: 64/10ms\n" ONE "  - {dst-ip: 10.0.0.2, pps: 7}\n"
			 "  - {dst-ip: 10.0.0.3, bps: 10%, packet-size: 1230}\n"
			 "  - {dst-ip: 10.0.0.4, pps: unlimited}\n  - {dst-ip: 10.0.0.5, burst-profile: 9}\n");
	assert_int_equal(s.set.n_groups, 4);
	assert_true(stream_pps(&s.set, 0) == 3200 && stream_pps(&s.set, 4) == 3200);
	assert_true(stream_pps(&s.set, 1) > 6.999 && stream_pps(&s.set, 1) <= 7);
	/* A tenth of 10 Gbit/s in frames of 1250 bytes on the line. */
	assert_true(stream_pps(&s.set, 2) > 99999 && stream_pps(&s.set, 2) <= 100000);
	assert_true(stream_pps(&s.set, 3) < 0 && stream_set_pps(&s.set) < 0);
	streams_free(&s);
}

/* Frames of 64 and 1518 bytes by 3 to 1, with 20 each on the line: 1790 bytes for 4 packets. */
static void a_bit_rate_is_spread_over_the_round(void **state)
{
	double pps;

	(void)state;
	streams_make(
		&s,
		"bps: 14320000\n" /* 1000 rounds a second */
		"streams:\n  - {dst-ip: 10.0.0.1, share: 30}\n  - {dst-ip: 10.0.0.2, packet-size: 1518, share: 10}\n");
	pps = stream_set_pps(&s.set);
	assert_true(pps > 3999.99 && pps <= 4000);
	streams_free(&s);
	/* With a mix of sizes: 7 * 84 + 4 * 614 + 1538 = 4582 bytes for 12 packets. */
	streams_make(
		&s,
		"bps: 36656000\nstreams:\n  - {dst-ip: 10.0.0.1, mode: imix}\n  - {dst-ip: 10.0.0.2, mode: imix}\n");
	pps = stream_set_pps(&s.set);
	assert_true(pps > 11999.99 && pps <= 12000);
	streams_free(&s);
}

static void queues_are_those_of_the_least(void **state)
{
	bool used[8] = {false};

	(void)state;
	streams_make(&s, "streams:\n  - {dst-ip: 10.0.0.0/24, flows: 3}\n  - {dst-ip: 10.0.1.0/24, flows: 100}\n"
			 "  - {dst-ip: 10.0.2.0/24, flows: 2, pps: 5}\n  - {dst-ip: 10.0.3.1, pps: 5}\n");
	assert_int_equal(stream_set_queues(&s.set, 2), 2);
	assert_int_equal(stream_set_queues(&s.set, 8), 6);
	for (unsigned g = 0; g < s.set.n_groups; g++)
		for (unsigned q = 0; q < 6; q++)
			if (stream_group_sender(&s.set, g, q, 6) < stream_group_queues(&s.set, g, 6)) {
				assert_false(used[q]); /* each group on queues of its own, where there are enough */
				used[q] = true;
			}
	for (unsigned q = 0; q < 6; q++)
		assert_true(used[q]);
	streams_free(&s);
}

static void what_is_no_list(void **state)
{
	char many[4096] = "dst-ip: 10.0.0.1\nstreams:\n";

	(void)state;
	bad("pps: 5\nstreams: 5\n", "streams", 2, "a list of 1 to 64 streams");
	bad("streams: []\n", "streams", 1, "a list of 1 to 64");
	bad("streams: {dst-ip: 10.0.0.1}\n", "streams", 1, "a list of 1 to 64");
	bad("streams:\n  - dst-ip: 10.0.0.1\nstreams:\n  - {}\n", "streams", 3, "given twice");
	bad("stream:\n  - dst-ip: 10.0.0.1\n", "stream", 1, "did you mean streams?");
	bad("streams:\n  - 5\ndst-ip: 10.0.0.1\n", "stream 1: item", 2, "lines such as");
	for (unsigned i = 0; i < 64; i++)
		strcat(many, "  - {}\n");
	good(many);
	assert_int_equal(s.cfg.n_streams, 64);
	assert_string_equal(s.cfg.streams[63].name, "64");
	option_free(&s.cfg);
	strcat(many, "  - {}\n");
	bad(many, "streams", 3, "a list of 1 to 64");
}

static void keys_and_values_that_cannot_be(void **state)
{
	(void)state;
	bad(ONE "    flowz: 3\n", "stream 1: flowz", 3, "did you mean flows?");
	bad(ONE "    name: web\n    ttl: 256\n", "stream web: ttl", 4, "1 to 255");
	bad(ONE "    streams: []\n", "stream 1: streams", 3, "unknown option");
	bad(ONE "    duration: 5s\n", "stream 1: duration", 3, "for all streams");
	bad(ONE "    config: x\n", "stream 1: config", 3, "belongs on the command line");
	bad(ONE "    idle: 5s\n", "stream 1: idle", 3, "not an option of squall send");
	bad(ONE "    ttl: 5\n    ttl: 6\n", "stream 1: ttl", 4, "given twice");
	bad(ONE "    name: a\n    name: b\n", "stream a: name", 4, "given twice");
	bad(ONE "    name: a b\n", "stream 1: name", 3, "is not a name");
	bad(ONE "    name: \"\"\n", "stream 1: name", 3, "is not a name");
	bad(ONE "    name: abcdefghijklmnopqrstuv\n", "stream 1: name", 3, "1 to 21");
	bad(ONE "    name: [a]\n", "stream 1: name", 3, "takes a name");
	bad(ONE "    name: x\n  - {dst-ip: 10.0.0.2, name: x}\n", "stream x: name", 4, "line 2 has it");
	bad(ONE "    name: 2\n  - {dst-ip: 10.0.0.2}\n", "stream 2: name", 4, "line 2 has it");
	bad(ONE "    share: 0\n", "stream 1: share", 3, "1 to 1000000");
	bad("share: 3\n" ONE, "share", 1, "under one of the streams");
	bad("start-delay: 3s\ndst-ip: 10.0.0.1\n" ONE, "start-delay", 1, "under one of the streams");
}

static void what_does_not_go_together(void **state)
{
	(void)state;
	bad("streams:\n  - name: a\n  - {dst-ip: 10.0.0.1}\n", "stream a: dst-ip", 2, "say where to send");
	bad(ONE "    mode: pcap\n", "stream 1: mode", 2, "replayed alone");
	bad(ONE "    pcap: x\n", "stream 1: mode", 2, "replayed alone");
	bad(ONE "    mode: receive\n", "stream 1: mode", 2, "squall recv");
	bad(ONE "    pps: 5\n    share: 2\n", "stream 1: share", 2, "a rate of its own");
	bad(ONE "    spacing: poisson\n", "stream 1: spacing", 2, "spaced as one");
	bad("count: 5\n" ONE "    pps: 5\n", "stream 1: pps", 3, "dealt by shares");
	bad("pps: 7\n" ONE "    pps: 5\n    burst-profile: 5/1s\n", "stream 1: burst-profile", 3, "are a rate already");
	bad("rx-mode: generated-flow\ndst-ip: 10.0.0.9\n" ONE, "--rx-mode", 0, "one destination");
	bad("rx-mode: generated-flow\n" ONE, "--rx-mode", 0, "one destination");
	bad(ONE "    share: 16385\n  - {dst-ip: 10.0.0.2, share: 2}\n", "share", 0, "no more than 16384");
	bad("pps: unlimited\n" ONE "    share: 16385\n  - {dst-ip: 10.0.0.2, share: 2}\n", "share", 0,
	    "no more than 16384");
	bad(ONE "    flows: 1M\n", "stream 1: flows", 2, "more than the ranges hold");
	bad("dst-ip: \"::/64\"\nflows: 40M\nstreams: [{}, {}]\n", "flows", 0, "80000000 together");
	good("pps: 7\n" ONE "    burst-profile: 5/1s\n  - {dst-ip: 10.0.0.1, pps: unlimited, share: 2}\n");
	option_free(&s.cfg);
	good("burst-profile: 5/1s\n" ONE "    pps: 9\n");
	option_free(&s.cfg);
	/* What all streams have from the run is told once, as the run's. */
	bad("dst-ip: 10.0.0.1\nflows: 1M\nstreams: [{}, {}]\n", "--flows", 0, "more than the ranges hold");
	bad("dscp: 5\ndst-mac: 02:00:00:00:00:09\n" ONE "  - {name: b, mode: raw}\n  - {name: c, mode: raw}\n",
	    "--dscp", 0, "no IP header (stream b)");
	assert_string_equal(s.problems.e[0].hint, "it in those streams that can have it");
	bad("stamp: true\ndst-mac: 02:00:00:00:00:09\n" ONE "  - {name: b, mode: raw}\n", "--stamp", 0,
	    "--mode raw or pcap (stream b)");
	assert_string_equal(s.problems.e[0].hint, "");
}

static void all_problems_are_told_together(void **state)
{
	(void)state;
	streams_read(&s, "ppss: 5\nstreams:\n  - {dst-ip: 10.0.0.1, ttl: 999, json: true}\n  - {dst-ip: x}\n"
			 "  - {dst-ip: 10.0.0.1, flows: 1M, spacing: poisson}\n");
	assert_int_equal(s.problems.n, 6);
	assert_string_equal(s.problems.e[0].object, "ppss");
	assert_string_equal(s.problems.e[1].object, "stream 1: ttl");
	assert_string_equal(s.problems.e[2].object, "stream 1: json");
	assert_string_equal(s.problems.e[3].object, "stream 2: dst-ip");
	assert_string_equal(s.problems.e[4].object, "stream 3: spacing");
	assert_string_equal(s.problems.e[5].object, "stream 3: flows");
	option_free(&s.cfg);
}

/* What is written of it reads back the same. */
static void a_list_is_written_down(void **state)
{
	static struct streams first;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	good("pps: 5k\nstreams:\n  - {}\n  - {name: \"on\", dst-ip: \"::1\", payload-text: \"- a: #\\\"\", share: 3}\n"
	     "  - {bps: 1G, flows: 2, vary: [dscp=1-2, src-port=4-5], start-delay: 1h}\ndst-ip: 10.0.0.1\n");
	assert_non_null(f);
	option_dump_config(&s.cfg, f);
	fclose(f);
	first = s;
	good(text);
	assert_int_equal(s.cfg.n_streams, first.cfg.n_streams);
	for (unsigned k = 0; k < s.cfg.n_streams; k++) {
		const struct config *a = &first.cfg.streams[k], *b = &s.cfg.streams[k];

		assert_memory_equal(a->said, b->said, sizeof(a->said));
		assert_memory_equal(a->given, b->given, sizeof(a->given));
		for (unsigned i = 0; i < OPTION_TOTAL; i++)
			if (option_rows[i].scope != OPTION_SCOPE_RUN)
				assert_memory_equal(option_field(&option_rows[i], a), option_field(&option_rows[i], b),
						    option_rows[i].size);
	}
	option_free(&first.cfg);
	option_free(&s.cfg);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_has_the_runs_unless_it_says_otherwise),
		cmocka_unit_test(rates_of_their_own),
		cmocka_unit_test(a_bit_rate_is_spread_over_the_round),
		cmocka_unit_test(queues_are_those_of_the_least),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(keys_and_values_that_cannot_be),
		cmocka_unit_test(what_does_not_go_together),
		cmocka_unit_test(all_problems_are_told_together),
		cmocka_unit_test(a_list_is_written_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
