/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_hash: one number for all packets of a flow: addresses, protocol and ports behind the tags, or the identifier of
 * an ICMP echo (RFC 792, RFC 4443 section 4.1), request and reply alike. Fragments are one flow without either, so that
 * they stay together; what is not IP, or broken, goes by MAC addresses and EtherType.
 */
#ifndef SQUALL_PIO_FLOW_HASH_H
#define SQUALL_PIO_FLOW_HASH_H

#include "headers.h"
#include "lib/core/rand.h"

#include <string.h>

#define FLOW_ICMP     1U
#define FLOW_ECHO_LEN 6U

static inline uint64_t flow_hash_words(uint64_t h, const unsigned char *p, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++) {
		uint64_t w;

		memcpy(&w, p + (size_t)i * 8, sizeof(w));
		h = rand_mix(h ^ w);
	}
	return h;
}

/* The protocols whose headers begin with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite. */
static inline bool flow_has_ports(const struct headers *h)
{
	return (h->proto == 6 || h->proto == 17 || h->proto == 33 || h->proto == 132 || h->proto == 136) &&
	       !h->fragment && h->l4 && h->l4_len >= PORTS_LEN;
}

/* Echo requests and replies: type and code, checksum, identifier. */
static inline bool flow_has_identifier(const struct headers *h)
{
	if (h->fragment || !h->l4 || h->l4_len < FLOW_ECHO_LEN)
		return false;
	return h->proto == FLOW_ICMP ? h->l4[0] == 8 || h->l4[0] == 0
				     : h->proto == PROTO_ICMP6 && (h->l4[0] == 128 || h->l4[0] == 129);
}

static inline uint64_t flow_hash(const unsigned char *data, uint32_t len)
{
	struct headers h;
	uint64_t rest;

	headers_parse(&h, data, len);
	if (len < ETH_HEADER_LEN)
		return 0;
	if (!h.family)
		return flow_hash_words(h.type + ((uint64_t)core_get32(data) << 32), data + 4, 1);
	rest = h.fragment ? 0 : h.proto;
	if (flow_has_ports(&h))
		rest |= (uint64_t)core_get32(h.l4) << 32;
	else if (flow_has_identifier(&h))
		rest |= (uint64_t)core_get16(h.l4 + 4) << 32;
	/* The addresses stand side by side in both versions. */
	return flow_hash_words(rand_mix(rest + 1), h.src, h.family == 4 ? 1 : 4);
}

/* Which of n. */
static inline unsigned flow_hash_pick(uint64_t hash, unsigned n)
{
	return (unsigned)(((hash >> 32) * n) >> 32);
}

#endif
