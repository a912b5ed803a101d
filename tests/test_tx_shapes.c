/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transmit loop has a way of its own for each kind of plan. What arrives at the far end of a loop is, for each of
 * them, packet by packet, what the plan says, and its lengths and checksums are right.
 */
#include "frame_judge.h"
#include "gen/tx_loop.h"
#include "plan_kinds.h"

#include <stdlib.h>

#define PACKETS 500U

static const struct kind kinds[] = {
	{"fixed, IPv4", {.mode = MODE_UDP, .flows = 1}, "10.9.9.9", "eth ip4 udp", 1},
	{"fixed, IPv6", {.mode = MODE_TCP_SYN, .flows = 1}, "fd00::9", "eth ip6 tcp", 1},
	{"fixed, raw", {.mode = MODE_RAW, .flows = 1, .ethertype = 0x88b5}, NULL, "eth type?", 1},
	{"ports, IPv4", {.mode = MODE_UDP, .flows = 77}, "10.9.0.0/16", "eth ip4 udp", 1},
	{"ports, IPv4, no checksum",
	 {.mode = MODE_UDP, .flows = 77, .udp_checksum = CHECK_OFF},
	 "10.9.0.0/16",
	 "eth ip4 udp-",
	 1},
	{"ports, IPv6", {.mode = MODE_TCP_SYN, .flows = 77}, "fd00::/64", "eth ip6 tcp", 1},
	{"others", {.mode = MODE_ICMP_ECHO, .flows = 77, .vlan = 9}, "10.9.0.0/24", "eth vlan ip4 echo", 1},
	{"mix, IPv4", {.mode = MODE_IMIX, .flows = 77, .imix = "64:7,594:4,1518:1"}, "10.9.0.0/16", "eth ip4 udp", 3},
	{"mix, IPv4, flows and sizes of one measure",
	 {.mode = MODE_IMIX, .flows = 24, .imix = "64:7,594:4,1518:1"},
	 "10.9.9.9",
	 "eth ip4 udp",
	 3},
	{"mix, IPv4, the same, fewer flows",
	 {.mode = MODE_IMIX, .flows = 4, .imix = "64:7,594:4,1518:1"},
	 "10.9.9.9",
	 "eth ip4 udp",
	 3},
	{"mix, IPv4, a cycle that ends in the midst of a burst",
	 {.mode = MODE_IMIX, .flows = 400, .imix = "64:151,594:100,1518:50"},
	 "10.9.0.0/16",
	 "eth ip4 udp",
	 3},
	{"mix, IPv4, tagged",
	 {.mode = MODE_IMIX, .flows = 77, .vlan = 5, .imix = "68:7,1001:4"},
	 "10.9.0.0/16",
	 "eth vlan ip4 udp",
	 2},
	{"mix, IPv6", {.mode = MODE_IMIX, .flows = 77, .imix = "71:7,594:4,1518:1"}, "fd00::/64", "eth ip6 udp", 3},
	{"mix, one flow", {.mode = MODE_IMIX, .flows = 1, .imix = "70:1,1518:2"}, "fd00::9", "eth ip6 udp", 2},
	{"sizes, no checksum",
	 {.mode = MODE_IMIX, .flows = 77, .udp_checksum = CHECK_OFF, .imix = "64:7,594:4,1518:1"},
	 "10.9.9.9",
	 "eth ip4 udp-",
	 3},
	{"sizes, TCP",
	 {.mode = MODE_TCP_SYN, .flows = 8, .vary = {.n = 1, .text = {"size=66:98:2"}}},
	 "10.9.0.0/16",
	 "eth ip4 tcp",
	 17},
	{"sizes, TCP, many",
	 {.mode = MODE_TCP_SYN, .flows = 400, .vary = {.n = 1, .text = {"size=66:1466:4"}}},
	 "10.9.0.0/16",
	 "eth ip4 tcp",
	 351},
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/*
 * Packet number i of all: the flows in turn, and the sizes in turn, which move on by one whenever the first flow would
 * meet the cycle's beginning again, as often as it takes for every flow to meet every size.
 */
static uint32_t packet_make(const struct tx_plan *plan, uint64_t i, unsigned char *frame)
{
	uint64_t divisor = common_divisor(plan->flows, plan->n_cycle);
	uint64_t meet = plan->flows / divisor * plan->n_cycle;
	const struct tx_size *size = &plan->sizes[plan->cycle[(i + i / meet % divisor) % plan->n_cycle]];

	plan_packet(plan, i % plan->flows, size, frame);
	return size->len;
}

static void what_arrives_is_right(const struct kind *k, const struct tx_plan *plan, struct pio_queue *rx)
{
	static unsigned char expected[TX_TEMPLATE_MAX];
	struct pio_frame f;

	for (uint64_t i = 0; i < PACKETS; i++) {
		uint32_t len = packet_make(plan, i, expected);
		struct judged j;

		if (pio_rx(rx, &f, 1) != 1)
			fail_msg("%s: packet %u is missing", k->name, (unsigned)i);
		assert_int_equal(f.len, len);
		j = judge_frame(f.data, f.len);
		if (strcmp(j.words, k->words) != 0)
			fail_msg("%s: packet %u reads as %s", k->name, (unsigned)i, j.words);
		assert_memory_equal(f.data, expected, len);
		pio_put(rx, &f, 1);
	}
	assert_int_equal(pio_rx(rx, &f, 1), 0);
}

static void every_kind_of_plan_is_sent_as_it_says(void **state)
{
	static struct tx_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct pio_port *port = loop_open_ok("loop:ring=512", 1, 1);
		struct limiter limiter;
		_Atomic bool stop = false;
		struct tx_worker w = {.queue = port->tx[0], .limiter = &limiter, .end_ns = UINT64_MAX, .stop = &stop};

		kind_plan(&kinds[i], false, 0, &plan);
		assert_int_equal(tx_worker_init(&w, &plan, 0, 1, PACKETS, false, NULL), 0);
		/* Again and again, so that each frame has held others' packets. */
		for (unsigned round = 0; round < 4; round++) {
			limiter_init(&limiter, &plan.pace, 0, clock_mono_ns(), UINT64_MAX);
			tx_worker_run(&w);
			what_arrives_is_right(&kinds[i], &plan, port->rx[0]);
		}
		tx_worker_free(&w);
		pio_close(port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_plan_is_sent_as_it_says)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
