/* SPDX-License-Identifier: Apache-2.0 */
/* A replay's order and departures, in passes and over queues, and the options that go with it. */
#include "gen/replay.h"
#include "lib/option.h"
#include "pcap_bytes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000ULL
#define START  77ULL
#define NO_END UINT64_MAX
#define ROOM   2048

static char path[] = "/tmp/squall-replay-XXXXXX";
static struct replay replay;
static struct config cfg;
static struct err error;

/* A capture of frames of 60 bytes whose first byte is their number, at the given times. */
static void write_capture(const uint64_t *times, unsigned n)
{
	struct bytes b = {0};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	pcap_header(&b, PCAP_NS, 65535, 1);
	for (unsigned i = 0; i < n; i++) {
		unsigned char frame[60] = {(unsigned char)i};

		pcap_record_put(&b, (uint32_t)(times[i] / SECOND), (uint32_t)(times[i] % SECOND), frame, 60, 60);
	}
	assert_int_equal(fwrite(b.at, 1, b.n, f), b.n);
	assert_int_equal(fclose(f), 0);
	bytes_free(&b);
}

static int load(const uint64_t *times, unsigned n, bool original)
{
	write_capture(times, n);
	replay_free(&replay);
	memset(&error, 0, sizeof(error));
	cfg.pcap_timing = original ? PCAP_TIMING_ORIGINAL : PCAP_TIMING_RATE;
	return replay_load(&replay, &cfg, 1500, NULL, &error);
}

static int fresh(void **state)
{
	(void)state;
	memset(&cfg, 0, sizeof(cfg));
	snprintf(cfg.pcap, sizeof(cfg.pcap), "%s", path);
	snprintf(cfg.pcap_speed, sizeof(cfg.pcap_speed), "1x");
	cfg.mode = MODE_PCAP;
	cfg.pcap_loop = true;
	cfg.pcap_preload = 1 << 30;
	cfg.pps = (struct rate){.kind = RATE_VALUE, .micro = 1000 * RATE_MICRO};
	cfg.burst = 32;
	return 0;
}

static unsigned char next_number(struct replay_cursor *c)
{
	static unsigned char room[ROOM];
	struct pio_frame frame = {.data = room};

	replay_fill(c, &frame, 1);
	assert_int_equal(frame.len, 60);
	return room[0];
}

static const uint64_t even[] = {100, 200, 300, 400, 500, 600, 700};

/* Dealt over queues, each packet of each pass goes out once, whatever the two numbers have in common. */
static void each_packet_once(void **state)
{
	(void)state;
	assert_int_equal(load(even, 7, false), 0);
	for (unsigned n = 1; n <= 7; n++) {
		unsigned sent[7] = {0};

		for (unsigned q = 0; q < n; q++) {
			struct replay_cursor c;

			replay_cursor_init(&c, &replay, NULL, q, n);
			for (uint64_t k = q; k < 7ULL * 6 * 5; k += n) {
				unsigned i = next_number(&c);

				assert_int_equal(i, k % 7);
				sent[i]++;
			}
		}
		for (unsigned i = 0; i < 7; i++)
			assert_int_equal(sent[i], 30);
	}
}

static void totals(void **state)
{
	static const struct {
		uint64_t loop, count;
		bool on;
		uint64_t total;
	} cases[] = {{0, 0, true, 0}, {0, 0, false, 7}, {1, 0, true, 7},  {3, 0, true, 21},
		     {3, 5, true, 5}, {0, 9, true, 9},  {0, 9, false, 7}, {UINT64_MAX, 0, true, UINT64_MAX}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cfg.loop = cases[i].loop;
		cfg.count = cases[i].count;
		cfg.pcap_loop = cases[i].on;
		assert_int_equal(load(even, 7, false), 0);
		assert_int_equal(replay.total, cases[i].total);
	}
}

/* Uneven gaps: each pass has them as the first one, and one mean gap lies between two passes. */
static void passes_are_timed_like_the_first(void **state)
{
	static const uint64_t times[] = {5 * SECOND, 6 * SECOND, 6 * SECOND + 10, 8 * SECOND};
	const uint64_t pass = 3 * SECOND + SECOND;
	struct replay_cursor c;

	(void)state;
	assert_int_equal(load(times, 4, true), 0);
	assert_int_equal(replay.pass_ns, pass);
	replay_cursor_init(&c, &replay, NULL, 0, 1);
	for (uint64_t k = 0; k < 4000000; k++) {
		uint64_t at = START + k / 4 * pass + times[k % 4] - times[0];
		struct limiter_claim claim = replay_claim(&c, START, NO_END, 0, 32, at - (k > 0));

		assert_int_equal(claim.departure_ns, at);
		assert_int_equal(claim.n, 1);
		assert_int_equal(replay_departure(&replay, k), at - START);
		replay_cursor_step(&c);
	}
}

/* What is due together leaves together, what is late is made up for, up to a burst. */
static void clumps(void **state)
{
	static const uint64_t times[] = {0, 0, 0, 500, 600};
	struct replay_cursor c;

	(void)state;
	assert_int_equal(load(times, 5, true), 0);
	replay_cursor_init(&c, &replay, NULL, 0, 1);
	assert_int_equal(replay_claim(&c, START, NO_END, 1000, 32, 0).n, 3);
	assert_int_equal(replay_claim(&c, START, NO_END, 1000, 2, 0).n, 2);
	assert_int_equal(replay_claim(&c, START, NO_END, 1000, 32, START + 599).n, 4);
	assert_int_equal(replay_claim(&c, START, NO_END, 1000, 32, START + 600).n, 5);
	/* Nothing departs at or after the end. */
	assert_int_equal(replay_claim(&c, START, START + 500, 1000, 32, START + 600).n, 3);
	assert_int_equal(replay_claim(&c, START, START, 1000, 32, 0).n, 0);
	/* The next pass begins with a packet of its own. */
	assert_int_equal(replay_claim(&c, START, NO_END, 1000, 32, START + 750).n, 8);
}

/* A stall beyond the catch-up moves the schedule: no packet is left out, and no burst makes up for hours. */
static void a_stall_moves_the_schedule(void **state)
{
	struct replay_cursor c;
	struct limiter_claim claim;

	(void)state;
	assert_int_equal(load(even, 7, true), 0);
	replay_cursor_init(&c, &replay, NULL, 0, 1);
	claim = replay_claim(&c, START, NO_END, 250, 32, START + SECOND);
	assert_int_equal(c.shift_ns, SECOND - 250);
	assert_int_equal(claim.departure_ns, START + SECOND - 250);
	assert_int_equal(claim.n, 3);
	replay_cursor_step(&c);
	assert_int_equal(replay_claim(&c, START, NO_END, 250, 32, 0).departure_ns, START + SECOND - 250 + 100);
}

static void times_that_pace_nothing(void **state)
{
	static const uint64_t same[] = {5, 5};

	(void)state;
	assert_int_equal(load(same, 2, true), -EINVAL);
	assert_non_null(strstr(error.hint, "--pcap-timing rate"));
	assert_int_equal(load(same, 1, true), -EINVAL);
	cfg.loop = 2;
	assert_int_equal(load(same, 2, true), 0);
}

static void paces(void **state)
{
	static struct tx_plan plan;
	struct gen_ends ends = {.link_bps = 1000000000};

	(void)state;
	assert_int_equal(load(even, 7, false), 0);
	assert_int_equal(replay_plan(&replay, &cfg, &ends, &plan, &error), 0);
	assert_int_equal(plan.pace.interval.ns, 1000000);
	/* 60 bytes are 84 on the wire: 672 bits. */
	cfg.pps.kind = RATE_UNSET;
	cfg.bps = (struct rate){.kind = RATE_VALUE, .layer = RATE_L1, .micro = 672000 * RATE_MICRO};
	assert_int_equal(replay_plan(&replay, &cfg, &ends, &plan, &error), 0);
	assert_int_equal(plan.pace.interval.ns, 1000000);
	cfg.bps = (struct rate){.kind = RATE_PERCENT, .micro = 100 * RATE_MICRO};
	assert_int_equal(replay_plan(&replay, &cfg, &ends, &plan, &error), 0);
	assert_int_equal(plan.pace.interval.ns, 672);
	assert_int_equal(load(even, 7, true), 0);
	assert_int_equal(replay_plan(&replay, &cfg, &ends, &plan, &error), 0);
	assert_int_equal(plan.pace.interval.ns, 0);
}

static unsigned problems_of(const char *const *argv, int argc)
{
	static struct problems p;
	static struct config parsed;
	const char *all[24] = {"squall", "send", "-i", "loop:sink"};

	memset(&p, 0, sizeof(p));
	for (int i = 0; i < argc; i++)
		all[4 + i] = argv[i];
	option_parse(&parsed, 4 + argc, (char **)(uintptr_t)all, &p);
	if (!p.n)
		replay_check(&parsed, &p);
	return p.n;
}

#define PROBLEMS(...) \
	problems_of((const char *const[]){__VA_ARGS__}, \
		    (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static void options(void **state)
{
	(void)state;
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x"), 0);
	assert_int_equal(PROBLEMS("--mode", "pcap"), 1);
	assert_int_equal(PROBLEMS("--mode", "udp", "--pcap", "x"), 1);
	assert_int_equal(PROBLEMS("--mode", "udp", "--loop", "3", "--pcap-speed", "2x"), 2);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--vlan", "3", "--flows", "2"), 2);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--dst-mac", "02:00:00:00:00:01"), 0);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--pcap-speed", "2x"), 1);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--pcap-timing", "original", "--pps", "5"), 1);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--pcap-timing", "original", "--spacing", "poisson"),
			 1);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--spacing", "poisson"), 0);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--no-pcap-loop", "--loop", "2"), 1);
	assert_int_equal(PROBLEMS("--mode", "pcap", "--pcap", "x", "--rewrite-ip", "1.2.3.4=fd00::1"), 1);
}

static void speeds(void **state)
{
	static const char *const good[] = {"2x", "2", "0.5x", "0.001x", "1000x", "1.25X"};
	static const char *const bad[] = {"x",     "",        "0x",  "-1x", "2y", "1e3",
					  "1001x", "0.0001x", "50%", "2 x", "2k", "nan"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(
			PROBLEMS("--mode", "pcap", "--pcap", "x", "--pcap-timing", "original", "--pcap-speed", good[i]),
			0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			PROBLEMS("--mode", "pcap", "--pcap", "x", "--pcap-timing", "original", "--pcap-speed", bad[i]),
			1);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	replay_free(&replay);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_packet_once, fresh),
		cmocka_unit_test_setup(totals, fresh),
		cmocka_unit_test_setup(passes_are_timed_like_the_first, fresh),
		cmocka_unit_test_setup(clumps, fresh),
		cmocka_unit_test_setup(a_stall_moves_the_schedule, fresh),
		cmocka_unit_test_setup(times_that_pace_nothing, fresh),
		cmocka_unit_test_setup(paces, fresh),
		cmocka_unit_test(options),
		cmocka_unit_test(speeds),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
