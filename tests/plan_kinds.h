/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the transmit loop share: kinds of plans, and the packets that they are of. */
#ifndef SQUALL_TESTS_PLAN_KINDS_H
#define SQUALL_TESTS_PLAN_KINDS_H

#include "gen/plan_build.h"
#include "lib/core/patch.h"
#include "loops.h"

struct kind {
	const char *name;
	struct config cfg;
	const char *dst;   /* NULL: none, nor a source */
	const char *words; /* as frame_judge.h reads them */
	unsigned sizes;
};

/* The plan of that kind. run: that stamps name. */
static inline void kind_plan(const struct kind *k, bool stamped, uint16_t run, struct tx_plan *plan)
{
	struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}, .run = run};
	struct config cfg = k->cfg;
	struct err e;

	cfg.src_port = 65500;
	cfg.dst_port = 9000;
	cfg.ttl = 64;
	cfg.burst = 32;
	cfg.stamp = stamped;
	cfg.payload_pattern = PATTERN_COUNT8; /* no two bytes that follow are alike */
	if (k->dst) {
		assert_int_equal(prefix_parse(k->dst, &cfg.dst_ip), 0);
		assert_int_equal(ip_parse(cfg.dst_ip.ip.family == 6 ? "fd00::1" : "10.9.9.1", &ends.src_ip), 0);
	}
	if (gen_plan_build(&cfg, &ends, plan, &e))
		fail_msg("%s: %s", k->name, e.cause);
	assert_int_equal(plan->n_sizes, k->sizes);
}

/* A packet of that flow and size, without a stamp. */
static inline void plan_packet(const struct tx_plan *plan, uint64_t flow, const struct tx_size *size,
			       unsigned char *frame)
{
	unsigned char entry[TX_ENTRY_MAX];

	memcpy(frame, plan->frame, plan->max_len);
	tx_entry_at(plan, flow, entry);
	tx_put(plan, entry, size, frame, 0);
}

#endif
