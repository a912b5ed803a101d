/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

static void options_are_understood(void **state)
{
	static const char *const good[] = {
		"loop:",
		"loop:sink",
		"loop:sink,queues=4,rate=10M",
		"loop:queues=64",
		"loop:rate=0.5,ring=32",
		"loop:rate=unlimited,delay=0",
		"loop:delay=50us,loss=1%,duplicate=0.5%,reorder=2%,seed=7",
		"loop:loss=0%,duplicate=100%,reorder=.000000001%",
		"loop:ring=1048576,seed=0",
		"loop:queues=64,fail=63@0,fail=0@1M",
		"loop:rx-fail=0@18446744073709551614",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct pio_port *port = loop_open_ok(good[i], 1, 1);

		assert_string_equal(port->name, good[i]);
		pio_close(port);
	}
}

static void options_are_refused(void **state)
{
	static const struct {
		const char *device, *says;
	} bad[] = {
		{"los=1%", "no option \"los\"; did you mean loss?"},
		{"queues=2,Sink", "no option \"Sink\""},
		{"queues=2,", "no option \"\""},
		{",sink", "no option \"\""},
		{"sink=1", "sink takes no value"},
		{"loss", "loss=: it takes a percentage"},
		{"loss=", "loss=: it takes a percentage"},
		{"loss=1", "loss=1: it takes a percentage"},
		{"loss=%", "it takes a percentage"},
		{"loss=.%", "it takes a percentage"},
		{"loss=-1%", "it takes a percentage"},
		{"loss=101%", "it takes a percentage"},
		{"loss=100.1%", "it takes a percentage"},
		{"loss=1%%", "it takes a percentage"},
		{"loss=0.0000000001%", "it takes a percentage"},
		{"duplicate=1 %", "duplicate=1 %: it takes a percentage"},
		{"reorder=x%", "reorder=x%: it takes a percentage"},
		{"queues=0", "queues=0: it takes a number, 1 to 64"},
		{"queues=65", "it takes a number, 1 to 64"},
		{"rate=fast", "rate=fast: it takes frames a second"},
		{"rate=80%", "it takes frames a second"},
		{"rate=0.0001", "it takes frames a second"},
		{"delay=5", "delay=5: it takes a time"},
		{"delay=11s", "it takes a time"},
		{"seed=-1", "it takes a whole number"},
		{"ring=31", "it takes a number of slots"},
		{"ring=2M", "it takes a number of slots"},
		{"fail=2", "fail=2: it takes a queue and a number of packets"},
		{"fail=@5", "it takes a queue and a number of packets"},
		{"fail=0@", "it takes a queue and a number of packets"},
		{"fail=64@1", "it takes a queue and a number of packets"},
		{"rx-fail=x@1", "rx-fail=x@1: it takes a queue and a number of packets"},
		{"fail=4@1,queues=4", "queue 4 cannot fail: the loop has 4"},
		{"rx-fail=1@1", "queue 1 cannot fail: the loop has 1"},
		{"sink,loss=1%", "a sink delivers nothing"},
		{"sink,delay=1ms", "a sink delivers nothing"},
		{"queues=1111111111111111111111111111111111111111111111111111111111111111", "longer than"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char name[128];
		struct pio_conf conf = {.name = name, .tx_queues = 1};
		struct pio_port *port;
		struct err e;

		snprintf(name, sizeof(name), "loop:%s", bad[i].device);
		assert_int_equal(pio_open(&conf, &port, &e), -EINVAL);
		assert_null(port);
		assert_int_equal(e.code, EXIT_USAGE);
		if (!strstr(e.cause, bad[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", name, e.cause, bad[i].says);
	}
}

static void queues_are_those_of_the_device(void **state)
{
	struct pio_conf conf = {.name = "loop:queues=2", .tx_queues = 3};
	struct pio_port *port;
	struct err e;
	uint32_t n;

	(void)state;
	assert_int_equal(pio_open(&conf, &port, &e), -EINVAL);
	assert_int_equal(e.code, EXIT_USAGE);
	assert_string_equal(e.cause, "it has 2 queues in each direction, 3 are wanted");
	assert_string_equal(e.hint, "loop:queues=3");
	assert_int_equal(pio_loop.queues("queues=5", &n, &e), 0);
	assert_int_equal(n, 5);
	assert_int_equal(pio_loop.queues("", &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(pio_loop.queues("queue=5", &n, &e), -EINVAL);
}

static void sink_takes_everything(void **state)
{
	static const char *const names[] = {"loop:sink", "loop:sink", "loop:"};
	static const uint32_t receivers[] = {0, 1, 0}; /* without a receiver every loop is one */

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pio_port *port = loop_open_ok(names[i], 1, receivers[i]);
		struct tx_counts c;
		struct pio_frame f;

		for (uint32_t n = 0; n < 100000; n++)
			assert_true(send_one(port->tx[0], 1, n));
		tx_counts_read(&port->tx[0]->stats.tx, &c);
		assert_int_equal(c.queued, 100000);
		assert_int_equal(c.completed, 100000);
		assert_int_equal(c.completed_bytes, 60 * 100000);
		assert_int_equal(c.ring_full, 0);
		assert_int_equal(c.batches, 100000);
		assert_null(port->loop);
		assert_true(!receivers[i] || pio_rx(port->rx[0], &f, 1) == 0);
		assert_true(!receivers[i] || pio_poll(port->rx[0], 1) == 0);
		pio_close(port);
	}
}

static void full_wire_holds_the_sender(void **state)
{
	struct pio_port *port = loop_open_ok("loop:ring=40", 1, 1);
	struct pio_frame f[LOOP_BURST];
	struct tx_counts c;

	(void)state;
	for (uint32_t n = 0; n < 40; n++)
		assert_true(send_one(port->tx[0], 1, n));
	assert_false(send_one(port->tx[0], 1, 40));
	assert_false(send_one(port->tx[0], 1, 40));
	assert_int_equal(pio_queue_error(port->tx[0], NULL), 0);
	tx_counts_read(&port->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, 40);
	assert_int_equal(c.ring_full, 2);
	assert_int_equal(pio_rx(port->rx[0], f, 3), 3);
	pio_put(port->rx[0], f, 3);
	for (uint32_t n = 40; n < 43; n++)
		assert_true(send_one(port->tx[0], 1, n));
	assert_false(send_one(port->tx[0], 1, 43));
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(packet_number(f[i].data), i + 3);
	pio_put(port->rx[0], f, 40);
	pio_close(port);
}

static void receiver_without_frames_leaves_packets_on_the_wire(void **state)
{
	const struct pio_conf conf = {
		.name = "loop:", .tx_queues = 1, .rx_queues = 1, .rx_frames = 8, .filter = &loop_take_all};
	struct pio_frame f[LOOP_BURST];
	struct pio_port *port;
	struct rx_counts c;

	(void)state;
	assert_int_equal(pio_open(&conf, &port, NULL), 0);
	for (uint32_t n = 0; n < 20; n++)
		assert_true(send_one(port->tx[0], 1, n));
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 8);
	assert_int_equal(pio_rx(port->rx[0], f + 8, LOOP_BURST - 8), 0);
	pio_put(port->rx[0], f, 8);
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 8);
	assert_int_equal(packet_number(f[0].data), 8);
	pio_put(port->rx[0], f, 8);
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 4);
	pio_put(port->rx[0], f, 4);
	rx_counts_read(&port->rx[0]->stats.rx, &c);
	assert_int_equal(c.packets, 20);
	assert_int_equal(c.batches, 3);
	assert_int_equal(c.dropped_ring, 0);
	pio_close(port);
}

/* Every receive queue takes from every transmit queue. */
static void many_queues(void **state)
{
	struct pio_port *port = loop_open_ok("loop:queues=4", 3, 4);
	unsigned queue_of[3 * 100];
	unsigned per_queue[4] = {0};

	(void)state;
	for (unsigned t = 0; t < 3; t++)
		for (uint32_t n = 0; n < 200; n++)
			assert_true(send_one(port->tx[t], (uint16_t)(t * 100 + n % 100), n));
	memset(queue_of, 0xff, sizeof(queue_of));
	for (unsigned r = 0; r < 4; r++) {
		struct pio_frame f;

		while (pio_rx(port->rx[r], &f, 1)) {
			uint16_t flow = packet_flow(f.data);

			assert_true(queue_of[flow] == UINT32_MAX || queue_of[flow] == r);
			queue_of[flow] = r;
			per_queue[r]++;
			pio_put(port->rx[r], &f, 1);
		}
		/* a quarter of the 300 flows, two packets each, give or take 5 standard deviations */
		assert_in_range(per_queue[r], 2 * (75 - 38), 2 * (75 + 38));
	}
	assert_int_equal(per_queue[0] + per_queue[1] + per_queue[2] + per_queue[3], 600);
	pio_close(port);
}

/* A receiver that takes one packet a call comes to all of its senders. */
static void receivers_are_fair(void **state)
{
	struct pio_port *port = loop_open_ok("loop:queues=3", 3, 1);
	unsigned from[3] = {0};

	(void)state;
	for (unsigned t = 0; t < 3; t++)
		for (uint32_t n = 0; n < 100; n++)
			assert_true(send_one(port->tx[t], (uint16_t)t, n));
	for (unsigned i = 0; i < 30; i++) {
		struct pio_frame f;

		assert_int_equal(pio_rx(port->rx[0], &f, 1), 1);
		from[packet_flow(f.data)]++;
		pio_put(port->rx[0], &f, 1);
	}
	for (unsigned t = 0; t < 3; t++)
		assert_int_equal(from[t], 10);
	pio_close(port);
}

static void delay_is_kept(void **state)
{
	struct pio_port *port = loop_open_ok("loop:delay=2ms", 1, 1);
	uint64_t start = clock_mono_ns();
	struct pio_frame f;
	unsigned early;

	(void)state;
	assert_true(send_one(port->tx[0], 1, 7));
	early = pio_rx(port->rx[0], &f, 1);
	assert_true(!early || clock_mono_ns() - start >= 2 * NS_PER_MS);
	if (!early) {
		assert_int_equal(pio_poll(port->rx[0], 5000), 1);
		assert_true(clock_mono_ns() - start >= 2 * NS_PER_MS);
		assert_int_equal(pio_rx(port->rx[0], &f, 1), 1);
	}
	assert_int_equal(packet_number(f.data), 7);
	pio_put(port->rx[0], &f, 1);
	pio_close(port);
}

/* All queues share the wire, and it is never busy for more than a millisecond and a frame ahead. */
static long sleeps(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_THREAD, &u), 0);
	return u.ru_nvcsw;
}

/* Waits for so many packets, one after the other. Returns how often it slept. */
static long wait_for(const char *name, unsigned packets)
{
	struct pio_port *port = loop_open_ok(name, 1, 1);
	struct pio_frame f;
	long slept = 0;

	while (packets--) {
		long before;

		assert_true(send_one(port->tx[0], 1, packets));
		before = sleeps();
		assert_int_equal(pio_poll(port->rx[0], 1000), 1);
		slept += sleeps() - before;
		assert_int_equal(pio_rx(port->rx[0], &f, 1), 1);
		pio_put(port->rx[0], &f, 1);
	}
	pio_close(port);
	return slept;
}

/* A sleeper wakes up late, so the receiver of a packet that is near stays awake; it sleeps when one is far. */
static void last_moments_are_not_slept_through(void **state)
{
	(void)state;
	assert_int_equal(wait_for("loop:delay=45us", 100), 0);
	assert_true(wait_for("loop:delay=20ms", 1) > 0);
}

static void rate_is_kept(void **state)
{
	static const char *const names[] = {"loop:rate=10k,queues=2", "loop:rate=10k,queues=2,sink"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct pio_port *port = loop_open_ok(names[i], 2, i ? 0 : 2);
		uint64_t start = clock_mono_ns();
		uint64_t elapsed;
		uint32_t sent = 0;
		struct tx_counts c;
		struct pio_frame f[LOOP_BURST];

		do {
			for (unsigned q = 0; q < 2; q++) {
				sent += send_one(port->tx[q], 1, sent);
				for (unsigned n; !i && (n = pio_rx(port->rx[q], f, LOOP_BURST));)
					pio_put(port->rx[q], f, n);
			}
			elapsed = clock_mono_ns() - start;
			/* 0.1 ms is the time of a frame */
			if (sent > elapsed / 100000 + 10 + 2)
				fail_msg("%u frames in %u ns", sent, (unsigned)elapsed);
		} while (sent < 60);
		tx_counts_read(&port->tx[0]->stats.tx, &c);
		assert_true(c.ring_full > 0);
		assert_int_equal(c.queued, c.completed);
		pio_close(port);
	}
}

/* What the wire did not send while nobody asked is not caught up. */
static void rate_saves_nothing(void **state)
{
	struct pio_port *port = loop_open_ok("loop:rate=10k,sink", 1, 0);
	uint64_t start = clock_mono_ns();
	uint32_t sent = 0;

	(void)state;
	while (clock_mono_ns() - start < 5 * NS_PER_MS)
		;
	start = clock_mono_ns();
	while (send_one(port->tx[0], 1, sent))
		sent++;
	assert_true(sent <= (clock_mono_ns() - start) / 100000 + 10 + 2);
	pio_close(port);
}

/* A frame every ten seconds; one that is refused takes no time of the wire. */
static void refused_frame_costs_no_time(void **state)
{
	struct pio_port *port = loop_open_ok("loop:rate=0.1,sink", 1, 0);
	struct pio_frame f;

	(void)state;
	assert_int_equal(pio_get(port->tx[0], &f, 1), 1);
	assert_int_equal(pio_tx(port->tx[0], &f, 1), 0);
	pio_put(port->tx[0], &f, 1);
	assert_true(send_one(port->tx[0], 1, 0));
	assert_false(send_one(port->tx[0], 1, 1));
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_understood),
		cmocka_unit_test(options_are_refused),
		cmocka_unit_test(queues_are_those_of_the_device),
		cmocka_unit_test(sink_takes_everything),
		cmocka_unit_test(full_wire_holds_the_sender),
		cmocka_unit_test(receiver_without_frames_leaves_packets_on_the_wire),
		cmocka_unit_test(many_queues),
		cmocka_unit_test(receivers_are_fair),
		cmocka_unit_test(delay_is_kept),
		cmocka_unit_test(last_moments_are_not_slept_through),
		cmocka_unit_test(rate_is_kept),
		cmocka_unit_test(rate_saves_nothing),
		cmocka_unit_test(refused_frame_costs_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
