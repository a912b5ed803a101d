/* SPDX-License-Identifier: Apache-2.0 */
#include "classify.h"

#include <netinet/in.h>

#define TAGS_MAX     2U
#define IP4_PROTO_AT 9U
#define IP6_NEXT_AT  6U

static uint16_t be16_at(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static enum packet_class by_protocol(uint8_t proto, enum packet_class udp, enum packet_class tcp,
				     enum packet_class rest)
{
	return proto == IPPROTO_UDP ? udp : proto == IPPROTO_TCP ? tcp : rest;
}

struct classified classify_slowly(const unsigned char *data, uint32_t len)
{
	struct classified c = {.what = CLASS_other};
	uint32_t at = ETH_MACS_LEN;
	uint16_t type = 0;

	for (unsigned tags = 0; at + 2 <= len; tags++) {
		type = be16_at(data + at);
		at += 2;
		if ((type != 0x8100 && type != 0x88a8) || tags == TAGS_MAX)
			break;
		c.tagged = true;
		at += VLAN_TAG_LEN - 2;
	}
	switch (type) {
	case 0x0800:
		c.what = CLASS_ipv4_other;
		if (at + IP4_PROTO_AT < len)
			c.what = by_protocol(data[at + IP4_PROTO_AT], CLASS_ipv4_udp, CLASS_ipv4_tcp, CLASS_ipv4_other);
		break;
	case 0x86dd:
		c.what = CLASS_ipv6_other;
		if (at + IP6_NEXT_AT < len)
			c.what = by_protocol(data[at + IP6_NEXT_AT], CLASS_ipv6_udp, CLASS_ipv6_tcp, CLASS_ipv6_other);
		break;
	case 0x0806:
		c.what = CLASS_arp;
		break;
	default:
		break;
	}
	return c;
}
