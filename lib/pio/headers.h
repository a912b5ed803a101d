/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers: where the headers of a packet are, as far as it is whole. Pure; never reads beyond len.
 *
 * What counts as broken, and how far tags and extension headers are walked, is told in filter.h.
 */
#ifndef SQUALL_PIO_HEADERS_H
#define SQUALL_PIO_HEADERS_H

#include "lib/core/types.h"
#include "lib/ether.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAGS_MAX       2U
#define IP4_HEADER_LEN 20U
#define IP6_HEADER_LEN 40U
#define IP6_EXT_MAX    8U
#define IP6_EXT_MIN    8U
#define PORTS_LEN      4U
#define PORT_SSH       22U
#define PORT_DNS       53U
#define ND_TYPE_FIRST  133U /* router solicitation */
#define ND_TYPE_LAST   137U /* redirect */

enum { TYPE_IP4 = 0x0800, TYPE_ARP = 0x0806, TYPE_VLAN = 0x8100, TYPE_IP6 = 0x86dd, TYPE_SERVICE_VLAN = 0x88a8 };

enum {
	PROTO_HOP_BY_HOP = 0,
	PROTO_ICMP = 1,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AUTHENTICATION = 51,
	PROTO_ICMP6 = 58,
	PROTO_DST_OPTIONS = 60,
};

struct headers {
	const unsigned char *src, *dst; /* IP addresses */
	const unsigned char *l4;        /* NULL: a later fragment, or nothing of it is there */
	uint32_t l4_len;                /* bytes from l4 to the end of the packet */
	uint16_t type;                  /* behind the tags; 0: none */
	uint16_t vlan;                  /* of the outermost tag, or NO_VLAN */
	uint8_t family;                 /* 0: not IP, or broken */
	uint8_t proto;
	bool fragment; /* the first one too */
};

#define NO_VLAN 0xffff

static inline uint16_t be16_at(const unsigned char *p)
{
	return core_be16(core_get16(p));
}

static inline bool is_tag(uint16_t type)
{
	return type == TYPE_VLAN || type == TYPE_SERVICE_VLAN;
}

static inline void headers_set_l4(struct headers *h, const unsigned char *l3, uint32_t at, uint32_t len)
{
	if (at < len) {
		h->l4 = l3 + at;
		h->l4_len = len - at;
	}
}

static inline void headers_parse_ip4(struct headers *h, const unsigned char *l3, uint32_t len)
{
	uint32_t hlen;

	if (len < IP4_HEADER_LEN || l3[0] >> 4 != 4)
		return;
	hlen = (l3[0] & 15U) * 4U;
	if (hlen < IP4_HEADER_LEN || hlen > len)
		return;
	h->family = 4;
	h->proto = l3[9];
	h->src = l3 + 12;
	h->dst = l3 + 16;
	h->fragment = (be16_at(l3 + 6) & 0x3fff) != 0;
	if ((be16_at(l3 + 6) & 0x1fff) == 0)
		headers_set_l4(h, l3, hlen, len);
}

/* RFC 8200 section 4: lengths count 8 octets beyond the first 8; the authentication header's counts 4 (RFC 4302). */
static inline void headers_parse_ip6(struct headers *h, const unsigned char *l3, uint32_t len)
{
	uint32_t at = IP6_HEADER_LEN;
	uint8_t next;

	if (len < IP6_HEADER_LEN || l3[0] >> 4 != 6)
		return;
	next = l3[6];
	for (unsigned i = 0; i <= IP6_EXT_MAX; i++) {
		bool later_fragment = false;
		uint32_t size;

		if (next != PROTO_HOP_BY_HOP && next != PROTO_ROUTING && next != PROTO_DST_OPTIONS &&
		    next != PROTO_FRAGMENT && next != PROTO_AUTHENTICATION) {
			headers_set_l4(h, l3, at, len);
			break;
		}
		if (i == IP6_EXT_MAX || len - at < IP6_EXT_MIN)
			return;
		if (next == PROTO_FRAGMENT) {
			size = IP6_EXT_MIN;
			h->fragment = true;
			later_fragment = (be16_at(l3 + at + 2) & 0xfff8) != 0;
		} else if (next == PROTO_AUTHENTICATION) {
			size = (l3[at + 1] + 2U) * 4U;
		} else {
			size = (l3[at + 1] + 1U) * 8U;
		}
		if (size > len - at)
			return;
		next = l3[at];
		at += size;
		if (later_fragment)
			break;
	}
	h->family = 6;
	h->proto = next;
	h->src = l3 + 8;
	h->dst = l3 + 24;
}

static inline void headers_parse(struct headers *h, const unsigned char *data, uint32_t len)
{
	uint32_t at = ETH_HEADER_LEN;
	uint16_t type;

	*h = (struct headers){.vlan = NO_VLAN};
	if (len < ETH_HEADER_LEN)
		return;
	type = be16_at(data + ETH_MACS_LEN);
	for (unsigned tags = 0; tags < TAGS_MAX && is_tag(type); tags++) {
		if (len - at < VLAN_TAG_LEN)
			return;
		if (tags == 0)
			h->vlan = be16_at(data + at) & 0xfff;
		type = be16_at(data + at + 2);
		at += VLAN_TAG_LEN;
	}
	h->type = type;
	if (type == TYPE_IP4)
		headers_parse_ip4(h, data + at, len - at);
	else if (type == TYPE_IP6)
		headers_parse_ip6(h, data + at, len - at);
}

#endif
