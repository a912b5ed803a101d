/* SPDX-License-Identifier: Apache-2.0 */
#include "json_check.h"
#include "report_fixture.h"

#include <math.h>

static json_t *document(struct fixture *f)
{
	f->cfg.json = true;
	fixture_play(f);
	return parsed(f->text);
}

static void end_of_the_document(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
	is_text(o, "squall", SQUALL_VERSION);
	is_null(o, "error");
	is_real(o, "end.seconds", 2);
	is_text(o, "end.reason", "duration");

	is_count(o, "end.tx.packets", 100000);
	is_count(o, "end.tx.completed", 100000);
	is_count(o, "end.tx.bytes_l2", 6400000);
	is_real(o, "end.tx.pps", 50000);
	is_real(o, "end.tx.bps_l2", 25600000); /* 64 * 8 * 50,000 */
	is_real(o, "end.tx.bps_l1", 33600000); /* 84 * 8 * 50,000 */
	is_real(o, "end.tx.mean_bytes_l2", 64);
	is_count(o, "end.tx.dropped", 3);
	is_count(o, "end.tx.dropped_driver", 3);
	is_count(o, "end.tx.undecided", 2);
	is_real(o, "end.tx.requested_pps", 50000.5);
	is_real(o, "end.tx.last_pps", 60500.25);
	is_count(o, "end.tx.rate_changes", 3);
	is_count(o, "end.tx.unsent", 11);
	is_count(o, "end.tx.lateness_ns.p50", 90);
	is_count(o, "end.tx.lateness_ns.p99", 12351);
	is_count(o, "end.tx.lateness_ns.max", 1500000);

	is_count(o, "end.rx.packets", 3);
	is_count(o, "end.rx.bytes_l2", 192);
	is_real(o, "end.rx.pps", 1); /* 2 gaps in 2 s */
	is_real(o, "end.rx.bps_l2", 512);
	is_real(o, "end.rx.bps_l1", 672);
	is_count(o, "end.rx.dropped", 5);
	is_count(o, "end.rx.filtered", 7);
	is_count(o, "end.rx.first_ns", (json_int_t)WALL);
	is_count(o, "end.rx.last_ns", (json_int_t)(WALL + 2 * SECOND));
	is_count(o, "end.rx.classes.ipv4_udp", 2);
	is_count(o, "end.rx.classes.arp", 1);

	is_count(o, "end.loop.lost", 1);
	is_count(o, "end.loop.duplicated", 2);
	is_count(o, "end.loop.reordered", 3);
	assert_int_equal(json_object_size(at(o, "end.device_drops")), 2);
	is_count(o, "end.device_drops.rx_queue_0_drops", 12);
	is_count(o, "end.device_drops.link rx_missed", 5000000000);
	is_real(o, "end.cpu.user_s", 1.5);
	is_real(o, "end.cpu.system_s", 0.25);
	is_real(o, "end.cpu.softirq_s", 0.5);
	is_text(o, "end.warnings.0", "one core was full");
	assert_int_equal(json_array_size(at(o, "end.thresholds")), 0);
	json_decref(o);
	fixture_close(&f);
}

static void start_and_config(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
	is_count(o, "start.time", (json_int_t)WALL);
	is_text(o, "start.verb", "send");
	is_text(o, "start.interface", "loop:sink");
	is_text(o, "start.next_hop", "02:00:00:00:00:09 by ARP");
	is_text(o, "start.warnings.0", "a tcpdump on loop:sink sees nothing");
	is_text(o, "config.interface", "loop:sink");
	is_text(o, "config.interval", "1s");
	is_null(o, "config.dst-ip"); /* not given */
	json_decref(o);
	fixture_close(&f);
}

static void queues_of_the_document(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
	assert_int_equal(json_array_size(at(o, "end.queues")), 2);
	is_count(o, "end.queues.0.queue", 0);
	is_count(o, "end.queues.0.cpu", 1);
	is_count(o, "end.queues.0.tx_packets", 75000);
	is_real(o, "end.queues.0.tx_pps", 37500);
	is_count(o, "end.queues.0.rx_packets", 3);
	is_real(o, "end.queues.0.rx_pps", 1);
	is_count(o, "end.queues.1.queue", 1);
	is_null(o, "end.queues.1.cpu");
	is_real(o, "end.queues.1.tx_pps", 12500);
	is_null(o, "end.queues.1.rx_packets"); /* it does not receive */
	is_null(o, "end.queues.1.rx_pps");
	json_decref(o);
	fixture_close(&f);
}

static void intervals_are_differences(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
	assert_int_equal(json_array_size(at(o, "intervals")), 2);
	is_real(o, "intervals.0.elapsed_s", 1);
	is_real(o, "intervals.0.seconds", 1);
	is_count(o, "intervals.0.tx.packets", 40000);
	is_count(o, "intervals.0.tx.dropped", 0);
	is_real(o, "intervals.1.elapsed_s", 2);
	is_real(o, "intervals.1.seconds", 1);
	is_count(o, "intervals.1.tx.packets", 60000);
	is_count(o, "intervals.1.tx.queued", 60005);
	is_count(o, "intervals.1.tx.dropped", 3);
	is_real(o, "intervals.1.tx.pps", 60000);
	is_real(o, "intervals.1.tx.bps_l1", 60000 * 84 * 8);
	is_count(o, "intervals.1.rx.packets", 2);
	is_real(o, "intervals.1.rx.pps", 2); /* the time is known here: no gap is missing */
	is_count(o, "intervals.1.rx.classes.arp", 0);
	is_count(o, "intervals.1.rx.classes.ipv4_udp", 2);
	is_count(o, "intervals.1.queues.0.tx_packets", 45000);
	is_real(o, "intervals.1.queues.0.tx_pps", 45000);
	is_count(o, "intervals.1.queues.1.tx_packets", 15000);
	is_count(o, "intervals.1.queues.0.rx_packets", 2);
	json_decref(o);
	fixture_close(&f);
}

static void has_every_key(json_t *o, const char *where, const char *prefix, const char *key)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.%s%s", where, prefix, key);
	at(o, path);
}

static void every_counter_has_its_key(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
#define IN_TX(key, help) \
	has_every_key(o, "end.tx", "", #key); \
	has_every_key(o, "intervals.0.tx", "", #key); \
	has_every_key(o, "end.queues.0", "tx_", #key);
#define IN_RX(key, help) \
	has_every_key(o, "end.rx", "", #key); \
	has_every_key(o, "intervals.0.rx", "", #key); \
	has_every_key(o, "end.queues.0", "rx_", #key);
#define IN_CLASSES(key, help) has_every_key(o, "end.rx.classes", "", #key);
#define IN_LOOP(key, help)    has_every_key(o, "end.loop", "", #key);
#define IN_CPU(key)           has_every_key(o, "end.cpu", "", #key "_s");
	STATS_TX(IN_TX)
	STATS_RX(IN_RX)
	STATS_CLASS(IN_CLASSES)
	STATS_LOOP(IN_LOOP)
	CPU_SECONDS(IN_CPU)
	json_decref(o);
	fixture_close(&f);
}

static void every_counter_is_documented(void **state)
{
	FILE *doc = fopen(SOURCE_DIR "/docs/json.md", "r");
	char text[65536];

	(void)state;
	assert_non_null(doc);
	text[fread(text, 1, sizeof(text) - 1, doc)] = '\0';
	fclose(doc);
#define DOCUMENTED(key, ...) \
	if (!strstr(text, "| `" #key "` |")) \
		fail_msg("docs/json.md has no row for %s", #key);
	STATS_TX(DOCUMENTED)
	STATS_RX(DOCUMENTED)
	STATS_CLASS(DOCUMENTED)
	STATS_LOOP(DOCUMENTED)
	STATS_MEASURE(DOCUMENTED)
}

static void what_is_not_there_is_null(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.plan.rx = false;
	f.full.tx = (struct tx_counts){0};
	f.half.tx = f.full.tx;
	f.end.tx_ns = 0;
	f.end.requested_pps = -1;
	f.end.have_loop = false;
	f.end.device_drops = NULL;
	f.end.cpu.steal = NAN;
	o = document(&f);
	is_null(o, "end.rx");
	is_null(o, "intervals.0.rx");
	is_count(o, "end.tx.packets", 0);
	is_null(o, "end.tx.pps");
	is_null(o, "end.tx.bps_l1");
	is_null(o, "end.tx.bps_l2");
	is_null(o, "end.tx.mean_bytes_l2");
	is_real(o, "intervals.0.tx.pps", 0); /* a second without packets is a rate */
	is_null(o, "end.tx.requested_pps");
	is_null(o, "end.loop");
	is_null(o, "end.device_drops");
	is_null(o, "end.cpu.steal_s");
	json_decref(o);
	fixture_close(&f);

	fixture_run(&f);
	f.plan.tx = false;
	f.full.rx = (struct rx_counts){.packets = 1, .bytes = 60};
	f.end.first_ns = f.end.last_ns = WALL;
	f.device_drops.n = 0;
	o = document(&f);
	is_null(o, "end.tx");
	assert_true(json_is_object(at(o, "end.device_drops"))); /* the device lost nothing */
	assert_int_equal(json_object_size(at(o, "end.device_drops")), 0);
	is_null(o, "end.rx.pps"); /* one packet has no rate */
	is_real(o, "end.rx.mean_bytes_l2", 64);
	json_decref(o);
	fixture_close(&f);

	fixture_run(&f);
	f.full.rx = f.half.rx = (struct rx_counts){0};
	f.end.first_ns = f.end.last_ns = 0;
	o = document(&f);
	is_null(o, "end.rx.pps");
	is_null(o, "end.rx.bps_l1");
	is_null(o, "end.rx.first_ns");
	is_null(o, "end.rx.last_ns");
	json_decref(o);
	fixture_close(&f);
}

static void large_counts_are_exact(void **state)
{
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.full.tx.completed = 9007199254740993; /* 2^53 + 1, which no double holds */
	f.full.tx.completed_bytes = 9007199254740993 * 60;
	f.full.tx.queued = INT64_MAX;
	f.full.tx.batches = UINT64_MAX;
	o = document(&f);
	is_count(o, "end.tx.packets", 9007199254740993);
	is_count(o, "end.tx.bytes_l2", 576460752303423552); /* times 64 */
	is_count(o, "end.tx.queued", INT64_MAX);
	is_count(o, "end.tx.batches", INT64_MAX);
	json_decref(o);
	fixture_close(&f);
}

static void failure_before_the_start_is_a_whole_document(void **state)
{
	struct problems all = {0};
	struct err e = {0};
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.cfg.json = true;
	err_hint(problem_add(&all, "--pps", "'%s' is not a rate", "1x"), "try 1k");
	problem_add(&all, "--vlan", "5000 is above 4094");
	problems_merge(&all, &e);
	fixture_open(&f);
	assert_int_equal(report_end(f.report, NULL, &e, &all), 0);
	o = parsed(f.text);
	is_text(o, "squall", SQUALL_VERSION);
	is_text(o, "config.interface", "loop:sink");
	is_null(o, "start");
	assert_int_equal(json_array_size(at(o, "intervals")), 0);
	is_null(o, "end");
	is_count(o, "error.code", 2);
	is_text(o, "error.what", "bad configuration");
	is_text(o, "error.object", "--pps, --vlan");
	is_text(o, "error.cause", "--pps: '1x' is not a rate; --vlan: 5000 is above 4094");
	is_null(o, "error.try");
	is_text(o, "error.problems.0.object", "--pps");
	is_text(o, "error.problems.0.cause", "'1x' is not a rate");
	is_text(o, "error.problems.0.try", "try 1k");
	is_text(o, "error.problems.1.object", "--vlan");
	is_null(o, "error.problems.1.try");
	assert_int_equal(json_array_size(at(o, "error.problems")), 2);
	json_decref(o);
	fixture_close(&f);
}

static void failure_while_running_has_end_and_error(void **state)
{
	struct fixture f;
	struct err e;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.cfg.json = true;
	f.end.reason = END_ERROR;
	err_set(&e, 0, EXIT_RUN, "cannot send", "afpacket:v\xFF", "the interface vanished");
	fixture_open(&f);
	report_begin(f.report, &f.plan, WALL);
	assert_int_equal(report_end(f.report, &f.end, &e, NULL), 0);
	o = parsed(f.text);
	is_text(o, "end.reason", "error");
	is_count(o, "end.tx.packets", 100000);
	is_count(o, "error.code", 1);
	is_text(o, "error.object", "afpacket:v\xEF\xBF\xBD");
	assert_int_equal(json_array_size(at(o, "error.problems")), 0);
	json_decref(o);
	fixture_close(&f);
}

static void more_problems_than_are_kept(void **state)
{
	static struct problems all;
	struct fixture f;
	struct err e;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.cfg.json = true;
	for (int i = 0; i < PROBLEMS_MAX + 5; i++)
		problem_add(&all, "--x", "number %d", i);
	problems_merge(&all, &e);
	fixture_open(&f);
	assert_int_equal(report_end(f.report, NULL, &e, &all), 0);
	o = parsed(f.text);
	assert_int_equal(json_array_size(at(o, "error.problems")), PROBLEMS_MAX);
	json_decref(o);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_of_the_document),
		cmocka_unit_test(start_and_config),
		cmocka_unit_test(queues_of_the_document),
		cmocka_unit_test(intervals_are_differences),
		cmocka_unit_test(every_counter_has_its_key),
		cmocka_unit_test(every_counter_is_documented),
		cmocka_unit_test(what_is_not_there_is_null),
		cmocka_unit_test(large_counts_are_exact),
		cmocka_unit_test(failure_before_the_start_is_a_whole_document),
		cmocka_unit_test(failure_while_running_has_end_and_error),
		cmocka_unit_test(more_problems_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
