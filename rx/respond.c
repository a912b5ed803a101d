/* SPDX-License-Identifier: Apache-2.0 */
#include "respond.h"

#include "lib/pio/headers.h"
#include "one_host.h"
#include "sum.h"

#include <string.h>

#define MAC_LEN      6U
#define ARP_LEN      28U
#define NS_LEN       24U
#define NA_LEN       32U
#define ICMP_LEN     8U
#define HOP_LIMIT    255U /* of what never crossed a router (RFC 4861 section 7.1.1) */
#define OUR_TTL      64U
#define OPTION_LLA_1 1U /* source link-layer address; the target's is 2 */

enum { ECHO_REPLY = 0, ECHO = 8, ECHO6 = 128, ECHO6_REPLY = 129, ND_SOLICIT = 135, ND_ADVERT = 136 };
enum { NA_SOLICITED = 0x40, NA_OVERRIDE = 0x20 };

static bool is_ours(const struct respond_set *set, uint8_t family, const unsigned char *ip)
{
	for (unsigned i = 0; i < set->n; i++)
		if (set->ip[i].family == family && memcmp(set->ip[i].b, ip, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

/* Sent to us, or to a group of which we are. What is another's is seen where the interface takes all. */
static bool is_for_us(const struct respond_set *set, const unsigned char *data)
{
	return data[0] & 1 || memcmp(data, set->own.b, MAC_LEN) == 0;
}

static void address_to(const struct respond_set *set, unsigned char *data, const unsigned char *mac)
{
	memmove(data, mac, MAC_LEN);
	memcpy(data + MAC_LEN, set->own.b, MAC_LEN);
}

/* RFC 826: who asks is told, with the fields exchanged. An announcement asks nothing. */
static uint32_t answer_arp(const struct respond_set *set, unsigned char *data, unsigned char *arp, uint32_t len)
{
	static const unsigned char request[] = {0, 1, 8, 0, MAC_LEN, 4, 0, 1};
	unsigned char *sha = arp + 8, *spa = arp + 14, *tha = arp + 18, *tpa = arp + 24;
	unsigned char asked[4];

	if (len - (uint32_t)(arp - data) < ARP_LEN || memcmp(arp, request, sizeof(request)) != 0)
		return 0;
	if (!is_for_us(set, data) || !is_ours(set, 4, tpa) || !is_host_mac(sha) || memcmp(spa, tpa, 4) == 0)
		return 0;
	arp[7] = 2;
	memcpy(asked, tpa, 4);
	memcpy(tha, sha, MAC_LEN);
	memcpy(tpa, spa, 4);
	memcpy(sha, set->own.b, MAC_LEN);
	memcpy(spa, asked, 4);
	address_to(set, data, tha);
	return len;
}

/* The length of what stands behind an IP header without options or extensions; 0: it is not whole, or not so. */
static uint32_t icmp_len(const struct headers *h, uint32_t least)
{
	uint32_t said = h->family == 4 ? be16_at(h->src - 10) - IP4_HEADER_LEN : be16_at(h->src - 4);
	uint32_t head = h->family == 4 ? 20U - 12U : 40U - 8U;

	if (!h->l4 || h->fragment || h->l4 != h->src + head)
		return 0;
	return said >= least && said <= h->l4_len ? said : 0;
}

/*
 * The options of a solicitation, whose address of the sender goes into *lla: NULL without one. False: one of them has
 * no length, or more than there is.
 */
static bool nd_options(const unsigned char *icmp, uint32_t len, const unsigned char **lla)
{
	uint32_t size;

	*lla = NULL;
	for (uint32_t at = NS_LEN; at < len; at += size) {
		size = at + 1 < len ? 8U * icmp[at + 1] : 0;
		if (!size || size > len - at)
			return false;
		if (icmp[at] == OPTION_LLA_1)
			*lla = icmp + at + 2;
	}
	return true;
}

/* Whether who looks for a duplicate of its own address asks as it must (RFC 4861 section 7.1.1). */
static bool asks_unsure(const struct headers *h, const unsigned char *lla)
{
	static const unsigned char solicited[13] = {0xff, 2, [11] = 1, [12] = 0xff};

	return !lla && memcmp(h->dst, solicited, sizeof(solicited)) == 0;
}

/* RFC 4861 section 7.2.4. l4_len: of the solicitation. */
static uint32_t answer_nd(const struct respond_set *set, unsigned char *data, const struct headers *h, uint32_t l4_len)
{
	static const unsigned char everybody[16] = {0xff, 2, [15] = 1}, nobody[16];
	static const unsigned char everybody_mac[MAC_LEN] = {0x33, 0x33, 0, 0, 0, 1};
	unsigned char *ip = data + (h->src - data) - 8, *icmp = ip + IP6_HEADER_LEN;
	bool unsure = memcmp(h->src, nobody, 16) == 0; /* duplicate address detection */
	const unsigned char *lla;
	unsigned char target[16];

	if (ip[7] != HOP_LIMIT || icmp[1] || l4_len < NS_LEN || !is_for_us(set, data) || !is_ours(set, 6, icmp + 8) ||
	    !nd_options(icmp, l4_len, &lla))
		return 0;
	if (!lla && !unsure)
		lla = data + MAC_LEN;
	if (unsure ? !asks_unsure(h, lla) : !is_host6(h->src) || !is_host_mac(lla))
		return 0;
	memcpy(target, icmp + 8, 16);
	address_to(set, data, unsure ? everybody_mac : lla);
	memmove(ip + 24, unsure ? everybody : ip + 8, 16);
	memcpy(ip + 8, target, 16);
	core_put16(ip + 4, core_be16(NA_LEN));
	icmp[0] = ND_ADVERT;
	core_put32(icmp + 4, 0);
	icmp[4] = unsure ? NA_OVERRIDE : NA_OVERRIDE | NA_SOLICITED;
	icmp[24] = 2;
	icmp[25] = 1;
	memcpy(icmp + 26, set->own.b, MAC_LEN);
	core_put16(icmp + 2, 0);
	core_put16(icmp + 2, csum_finish(sum_pseudo(ip + 8, 16, PROTO_ICMP6, NA_LEN) + sum_bytes(icmp, NA_LEN)));
	return (uint32_t)(icmp - data) + NA_LEN;
}

static uint32_t answer_echo(const struct respond_set *set, unsigned char *data, uint32_t len, const struct headers *h,
			    uint32_t l4_len)
{
	uint32_t size = h->family == 4 ? 4 : 16;
	unsigned char *src = data + (h->src - data), *icmp = data + (h->l4 - data),
		      *ttl = h->family == 4 ? src - 4 : src - 1;
	unsigned char kept[16];

	if (!is_ours(set, h->family, h->dst) || memcmp(data, set->own.b, MAC_LEN) != 0 || icmp[1] ||
	    !is_host_mac(data + MAC_LEN) || !(h->family == 4 ? is_host4(src) : is_host6(src)) ||
	    is_ours(set, h->family, src))
		return 0;
	memcpy(kept, src, size);
	memcpy(src, src + size, size);
	memcpy(src + size, kept, size);
	*ttl = OUR_TTL;
	if (h->family == 4) {
		unsigned char *ip = src - 12;

		core_put16(ip + 10, 0);
		core_put16(ip + 10, csum_finish(sum_bytes(ip, IP4_HEADER_LEN)));
	}
	icmp[0] = h->family == 4 ? ECHO_REPLY : ECHO6_REPLY;
	core_put16(icmp + 2, 0);
	core_put16(icmp + 2, csum_finish((h->family == 4 ? 0 : sum_pseudo(src, 16, PROTO_ICMP6, l4_len)) +
					 sum_bytes(icmp, l4_len)));
	address_to(set, data, data + MAC_LEN);
	return len;
}

/* Over what a checksum is over, with it: all ones when it is right. Of IPv4 the header has one, too. */
static bool is_whole(const struct headers *h, uint32_t l4_len)
{
	uint64_t sum = sum_bytes(h->l4, l4_len);

	if (h->family == 4 && csum_fold(sum_bytes(h->src - 12, IP4_HEADER_LEN)) != 0xffff)
		return false;
	if (h->family == 6)
		sum += sum_pseudo(h->src, 16, PROTO_ICMP6, l4_len);
	return csum_fold(sum) == 0xffff;
}

uint32_t respond_answer(const struct respond_set *set, unsigned char *data, uint32_t len, enum respond_kind *kind)
{
	struct headers h;
	uint32_t l4_len;

	headers_parse(&h, data, len);
	if (h.type == TYPE_ARP) {
		uint32_t at = ETH_HEADER_LEN;

		for (uint32_t tag = ETH_MACS_LEN; is_tag(be16_at(data + tag)); tag += VLAN_TAG_LEN)
			at += VLAN_TAG_LEN;
		*kind = RESPOND_arp;
		return answer_arp(set, data, data + at, len);
	}
	if (!h.family || !h.l4 || h.proto != (h.family == 4 ? PROTO_ICMP : PROTO_ICMP6))
		return 0;
	l4_len = icmp_len(&h, ICMP_LEN);
	if (!l4_len || !is_whole(&h, l4_len))
		return 0;
	if (h.family == 6 && h.l4[0] == ND_SOLICIT) {
		*kind = RESPOND_nd;
		return answer_nd(set, data, &h, l4_len);
	}
	if (h.l4[0] != (h.family == 4 ? ECHO : ECHO6))
		return 0;
	*kind = RESPOND_echo;
	return answer_echo(set, data, len, &h, l4_len);
}
