/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide: whether a packet is one that the rules take. The meaning is filter_matches()'s (lib/pio/filter.h), told once
 * more in the manner that the verifier can follow: a cursor that is compared with the packet's end before each read.
 *
 * Only the packet's first buffer is seen. What lies beyond it counts as cut off, which meets no condition; where not to
 * meet one would take the packet (keep_management), it is left to the kernel. Refuse, never widen.
 */
#ifndef SQUALL_PIO_BPF_DECIDE_H
#define SQUALL_PIO_BPF_DECIDE_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "lib/pio/bpf/rules.h"
#include "lib/pio/headers.h"

/* Whole loads: the kernel allows them unaligned where the processor does, but clang must not know. */
typedef uint16_t decide_u16 __attribute__((may_alias));
typedef uint32_t decide_u32 __attribute__((may_alias));
typedef uint64_t decide_u64 __attribute__((may_alias));

#define decide_get16(p) (*(const decide_u16 *)(p))
#define decide_get32(p) (*(const decide_u32 *)(p))
#define decide_get64(p) (*(const decide_u64 *)(p))

struct decide_headers {
	uint64_t src[2], dst[2];
	uint32_t type; /* behind the tags; 0: none */
	uint32_t vlan; /* of the outermost tag, or NO_VLAN */
	uint32_t family;
	uint32_t proto;
	uint32_t first;        /* byte of layer 4 */
	uint32_t sport, dport; /* with has_ports */
	bool has_first, has_ports;
	bool cut; /* something was looked for beyond the end */
};

CORE_INLINE void decide_l4(struct decide_headers *h, const unsigned char *at, const unsigned char *end)
{
	if (at + PORTS_LEN <= end) {
		h->has_first = true;
		h->has_ports = true;
		h->first = at[0];
		h->sport = core_be16(decide_get16(at));
		h->dport = core_be16(decide_get16(at + 2));
		return;
	}
	h->cut = true;
	if (at + 1 <= end) {
		h->has_first = true;
		h->first = at[0];
	}
}

CORE_INLINE void decide_ip4(struct decide_headers *h, const unsigned char *at, const unsigned char *end)
{
	const unsigned char *l4;
	uint32_t hlen;

	if (at + IP4_HEADER_LEN > end) {
		h->cut = true;
		return;
	}
	hlen = (at[0] & 15U) * 4U;
	if (at[0] >> 4 != 4 || hlen < IP4_HEADER_LEN)
		return;
	l4 = at + hlen;
	if (l4 > end) {
		h->cut = true;
		return;
	}
	h->family = 4;
	h->proto = at[9];
	h->src[0] = decide_get32(at + 12);
	h->dst[0] = decide_get32(at + 16);
	if (!(decide_get16(at + 6) & core_be16(0x1fff)))
		decide_l4(h, l4, end);
}

/*
 * How long an extension header is, (length byte & mask + add) * unit, and where a fragment's offset is in its third and
 * fourth byte; unit 0: not an extension header. A table and no branches, since the verifier follows each way through
 * each of the headers: three ways for eight headers are more than it has patience for.
 */
struct decide_extension {
	uint16_t offset_mask;
	uint8_t length_mask, add, unit;
};

static const struct decide_extension decide_extensions[256] = {
	[PROTO_HOP_BY_HOP] = {0, 0xff, 1, 8},
	[PROTO_ROUTING] = {0, 0xff, 1, 8},
	[PROTO_DST_OPTIONS] = {0, 0xff, 1, 8},
	[PROTO_AUTHENTICATION] = {0, 0xff, 2, 4},
	[PROTO_FRAGMENT] = {core_be16(0xfff8), 0, 1, 8},
};

#define DECIDE_SIZE_MASK 0xfffU /* the largest extension header has 2,048 bytes: a bound that the verifier sees */

CORE_INLINE void decide_ip6(struct decide_headers *h, const unsigned char *at, const unsigned char *end)
{
	const unsigned char *l3 = at;
	uint16_t offset = 0; /* of a later fragment */
	const struct decide_extension *x;
	uint8_t next;

	if (at + IP6_HEADER_LEN > end) {
		h->cut = true;
		return;
	}
	if (at[0] >> 4 != 6)
		return;
	next = at[6];
	x = &decide_extensions[next];
	at += IP6_HEADER_LEN;
	for (unsigned i = 0; i < IP6_EXT_MAX && x->unit && !offset; i++) {
		if (at + IP6_EXT_MIN > end) {
			h->cut = true;
			return;
		}
		offset = decide_get16(at + 2) & x->offset_mask;
		next = at[0];
		at += (((at[1] & x->length_mask) + x->add) * x->unit) & DECIDE_SIZE_MASK;
		if (at > end) {
			h->cut = true;
			return;
		}
		x = &decide_extensions[next];
	}
	if (x->unit && !offset)
		return;
	h->family = 6;
	h->proto = next;
	h->src[0] = decide_get64(l3 + 8);
	h->src[1] = decide_get64(l3 + 16);
	h->dst[0] = decide_get64(l3 + 24);
	h->dst[1] = decide_get64(l3 + 32);
	if (!offset)
		decide_l4(h, at, end);
}

/* The caller has compared the Ethernet header with the end. */
CORE_INLINE void decide_parse(struct decide_headers *h, const unsigned char *data, const unsigned char *end, bool ip)
{
	const unsigned char *at = data + ETH_HEADER_LEN;
	uint32_t type = core_be16(decide_get16(data + ETH_MACS_LEN));

	for (unsigned tags = 0; tags < TAGS_MAX && is_tag((uint16_t)type); tags++) {
		if (at + VLAN_TAG_LEN > end) {
			h->cut = true;
			return;
		}
		if (tags == 0)
			h->vlan = core_be16(decide_get16(at)) & 0xfffU;
		type = core_be16(decide_get16(at + 2));
		at += VLAN_TAG_LEN;
	}
	h->type = type;
	if (ip && type == TYPE_IP4)
		decide_ip4(h, at, end);
	else if (ip && type == TYPE_IP6)
		decide_ip6(h, at, end);
}

CORE_INLINE bool decide_in_ranges(const volatile struct rules *r, enum filter_kind kind, uint64_t value)
{
	uint32_t end = r->end[kind];

	for (uint32_t i = r->first[kind]; i < end && i < FILTER_MATCHES_MAX; i++)
		if (value >= r->ranges[i].lo && value <= r->ranges[i].hi)
			return true;
	return false;
}

CORE_INLINE bool decide_in_nets(const volatile struct rules *r, enum filter_kind kind, uint32_t family,
				const uint64_t address[2])
{
	uint32_t end = r->end[kind];

	for (uint32_t i = r->first[kind]; i < end && i < FILTER_MATCHES_MAX; i++)
		if (r->nets[i].family == family && !((address[0] ^ r->nets[i].value[0]) & r->nets[i].mask[0]) &&
		    !((address[1] ^ r->nets[i].value[1]) & r->nets[i].mask[1]))
			return true;
	return false;
}

CORE_INLINE bool decide_asks(const volatile struct rules *r, enum filter_kind kind)
{
	return r->kinds & 1U << kind;
}

CORE_INLINE bool decide_matches(const volatile struct rules *r, const struct decide_headers *h,
				const unsigned char *data)
{
	if (decide_asks(r, FILTER_DST_MAC) &&
	    !decide_in_ranges(r, FILTER_DST_MAC, rules_mac(decide_get32(data), decide_get16(data + 4))))
		return false;
	if (decide_asks(r, FILTER_VLAN) && !decide_in_ranges(r, FILTER_VLAN, h->vlan))
		return false;
	if (decide_asks(r, FILTER_ETHERTYPE) && !decide_in_ranges(r, FILTER_ETHERTYPE, h->type))
		return false;
	if (decide_asks(r, FILTER_PROTO) && !(h->family && decide_in_ranges(r, FILTER_PROTO, h->proto)))
		return false;
	if (decide_asks(r, FILTER_SRC) && !decide_in_nets(r, FILTER_SRC, h->family, h->src))
		return false;
	if (decide_asks(r, FILTER_DST) && !decide_in_nets(r, FILTER_DST, h->family, h->dst))
		return false;
	if (decide_asks(r, FILTER_SRC_PORT) && !(h->has_ports && decide_in_ranges(r, FILTER_SRC_PORT, h->sport)))
		return false;
	return !decide_asks(r, FILTER_DST_PORT) || (h->has_ports && decide_in_ranges(r, FILTER_DST_PORT, h->dport));
}

CORE_INLINE bool decide_is_management(const volatile struct rules *r, const struct decide_headers *h)
{
	if (h->type == TYPE_ARP)
		return true;
	if (h->family == 6 && h->proto == PROTO_ICMP6)
		return h->has_first && h->first >= ND_TYPE_FIRST && h->first <= ND_TYPE_LAST;
	if (!h->has_ports || (h->proto != PROTO_TCP && h->proto != PROTO_UDP))
		return false;
	bool to_us = decide_in_nets(r, FILTER_DST, h->family, h->dst);

	if (h->sport == PORT_DNS && to_us)
		return true;
	return h->proto == PROTO_TCP && (h->sport == PORT_SSH || h->dport == PORT_SSH) &&
	       (to_us || decide_in_nets(r, FILTER_SRC, h->family, h->src));
}

#define DECIDE_LEN_MASK 0x1ffffU /* more than any packet has: a bound that the verifier sees */

/* Whether there is more of the packet than the program can see. */
CORE_INLINE bool decide_is_partial(const volatile struct rules *r, struct xdp_md *ctx)
{
	const unsigned char *data = (const unsigned char *)(long)ctx->data;
	const unsigned char *end = (const unsigned char *)(long)ctx->data_end;

	return r->fragmented && data + (bpf_xdp_get_buff_len(ctx) & DECIDE_LEN_MASK) > end;
}

#define DECIDE_L2_KINDS (1U << FILTER_DST_MAC | 1U << FILTER_VLAN | 1U << FILTER_ETHERTYPE)

/* Whether the rules look at more than the Ethernet header and its tags. */
CORE_INLINE bool decide_asks_ip(const volatile struct rules *r)
{
	return r->take == RULES_UNMANAGED || r->kinds & ~DECIDE_L2_KINDS;
}

CORE_INLINE bool decide_by(const volatile struct rules *r, const struct decide_headers *h, const unsigned char *data,
			   struct xdp_md *ctx)
{
	if (r->take == RULES_MATCHES)
		return decide_matches(r, h, data);
	return !decide_is_management(r, h) && !(h->cut && decide_is_partial(r, ctx));
}

/* Untagged IPv4 without options, whole, and no fragment: what packets mostly are. */
CORE_INLINE bool decide_is_plain_ip4(const unsigned char *data, const unsigned char *end)
{
	const unsigned char *l3 = data + ETH_HEADER_LEN;

	return l3 + IP4_HEADER_LEN + PORTS_LEN <= end && decide_get16(data + ETH_MACS_LEN) == core_be16(TYPE_IP4) &&
	       l3[0] == 0x45 && !(decide_get16(l3 + 6) & core_be16(0x3fff));
}

CORE_INLINE bool decide_takes(const volatile struct rules *r, struct xdp_md *ctx)
{
	const unsigned char *data = (const unsigned char *)(long)ctx->data;
	const unsigned char *end = (const unsigned char *)(long)ctx->data_end;
	const unsigned char *l3 = data + ETH_HEADER_LEN;
	uint32_t take = r->take;

	if (take == RULES_NOTHING)
		return false;
	if (take == RULES_ALL)
		return true;
	if (decide_asks_ip(r) && decide_is_plain_ip4(data, end)) {
		uint32_t dport = core_be16(decide_get16(l3 + IP4_HEADER_LEN + 2));

		if (r->port_only)
			return l3[9] == r->ranges[0].lo && dport >= r->ranges[1].lo && dport <= r->ranges[1].hi;
		struct decide_headers plain = {
			.src = {decide_get32(l3 + 12)},
			.dst = {decide_get32(l3 + 16)},
			.type = TYPE_IP4,
			.vlan = NO_VLAN,
			.family = 4,
			.proto = l3[9],
			.first = l3[IP4_HEADER_LEN],
			.sport = core_be16(decide_get16(l3 + IP4_HEADER_LEN)),
			.dport = dport,
			.has_first = true,
			.has_ports = true,
		};

		return decide_by(r, &plain, data, ctx);
	}
	if (l3 > end)
		return take == RULES_UNMANAGED;
	struct decide_headers h = {.vlan = NO_VLAN};

	if (r->kinds != 1U << FILTER_DST_MAC)
		decide_parse(&h, data, end, decide_asks_ip(r));
	return decide_by(r, &h, data, ctx);
}

#endif
