/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamped packets: each is, but for its stamp and the checksum over it, the packet that would be sent without, whatever
 * size and stamp its frame had before; the checksums are right; and the stamp says of which flow it is, and which of
 * it.
 */
#include "frame_judge.h"
#include "gen/tx_fill.h"
#include "gen/tx_loop.h"
#include "plan_kinds.h"

#include <stdlib.h>

#define PACKETS 1500U
#define FRAMES  32U /* so that each comes again, and in another size */
#define RUN     0xabcd

static const struct kind kinds[] = {
	{"the smallest", {.mode = MODE_UDP, .flows = 1, .packet_size = 64}, "10.9.9.9", "eth ip4 udp", 1},
	{"the smallest, tagged",
	 {.mode = MODE_UDP, .flows = 1, .vlan = 7, .packet_size = 68},
	 "10.9.9.9",
	 "eth vlan ip4 udp",
	 1},
	{"ports, IPv4", {.mode = MODE_UDP, .flows = 77}, "10.9.0.0/16", "eth ip4 udp", 1},
	{"at an odd place", {.mode = MODE_UDP, .flows = 77, .packet_size = 65}, "10.9.0.0/16", "eth ip4 udp", 1},
	{"no checksum", {.mode = MODE_UDP, .flows = 77, .udp_checksum = CHECK_OFF}, "10.9.0.0/16", "eth ip4 udp-", 1},
	{"ports, IPv6", {.mode = MODE_UDP, .flows = 77, .packet_size = 101}, "fd00::/64", "eth ip6 udp", 1},
	{"TCP", {.mode = MODE_TCP_SYN, .flows = 77}, "fd00::/64", "eth ip6 tcp", 1},
	{"echo", {.mode = MODE_ICMP_ECHO, .flows = 77, .vlan = 9}, "10.9.0.0/24", "eth vlan ip4 echo", 1},
	{"labels", {.mode = MODE_UDP, .flows = 9, .mpls = "100,200"}, "10.9.0.0/24", "eth mpls mpls ip4 udp", 1},
	{"a field of the payload",
	 {.mode = MODE_UDP, .flows = 50, .packet_size = 90, .vary = {.n = 1, .text = {"payload@3:4=1-50"}}},
	 "10.9.9.9",
	 "eth ip4 udp",
	 1},
	{"three sizes", {.mode = MODE_IMIX, .flows = 77, .imix = "64:7,594:4,1518:1"}, "10.9.0.0/16", "eth ip4 udp", 3},
	{"three sizes, IPv6, tagged",
	 {.mode = MODE_IMIX, .flows = 77, .vlan = 3, .imix = "88:7,595:4,1517:1"},
	 "fd00::/64",
	 "eth vlan ip6 udp",
	 3},
	{"sizes whose stamps overlap",
	 {.mode = MODE_IMIX, .flows = 20, .imix = "84:1,85:2,90:3,101:1,120:1"},
	 "10.9.9.9",
	 "eth ip4 udp",
	 5},
	{"many sizes",
	 {.mode = MODE_TCP_SYN, .flows = 8, .vary = {.n = 1, .text = {"size=90:250:3"}}},
	 "10.9.0.0/16",
	 "eth ip4 tcp",
	 54},
};

/* The packet of flow n and of that length, without a stamp. */
static void packet_make(const struct tx_plan *plan, uint32_t n, uint32_t len, unsigned char *frame)
{
	const struct tx_size *size = plan->sizes;

	while (size->len != len) {
		size++;
		assert_true(size < plan->sizes + plan->n_sizes);
	}
	plan_packet(plan, n, size, frame);
}

/* Which sender of how many, and in which order. */
struct share {
	unsigned q, n;
	bool random;
};

static void check_packet(const struct kind *k, const struct tx_plan *plan, const struct pio_frame *f,
			 const struct stamp *s)
{
	static unsigned char expected[TX_TEMPLATE_MAX];
	/* Of UDP behind 6 bytes, of TCP behind 16, of echo behind 2. */
	uint32_t check = plan->l4 + (strstr(k->words, "udp") ? 6 : strstr(k->words, "tcp") ? 16 : 2);
	struct judged j = judge_frame(f->data, f->len);

	if (strcmp(j.words, k->words) != 0)
		fail_msg("%s: flow %u of %u bytes reads as %s", k->name, s->flow, f->len, j.words);
	packet_make(plan, s->flow, f->len, expected);
	memcpy(expected + check, f->data + check, 2); /* judged */
	assert_memory_equal(f->data, expected, f->len - STAMP_LEN);
}

static void check(const struct kind *k, const struct share *share)
{
	static struct tx_plan plan, plain;
	static uint32_t came[100];
	const struct pio_conf conf = {.name = "loop:ring=2048",
				      .tx_queues = 1,
				      .rx_queues = 1,
				      .tx_frames = FRAMES,
				      .filter = &loop_take_all};
	struct limiter limiter;
	_Atomic bool stop = false;
	struct pio_port *port;
	struct tx_worker w = {.limiter = &limiter, .end_ns = UINT64_MAX, .stop = &stop};
	uint64_t before = clock_mono_ns();
	uint64_t own;
	struct err e;

	kind_plan(k, true, RUN, &plan);
	kind_plan(k, false, RUN, &plain);
	if (plain.n_sizes == 1 && plain.max_len != plan.max_len) {
		struct kind same = *k;

		same.cfg.packet_size = plan.max_len + FCS_BYTES;
		kind_plan(&same, false, RUN, &plain);
	}
	own = (plan.flows - share->q + share->n - 1) / share->n;
	memset(came, 0, sizeof(came));
	if (pio_open(&conf, &port, &e))
		fail_msg("%s", e.cause);
	w.queue = port->tx[0];
	assert_int_equal(tx_worker_init(&w, &plan, share->q, share->n, 0, share->random, NULL), 0);
	w.sources[0].quota = PACKETS;
	limiter_init(&limiter, &(struct tx_pace){.burst = 32}, 0, 0, UINT64_MAX);
	tx_worker_run(&w);
	for (uint64_t i = 0; i < PACKETS; i++) {
		struct pio_frame f;
		struct stamp s;

		if (pio_rx(port->rx[0], &f, 1) != 1)
			fail_msg("%s: packet %u is missing", k->name, (unsigned)i);
		assert_true(stamp_read(f.data + f.len - STAMP_LEN, &s));
		assert_int_equal(s.run, RUN);
		assert_int_equal(s.sequence, i / own);
		assert_true(s.flow < plan.flows && s.flow % share->n == share->q);
		assert_int_equal(came[s.flow], i / own); /* each flow once a round */
		came[s.flow]++;
		assert_true(stamp_elapsed(clock_mono_ns(), s.time_ns) >= 0);
		assert_true(stamp_elapsed(before, s.time_ns) <= 0);
		check_packet(k, &plain, &f, &s);
		pio_put(port->rx[0], &f, 1);
	}
	for (uint32_t flow = 0; flow < plan.flows; flow++)
		assert_int_equal(tx_source_sent(&w.sources[0], PACKETS, flow), came[flow]);
	tx_worker_free(&w);
	pio_close(port);
}

static void stamps_are_all_that_is_added(void **state)
{
	static const struct share shares[] = {{0, 1, false}, {0, 1, true}, {2, 3, false}, {1, 3, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++)
			if (kinds[i].cfg.flows > shares[s].q)
				check(&kinds[i], &shares[s]);
}

/* A plan that numbers its flows from another one on, as one of several streams does. */
static void flows_are_numbered_from_where_the_plan_says(void **state)
{
	static struct tx_plan plan;
	struct tx_source s;
	struct pio_frame frames[10];
	unsigned char data[10][128];

	(void)state;
	kind_plan(&kinds[2], true, RUN, &plan);
	plan.first_flow = 1000;
	assert_int_equal(tx_source_init(&s, &plan, 1, 2, TX_QUOTA_NONE, false, NULL, NULL), 0);
	for (unsigned i = 0; i < 10; i++) {
		frames[i] = (struct pio_frame){.data = data[i]};
		memcpy(data[i], plan.frame, plan.max_len);
	}
	tx_fill(&s, &s.at, frames, 10, 5, TX_SHAPE_STAMPED_4);
	for (unsigned i = 0; i < 10; i++) {
		struct stamp stamp;

		assert_true(stamp_read(data[i] + frames[i].len - STAMP_LEN, &stamp));
		assert_int_equal(stamp.flow, 1000 + 1 + 2 * i);
		assert_int_equal(stamp.time_ns, 5);
	}
	tx_source_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_are_all_that_is_added),
		cmocka_unit_test(flows_are_numbered_from_where_the_plan_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
