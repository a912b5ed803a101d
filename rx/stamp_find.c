/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp_find.h"

#include "lib/pio/headers.h"

#define TYPE_MPLS       0x8847U
#define TYPE_MPLS_MULTI 0x8848U
#define LABELS_MAX      16U
#define LABEL_LEN       4U
#define TCP_HEADER_LEN  20U

/* The IP packet behind a label stack: nothing tells its version but its first half byte (RFC 4928). */
static void parse_behind_labels(struct headers *h, const unsigned char *data, uint32_t len)
{
	uint32_t at = ETH_HEADER_LEN;
	bool bottom = false;

	for (unsigned tags = 0; tags < TAGS_MAX && len - at >= VLAN_TAG_LEN && is_tag(be16_at(data + at - 2)); tags++)
		at += VLAN_TAG_LEN;
	for (unsigned i = 0; i < LABELS_MAX && !bottom && len - at > LABEL_LEN; i++) {
		bottom = data[at + 2] & 1;
		at += LABEL_LEN;
	}
	if (!bottom)
		return;
	if (data[at] >> 4 == 4)
		headers_parse_ip4(h, data + at, len - at);
	else
		headers_parse_ip6(h, data + at, len - at);
}

static uint32_t transport_len(const struct headers *h)
{
	switch (h->proto) {
	case PROTO_UDP:
	case PROTO_ICMP:
	case PROTO_ICMP6:
		return 8;
	case PROTO_TCP:
		return h->l4_len < TCP_HEADER_LEN ? TCP_HEADER_LEN : (h->l4[12] >> 4) * 4U;
	default:
		return 0;
	}
}

uint32_t stamp_end_slowly(const unsigned char *data, uint32_t len)
{
	const unsigned char *l3;
	struct headers h;
	uint32_t end;

	headers_parse(&h, data, len);
	if (h.type == TYPE_MPLS || h.type == TYPE_MPLS_MULTI)
		parse_behind_labels(&h, data, len);
	if (!h.family)
		return 0;
	if (h.fragment)
		return STAMP_IN_FRAGMENTS;
	if (!h.l4)
		return 0;
	l3 = h.src - (h.family == 4 ? 12 : 8);
	end = (uint32_t)(l3 - data) + (h.family == 4 ? be16_at(l3 + 2) : IP6_HEADER_LEN + (uint32_t)be16_at(l3 + 4));
	return end >= (uint32_t)(h.l4 - data) + transport_len(&h) + STAMP_LEN ? end : 0;
}
