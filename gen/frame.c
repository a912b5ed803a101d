/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include "lib/core/csum.h"
#include "lib/ether.h"

#include <netinet/in.h>
#include <string.h>

#define IP4_LEN  20U
#define IP6_LEN  40U
#define UDP_LEN  8U
#define TCP_LEN  20U
#define ECHO_LEN 8U

#define TYPE_IP4   0x0800U
#define TYPE_IP6   0x86ddU
#define TYPE_MPLS  0x8847U
#define IP4_DF     0x4000U
#define TCP_WINDOW 64240U
#define ECHO4      8U
#define ECHO6      128U

#define FLOW_LABEL_MASK 0xfffffU

static void put16(unsigned char *p, uint32_t v)
{
	core_put16(p, core_be16(v));
}

void frame_begin(struct frame *f, struct tx_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	memset(f, 0, sizeof(*f));
	f->plan = plan;
	f->n_sums = 1; /* the transport's place, taken or not */
}

void frame_refuse(struct frame *f, const char *why)
{
	if (!f->wrong)
		f->wrong = why;
}

/* Room for a header, zeroed; where there is none, somewhere else. */
static unsigned char *take(struct frame *f, uint32_t len)
{
	static unsigned char nowhere[64];
	unsigned char *at = f->plan->frame + f->at;

	if (f->at + len > TX_TEMPLATE_MAX) {
		frame_refuse(f, "the headers are longer than the largest frame");
		return nowhere;
	}
	f->at += len;
	return at;
}

/* A field that says how many bytes there are from `from` to the frame's end. */
static void add_length(struct frame *f, uint32_t field, uint32_t from)
{
	if (f->n_lengths == TX_LENGTHS_MAX) {
		frame_refuse(f, "so many headers have more length fields than a plan holds");
		return;
	}
	f->lengths[f->n_lengths++] = (struct frame_length){.at = (uint16_t)field, .from = (uint16_t)from};
}

void frame_put_ethernet(struct frame *f, const struct mac *dst, const struct mac *src)
{
	unsigned char *p = take(f, ETH_MACS_LEN);

	memcpy(p, dst->b, sizeof(dst->b));
	memcpy(p + sizeof(dst->b), src->b, sizeof(src->b));
}

void frame_put_type(struct frame *f, uint16_t type)
{
	put16(take(f, 2), type);
	if (!f->plan->l3)
		f->plan->l3 = f->at;
}

void frame_put_tag(struct frame *f, uint16_t tpid, uint16_t tci)
{
	unsigned char *p = take(f, VLAN_TAG_LEN);

	put16(p, tpid);
	put16(p + 2, tci);
}

void frame_put_mpls(struct frame *f, uint32_t label, uint8_t traffic_class, bool bottom, uint8_t ttl)
{
	unsigned char *p = take(f, 4);

	core_put32(p, core_be32(label << 12 | (traffic_class & 7U) << 9 | (uint32_t)bottom << 8 | ttl));
}

static void put_ip4(struct frame *f, const struct frame_ip *ip)
{
	const uint32_t at = f->at;
	unsigned char *p = take(f, IP4_LEN);

	p[0] = 0x45;
	p[1] = ip->dscp_ecn;
	add_length(f, at + 2, at);
	put16(p + 4, ip->id);
	put16(p + 6, ip->df ? IP4_DF : 0);
	p[8] = ip->ttl;
	memcpy(p + 12, ip->src.b, 4);
	memcpy(p + 16, ip->dst.b, 4);
	f->protocol_at = (uint16_t)(at + 9);
	f->addresses = (uint16_t)(at + 12);
	f->addresses_len = 8;
	if (f->n_sums == TX_SUMS_MAX) {
		frame_refuse(f, "so many headers have more checksums than a plan holds");
		return;
	}
	f->plan->sums[f->n_sums].at = (uint16_t)(at + 10);
	f->sums[f->n_sums++] = (struct frame_sum){.from = (uint16_t)at, .to = (uint16_t)(at + IP4_LEN)};
}

static void put_ip6(struct frame *f, const struct frame_ip *ip)
{
	const uint32_t at = f->at;
	unsigned char *p = take(f, IP6_LEN);

	core_put32(p, core_be32(6U << 28 | (uint32_t)ip->dscp_ecn << 20 | (ip->flow_label & FLOW_LABEL_MASK)));
	add_length(f, at + 4, at + IP6_LEN);
	p[7] = ip->ttl;
	memcpy(p + 8, ip->src.b, 16);
	memcpy(p + 24, ip->dst.b, 16);
	f->protocol_at = (uint16_t)(at + 6);
	f->addresses = (uint16_t)(at + 8);
	f->addresses_len = 32;
}

/* What an outer checksum is over must not hold another one, which goes its own way from flow to flow. */
static void check_nesting(struct frame *f)
{
	if (f->has_l4_sum)
		frame_refuse(f, "only the innermost transport header can have a checksum");
}

void frame_put_ip(struct frame *f, const struct frame_ip *ip)
{
	check_nesting(f);
	f->ip = (uint16_t)f->at;
	f->ip6 = ip->dst.family == 6;
	if (f->ip6)
		put_ip6(f, ip);
	else
		put_ip4(f, ip);
	f->plan->l4 = f->at;
	if (!f->outer)
		return;
	if (f->sums[f->outer].to)
		frame_refuse(f, "a checksum can be around one IP header only");
	/* All of an IPv6 header but its addresses. */
	f->sums[f->outer].to = (uint16_t)(f->ip6 ? f->ip + IP6_LEN - 32U : f->ip);
}

void frame_put_protocol(struct frame *f, uint8_t protocol)
{
	if (!f->addresses_len)
		frame_refuse(f, "a transport header needs an IP header in front of it");
	if (!f->wrong)
		f->plan->frame[f->protocol_at] = protocol;
}

/* A transport header that comes next: IP's protocol, and where its ports are. */
static void start_l4(struct frame *f, uint8_t protocol)
{
	check_nesting(f);
	frame_put_protocol(f, protocol);
	f->plan->l4 = f->at;
}

/* The checksum of the transport header at f->plan->l4; pseudo: addresses, length and protocol are in it. */
static void add_l4_sum(struct frame *f, uint32_t field, uint8_t protocol, bool pseudo)
{
	struct frame_sum *s = &f->sums[0];

	*s = (struct frame_sum){.from = (uint16_t)f->plan->l4};
	if (pseudo) {
		s->addresses = f->addresses;
		s->addresses_len = f->addresses_len;
		s->protocol = protocol;
	}
	f->plan->sums[0].at = (uint16_t)(s->from + field);
	f->plan->sums[0].is_udp = protocol == IPPROTO_UDP;
	f->has_l4_sum = true;
	if (!f->outer || !pseudo)
		return;
	s = &f->sums[f->outer];
	s->less_addresses = f->addresses;
	s->less_addresses_len = f->ip6 ? 0 : f->addresses_len;
	s->less_protocol = protocol;
	s->less_from = (uint16_t)f->plan->l4;
}

/* The checksum of the UDP header at f->plan->l4, around a packet that follows. */
static void add_outer_sum(struct frame *f)
{
	if (f->n_sums == TX_SUMS_MAX || f->outer) {
		frame_refuse(f, "so many headers have more checksums than a plan holds");
		return;
	}
	f->outer = f->n_sums++;
	f->plan->sums[f->outer].at = (uint16_t)(f->plan->l4 + 6);
	f->plan->sums[f->outer].is_udp = true;
	f->sums[f->outer] = (struct frame_sum){
		.from = (uint16_t)f->plan->l4,
		.addresses = f->addresses,
		.addresses_len = f->addresses_len,
		.protocol = IPPROTO_UDP,
		.outer = true,
	};
}

void frame_put_udp(struct frame *f, uint16_t sport, uint16_t dport, enum frame_check check)
{
	const uint32_t at = f->at;
	unsigned char *p;

	start_l4(f, IPPROTO_UDP);
	p = take(f, UDP_LEN);
	put16(p, sport);
	put16(p + 2, dport);
	add_length(f, at + 4, at);
	if (check == FRAME_CHECK_OUTER)
		add_outer_sum(f);
	if (check == FRAME_CHECK_OUTER || check == FRAME_CHECK_OFF)
		return;
	add_l4_sum(f, 6, IPPROTO_UDP, true);
	if (check != FRAME_CHECK_BAD)
		return;
	/* One more in the sum than there is: one less in the checksum. That is never the right one in another guise. */
	f->plan->sums[0].fixed = core_be16(1);
	if (f->outer) /* around it that one is missing, too */
		f->plan->sums[f->outer].fixed = (uint16_t)~core_be16(1);
}

void frame_put_tcp(struct frame *f, uint16_t sport, uint16_t dport, uint8_t flags)
{
	unsigned char *p;

	start_l4(f, IPPROTO_TCP);
	p = take(f, TCP_LEN);
	put16(p, sport);
	put16(p + 2, dport);
	p[12] = TCP_LEN / 4 << 4;
	p[13] = flags;
	put16(p + 14, TCP_WINDOW);
	add_l4_sum(f, 16, IPPROTO_TCP, true);
}

void frame_put_echo(struct frame *f, uint16_t id, uint16_t sequence)
{
	const uint8_t protocol = f->ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	unsigned char *p;

	start_l4(f, protocol);
	p = take(f, ECHO_LEN);
	p[0] = f->ip6 ? ECHO6 : ECHO4;
	put16(p + 4, id);
	put16(p + 6, sequence);
	add_l4_sum(f, 2, protocol, f->ip6);
}

void frame_put_bytes(struct frame *f, const void *bytes, uint32_t len)
{
	if (len > TX_TEMPLATE_MAX - f->at) {
		frame_refuse(f, "the headers are longer than the largest frame");
		return;
	}
	memcpy(f->plan->frame + f->at, bytes, len);
	f->at += len;
}

void frame_vary(struct frame *f, uint32_t end, unsigned bits, unsigned shift, const struct tx_walk *walk)
{
	struct frame_vary *v = &f->varies[f->n_varies];

	if (f->n_varies == TX_WALKS_MAX) {
		frame_refuse(f, "more fields vary than a plan holds");
		return;
	}
	if (end > TX_TEMPLATE_MAX || end < (shift + bits + 7) / 8 || !bits || bits > 64 || shift > 7) {
		frame_refuse(f, "a field that varies is not in the frame");
		return;
	}
	f->n_varies++;
	v->end = (uint16_t)end;
	v->walk = *walk;
	v->walk.bits = (uint8_t)bits;
	v->walk.shift = (uint8_t)shift;
}
