/* SPDX-License-Identifier: Apache-2.0 */
/* Captures written byte by byte, as pcap-savefile(5) and the pcapng draft (draft-ietf-opsawg-pcapng) lay them out. */
#ifndef SQUALL_TESTS_PCAP_BYTES_H
#define SQUALL_TESTS_PCAP_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCAP_US 0xa1b2c3d4U
#define PCAP_NS 0xa1b23c4dU

struct bytes {
	unsigned char *at;
	size_t n, room;
	bool big; /* endian */
};

static inline void bytes_free(struct bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

static inline void bytes_put(struct bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->room) {
		b->room = (b->n + n) * 2;
		b->at = realloc(b->at, b->room);
		assert(b->at);
	}
	if (n)
		memcpy(b->at + b->n, data, n);
	b->n += n;
}

static inline void bytes_put32(struct bytes *b, uint32_t v)
{
	unsigned char c[4];

	for (unsigned i = 0; i < 4; i++)
		c[i] = (unsigned char)(v >> (b->big ? 24 - 8 * i : 8 * i));
	bytes_put(b, c, 4);
}

static inline void bytes_put16(struct bytes *b, uint16_t v)
{
	unsigned char c[2] = {(unsigned char)v, (unsigned char)(v >> 8)};

	if (b->big) {
		c[0] = (unsigned char)(v >> 8);
		c[1] = (unsigned char)v;
	}
	bytes_put(b, c, 2);
}

static inline void pcap_header(struct bytes *b, uint32_t magic, uint32_t snaplen, uint32_t link)
{
	bytes_put32(b, magic);
	bytes_put16(b, 2);
	bytes_put16(b, 4);
	bytes_put32(b, 0);
	bytes_put32(b, 0);
	bytes_put32(b, snaplen);
	bytes_put32(b, link);
}

/* A record of `captured` bytes at data, of a packet of len. part: of the second, in the file's unit. */
static inline void pcap_record_put(struct bytes *b, uint32_t s, uint32_t part, const void *data, uint32_t captured,
				   uint32_t len)
{
	bytes_put32(b, s);
	bytes_put32(b, part);
	bytes_put32(b, captured);
	bytes_put32(b, len);
	bytes_put(b, data, captured);
}

/* Section header, and one interface; resolution: if_tsresol, or 0 for none (then microseconds). */
static inline void pcapng_header(struct bytes *b, uint16_t link, uint8_t resolution)
{
	const unsigned char option[4] = {resolution, 0, 0, 0};
	uint32_t len = resolution ? 32 : 20;

	bytes_put32(b, 0x0a0d0d0a);
	bytes_put32(b, 28);
	bytes_put32(b, 0x1a2b3c4d);
	bytes_put16(b, 1);
	bytes_put16(b, 0);
	bytes_put32(b, 0xffffffff);
	bytes_put32(b, 0xffffffff);
	bytes_put32(b, 28);
	bytes_put32(b, 1);
	bytes_put32(b, len);
	bytes_put16(b, link);
	bytes_put16(b, 0);
	bytes_put32(b, 0);
	if (resolution) {
		bytes_put16(b, 9);
		bytes_put16(b, 1);
		bytes_put(b, option, 4);
		bytes_put32(b, 0);
	}
	bytes_put32(b, len);
}

/* An enhanced packet block; units: the time in the interface's resolution. */
static inline void pcapng_packet(struct bytes *b, uint64_t units, const void *data, uint32_t captured, uint32_t len)
{
	const uint32_t pad = (4 - captured % 4) % 4;

	bytes_put32(b, 6);
	bytes_put32(b, 32 + captured + pad);
	bytes_put32(b, 0);
	bytes_put32(b, (uint32_t)(units >> 32));
	bytes_put32(b, (uint32_t)units);
	bytes_put32(b, captured);
	bytes_put32(b, len);
	bytes_put(b, data, captured);
	bytes_put(b, "\0\0\0", pad);
	bytes_put32(b, 32 + captured + pad);
}

#endif
