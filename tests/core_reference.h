/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_reference: UDP frames from a description of their flows, from scratch: a walk, a permutation, bits, byte order
 * and checksums of its own.
 */
#ifndef SQUALL_TESTS_CORE_REFERENCE_H
#define SQUALL_TESTS_CORE_REFERENCE_H

#include "gen/frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MARK_LEN 8U
#define VARY_MAX 16U

#define REFERENCE_SPORT 1024
#define REFERENCE_DPORT 9000

__extension__ typedef unsigned __int128 reference_wide;

struct layout {
	bool v6;
	unsigned tags; /* 0 to 2 */
};

enum field {
	NO_FIELD,
	DST_MAC,
	SRC_MAC,
	VLAN, /* of the outermost tag */
	PCP,
	DEI,
	VLAN_2, /* of the second tag */
	DSCP,
	ECN,
	LABEL, /* IPv6 only */
	TTL,
	SADDR, /* the last 64 bits of an IPv6 address */
	DADDR,
	SPORT,
	DPORT,
	ODD_24, /* the rest is in the payload, behind the mark */
	EVEN_BYTE,
	ODD_BITS,
};

/* How a field goes from flow to flow, as struct tx_walk says it. */
struct vary {
	enum field field;
	enum tx_order order;
	uint64_t base, first, count, stride, every, seed;
};

struct flows {
	const char *name;
	struct vary vary[VARY_MAX]; /* up to NO_FIELD; one that the layout does not have is passed over */
	unsigned payload;           /* bytes of the smallest size, at least MARK_LEN */
	uint64_t start, n;          /* which flows to look at */
	bool zero;                  /* the first one's checksum is to come out 0 */
};

/* In bits, from the frame's first one. */
struct place {
	uint32_t bit;
	unsigned bits;
};

static const uint16_t reference_tci[2] = {0xa123, 0x4fff};

/* Lists are in here; strides through them are 1. */
static uint64_t reference_values[TX_VALUES_MAX] = {[0] = 53,
						   80,
						   443,
						   65535,
						   46,
						   0,
						   9000,
						   1,
						   7,
						   4095,
						   0,
						   100,
						   [500] = 0x0a000001,
						   0x0a0000ff,
						   0,
						   0xffffffffffffffff,
						   [511] = 0xc0000201};

static inline struct place reference_place(const struct layout *l, enum field field)
{
	const uint32_t l3 = (14 + 4 * l->tags) * 8;
	const uint32_t l4 = l3 + (l->v6 ? 40U : 20U) * 8;

	switch (field) {
	case DST_MAC:
		return (struct place){0, 48};
	case SRC_MAC:
		return (struct place){48, 48};
	case PCP:
		return (struct place){14 * 8, l->tags ? 3 : 0};
	case DEI:
		return (struct place){14 * 8 + 3, l->tags ? 1 : 0};
	case VLAN:
		return (struct place){14 * 8 + 4, l->tags ? 12 : 0};
	case VLAN_2:
		return (struct place){18 * 8 + 4, l->tags > 1 ? 12 : 0};
	case DSCP:
		return (struct place){l3 + (l->v6 ? 4 : 8), 6};
	case ECN:
		return (struct place){l3 + (l->v6 ? 10 : 14), 2};
	case LABEL:
		return (struct place){l3 + 12, l->v6 ? 20 : 0};
	case TTL:
		return (struct place){l3 + (l->v6 ? 56 : 64), 8};
	case SADDR:
		return l->v6 ? (struct place){l3 + 128, 64} : (struct place){l3 + 96, 32};
	case DADDR:
		return l->v6 ? (struct place){l3 + 256, 64} : (struct place){l3 + 128, 32};
	case SPORT:
		return (struct place){l4, 16};
	case DPORT:
		return (struct place){l4 + 16, 16};
	case ODD_24:
		return (struct place){l4 + (8 + 13) * 8, 24};
	case EVEN_BYTE:
		return (struct place){l4 + (8 + 16) * 8, 8};
	case ODD_BITS:
		return (struct place){l4 + (8 + 31) * 8 + 5, 64};
	default:
		return (struct place){0, 0};
	}
}

/* The first bit of a byte is its highest, and a field's first bit is its highest. */
static inline void reference_set(unsigned char *frame, struct place at, uint64_t value)
{
	for (unsigned i = 0; i < at.bits; i++) {
		uint32_t bit = at.bit + i;
		unsigned char mask = (unsigned char)(0x80 >> bit % 8);

		if (value >> (at.bits - 1 - i) & 1)
			frame[bit / 8] |= mask;
		else
			frame[bit / 8] &= (unsigned char)~mask;
	}
}

/* The finalizer of splitmix64. */
static inline uint64_t reference_mix(uint64_t z)
{
	z ^= z >> 30;
	z *= 0xbf58476d1ce4e5b9ULL;
	z ^= z >> 27;
	z *= 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Eight Feistel rounds over the two halves of the fewest bits that hold 0 .. count - 1 (the upper half has the odd
 * bit), keyed by the mixed seed and the number of the round, again until the value is in the range.
 */
static inline uint64_t reference_permute(uint64_t i, reference_wide count, uint64_t seed)
{
	unsigned bits = 0;
	reference_wide upper, lower, v = i;

	while ((reference_wide)1 << bits < count)
		bits++;
	if (!bits)
		return 0;
	do {
		upper = v >> bits / 2;
		lower = v - (upper << bits / 2);
		for (unsigned round = 1; round <= 8; round++) {
			uint64_t key = reference_mix(seed) + round;

			if (round % 2)
				upper ^=
					reference_mix((uint64_t)lower + key) % ((reference_wide)1 << (bits - bits / 2));
			else
				lower ^= reference_mix((uint64_t)upper + key) % ((reference_wide)1 << bits / 2);
		}
		v = (upper << bits / 2) + lower;
	} while (v >= count);
	return (uint64_t)v;
}

static inline uint64_t reference_walk(const struct vary *v, uint64_t n)
{
	reference_wide count = v->count ? v->count : (reference_wide)1 << 64;
	uint64_t step = (uint64_t)(((reference_wide)v->first + n / v->every) % count);

	switch (v->order) {
	case TX_DOWN:
		return v->base - step * v->stride;
	case TX_RANDOM:
		return v->base + reference_permute(step, count, v->seed) * v->stride;
	case TX_LIST:
		return reference_values[v->base + step];
	default:
		return v->base + step * v->stride;
	}
}

static inline unsigned char *reference_put(unsigned char *p, uint64_t value, unsigned bytes)
{
	while (bytes--)
		*p++ = (unsigned char)(value >> (8 * bytes));
	return p;
}

/* RFC 1071 section 1, as the text says it: big-endian 16-bit words, end-around carry. */
static inline unsigned reference_add(unsigned sum, const unsigned char *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		sum += i % 2 ? p[i] : (unsigned)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static inline uint32_t reference_l4(const struct layout *l)
{
	return 14 + 4 * l->tags + (l->v6 ? 40U : 20U);
}

/* The frame's smallest size. */
static inline uint32_t reference_len(const struct layout *l, const struct flows *f)
{
	return reference_l4(l) + 8 + f->payload;
}

static inline struct frame_ip reference_ip(const struct layout *l)
{
	struct frame_ip ip = {.src.family = l->v6 ? 6 : 4, .dst.family = l->v6 ? 6 : 4, .ttl = 63};

	ip.dscp_ecn = 0x6d;
	ip.id = 0xbeef;
	ip.df = true;
	ip.flow_label = 0x9abcd;
	reference_put(ip.src.b, l->v6 ? 0xfd77a5a5ffff0001 : 0x0a4d0001, l->v6 ? 8 : 4);
	reference_put(ip.dst.b, l->v6 ? 0xfd77ffffffff0002 : 0x0a4d0002, l->v6 ? 8 : 4);
	return ip;
}

/* Lengths and checksums 0, no mark, a payload to the very end. word: the payload's two bytes behind the mark. */
static inline void reference_template(const struct layout *l, const struct flows *f, uint16_t word,
				      unsigned char *frame)
{
	unsigned char *p = reference_put(reference_put(frame, 0x02aabbccdd02, 6), 0x02aabbccdd01, 6);

	for (unsigned i = 0; i < l->tags; i++)
		p = reference_put(reference_put(p, l->tags - i == 2 ? 0x88a8 : 0x8100, 2), reference_tci[i], 2);
	if (l->v6) {
		p = reference_put(p, 0x86dd, 2);
		p = reference_put(reference_put(p, 0x66d9abcd, 4), 17 << 8 | 63, 4);
		p = reference_put(reference_put(p, 0xfd77a5a5ffff0001, 8), 0, 8);
		p = reference_put(reference_put(p, 0xfd77ffffffff0002, 8), 0, 8);
	} else {
		p = reference_put(p, 0x0800, 2);
		p = reference_put(reference_put(p, 0x456d0000, 4), 0xbeef4000, 4);
		p = reference_put(p, 63 << 24 | 17 << 16, 4);
		p = reference_put(reference_put(p, 0x0a4d0001, 4), 0x0a4d0002, 4);
	}
	p = reference_put(p, (uint64_t)REFERENCE_SPORT << 16 | REFERENCE_DPORT, 4);
	p = reference_put(reference_put(p, 0, 4), 0, MARK_LEN);
	for (size_t i = 0; p < frame + TX_TEMPLATE_MAX; i++)
		*p++ = (unsigned char)(f->payload + i * 37);
	if (f->zero)
		reference_put(frame + reference_l4(l) + 8 + MARK_LEN, word, 2);
}

/* What flow n must look like on the wire in a frame of len bytes. */
static inline void reference_frame(const struct layout *l, const struct flows *f, uint64_t n, const uint64_t *mark,
				   uint16_t word, uint32_t len, unsigned char *frame)
{
	unsigned char *l4 = frame + reference_l4(l);
	unsigned char *l3 = l4 - (l->v6 ? 40U : 20U);
	unsigned char *addresses = l3 + (l->v6 ? 8 : 12);
	const uint32_t udp_len = len - reference_l4(l);
	unsigned sum;

	reference_template(l, f, word, frame);
	memcpy(l4 + 8, mark, MARK_LEN);
	for (unsigned i = 0; i < VARY_MAX && f->vary[i].field; i++)
		reference_set(frame, reference_place(l, f->vary[i].field), reference_walk(&f->vary[i], n));
	reference_put(l3 + (l->v6 ? 4 : 2), l->v6 ? udp_len : udp_len + 20, 2);
	reference_put(l4 + 4, udp_len, 2);
	if (!l->v6)
		reference_put(l3 + 10, 0xffff - reference_add(0, l3, 20), 2);
	sum = reference_add(udp_len + 17, addresses, (uint32_t)(l4 - addresses));
	sum = 0xffff - reference_add(sum, l4, udp_len);
	reference_put(l4 + 6, sum ? sum : 0xffff, 2);
}

/* Adding the checksum itself to the sum makes it 0xffff, whose complement is 0: what `word` must be for that. */
static inline uint16_t reference_word(const struct layout *l, const struct flows *f)
{
	static unsigned char frame[TX_TEMPLATE_MAX];
	const uint64_t mark = 0x0123456789abcdef;
	const unsigned char *check = frame + reference_l4(l) + 6;

	reference_frame(l, f, f->start, &mark, 0, reference_len(l, f), frame);
	return (uint16_t)(check[0] << 8 | check[1]);
}

#endif
