/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of flows that leaves all queues together is exactly the one that was asked for. Which flow a frame is of is
 * read from its addresses and ports, and every one of them must then be that flow's by plain arithmetic.
 */
#include "tx_wire.h"

#include <stdio.h>

#define FLOWS_MOST  1000000U
#define QUEUES_MOST 3U
#define PORTS       65535U
#define FIRST_PORT  64000U

/* What varies: how many values of each, of a walk and a family. */
struct ranges {
	bool cross;
	unsigned family;
	const char *dst, *src;
	uint64_t dsts, srcs;
	uint64_t first_dst, first_src; /* the low bits of the first host */
};

static const struct ranges all_ranges[] = {
	/* v4: hosts without the network's address and the broadcast one. v6: all. */
	{false, 4, "10.0.0.0/8", "172.16.0.0/16", (1U << 24) - 2, 65534, 0x0a000001, 0xac100001},
	{true, 4, "10.7.0.64/26", "172.16.5.0/24", 62, 254, 0x0a070041, 0xac100501},
	{false, 6, "fd00::/104", "fd01::5:0/112", 1U << 24, 65536, 0, 0x50000},
	{true, 6, "fd00::7:40/122", "fd01::500/120", 64, 256, 0x70040, 0x500},
};

/* What one run has shown. */
struct seen {
	const struct ranges *r;
	uint64_t flows;
	unsigned queue, queues;
	uint64_t packets;
	unsigned char times[FLOWS_MOST];
};

static uint64_t low_bits(const unsigned char *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static void saw(void *arg, const unsigned char *f, uint32_t len)
{
	struct seen *s = arg;
	const struct ranges *r = s->r;
	const bool six = r->family == 6;
	uint64_t src = six ? low_bits(f + 30, 8) : low_bits(f + 26, 4);
	uint64_t dst = six ? low_bits(f + 46, 8) : low_bits(f + 30, 4);
	const unsigned char *ports = f + (six ? 54 : 34);
	uint64_t sport = low_bits(ports, 2);
	uint64_t d = dst - r->first_dst, from = src - r->first_src, p, n;

	assert_int_equal(len, six ? 62 : 60);
	assert_int_equal(low_bits(ports + 2, 2), 9000);
	assert_in_range(sport, 1, PORTS);
	assert_true(d < r->dsts && from < r->srcs);
	p = (sport + PORTS - FIRST_PORT) % PORTS;
	n = r->cross ? d + r->dsts * (from + r->srcs * p) : d;
	if (n >= s->flows)
		fail_msg("%s: a frame of flow %llu of %llu", r->dst, (unsigned long long)n,
			 (unsigned long long)s->flows);
	if (!r->cross) {
		assert_int_equal(from, n % r->srcs);
		assert_int_equal(p, n % PORTS);
	}
	assert_int_equal(n % s->queues, s->queue);
	s->times[n]++;
	s->packets++;
}

/* Two rounds of all flows, dealt to so many queues: every flow leaves twice, each on the queue that is its own. */
static void all_leave(const struct ranges *r, uint64_t flows, unsigned queues, bool random_order)
{
	static struct tx_plan plan;
	static struct seen seen;
	char line[256];

	seen = (struct seen){.r = r, .flows = flows, .queues = queues};
	snprintf(line, sizeof(line),
		 "send -i loop:sink --dst-ip %s --src-ip %s --src-port %u --flows %u --flow-walk %s", r->dst, r->src,
		 FIRST_PORT, (unsigned)flows, r->cross ? "cross" : "step");
	tx_wire_plan(line, &plan);
	for (unsigned q = 0; q < queues; q++) {
		struct tx_wire *w = tx_wire_new(saw, &seen);

		seen.queue = q;
		if (flows > q)
			tx_wire_send(w, &plan, q, queues, 2 * flows, random_order);
		tx_wire_free(w);
	}
	assert_int_equal(seen.packets, 2 * flows);
	for (uint64_t n = 0; n < flows; n++)
		assert_int_equal(seen.times[n], 2);
}

static void every_flow_leaves_as_often_as_every_other(void **state)
{
	static const uint64_t flows[] = {1, 254, 65536, FLOWS_MOST};

	(void)state;
	for (unsigned r = 0; r < sizeof(all_ranges) / sizeof(all_ranges[0]); r++)
		for (unsigned f = 0; f < sizeof(flows) / sizeof(flows[0]); f++)
			for (unsigned queues = 1; queues <= QUEUES_MOST; queues++) {
				all_leave(&all_ranges[r], flows[f], queues, false);
				all_leave(&all_ranges[r], flows[f], queues, true);
			}
}

/* ---- in an order drawn by the seed ---- */

struct drawn {
	unsigned family;
	uint64_t first, count;
	uint64_t packets;
	uint64_t in_step; /* frames whose address is the next one to the last frame's */
	uint64_t last;
	unsigned char times[1U << 20];
};

static void saw_drawn(void *arg, const unsigned char *f, uint32_t len)
{
	struct drawn *s = arg;
	uint64_t at = (s->family == 6 ? low_bits(f + 46, 8) : low_bits(f + 30, 4)) - s->first;

	(void)len;
	assert_true(at < s->count);
	s->in_step += at == s->last + 1;
	s->last = at;
	s->times[at]++;
	s->packets++;
}

/* A random walk leaves no address out and repeats none, also where there are fewer flows than addresses. */
static void random_walks_are_exact_on_any_number_of_queues(void **state)
{
	static const struct {
		const char *range;
		unsigned family;
		uint64_t first, count;
	} walks[] = {{"10.16.0.0/12", 4, 0x0a100001, (1U << 20) - 2}, {"fd00::/108", 6, 0, 1U << 20}};
	static const uint64_t flows[] = {1, 254, 65536, FLOWS_MOST};
	static struct tx_plan plan;
	static struct drawn seen;
	char line[256];

	(void)state;
	for (unsigned w = 0; w < 2; w++)
		for (unsigned f = 0; f < 4; f++)
			for (unsigned queues = 1; queues <= QUEUES_MOST; queues++) {
				uint64_t distinct = 0;

				seen = (struct drawn){
					.family = walks[w].family, .first = walks[w].first, .count = walks[w].count};
				snprintf(line, sizeof(line),
					 "send -i loop:sink --dst-ip %s --src-ip %s --flows %u --seed "
					 "18446744073709551615%s%s",
					 walks[w].range, walks[w].family == 6 ? "fd01::1" : "192.0.2.1",
					 (unsigned)flows[f], flows[f] > 1 ? " --vary dst-ip=random:" : "",
					 flows[f] > 1 ? walks[w].range : "");
				tx_wire_plan(line, &plan);
				for (unsigned q = 0; q < queues && q < flows[f]; q++) {
					struct tx_wire *wire = tx_wire_new(saw_drawn, &seen);

					tx_wire_send(wire, &plan, q, queues, flows[f], false);
					tx_wire_free(wire);
				}
				assert_int_equal(seen.packets, flows[f]);
				for (uint64_t i = 0; i < seen.count; i++)
					distinct += seen.times[i] == 1;
				assert_int_equal(distinct, flows[f]);
				assert_true(seen.in_step < 30); /* about flows / count, at random */
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flow_leaves_as_often_as_every_other),
		cmocka_unit_test(random_walks_are_exact_on_any_number_of_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
