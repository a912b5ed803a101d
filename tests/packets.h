/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets: whole packets from a short description, for tests. Written byte by byte from the RFCs, apart from the code
 * that is tested.
 */
#ifndef SQUALL_TESTS_PACKETS_H
#define SQUALL_TESTS_PACKETS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct packet_tag {
	uint16_t tpid, tci;
};

struct packet_ext {
	uint8_t type;  /* 0, 43, 44, 51 or 60, or anything else of the common form */
	uint8_t units; /* the header's length field as it stands in the packet */
	uint16_t frag; /* type 44: offset in 8-byte units */
	bool first;    /* the first entry of type 0 is told from the end of the list by this */
};

#define PACKET_MAX 2048

/* Initialisers of a tag. */
/* clang-format off */
#define PACKET_TAG(tci)         {0x8100, (tci)}
#define PACKET_SERVICE_TAG(tci) {0x88a8, (tci)}
/* clang-format on */

struct packet {
	const char *dst_mac; /* 6 raw bytes; NULL: 02:00:00:00:00:02 */
	struct packet_tag tag[4];
	uint16_t type;         /* for family 0 */
	uint8_t family;        /* 4, 6, or 0 for none */
	const char *src, *dst; /* text; NULL: 10.0.0.1 and 10.0.0.2, or fd00::1 and fd00::2 */
	uint8_t proto;         /* 0: UDP */
	uint8_t ihl;           /* words; 0: 5 */
	uint16_t frag;         /* IPv4: offset in 8-byte units */
	bool more;             /* more fragments */
	struct packet_ext ext[12];
	uint16_t sport, dport;
	uint8_t icmp_type; /* when not 0: the first byte of the L4 header */
	uint32_t payload;  /* bytes after the L4 header (8 bytes UDP and others, 20 TCP) */
	uint32_t no_l4;    /* the packet ends after the IP headers */
};

static inline unsigned char *packet_put16(unsigned char *p, unsigned v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
	return p + 2;
}

/* Returns the length. IP lengths are right; checksums are 0: nothing that reads these packets verifies them. */
static inline uint32_t packet_build(const struct packet *d, unsigned char *buf)
{
	static const char src_mac[6] = {2, 0, 0, 0, 0, 1};
	uint8_t proto = d->proto ? d->proto : 17;
	uint32_t l4 = d->no_l4 ? 0 : (proto == 6 ? 20U : 8U) + d->payload;
	unsigned char *p = buf;

	memset(buf, 0, PACKET_MAX);
	memcpy(p, d->dst_mac ? d->dst_mac : "\2\0\0\0\0\2", 6);
	memcpy(p + 6, src_mac, 6);
	p += 12;
	for (unsigned i = 0; i < 4 && d->tag[i].tpid; i++) {
		p = packet_put16(p, d->tag[i].tpid);
		p = packet_put16(p, d->tag[i].tci);
	}
	if (!d->family) {
		p = packet_put16(p, d->type);
		return (uint32_t)(p - buf) + d->payload;
	}
	if (d->family == 4) {
		uint8_t words = d->ihl ? d->ihl : 5;
		unsigned char *ip = packet_put16(p, 0x0800);

		ip[0] = (unsigned char)(0x40 | words);
		packet_put16(ip + 2, words * 4U + l4);
		packet_put16(ip + 6, d->frag | (d->more ? 0x2000U : 0U));
		ip[8] = 64;
		ip[9] = proto;
		if (inet_pton(AF_INET, d->src ? d->src : "10.0.0.1", ip + 12) != 1 ||
		    inet_pton(AF_INET, d->dst ? d->dst : "10.0.0.2", ip + 16) != 1)
			abort();
		p = ip + words * 4;
	} else {
		unsigned char *ip = packet_put16(p, 0x86dd);
		unsigned char *next = ip + 6;

		ip[0] = 0x60;
		ip[7] = 64;
		if (inet_pton(AF_INET6, d->src ? d->src : "fd00::1", ip + 8) != 1 ||
		    inet_pton(AF_INET6, d->dst ? d->dst : "fd00::2", ip + 24) != 1)
			abort();
		p = ip + 40;
		for (unsigned i = 0; i < 12 && (d->ext[i].type || d->ext[i].first); i++) {
			const struct packet_ext *x = &d->ext[i];

			*next = x->type;
			next = p;
			if (x->type == 44)
				packet_put16(p + 2, x->frag * 8U + d->more);
			else
				p[1] = x->units;
			p += x->type == 44 ? 8 : x->type == 51 ? (x->units + 2) * 4 : (x->units + 1) * 8;
		}
		*next = proto;
		packet_put16(ip + 4, (uint32_t)(p - ip) - 40 + l4);
	}
	if (l4) {
		packet_put16(p, d->sport);
		packet_put16(p + 2, d->dport);
		packet_put16(p + 4, l4);
		if (proto == 6)
			p[12] = 0x50;
		if (d->icmp_type)
			p[0] = d->icmp_type;
	}
	return (uint32_t)(p - buf) + l4;
}

#endif
