/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_build.h"

#include "gcd.h"
#include "lib/core/flow.h"
#include "lib/core/patch.h"
#include "lib/report.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#define ETHERTYPE_VLAN  0x8100U
#define ETHERTYPE_IP4   0x0800U
#define ETHERTYPE_IP6   0x86ddU
#define IP_TTL_DEFAULT  64
#define PORTS           65535U /* 1..65535: port 0 is not walked over */
#define NS_PER_S_MICRO  1000000000000000ULL
#define INTERVAL_MAX_NS 3600000000000ULL

/* Products of rates and nanoseconds need more than 64 bits. */
__extension__ typedef unsigned __int128 uint128;

static enum tx_family family_of(const struct config *cfg)
{
	if (cfg->mode == MODE_RAW)
		return TX_RAW;
	return cfg->dst_ip.ip.family == 6 ? TX_UDP6 : TX_UDP4;
}

static uint32_t l3_offset(const struct config *cfg)
{
	return ETH_HEADER_LEN + (cfg->vlan ? VLAN_TAG_LEN : 0);
}

static uint32_t l4_offset(const struct config *cfg)
{
	switch (family_of(cfg)) {
	case TX_UDP4:
		return l3_offset(cfg) + IP4_HLEN;
	case TX_UDP6:
		return l3_offset(cfg) + IP6_HLEN;
	default:
		return l3_offset(cfg);
	}
}

/* A tagged frame is 4 bytes longer at least: IEEE 802.3 clause 3.2.7 lets a bridge untag it without padding. */
static uint32_t smallest_frame(const struct config *cfg)
{
	uint32_t legal = GEN_FRAME_MIN + (cfg->vlan ? VLAN_TAG_LEN : 0);
	uint32_t headers = l4_offset(cfg) + (family_of(cfg) == TX_RAW ? 0 : UDP_HLEN);

	return headers > legal ? headers : legal;
}

uint32_t gen_frame_len(const struct config *cfg)
{
	return cfg->packet_size ? cfg->packet_size - FCS_BYTES : smallest_frame(cfg);
}

uint64_t gen_flows_possible(const struct config *cfg)
{
	struct ip first;
	uint64_t hosts;

	if (cfg->mode == MODE_RAW)
		return 1;
	hosts = prefix_hosts(&cfg->dst_ip, &first);
	return hosts / gcd(hosts, PORTS) * PORTS;
}

static void check_size(const struct config *cfg, struct problems *p)
{
	uint32_t least = smallest_frame(cfg) + FCS_BYTES;

	if (!cfg->packet_size)
		return;
	if (cfg->packet_size < least)
		problem_add(p, "--packet-size",
			    "%u bytes cannot hold this frame: the smallest with these headers is %u (FCS included)",
			    cfg->packet_size, least);
	else if (cfg->packet_size > GEN_FRAME_MAX + FCS_BYTES)
		problem_add(p, "--packet-size", "%u is more than the largest frame, %u (FCS included)",
			    cfg->packet_size, GEN_FRAME_MAX + FCS_BYTES);
}

static void check_raw(const struct config *cfg, struct problems *p)
{
	if (mac_is_zero(&cfg->dst_mac))
		problem_missing(p, "--dst-mac", "raw mode needs it: no address tells the next hop");
	if (cfg->ethertype < 0x0600)
		problem_add(p, "--ethertype", "0x%04x is a length, not a type: types start at 0x0600", cfg->ethertype);
	if (cfg->flows != 1)
		problem_add(p, "--flows", "raw mode sends one fixed frame, so there is 1 flow");
}

static void check_ip(const struct config *cfg, struct problems *p)
{
	uint64_t possible;

	if (!cfg->dst_ip.ip.family) {
		problem_missing(p, "--dst-ip", "missing: say where to send, an address or a prefix");
		return;
	}
	if (cfg->src_ip.family && cfg->src_ip.family != cfg->dst_ip.ip.family)
		problem_add(p, "--src-ip", "is IPv%u while --dst-ip is IPv%u", cfg->src_ip.family,
			    cfg->dst_ip.ip.family);
	possible = gen_flows_possible(cfg);
	if (cfg->flows > possible)
		problem_add(p, "--flows",
			    "%" PRIu64
			    " flows are more than the ranges hold: source port and destination address stepping "
			    "together give %" PRIu64 "; a larger --dst-ip prefix gives more",
			    cfg->flows, possible);
	else if (cfg->flows > GEN_FLOWS_MAX)
		problem_add(p, "--flows", "%" PRIu64 " is more than the most flows of a run, %llu", cfg->flows,
			    GEN_FLOWS_MAX);
}

void gen_check(const struct config *cfg, struct problems *p)
{
	if (!cfg->flows)
		problem_add(p, "--flows", "0 flows: at least 1 is needed");
	if (cfg->mode == MODE_RAW)
		check_raw(cfg, p);
	else if (cfg->mode != MODE_PCAP && !cfg->pcap[0]) /* a capture brings its own addresses */
		check_ip(cfg, p);
	if (cfg->mode == MODE_RAW || cfg->dst_ip.ip.family)
		check_size(cfg, p);
	if (mac_is_multicast(&cfg->src_mac))
		problem_add(p, "--src-mac", "a multicast address cannot be a source");
}

static void walk_port(struct tx_walk *w, uint16_t port, bool walks)
{
	if (walks)
		*w = (struct tx_walk){.base = 1, .first = port ? port - 1U : 0, .count = PORTS};
	else
		*w = (struct tx_walk){.base = port, .count = 1};
}

static uint32_t low32(const struct ip *ip)
{
	const uint8_t *b = ip->b + (ip->family == 6 ? 12 : 0);

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Source and destination lie side by side in both headers; the low 32 bits of each are the flow's. */
static void put_addresses(struct tx_plan *plan, unsigned char *at, const struct ip *src, const struct ip *dst)
{
	size_t fixed = src->family == 6 ? 12 : 0;
	size_t len = fixed + 4;

	memcpy(at, src->b, fixed);
	memcpy(at + len, dst->b, fixed);
	plan->l4_sum += csum_fold(csum_bytes(src->b, (uint32_t)fixed, 16) + csum_bytes(dst->b, (uint32_t)fixed, 16));
}

static void put_ip4(struct tx_plan *plan, const struct gen_ends *ends, const struct ip *dst)
{
	unsigned char *ip = plan->frame + plan->l3;

	ip[0] = 0x45;
	core_put16(ip + 2, core_be16(plan->len - plan->l3));
	ip[8] = IP_TTL_DEFAULT;
	ip[9] = IPPROTO_UDP;
	put_addresses(plan, ip + IP4_SADDR, &ends->src_ip, dst);
	plan->l3_sum = csum_fold(csum_bytes(ip, IP4_HLEN, IP4_HLEN));
}

static void put_ip6(struct tx_plan *plan, const struct gen_ends *ends, const struct ip *dst)
{
	unsigned char *ip = plan->frame + plan->l3;

	ip[0] = 0x60;
	core_put16(ip + 4, core_be16(plan->len - plan->l4));
	ip[6] = IPPROTO_UDP;
	ip[7] = IP_TTL_DEFAULT;
	put_addresses(plan, ip + 8, &ends->src_ip, dst);
}

/* The UDP length stands in the header and in the pseudo-header (RFC 768): its sum counts twice. */
static void put_udp(struct tx_plan *plan)
{
	unsigned char *udp = plan->frame + plan->l4;
	uint16_t len = core_be16(plan->len - plan->l4);

	core_put16(udp + 4, len);
	plan->l4_sum = csum_fold(plan->l4_sum + csum_bytes(udp, plan->len - plan->l4, TX_TEMPLATE_MAX) + len +
				 core_be16(IPPROTO_UDP));
}

static void put_ethernet(struct tx_plan *plan, const struct config *cfg, const struct gen_ends *ends)
{
	static const uint16_t types[] = {[TX_UDP4] = ETHERTYPE_IP4, [TX_UDP6] = ETHERTYPE_IP6};
	uint16_t type = plan->family == TX_RAW ? cfg->ethertype : types[plan->family];
	unsigned char *at = plan->frame;

	memcpy(at, ends->dst_mac.b, 6);
	memcpy(at + 6, ends->src_mac.b, 6);
	at += 12;
	if (cfg->vlan) {
		core_put16(at, core_be16(ETHERTYPE_VLAN));
		core_put16(at + 2, core_be16(cfg->vlan));
		at += VLAN_TAG_LEN;
	}
	core_put16(at, core_be16(type));
}

/*
 * The time between packets, from a rate in micro units a second and units a packet. Rounded up to 2^-32 ns, so that
 * N / r seconds hold N packets and never one more.
 */
static int interval_of(uint64_t micro, uint64_t units, struct pacer_rate *out)
{
	uint128 ns = (uint128)NS_PER_S_MICRO * units / micro;
	uint128 rest = (uint128)NS_PER_S_MICRO * units % micro;
	uint128 fixed = (ns << 32) + ((rest << 32) + micro - 1) / micro;

	if (ns > INTERVAL_MAX_NS)
		return -ERANGE;
	out->ns = (uint64_t)(fixed >> 32);
	out->frac = (uint32_t)fixed;
	return 0;
}

static bool slower(const struct pacer_rate *a, const struct pacer_rate *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->frac > b->frac);
}

/* Bits of one packet in the layer that a bit rate counts. */
static uint64_t bits_in_layer(const struct tx_plan *plan, enum rate_layer layer)
{
	uint64_t bytes = plan->len + FCS_BYTES;

	if (layer == RATE_L3)
		bytes = plan->len - plan->l3;
	else if (layer != RATE_L2)
		bytes += L1_EXTRA_BYTES;
	return bytes * 8;
}

static int slow_down(struct tx_plan *plan, const struct rate *r, bool bits, const char *option,
		     const struct gen_ends *ends, struct err *e)
{
	struct pacer_rate interval;
	uint128 micro = r->micro;
	uint64_t units = 1;

	if (r->kind == RATE_UNSET || r->kind == RATE_UNLIMITED)
		return 0;
	if (r->kind == RATE_PERCENT) {
		if (!ends->link_bps) {
			err_set(e, -EINVAL, EXIT_USAGE, "cannot set the rate", option,
				"a percentage needs the link's speed, which the interface does not tell");
			err_hint(e, "give the rate as --pps or --bps");
			return -EINVAL;
		}
		micro = micro * ends->link_bps / 100;
	}
	if (bits || r->kind == RATE_PERCENT)
		units = bits_in_layer(plan, r->kind == RATE_PERCENT ? RATE_L1 : r->layer);
	if (micro > UINT64_MAX)
		micro = UINT64_MAX;
	if (!micro || interval_of((uint64_t)micro, units, &interval))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot set the rate", option,
			       "less than one packet in an hour");
	if (slower(&interval, &plan->pace.interval))
		plan->pace.interval = interval;
	return 0;
}

static int put_pace(struct tx_plan *plan, const struct config *cfg, const struct gen_ends *ends, struct err *e)
{
	plan->pace.burst = cfg->burst;
	if (slow_down(plan, &cfg->pps, false, "--pps", ends, e) || slow_down(plan, &cfg->bps, true, "--bps", ends, e))
		return -EINVAL;
	return 0;
}

int gen_plan_build(const struct config *cfg, const struct gen_ends *ends, struct tx_plan *plan, struct err *e)
{
	struct ip first;
	uint64_t hosts;

	memset(plan, 0, sizeof(*plan));
	plan->family = family_of(cfg);
	plan->len = gen_frame_len(cfg);
	plan->l3 = l3_offset(cfg);
	plan->l4 = l4_offset(cfg);
	plan->flows = cfg->flows;
	memset(plan->frame + plan->l4, cfg->payload_byte, plan->len - plan->l4);
	put_ethernet(plan, cfg, ends);
	plan->saddr = plan->daddr = plan->sport = plan->dport = (struct tx_walk){.count = 1};
	if (plan->family == TX_RAW)
		return put_pace(plan, cfg, ends, e);
	if (ends->src_ip.family != cfg->dst_ip.ip.family)
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot build the frames", "--src-ip",
			       "no source address of the destination's family");
	hosts = prefix_hosts(&cfg->dst_ip, &first);
	plan->saddr = (struct tx_walk){.base = low32(&ends->src_ip), .count = 1};
	plan->daddr = (struct tx_walk){.base = low32(&first), .count = hosts};
	walk_port(&plan->sport, cfg->src_port, cfg->flows > 1);
	walk_port(&plan->dport, cfg->dst_port, cfg->vary_dst_port && cfg->flows > 1);
	memset(plan->frame + plan->l4, 0, UDP_HLEN);
	if (plan->family == TX_UDP4)
		put_ip4(plan, ends, &first);
	else
		put_ip6(plan, ends, &first);
	put_udp(plan);
	return put_pace(plan, cfg, ends, e);
}

double gen_pace_pps(const struct tx_pace *pace)
{
	double ns = (double)pace->interval.ns + (double)pace->interval.frac / 4294967296.0;

	return ns > 0 ? 1e9 / ns : -1;
}
