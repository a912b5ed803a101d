/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csum: the Internet checksum (RFC 1071), by sums that can be prepared in parts and added (RFC 1624).
 *
 * A sum is an unsigned 64-bit addition of 16-bit words as they lie in memory; the ones' complement sum does not care
 * for byte order, so nothing is swapped. Adding two sums gives the sum of both pieces if both start at an even offset.
 */
#ifndef SQUALL_CORE_CSUM_H
#define SQUALL_CORE_CSUM_H

#include "types.h"

/* Folds a sum to 16 bits: twice, a number and the same with its halves exchanged, added, have the sum of both halves
 * and their carry in the upper half. */
CORE_INLINE uint16_t csum_fold(uint64_t sum)
{
	uint32_t half;

	sum += sum >> 32 | sum << 32;
	half = (uint32_t)(sum >> 32);
	half += half >> 16 | half << 16;
	return (uint16_t)(half >> 16);
}

/* Adds two sums, whatever their size: the carry comes round. */
CORE_INLINE uint64_t csum_add(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

/* The sum of the same bytes from an odd offset on (bits: 8; 0: as it is): each byte one place on, the last is the
 * first. */
CORE_INLINE uint64_t csum_turn(uint64_t sum, uint32_t bits)
{
	return sum << (bits & 63) | sum >> (-bits & 63);
}

/* The field of a header whose folded sum (without the field) is given. */
CORE_INLINE uint16_t csum_finish(uint64_t sum)
{
	return (uint16_t)~csum_fold(sum);
}

/* The same for UDP: a checksum that comes out 0 is sent as 0xffff (RFC 768, RFC 8200 section 8.1). */
CORE_INLINE uint16_t csum_finish_udp(uint64_t sum)
{
	uint16_t c = csum_finish(sum);

	return c ? c : 0xffff;
}

/* The same two for a sum whose two halves have been folded. */
CORE_INLINE uint16_t csum_finish_pair(uint16_t a, uint16_t b)
{
	uint16_t sum = (uint16_t)(a + b);

	return (uint16_t) ~(sum + (sum < b)); /* an addition and its carry */
}

CORE_INLINE uint16_t csum_finish_pair_udp(uint16_t a, uint16_t b)
{
	uint16_t c = csum_finish_pair(a, b);

	return c ? c : 0xffff;
}

/* The sum of len bytes; an odd last byte counts as if a zero followed. len up to max, a constant. */
CORE_INLINE uint64_t csum_bytes(const unsigned char *p, uint32_t len, uint32_t max)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i + 1 < max; i += 2) {
		if (i + 1 >= len)
			break;
		sum += core_get16(p + i);
	}
	if (len & 1)
		sum += core_be16((uint16_t)(p[len - 1] << 8));
	return sum;
}

#endif
