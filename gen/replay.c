/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include "lib/ether.h"
#include "pace.h"
#include "pcap_link.h"
#include "replay_options.h"

#include <errno.h>
#include <string.h>

/* Without a link nobody tells an MTU: what the largest frame of a plan can carry. */
#define MTU_UNKNOWN (GEN_FRAME_MAX - ETH_HEADER_LEN)
#define TAGS_MAX    2U

static uint64_t passes_of(const struct config *cfg)
{
	return cfg->loop ? cfg->loop : cfg->pcap_loop ? 0 : 1;
}

static uint64_t total_of(const struct config *cfg, uint64_t n)
{
	uint64_t passes = passes_of(cfg);
	uint64_t count = pace_count(cfg);
	uint64_t total = 0;

	if (passes && __builtin_mul_overflow(passes, n, &total))
		total = UINT64_MAX;
	if (count && (!total || count < total))
		total = count;
	return total;
}

int replay_load(struct replay *r, const struct config *cfg, uint32_t mtu, const volatile int *stop, struct err *e)
{
	struct capture_rules *rules = &r->rules;
	int rc;

	memset(r, 0, sizeof(*r));
	r->path = cfg->pcap;
	*rules = (struct capture_rules){
		.memory = cfg->pcap_preload,
		.mtu = mtu ? mtu : MTU_UNKNOWN,
		.truncated = cfg->pcap_truncated,
		.too_large = cfg->pcap_too_large,
		.max_gap_ns = cfg->pcap_max_gap_ns,
		.stop = stop,
	};
	replay_options_read(cfg, rules, NULL);
	rules->max_frame = rules->mtu + ETH_HEADER_LEN + TAGS_MAX * VLAN_TAG_LEN;
	rc = capture_load(&r->capture, r->path, rules, e);
	rules->stop = NULL;      /* a run that reads on is ended by its own means */
	if (rc && stop && *stop) /* what a signal breaks off may look like anything */
		return err_set(e, -EINTR, EXIT_DONE, "stopped", r->path, "while reading the capture");
	if (rc)
		return rc;
	if (r->capture.converted && cfg->rewrite_mac[0]) {
		pcap_file_err(e, -EINVAL, cfg->pcap,
			      "its packets have no MAC addresses that --rewrite-mac could change");
		err_hint(e, "--src-mac and --dst-mac, which say what the frames get");
		return -EINVAL;
	}
	r->original = cfg->pcap_timing == PCAP_TIMING_ORIGINAL;
	r->total = total_of(cfg, r->capture.n);
	if (!r->original)
		return 0;
	if (r->capture.n > 1)
		r->pass_ns = r->capture.last_ns + r->capture.last_ns / (r->capture.n - 1);
	if (r->pass_ns || r->total)
		return 0;
	pcap_file_err(e, -EINVAL, cfg->pcap,
		      "its packets are all of one time, so its own times cannot pace passes without end");
	err_hint(e, "--pcap-timing rate with --pps, or --loop N");
	return -EINVAL;
}

void replay_free(struct replay *r)
{
	capture_free(&r->capture);
}

int replay_plan(struct replay *r, const struct config *cfg, const struct gen_ends *ends, struct tx_plan *plan,
		struct err *e)
{
	const struct capture *c = &r->capture;
	const struct pace_load load = {.packets = c->n, .bytes = c->bytes, .l3_bytes = c->l3_bytes};
	char name[96];

	memset(plan, 0, sizeof(*plan));
	plan->flows = c->n;
	plan->max_len = c->max_len > REPLAY_BLOCK ? c->max_len : REPLAY_BLOCK;
	if (c->converted && mac_is_zero(&ends->dst_mac)) {
		pcap_file_err(e, -EINVAL, cfg->pcap,
			      "its link type is %s, which has no MAC addresses: say where the frames go",
			      pcap_link_name(c->link, name, sizeof(name)));
		err_hint(e, "--dst-mac, or --dst-ip to have the next hop found");
		return -EINVAL;
	}
	r->src = ends->src_mac;
	r->dst = ends->dst_mac;
	if (c->converted)
		capture_set_macs(&r->capture, &r->src, &r->dst);
	if (!r->original)
		return pace_of(cfg, ends->link_bps, &load, &plan->pace, e);
	plan->pace.burst = cfg->burst;
	return 0;
}

double replay_original_pps(const struct replay *r)
{
	uint64_t ns = r->capture.last_ns;

	return ns ? (double)(r->capture.n - 1) * 1e9 / (double)ns : -1;
}

uint64_t replay_departure(const struct replay *r, uint64_t k)
{
	return k / r->capture.n * r->pass_ns + r->capture.packets[k % r->capture.n].at_ns;
}

static uint64_t departure(struct replay_cursor *c)
{
	if (c->ring)
		return replay_ring_next(c->ring, &c->at)->at_ns;
	return c->pass_ns + c->replay->capture.packets[c->next].at_ns;
}

struct limiter_claim replay_claim(struct replay_cursor *c, uint64_t start_ns, uint64_t end_ns, uint64_t catch_up_ns,
				  uint32_t max, uint64_t now_ns)
{
	struct limiter_claim claim = {.departure_ns = start_ns + c->shift_ns + departure(c), .n = 1};
	struct replay_cursor after = *c;
	uint64_t due;

	if (claim.departure_ns >= end_ns) {
		claim.n = 0;
		return claim;
	}
	if (claim.departure_ns + catch_up_ns < now_ns) {
		c->shift_ns += now_ns - catch_up_ns - claim.departure_ns;
		claim.departure_ns = now_ns - catch_up_ns;
	}
	due = claim.departure_ns > now_ns ? claim.departure_ns : now_ns;
	if (due >= end_ns)
		due = end_ns - 1;
	while (claim.n < max) {
		replay_cursor_step(&after);
		if (start_ns + c->shift_ns + departure(&after) > due)
			break;
		claim.n++;
	}
	return claim;
}
