/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pio/queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct pio_backend by_device = {.needs_link = true, .rx_by_device = true};
static const struct pio_backend shared = {.needs_link = true};

/* 64 queues, 8 of which are in use, both directions on each. */
static const struct host_link combined = {.name = "eth1",
					  .tx_queues = 64,
					  .rx_queues = 64,
					  .channels_tx = 8,
					  .channels_rx = 8,
					  .channels_combined = true};

static void expect_queues(const struct pio_backend *b, const struct host_link *link, uint32_t tx, uint32_t rx)
{
	uint32_t got_tx = 99, got_rx = 99;

	pio_queues_of_link(b, link, &got_tx, &got_rx);
	assert_int_equal(got_tx, tx);
	assert_int_equal(got_rx, rx);
}

static void queues_of_link(void **state)
{
	struct host_link link = combined;

	(void)state;
	expect_queues(&by_device, &link, 8, 8);
	expect_queues(&shared, &link, 64, 64);
	/* A driver that is silent on one direction, or on both. */
	link.channels_tx = 0;
	expect_queues(&by_device, &link, 64, 8);
	link.channels_rx = 0;
	expect_queues(&by_device, &link, 64, 64);
	/* One that tells more than the link has. */
	link.channels_rx = 65;
	expect_queues(&by_device, &link, 64, 64);
}

static void expect_left(const struct host_link *link, uint32_t opened, const char *want)
{
	char text[256];

	assert_string_equal(pio_queues_left(link, opened, "leave it", text, sizeof(text)), want);
}

static void none_left(void **state)
{
	struct host_link link = combined;

	(void)state;
	expect_left(&link, 8, "");
	expect_left(&link, 9, "");
	/* The table was narrowed before. */
	link.rss_queues = 3;
	expect_left(&link, 3, "");
	/* It was made for more queues than are in use. */
	link.rss_queues = 64;
	expect_left(&link, 8, "");
}

/* Each form of the way out, by what the driver has. */
static void left(void **state)
{
	struct host_link link = combined;

	(void)state;
	expect_left(&link, 1,
		    "queues 1-7 of eth1 keep their packets for Linux: to have all of them, ethtool -L eth1 combined 1, "
		    "or leave it");
	link.rss_queues = 8;
	expect_left(&link, 7,
		    "queue 7 of eth1 keeps its packets for Linux: to have all of them, ethtool -X eth1 equal 7, or "
		    "ethtool -L eth1 combined 7, or leave it");
	link.rss_queues = 4;
	link.channels_combined = false;
	expect_left(&link, 2,
		    "queues 2-3 of eth1 keep their packets for Linux: to have all of them, ethtool -X eth1 equal 2, or "
		    "ethtool -L eth1 rx 2, or leave it");
	/* No word on channels: what the link has. */
	link.rss_queues = 0;
	link.channels_rx = 0;
	expect_left(&link, 1, "queues 1-63 of eth1 keep their packets for Linux: to have all of them, leave it");
	link = (struct host_link){.name = "va", .kind = "veth", .rx_queues = 4, .channels_rx = 4};
	expect_left(
		&link, 1,
		"queues 1-3 of va keep their packets for Linux: to have all of them, ethtool -L va rx 1 and, at its "
		"other end, tx 1, or leave it");
}

/* The longest name and numbers fit a line of the report. */
static void fits(void **state)
{
	struct host_link link = {.name = "abcdefghijklmno",
				 .rx_queues = UINT32_MAX,
				 .channels_rx = UINT32_MAX,
				 .channels_combined = true,
				 .rss_queues = UINT32_MAX};
	char text[256];

	(void)state;
	pio_queues_left(&link, UINT32_MAX - 2, "--queues 4294967295", text, sizeof(text));
	assert_string_equal(text + strlen(text) - strlen(", or --queues 4294967295"), ", or --queues 4294967295");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_of_link),
		cmocka_unit_test(none_left),
		cmocka_unit_test(left),
		cmocka_unit_test(fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
