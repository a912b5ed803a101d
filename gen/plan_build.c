/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_build.h"

#include "frame.h"
#include "imix.h"
#include "lib/core/stamp.h"
#include "lib/ether.h"
#include "lib/option.h"
#include "lib/report.h"
#include "pace.h"
#include "packet.h"
#include "replay.h"
#include "tunnel.h"
#include "vary.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#define MTU_DEFAULT 1500U

static uint32_t stamp_room(const struct config *cfg)
{
	return cfg->stamp ? STAMP_LEN : 0;
}

/* A tagged frame is 4 bytes longer at least: IEEE 802.3 clause 3.2.7 lets a bridge untag it without padding. */
static uint32_t smallest_frame(const struct config *cfg)
{
	uint32_t l3, headers;

	packet_measure(cfg, &l3, &headers);
	headers += stamp_room(cfg);
	return headers > GEN_FRAME_MIN + l3 - ETH_HEADER_LEN ? headers : GEN_FRAME_MIN + l3 - ETH_HEADER_LEN;
}

uint32_t gen_frame_len(const struct config *cfg)
{
	return cfg->packet_size ? cfg->packet_size - FCS_BYTES : smallest_frame(cfg);
}

int gen_mix(const struct config *cfg, uint32_t mtu, struct imix *mix, unsigned *raised, struct err *e)
{
	uint32_t l3, headers;
	int rc;

	packet_measure(cfg, &l3, &headers);
	rc = imix_parse(cfg->imix, (mtu ? mtu : MTU_DEFAULT) + l3 + FCS_BYTES, mix, e);
	if (!rc)
		*raised = imix_raise(mix, smallest_frame(cfg) + FCS_BYTES);
	return rc;
}

uint64_t gen_flows_possible(const struct config *cfg)
{
	static const struct ip nobody;
	struct config many = *cfg;
	struct varies v;

	many.flows = UINT64_MAX; /* what walks only with several flows is counted */
	varies_collect(&many, &nobody, &v, NULL);
	return varies_flows(&v, cfg->flow_walk == FLOW_WALK_CROSS);
}

static void check_mix(const struct config *cfg, struct problems *p)
{
	static uint16_t cycle[TX_CYCLE_MAX];
	struct imix mix;
	unsigned raised;
	struct err e;

	if (option_given(cfg, OPTION_PACKET_SIZE))
		problem_add(p, "--packet-size", "--mode imix has its sizes from --imix");
	if (gen_mix(cfg, 0, &mix, &raised, &e))
		err_hint(problem_add(p, "--imix", "%s: %s", cfg->imix, e.cause), "%s", e.hint);
	else if (!imix_cycle(&mix, cycle, TX_CYCLE_MAX))
		problem_add(p, "--imix",
			    "%s: its weights have no common divisor that makes a cycle of %u packets or less",
			    cfg->imix, TX_CYCLE_MAX);
}

static void check_size(const struct config *cfg, struct problems *p)
{
	uint32_t least = smallest_frame(cfg) + FCS_BYTES;

	if (cfg->mode == MODE_IMIX) {
		check_mix(cfg, p);
		return;
	}
	if (!cfg->packet_size)
		return;
	if (cfg->packet_size < least)
		problem_add(p, "--packet-size",
			    "%u bytes cannot hold this frame: the smallest with these headers%s is %u (FCS included)",
			    cfg->packet_size, cfg->stamp ? " and a stamp" : "", least);
	else if (cfg->packet_size > GEN_FRAME_MAX + FCS_BYTES)
		problem_add(p, "--packet-size", "%u is more than the largest frame, %u (FCS included)",
			    cfg->packet_size, GEN_FRAME_MAX + FCS_BYTES);
}

/* The table that they are kept in has an end, however many the ranges hold. */
static void check_table(const struct config *cfg, struct problems *p)
{
	if (cfg->flows > GEN_FLOWS_MAX)
		problem_add(p, "--flows", "%" PRIu64 " is more than the most flows of a run, %llu", cfg->flows,
			    GEN_FLOWS_MAX);
}

static void check_raw(const struct config *cfg, struct problems *p)
{
	if (mac_is_zero(&cfg->dst_mac))
		problem_missing(p, "--dst-mac", "raw mode needs it: no address tells the next hop");
	if (cfg->ethertype < 0x0600)
		problem_add(p, "--ethertype", "0x%04x is a length, not a type: types start at 0x0600", cfg->ethertype);
	if (cfg->flows > gen_flows_possible(cfg))
		problem_add(p, "--flows", "raw mode has as many flows as --vary gives, which is %" PRIu64,
			    gen_flows_possible(cfg));
	else
		check_table(cfg, p);
}

/* What would give so many flows, if not as it is asked for. */
static void hint_flows(const struct config *cfg, struct err *e)
{
	struct config more = *cfg;

	more.flow_walk = FLOW_WALK_CROSS;
	if (gen_flows_possible(&more) >= cfg->flows) {
		err_hint(e, "--flow-walk cross, which has %" PRIu64 " of them", gen_flows_possible(&more));
		return;
	}
	more.vary_dst_port = cfg->mode != MODE_ICMP_ECHO;
	if (gen_flows_possible(&more) >= cfg->flows)
		err_hint(e, "--vary-dst-port with --flow-walk cross, or a larger --dst-ip or --src-ip prefix");
	else
		err_hint(e, "a larger --dst-ip or --src-ip prefix, or more of --vary, with --flow-walk cross");
}

static void check_ip(const struct config *cfg, struct problems *p)
{
	uint64_t possible;

	if (!cfg->dst_ip.ip.family) {
		problem_missing(p, "--dst-ip", "missing: say where to send, an address or a prefix");
		return;
	}
	if (cfg->src_ip.ip.family && cfg->src_ip.ip.family != cfg->dst_ip.ip.family)
		problem_add(p, "--src-ip", "is IPv%u while --dst-ip is IPv%u", cfg->src_ip.ip.family,
			    cfg->dst_ip.ip.family);
	possible = gen_flows_possible(cfg);
	if (cfg->flows > possible)
		hint_flows(cfg, problem_add(p, "--flows",
					    "%" PRIu64
					    " flows are more than the ranges hold: what varies gives %" PRIu64 "%s",
					    cfg->flows, possible,
					    cfg->flow_walk == FLOW_WALK_CROSS ? " combined" : ", stepping together"));
	else
		check_table(cfg, p);
}

/* The smallest of the frames, without FCS. */
static uint32_t smallest_of_all(const struct config *cfg, const struct varies *v)
{
	uint32_t sizes[TX_SIZES_MAX];
	unsigned n = varies_sizes(v, sizes, TX_SIZES_MAX);
	uint32_t least = UINT32_MAX;
	unsigned raised;
	struct imix mix;

	if (!n && cfg->mode == MODE_IMIX && gen_mix(cfg, 0, &mix, &raised, NULL) == 0) {
		n = mix.n;
		memcpy(sizes, mix.size, n * sizeof(sizes[0]));
	}
	for (unsigned i = 0; i < n; i++)
		least = sizes[i] < least ? sizes[i] : least;
	return n ? least - FCS_BYTES : gen_frame_len(cfg);
}

static void check_vary(const struct config *cfg, struct problems *p)
{
	static const struct ip nobody;
	struct varies v;
	struct frame f;

	varies_collect(cfg, &nobody, &v, p);
	packet_outline(cfg, &f);
	varies_check(&v, cfg, &f, smallest_of_all(cfg, &v), smallest_frame(cfg), p);
}

static void check_stamp(const struct config *cfg, struct problems *p)
{
	if (!cfg->stamp)
		return;
	if (cfg->mode == MODE_RAW || cfg->mode == MODE_PCAP)
		problem_add(p, "--stamp",
			    "goes into the payload of packets that squall makes, not of --mode raw or pcap");
	else if (cfg->flows > STAMP_FLOWS)
		problem_add(p, "--flows", "%" PRIu64 " is more than a stamp can number, %u: --no-stamp goes without",
			    cfg->flows, STAMP_FLOWS);
}

void gen_check(const struct config *cfg, struct problems *p)
{
	replay_check(cfg, p);
	pace_check(cfg, p);
	check_stamp(cfg, p);
	if (!cfg->flows)
		problem_add(p, "--flows", "0 flows: at least 1 is needed");
	if (cfg->mode == MODE_RAW)
		check_raw(cfg, p);
	else if (cfg->mode != MODE_PCAP) /* a capture brings its own addresses */
		check_ip(cfg, p);
	if (cfg->mode == MODE_RAW || (cfg->mode != MODE_PCAP && cfg->dst_ip.ip.family))
		check_size(cfg, p);
	packet_check(cfg, p);
	if (cfg->vary.n && cfg->mode != MODE_PCAP && (cfg->mode == MODE_RAW || cfg->dst_ip.ip.family))
		check_vary(cfg, p);
	if (mac_is_multicast(&cfg->src_mac))
		problem_add(p, "--src-mac", "a multicast address cannot be a source");
}

static int put_pace(struct tx_plan *plan, const struct config *cfg, const struct gen_ends *ends, struct err *e)
{
	struct pace_load load = pace_load_of(plan);

	return pace_of(cfg, ends->link_bps, &load, &plan->pace, e);
}

/* The sizes of the frames, without FCS, and their order. Returns how many. */
static unsigned put_sizes(struct tx_plan *plan, const struct config *cfg, const struct gen_ends *ends, uint32_t *sizes)
{
	struct imix mix;
	struct varies v;
	unsigned n, raised;

	varies_collect(cfg, &ends->src_ip, &v, NULL);
	n = varies_sizes(&v, sizes, TX_SIZES_MAX);
	for (unsigned i = 0; i < n; i++) {
		sizes[i] -= FCS_BYTES;
		plan->cycle[i] = (uint16_t)i;
	}
	if (n) {
		plan->n_cycle = n;
		return n;
	}
	if (cfg->mode != MODE_IMIX || gen_mix(cfg, ends->mtu, &mix, &raised, NULL)) {
		sizes[0] = gen_frame_len(cfg);
		return 1;
	}
	for (unsigned i = 0; i < mix.n; i++)
		sizes[i] = mix.size[i] - FCS_BYTES;
	plan->n_cycle = imix_cycle(&mix, plan->cycle, TX_CYCLE_MAX);
	return mix.n;
}

static uint32_t largest(const uint32_t *sizes, unsigned n)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < n; i++)
		most = sizes[i] > most ? sizes[i] : most;
	return most;
}

int gen_plan_build(const struct config *cfg, const struct gen_ends *ends, struct tx_plan *plan, struct err *e)
{
	uint32_t sizes[TX_SIZES_MAX];
	struct frame f;
	struct ip first = {0};
	struct varies varies;
	uint32_t sport_at;
	unsigned n;
	int rc;

	frame_begin(&f, plan);
	plan->flows = cfg->flows;
	plan->stamped = cfg->stamp;
	plan->run = ends->run;
	if (cfg->mode != MODE_RAW) {
		if (ends->src_ip.family != cfg->dst_ip.ip.family)
			return err_set(e, -EINVAL, EXIT_USAGE, "cannot build the frames", "--src-ip",
				       "no source address of the destination's family");
		prefix_hosts(&cfg->dst_ip, &first);
	}
	sport_at = packet_put_headers(&f, cfg, ends, &first);
	varies_collect(cfg, &ends->src_ip, &varies, NULL);
	varies_put(&varies, cfg, &f);
	if (cfg->flows > 1)
		tunnel_vary(&f, sport_at);
	n = put_sizes(plan, cfg, ends, sizes);
	rc = packet_put_payload(&f, cfg, largest(sizes, n), e);
	if (!rc)
		rc = frame_finish(&f, sizes, n, cfg->stamp, e);
	return rc ? rc : put_pace(plan, cfg, ends, e);
}
