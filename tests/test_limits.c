/* SPDX-License-Identifier: Apache-2.0 */
/* One sentence when it was so, with its numbers; none when it was not. */
#include "lib/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char text[256];

static void expect(const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static bool rx(uint64_t packets, uint64_t dropped, uint64_t windows, uint64_t full)
{
	const struct limits_rx q = {
		.queue = 3, .packets = packets, .dropped = dropped, .windows = windows, .full = full};

	return limits_rx_tell(&q, text, sizeof(text));
}

static void receivers(void **state)
{
	(void)state;
	assert_false(rx(0, 0, 0, 0));
	assert_false(rx(1000000, 0, 100, 0));
	assert_false(rx(1000000, 0, 100, 89));
	assert_false(rx(1000, 0, 2, 2)); /* a moment is no limit */
	assert_true(rx(1000000, 0, 100, 90));
	expect("receive queue 3's core was full for 90 % of the time");
	assert_true(rx(880000, 120000, 50, 50));
	expect("receive queue 3's core was full: 12 % of its packets (120000) were dropped before us");
	expect("spread flows");
	assert_true(rx(999000, 1000, 50, 3));
	expect("now and then: 0.1 % of its packets (1000)");
	assert_true(rx(0, 5, 0, 0));
	expect("100 % of its packets (5)");
}

/* Its thread could have run all the time, and others had its processor. */
static void crowded_receivers(void **state)
{
	struct limits_rx q = {.queue = 3,
			      .packets = 880000,
			      .dropped = 120000,
			      .windows = 50,
			      .full = 50,
			      .time = {.ran_ns = 1000000000, .waited_ns = 4000000000}};

	(void)state;
	assert_true(limits_rx_tell(&q, text, sizeof(text)));
	expect("receive queue 3's core was full of other work: its thread waited for it 80 % of the time that it had");
	expect("12 % of its packets (120000) were dropped before us");
	q.full = 0;
	assert_true(limits_rx_tell(&q, text, sizeof(text)));
	expect("full of other work");
	q.time.ran_ns = 4100000000; /* it had most of it */
	assert_true(limits_rx_tell(&q, text, sizeof(text)));
	expect("now and then");
	q.time = (struct limits_time){.ran_ns = 1000000, .waited_ns = 99000000}; /* a moment */
	assert_true(limits_rx_tell(&q, text, sizeof(text)));
	expect("now and then");
	q.time.waited_ns = 900000000;
	q.dropped = 0; /* it waited, and all was well */
	assert_false(limits_rx_tell(&q, text, sizeof(text)));
	/* However large the numbers are, the sentence is whole. */
	q = (struct limits_rx){.queue = 65535,
			       .packets = 1,
			       .dropped = UINT64_MAX / 2,
			       .time = {.ran_ns = 123456789, .waited_ns = 99999999999}};
	assert_true(limits_rx_tell(&q, text, sizeof(text)));
	expect("; a processor of its own (--cpus)");
}

static bool tx(uint64_t due, uint64_t unsent, uint64_t calls, uint64_t ring_full)
{
	const struct limits_tx t = {.due = due, .unsent = unsent, .calls = calls, .ring_full = ring_full};

	return limits_tx_tell(&t, text, sizeof(text));
}

static void senders(void **state)
{
	(void)state;
	assert_false(tx(1000, 0, 100, 1000));
	assert_false(tx(0, 0, 0, 0));
	assert_true(tx(1000, 250, 1000, 0));
	expect("the sender was the limit: 25 % of the packets that were due (250)");
	assert_true(tx(1000, 250, 1000, 100));
	expect("the sender was the limit");
	assert_true(tx(1000, 980, 100, 900));
	expect("the device was the limit: 98 % of the packets that were due (980)");
	expect("90 % of the calls");
}

static void crowded_senders(void **state)
{
	struct limits_tx t = {
		.due = 1000, .unsent = 250, .calls = 1000, .time = {.ran_ns = 1000000000, .waited_ns = 3000000000}};

	(void)state;
	assert_true(limits_tx_tell(&t, text, sizeof(text)));
	expect("25 % of the packets that were due (250) were not sent in time, since other work had its cores for 75 "
	       "%");
	t.ring_full = 9000; /* there would have been no room */
	assert_true(limits_tx_tell(&t, text, sizeof(text)));
	expect("the device was the limit");
	t.ring_full = 0;
	t.time.ran_ns = 3100000000;
	assert_true(limits_tx_tell(&t, text, sizeof(text)));
	expect("though the device had room");
	t.unsent = 0;
	assert_false(limits_tx_tell(&t, text, sizeof(text)));
}

static struct host_drops list(unsigned n, struct host_drop *drops)
{
	return (struct host_drops){.n = n, .drop = drops};
}

static void devices(void **state)
{
	struct host_drop nothing[] = {{"link rx_dropped", 9}, {"rx_queue_0_drops", 9}, {"link rx_missed", 0}};
	struct host_drop some[] = {{"link rx_dropped", 900}, {"eth1 link rx_missed", 7}, {"rx_out_of_buffer", 8}};
	struct host_drop pauses[] = {{"rx_pause", 2}, {"tx_pause", 30}};
	struct host_drops d = list(3, nothing);

	(void)state;
	assert_false(limits_counter_tell(LIMITS_NO_ROOM, &d, text, sizeof(text)));
	d = list(3, some);
	assert_true(limits_counter_tell(LIMITS_NO_ROOM, &d, text, sizeof(text)));
	expect("8 by the device's counter rx_out_of_buffer");
	d = list(0, NULL);
	assert_false(limits_counter_tell(LIMITS_NO_ROOM, &d, text, sizeof(text)));
	assert_false(limits_counter_tell(LIMITS_PAUSE, &d, text, sizeof(text)));
	d = list(2, pauses);
	assert_true(limits_counter_tell(LIMITS_PAUSE, &d, text, sizeof(text)));
	expect("30 by the device's counter tx_pause");
}

/* As drivers write them (mlx5, i40e, ixgbe, ice, bnxt, virtio). */
static void names_of_pause_counters(void **state)
{
	static const char *const yes[] = {"rx_pause_ctrl_phy",    "tx_pause_ctrl_phy", "rx_prio3_pause",
					  "tx_global_pause",      "port.link_xon_rx",  "port.link_xoff_tx",
					  "rx_flow_control_xoff", "tx_pause_frames"};
	static const char *const no[] = {"rx_packets",
					 "rx_prio3_pause_duration",
					 "rx_global_pause_transition",
					 "tx_pause_storm_warning_events",
					 "rx_dropped",
					 "tx_timeout"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!host_is_pause(yes[i]))
			fail_msg("%s is not taken", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (host_is_pause(no[i]))
			fail_msg("%s is taken", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receivers), cmocka_unit_test(crowded_receivers),
		cmocka_unit_test(senders),   cmocka_unit_test(crowded_senders),
		cmocka_unit_test(devices),   cmocka_unit_test(names_of_pause_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
