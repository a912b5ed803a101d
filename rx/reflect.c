/* SPDX-License-Identifier: Apache-2.0 */
#include "reflect.h"

#include "lib/pio/headers.h"
#include "one_host.h"
#include "sum.h"

#include <string.h>

#define MAC_LEN 6U

static inline void exchange(unsigned char *a, unsigned char *b, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		unsigned char kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

static inline bool has_summed_ports(const struct headers *h)
{
	return (h->proto == PROTO_UDP || h->proto == PROTO_TCP) && h->l4 && h->l4_len >= PORTS_LEN;
}

/* What headers_parse() found in data, to be written. */
static inline unsigned char *at(unsigned char *data, const unsigned char *p)
{
	return data + (p - data);
}

/*
 * One less of the TTL or hop limit, as on the way through a router. IPv4's checksum is brought up to date by RFC 1624,
 * equation 3: the word of TTL and protocol is 0x0100 less. A checksum that was wrong stays so. False: none is left.
 */
static bool take_hop(unsigned char *data, const struct headers *h)
{
	unsigned char *source = at(data, h->src);
	unsigned char *hops = h->family == 4 ? source - 4 : source - 1;
	unsigned char *csum = source - 2;

	if (*hops <= 1)
		return false;
	--*hops;
	if (h->family == 4)
		core_put16(csum, csum_finish((uint64_t)(uint16_t)~core_get16(csum) + (uint16_t)~core_be16(0x0100)));
	return true;
}

enum reflect_fate reflect_turn(unsigned char *data, uint32_t len, const struct mac *own)
{
	struct headers h;

	if (len < ETH_HEADER_LEN)
		return REFLECT_broken;
	if (data[0] & 1)
		return REFLECT_group;
	if (memcmp(data + MAC_LEN, own->b, MAC_LEN) == 0)
		return REFLECT_own;
	if (memcmp(data, own->b, MAC_LEN) != 0)
		return REFLECT_others;
	headers_parse(&h, data, len);
	if (!is_host_mac(data + MAC_LEN))
		return REFLECT_source;
	if (h.type == TYPE_ARP)
		return REFLECT_arp;
	if (!h.family && (h.type == TYPE_IP4 || h.type == TYPE_IP6 || !h.type))
		return REFLECT_broken;
	if (h.family) {
		bool (*is_host)(const unsigned char *) = h.family == 4 ? is_host4 : is_host6;
		uint32_t size = h.family == 4 ? 4 : 16;

		if (!is_host(h.dst))
			return REFLECT_group;
		if (!is_host(h.src))
			return REFLECT_source;
		if (memcmp(h.src, h.dst, size) == 0)
			return REFLECT_own;
		if (!take_hop(data, &h))
			return REFLECT_expired;
		exchange(at(data, h.src), at(data, h.dst), size);
		if (has_summed_ports(&h))
			exchange(at(data, h.l4), at(data, h.l4) + 2, 2);
	}
	exchange(data, data + MAC_LEN, MAC_LEN);
	return REFLECT_reflected;
}

void reflect_finish_csum(unsigned char *data, uint32_t len)
{
	uint32_t size, l4_len, field;
	unsigned char *l4;
	struct headers h;
	uint64_t sum;

	headers_parse(&h, data, len);
	if (!has_summed_ports(&h) || h.fragment)
		return;
	/* The length is the IP header's: behind it there may be padding. */
	l4_len = h.l4_len;
	l4 = at(data, h.l4);
	if (h.family == 4) {
		uint32_t ip_len = be16_at(h.src - 10), head = (uint32_t)(h.l4 - (h.src - 12));

		if (ip_len < head || ip_len - head > l4_len)
			return;
		l4_len = ip_len - head;
	} else {
		uint32_t ip_len = be16_at(h.src - 4), head = (uint32_t)(h.l4 - (h.src + 32));

		if (ip_len < head || ip_len - head > l4_len)
			return;
		l4_len = ip_len - head;
	}
	field = h.proto == PROTO_UDP ? 6 : 16;
	size = h.family == 4 ? 4 : 16;
	if (l4_len < field + 2)
		return;
	core_put16(l4 + field, 0);
	sum = sum_pseudo(h.src, size, h.proto, l4_len) + sum_bytes(l4, l4_len);
	core_put16(l4 + field, h.proto == PROTO_UDP ? csum_finish_udp(sum) : csum_finish(sum));
}
