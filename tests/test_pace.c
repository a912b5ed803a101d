/* SPDX-License-Identifier: Apache-2.0 */
/* From options to the time between departures, and which options do not go together. */
#include "gen/pace.h"

#include "option_case.h"

__extension__ typedef unsigned __int128 uint128;

static const struct pace_load load = {.packets = 1, .bytes = 60, .l3_bytes = 46};

static struct tx_pace pace_for(const char *line)
{
	struct tx_pace pace;

	good(line);
	pace_check(&cfg, &problems);
	if (problems.n)
		fail_msg("%s: %s: %s", line, problems.e[0].object, problems.e[0].cause);
	assert_int_equal(pace_of(&cfg, 0, &load, &pace, NULL), 0);
	return pace;
}

static void refused(const char *line, const char *object)
{
	good(line);
	pace_check(&cfg, &problems);
	if (problems.n != 1 || strcmp(problems.e[0].object, object) != 0)
		fail_msg("%s: %u problems, the first: %s", line, problems.n, problems.e[0].object);
}

static void bursts_are_a_rate(void **state)
{
	struct tx_pace p = pace_for("send --burst-profile 64/10ms");

	(void)state;
	assert_int_equal(p.group, 64);
	assert_int_equal(p.interval.ns, 10000000);
	assert_int_equal(p.interval.frac, 0);
	assert_true(pace_pps(&p) == 6400);
	p = pace_for("send --burst-profile 1k/1h");
	assert_int_equal(p.group, 1000);
	assert_int_equal(p.interval.ns, 3600000000000);
	p = pace_for("send --burst-profile continuous --pps 1000");
	assert_int_equal(p.group, 0);
	assert_true(pace_pps(&p) == 1000);
	p = pace_for("send --pps unlimited");
	assert_true(pace_pps(&p) < 0);
}

static void a_number_of_packets_is_a_count(void **state)
{
	struct tx_pace p = pace_for("send --burst-profile 64 --pps 1000 --spacing poisson");

	(void)state;
	assert_int_equal(p.group, 0);
	assert_true(pace_pps(&p) == 1000);
	assert_int_equal(pace_count(&cfg), 64);
	good("send --burst-profile 64 -n 63");
	assert_int_equal(pace_count(&cfg), 63);
	good("send --burst-profile 64 -n 65");
	assert_int_equal(pace_count(&cfg), 64);
	good("send --burst-profile 64/1s -n 65");
	assert_int_equal(pace_count(&cfg), 65);
	good("send --burst-profile 64/1s");
	assert_int_equal(pace_count(&cfg), 0);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {"0",          "/10ms",  "64/",   "0/1s",     "64/0",
					  "-1/1s",      "1.5/1s", "6/1s/", "6/1h1s",   "6/10ns",
					  "1000001/1s", "x/1s",   "6/x",

					  "6//1s",      "contin", "6/-1s", "6/1s6/1s", "999999999999999999999/1s"};
	char line[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "send --burst-profile %s", bad[i]);
		refused(line, "--burst-profile");
	}
}

static void what_does_not_go_together(void **state)
{
	(void)state;
	bad("send --burst-profile 64/10ms --pps 5x", "--pps", "5x");
	refused("send --burst-profile 6/1s --pps 5", "--burst-profile");
	refused("send --burst-profile 6/1s --bps 5M", "--burst-profile");
	refused("send --burst-profile 6/1s --spacing poisson", "--burst-profile");
	refused("send --spacing poisson --pps unlimited", "--spacing");
	assert_int_equal(pace_for("send --spacing poisson --pps unlimited --bps 672k --seed 9").seed, 9);
	refused("send --burst-profile 6/1s --pcap-timing original", "--burst-profile");
}

/* The interval is 10^15 / micro pps ns, rounded up to 2^-32 ns: late by 3 ns after 10^10 packets, and never early. */
static void every_rate_is_kept(void **state)
{
	static const struct {
		const char *line;
		uint64_t micro;
	} rates[] = {{"send --pps 0.5", 500000},      {"send --pps 1", 1000000},
		     {"send --pps 3", 3000000},       {"send --pps 1200", 1200000000},
		     {"send --pps 1700", 1700000000}, {"send --pps 33333", 33333000000},
		     {"send --pps 0.001", 1000},      {"send --pps 148.8M", 148800000000000},
		     {"send --bps 672k", 1000000000}};

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct tx_pace p = pace_for(rates[i].line);
		const uint128 exact = (uint128)1000000000000000ULL << 32;
		uint128 interval = (uint128)p.interval.ns << 32 | p.interval.frac;

		assert_true(interval * rates[i].micro >= exact);
		assert_true((interval - 1) * rates[i].micro < exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_are_a_rate),   cmocka_unit_test(a_number_of_packets_is_a_count),
		cmocka_unit_test(nonsense_is_refused), cmocka_unit_test(what_does_not_go_together),
		cmocka_unit_test(every_rate_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
