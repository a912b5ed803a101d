/* SPDX-License-Identifier: Apache-2.0 */
#include "option_case.h"

static void defaults(void **state)
{
	struct config zero = {0};

	(void)state;
	assert_int_equal(parse(""), OPTION_RUN);
	assert_int_equal(problems.n, 0);
	assert_int_equal(cfg.verb, VERB_SEND);
	assert_string_equal(cfg.interface, "");
	assert_string_equal(cfg.backend, "");
	assert_int_equal(cfg.queues, 0);
	assert_int_equal(cfg.cpus.n, 0);
	assert_int_equal(cfg.mode, MODE_UDP);
	assert_int_equal(cfg.dst_ip.ip.family, 0);
	assert_int_equal(cfg.src_ip.ip.family, 0);
	assert_true(mac_is_zero(&cfg.dst_mac) && mac_is_zero(&cfg.src_mac));
	assert_int_equal(cfg.src_port, 1024);
	assert_int_equal(cfg.dst_port, 9000);
	assert_int_equal(cfg.flows, 1);
	assert_int_equal(cfg.flow_order, FLOW_ORDER_SEQUENTIAL);
	assert_int_equal(cfg.packet_size, 0);
	assert_int_equal(cfg.vlan, 0);
	assert_int_equal(cfg.ethertype, 0x88b5);
	assert_int_equal(cfg.payload_byte, 0x5a);
	assert_int_equal(cfg.pps.kind, RATE_VALUE);
	assert_int_equal(cfg.pps.micro, 100000 * RATE_MICRO);
	assert_int_equal(cfg.bps.kind, RATE_UNSET);
	assert_int_equal(cfg.duration_ns, 30000000000);
	assert_int_equal(cfg.count, 0);
	assert_int_equal(cfg.burst, 32);
	assert_int_equal(cfg.catch_up_ns, 100000000);
	assert_int_equal(cfg.rx_mode, RX_MODE_NONE);
	assert_int_equal(cfg.rx_ports.n, 0);
	assert_int_equal(cfg.rx_cidr.ip.family, 0);
	assert_int_equal(cfg.filters.n, 0);
	assert_int_equal(cfg.idle_ns, 0);
	assert_int_equal(cfg.interval_ns, 1000000000);
	assert_int_equal(cfg.pcap_timing, PCAP_TIMING_RATE);
	assert_true(cfg.pcap_loop);
	assert_false(cfg.qdisc || cfg.vary_dst_port || cfg.strict_rate || cfg.json || cfg.json_stream || cfg.csv ||
		     cfg.quiet || cfg.verbose || cfg.no_tui || cfg.start || cfg.forget || cfg.yes ||
		     cfg.allow_match_all || cfg.dump_config || cfg.help || cfg.version);
	assert_memory_equal(cfg.given, zero.given, sizeof(cfg.given));
}

static void default_texts(void **state)
{
	static const enum verb verbs[] = {VERB_SEND, VERB_RECV, VERB_DEVICES};
	char buf[OPTION_TEXT_MAX];

	(void)state;
	for (unsigned v = 0; v < 3; v++) {
		memset(&cfg, 0, sizeof(cfg));
		cfg.verb = verbs[v];
		option_defaults(&cfg);
		for (unsigned i = 0; i < OPTION_TOTAL; i++) {
			const struct option_row *row = &option_rows[i];

			option_format(row, option_field(row, &cfg), buf, sizeof(buf));
			assert_string_equal(buf, option_default(row, verbs[v]));
		}
	}
}

static void verbs(void **state)
{
	(void)state;
	good("send --flows 3");
	assert_int_equal(cfg.verb, VERB_SEND);
	good("recv -i vb");
	assert_int_equal(cfg.verb, VERB_RECV);
	assert_int_equal(cfg.duration_ns, 0);
	good("recv -d 5s");
	assert_int_equal(cfg.duration_ns, 5000000000);
	good("devices --json");
	assert_int_equal(cfg.verb, VERB_DEVICES);
	good("-i va --mode receive --pps 5");
	assert_int_equal(cfg.verb, VERB_RECV);
	assert_int_equal(cfg.duration_ns, 0);
	good("--mode receive -d 7s");
	assert_int_equal(cfg.duration_ns, 7000000000);

	bad("sned --json", "sned", "did you mean squall send?");
	assert_true(cfg.json);
	bad("reciv", "reciv", "did you mean squall recv?");
	bad("frobnicate", "frobnicate", "squall help lists them");
	bad("recv --pps 5", "--pps", "not an option of squall recv");
	bad("devices -i x", "--interface", "not an option of squall devices");
	bad("send --idle 5s", "--idle", "not an option of squall send");
	bad("-i va recv", "recv", "the verb comes first");
	bad("send -i va extra", "extra", "takes options only");
	bad("send -i va -- --json", "--json", "takes options only");
}

/* What a script makes of a variable that is not set. */
static void empty_words(void **state)
{
	char name[] = "squall", verb[] = "send", empty[] = "";
	char *first[] = {name, empty, NULL}, *later[] = {name, verb, empty, NULL};

	(void)state;
	problems.n = 0;
	option_parse(&cfg, 2, first, &problems);
	assert_int_equal(problems.n, 1);
	assert_string_equal(problems.e[0].object, "\"\"");
	problems.n = 0;
	option_parse(&cfg, 3, later, &problems);
	assert_int_equal(problems.n, 1);
	assert_string_equal(problems.e[0].object, "\"\"");
}

static void help_and_version(void **state)
{
	(void)state;
	assert_int_equal(parse("--help"), OPTION_HELP);
	assert_int_equal(cfg.verb, VERB_SEND);
	assert_int_equal(parse("recv -h --nosuch"), OPTION_HELP);
	assert_int_equal(cfg.verb, VERB_RECV);
	assert_int_equal(parse("help devices"), OPTION_HELP);
	assert_int_equal(cfg.verb, VERB_DEVICES);
	assert_int_equal(parse("help"), OPTION_HELP);
	assert_int_equal(parse("version"), OPTION_VERSION);
	assert_int_equal(parse("--version"), OPTION_VERSION);
	assert_int_equal(parse("-v"), OPTION_VERSION);
	assert_int_equal(parse("-V"), OPTION_VERSION);
	assert_int_equal(parse("help nosuch"), OPTION_RUN);
	assert_int_equal(problems.n, 1);
}

static void all_problems_at_once(void **state)
{
	struct err e;

	(void)state;
	parse("send --ppps 5 --pps 1x --vlan 5000 --flows 0 word -z --mode= --json");
	assert_int_equal(problems.n, 7);
	assert_true(cfg.json);
	problems_merge(&problems, &e);
	for (const char *const *word =
		     (const char *const[]){"--ppps", "--pps", "--vlan", "--flows", "word", "-z", "--mode", NULL};
	     *word; word++)
		assert_non_null(strstr(e.cause, *word));
}

static void unknown_names(void **state)
{
	(void)state;
	bad("--ppps 5", "--ppps", "did you mean --pps?");
	bad("--ppps=5", "--ppps", "did you mean --pps?");
	bad("--interfcae va", "--interfcae", "did you mean --interface?");
	bad("--dur 5s", "--dur", "did you mean --duration?");
	bad("--rx-mo 5", "--rx-mo", "did you mean --rx-mode?");
	bad("--xyzzy", "--xyzzy", "squall help send lists them");
	bad("recv --xyzzy", "--xyzzy", "squall help recv lists them");
	bad("recv --ppps 5", "--ppps", "did you mean --pps?");
	bad("recv --cpsu 3", "--cpsu", "did you mean --cpus?");
	bad("-z", "-z", "unknown option");
	bad("-z 5", "-z", "unknown option");
	bad("-qz", "-z", "unknown option");
	/* An option is not swallowed as the value of one that lacks its own. */
	bad("--pps --json", "--pps", "needs a value");
	assert_true(cfg.json);
	bad("-i --json", "--interface", "needs a value");
	assert_true(cfg.json);
}

static void last_one_counts(void **state)
{
	(void)state;
	good("--flows 3 --flows 5 -i a --interface b --dst-ip fd00::1 --dst-ip 10.0.0.1");
	assert_int_equal(cfg.flows, 5);
	assert_string_equal(cfg.interface, "b");
	assert_int_equal(cfg.dst_ip.ip.family, 4);
	for (unsigned i = 4; i < 16; i++)
		assert_int_equal(cfg.dst_ip.ip.b[i], 0);
	assert_true(option_given(&cfg, OPTION_FLOWS) && option_given(&cfg, OPTION_INTERFACE));
	assert_false(option_given(&cfg, OPTION_PPS) || option_given(&cfg, OPTION_DURATION));
}

static void count_each(void *arg, const char *name, const char *value, bool given)
{
	unsigned *n = arg;

	n[0]++;
	if (strcmp(name, "pps") == 0) {
		assert_string_equal(value, "2.5k");
		assert_true(given);
		n[1]++;
	}
	if (strcmp(name, "duration") == 0) {
		assert_string_equal(value, "30s");
		assert_false(given);
		n[1]++;
	}
	assert_string_not_equal(name, "idle");
	assert_string_not_equal(name, "help");
}

static void each_effective_value(void **state)
{
	unsigned n[2] = {0};

	(void)state;
	good("--pps 2500");
	option_each(&cfg, count_each, n);
	assert_true(n[0] > 30);
	assert_int_equal(n[1], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(default_texts),
		cmocka_unit_test(verbs),
		cmocka_unit_test(empty_words),
		cmocka_unit_test(help_and_version),
		cmocka_unit_test(all_problems_at_once),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(last_one_counts),
		cmocka_unit_test(each_effective_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
