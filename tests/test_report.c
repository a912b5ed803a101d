/* SPDX-License-Identifier: Apache-2.0 */
#include "json_check.h"
#include "report_fixture.h"

/* Line n of f->text, without its newline. The buffer is good until the next call. */
static const char *line(const struct fixture *f, unsigned n)
{
	static char buf[16384];
	const char *from = f->text;

	while (n--) {
		from = strchr(from, '\n');
		assert_non_null(from);
		from++;
	}
	snprintf(buf, sizeof(buf), "%.*s", (int)strcspn(from, "\n"), from);
	return buf;
}

static unsigned count(const char *s, char c)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

static void has(const struct fixture *f, const char *what)
{
	if (!strstr(f->text, what))
		fail_msg("no \"%s\" in:\n%s", what, f->text);
}

static void has_not(const struct fixture *f, const char *what)
{
	if (strstr(f->text, what))
		fail_msg("\"%s\" in:\n%s", what, f->text);
}

static void text_of_a_run(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	fixture_play(&f);
	assert_string_equal(line(&f, 0), "interface  loop:sink");
	assert_string_equal(line(&f, 1), "next hop   02:00:00:00:00:09 by ARP");
	assert_string_equal(line(&f, 2), "warning    a tcpdump on loop:sink sees nothing");
	assert_string_equal(line(&f, 3), "");
	assert_string_equal(line(&f, 4), "[0:01] tx 40000 pkts  40 kpps  L1 26.88 Mbit/s  L2 20.48 Mbit/s"
					 " | rx 1 pkts  1 pps  L1 672 bit/s  L2 512 bit/s");
	assert_string_equal(line(&f, 5), "[0:02] tx 60000 pkts  60 kpps  L1 40.32 Mbit/s  L2 30.72 Mbit/s  drops 3"
					 " | rx 2 pkts  2 pps  L1 1.344 kbit/s  L2 1.024 kbit/s  drops 5");
	has(&f, "\nran for 2 s, ended by duration\n");
	has(&f, " 100000 "); /* exact, not 100 k */
	has(&f, " 6400000 ");
	has(&f, " 11 unsent: ");
	has(&f, "rate changed 3 times, to 60.5 kpps at last");
	has(&f, "late by 0.09 us or less for half of the packets, 12.35 us for 99 %, 1500.00 us at most");
	has(&f, " 3 dropped_driver: ");
	has(&f, " 5 dropped_ring: ");
	has(&f, " 7 filtered: ");
	has(&f, " 1 ARP\n");
	has_not(&f, " IPv4 TCP\n"); /* there were none */
	has_not(&f, " queued: ");   /* for --verbose */
	has(&f, " 1 packets lost\n");
	has(&f, "\ndevice                 12 rx_queue_0_drops: the driver's own count; these may be the packets of the "
		"drops "
		"above, seen again\n");
	has(&f, "\ndevice         5000000000 link rx_missed: ");
	has(&f, "cpu  user 1.50 s system 0.25 s irq 0.00 s softirq 0.50 s steal 0.12 s (whole machine)\n");
	has(&f, "\nwarning  one core was full\n");
	has_not(&f, "nan");
	fixture_close(&f);
}

/* A form that does not follow the run wants nothing to be shown, and wishes nothing. */
static void only_live_forms_are_live(void **state)
{
	struct report_wish wish = {0};
	struct fixture f;

	(void)state;
	fixture_run(&f);
	fixture_open(&f);
	assert_int_equal(report_begin(f.report, &f.plan, WALL), 0);
	assert_false(report_poll(f.report, SECOND, &wish));
	assert_false(wish.stop || wish.rate_steps);
	report_live(f.report, &(struct report_live){.now = &f.half});
	fflush(f.out);
	has_not(&f, "40000");
	fixture_close(&f);
}

static void verbose_text_has_every_counter(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.cfg.verbose = true;
	fixture_play(&f);
	has(&f, " 100005 queued: ");
	fixture_close(&f);
}

static void quiet_text_is_the_summary(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.cfg.quiet = true;
	fixture_play(&f);
	assert_string_equal(line(&f, 0), "ran for 2 s, ended by duration");
	has_not(&f, "pkts");
	fixture_close(&f);
}

static void text_of_nothing(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.plan.tx = false;
	f.full.rx = f.half.rx = (struct rx_counts){0};
	f.end.first_ns = f.end.last_ns = 0;
	f.end.cpu = (struct cpu_seconds){NAN, NAN, NAN, NAN, NAN};
	f.end.device_drops = NULL;
	fixture_play(&f);
	has_not(&f, "nan");
	has_not(&f, "inf ");
	has_not(&f, "- pps");
	has_not(&f, "dropped_");
	has_not(&f, "\ncpu  ");
	has_not(&f, "\ntx ");
	has_not(&f, "] tx ");
	has_not(&f, "\ndevice ");
	fixture_close(&f);
}

static void text_times(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.half.elapsed_ns = 3599 * SECOND + 999999999;
	f.full.elapsed_ns = 3661 * SECOND + 400;
	fixture_play(&f);
	has(&f, "\n[1:00:00] tx 40000 ");
	has(&f, "\n[1:01:01] tx 60000 ");
	fixture_close(&f);

	fixture_run(&f);
	f.cfg.interval_ns = SECOND / 4;
	f.half.elapsed_ns = 61 * SECOND + 250400000;
	fixture_play(&f);
	has(&f, "\n[1:01.250] tx 40000 ");
	fixture_close(&f);
}

/* The cell in the column of that name. */
static const char *cell(const struct fixture *f, unsigned row, const char *column)
{
	static char cells[16384];
	char *names = strdup(line(f, 0));
	char *rest = names;
	char *name;
	char *value;

	snprintf(cells, sizeof(cells), "%s", line(f, row));
	value = cells;
	while ((name = strsep(&rest, ",")) && strcmp(name, column) != 0)
		strsep(&value, ",");
	if (!name)
		fail_msg("no column %s", column);
	free(names);
	return strsep(&value, ",");
}

static void csv_of_a_run(void **state)
{
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.cfg.csv = true;
	f.full.tx.batches = UINT64_MAX;
	fixture_play(&f);
	assert_int_equal(count(f.text, '\n'), 4);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(count(line(&f, i), ','), count(line(&f, 0), ','));
	assert_string_equal(cell(&f, 1, "row"), "interval");
	assert_string_equal(cell(&f, 2, "elapsed_s"), "2");
	assert_string_equal(cell(&f, 2, "seconds"), "1");
	assert_string_equal(cell(&f, 2, "tx_packets"), "60000");
	assert_string_equal(cell(&f, 2, "tx_pps"), "60000");
	assert_string_equal(cell(&f, 2, "tx_dropped"), "3");
	assert_string_equal(cell(&f, 2, "tx_unsent"), "");
	assert_string_equal(cell(&f, 2, "tx_lateness_ns_p50"), "");
	assert_string_equal(cell(&f, 2, "class_arp"), "0");
	assert_string_equal(cell(&f, 3, "row"), "total");
	assert_string_equal(cell(&f, 3, "tx_packets"), "100000");
	assert_string_equal(cell(&f, 3, "tx_bps_l1"), "33600000");
	assert_string_equal(cell(&f, 3, "tx_unsent"), "11");
	assert_string_equal(cell(&f, 3, "tx_batches"), "18446744073709551615");
	assert_string_equal(cell(&f, 3, "tx_lateness_ns_p50"), "90");
	assert_string_equal(cell(&f, 3, "tx_lateness_ns_p99"), "12351");
	assert_string_equal(cell(&f, 3, "tx_lateness_ns_max"), "1500000");
	assert_string_equal(cell(&f, 3, "rx_packets"), "3");
	assert_string_equal(cell(&f, 3, "rx_pps"), "1");
	assert_string_equal(cell(&f, 3, "rx_dropped"), "5");
	assert_string_equal(cell(&f, 3, "class_ipv4_udp"), "2");
#define HAS_TX(key, help)    cell(&f, 0, "tx_" #key);
#define HAS_RX(key, help)    cell(&f, 0, "rx_" #key);
#define HAS_CLASS(key, help) cell(&f, 0, "class_" #key);
	STATS_TX(HAS_TX)
	STATS_RX(HAS_RX)
	STATS_CLASS(HAS_CLASS)
	fixture_close(&f);
}

static void csv_has_all_columns_in_every_run(void **state)
{
	struct fixture f;
	unsigned columns;

	(void)state;
	fixture_run(&f);
	f.cfg.csv = true;
	f.plan.rx = false;
	f.full.tx = f.half.tx;
	f.end.tx_ns = 0;
	f.end.lateness.known = false;
	fixture_play(&f);
	columns = count(line(&f, 0), ',');
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(count(line(&f, i), ','), columns);
	assert_string_equal(cell(&f, 3, "rx_packets"), "");
	assert_string_equal(cell(&f, 3, "class_arp"), "");
	assert_string_equal(cell(&f, 3, "tx_pps"), "");
	assert_string_equal(cell(&f, 3, "tx_lateness_ns_max"), "");
	assert_string_equal(cell(&f, 3, "tx_packets"), "40000");
	has_not(&f, "nan");
	fixture_close(&f);

	fixture_run(&f);
	f.cfg.csv = true;
	fixture_open(&f);
	assert_int_equal(report_end(f.report, NULL, NULL, NULL), 0);
	assert_int_equal(count(f.text, '\n'), 1);
	assert_int_equal(count(f.text, ','), columns);
	fixture_close(&f);
}

static void every_line_of_the_stream_is_json(void **state)
{
	static const char *const events[] = {"begin", "interval", "interval", "end"};
	struct fixture f;

	(void)state;
	fixture_run(&f);
	f.cfg.json = f.cfg.json_stream = true; /* the stream is the more special one */
	fixture_play(&f);
	assert_int_equal(count(f.text, '\n'), 4);
	for (unsigned i = 0; i < 4; i++) {
		json_t *o = parsed(line(&f, i));

		is_text(o, "event", events[i]);
		if (i == 0)
			is_count(o, "start.time", (json_int_t)WALL);
		if (i == 2)
			is_count(o, "tx.packets", 60000);
		if (i == 3) {
			is_count(o, "end.tx.packets", 100000);
			is_null(o, "error");
		}
		json_decref(o);
	}
	fixture_close(&f);
}

static void a_stream_that_never_started(void **state)
{
	struct fixture f;
	struct err e;
	json_t *o;

	(void)state;
	fixture_run(&f);
	f.cfg.json_stream = true;
	err_set(&e, 0, EXIT_LINK, "cannot start", "va", "no carrier");
	fixture_open(&f);
	assert_int_equal(report_end(f.report, NULL, &e, NULL), 0);
	assert_int_equal(count(f.text, '\n'), 2);
	o = parsed(line(&f, 0));
	is_text(o, "event", "begin");
	is_null(o, "start");
	json_decref(o);
	o = parsed(line(&f, 1));
	is_text(o, "event", "end");
	is_null(o, "end");
	is_count(o, "error.code", 7);
	json_decref(o);
	fixture_close(&f);
}

static struct json_t *two_devices(const void *arg)
{
	return json_pack("[s, s]", "eth0", arg);
}

static void devices_for_people(const void *arg, FILE *out)
{
	fprintf(out, "eth0\n%s\n", (const char *)arg);
}

static void a_document_in_every_form(void **state)
{
	const struct report_document d = {"devices", two_devices, devices_for_people, "eth1"};
	struct fixture f;
	struct err e;
	json_t *o;

	(void)state;
	err_set(&e, 0, EXIT_RUN, "cannot list interfaces", "", "netlink is closed");
	for (int form = 0; form < 4; form++) {
		fixture_run(&f);
		f.cfg.json = form == 0;
		f.cfg.json_stream = form == 1;
		f.cfg.csv = form == 2;
		fixture_open(&f);
		assert_int_equal(report_document(f.report, &d, NULL, NULL), 0);
		if (form < 2) {
			o = parsed(f.text);
			is_text(o, "squall", SQUALL_VERSION);
			is_text(o, "devices.1", "eth1");
			is_null(o, "error");
			json_decref(o);
			assert_true(form == 0 || count(f.text, '\n') == 1);
		} else {
			assert_string_equal(f.text, "eth0\neth1\n");
		}
		fixture_close(&f);

		fixture_run(&f);
		f.cfg.json = form == 0;
		f.cfg.json_stream = form == 1;
		f.cfg.csv = form == 2;
		fixture_open(&f);
		assert_int_equal(report_document(f.report, &d, &e, NULL), 0);
		if (form < 2) {
			o = parsed(f.text);
			is_null(o, "devices");
			is_text(o, "error.cause", "netlink is closed");
			is_null(o, "error.object");
			json_decref(o);
		} else {
			assert_string_equal(f.text, "");
		}
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_a_run),
		cmocka_unit_test(verbose_text_has_every_counter),
		cmocka_unit_test(quiet_text_is_the_summary),
		cmocka_unit_test(text_of_nothing),
		cmocka_unit_test(only_live_forms_are_live),
		cmocka_unit_test(text_times),
		cmocka_unit_test(csv_of_a_run),
		cmocka_unit_test(csv_has_all_columns_in_every_run),
		cmocka_unit_test(every_line_of_the_stream_is_json),
		cmocka_unit_test(a_stream_that_never_started),
		cmocka_unit_test(a_document_in_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
