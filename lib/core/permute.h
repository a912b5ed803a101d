/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute: a seeded permutation of 0 .. count - 1 that needs no table: a Feistel network over the next power of two,
 * applied again while the result is outside (cycle walking; Black and Rogaway, CT-RSA 2002). Every value comes once.
 */
#ifndef SQUALL_CORE_PERMUTE_H
#define SQUALL_CORE_PERMUTE_H

#include "rand.h"

#define PERMUTE_ROUNDS 4
/* Each walk leaves the range with a chance under one half. */
#define PERMUTE_WALKS 128

CORE_INLINE uint64_t permute_once(uint64_t i, unsigned bits, uint64_t seed)
{
	unsigned low = bits / 2;
	uint64_t low_mask = (1ULL << low) - 1;
	uint64_t high_mask = (1ULL << (bits - low)) - 1;
	uint64_t a = i >> low;
	uint64_t b = i & low_mask;

	for (unsigned r = 0; r < PERMUTE_ROUNDS; r++) {
		a ^= rand_mix(b + seed + 2 * r + 1) & high_mask;
		b ^= rand_mix(a + seed + 2 * r + 2) & low_mask;
	}
	return a << low | b;
}

/* i < count. count 0 stands for 2^64. */
CORE_INLINE uint64_t permute(uint64_t i, uint64_t count, uint64_t seed)
{
	unsigned bits = count ? 0 : 64;

	while (bits < 64 && count && (1ULL << bits) < count)
		bits++;
	if (bits == 0)
		return i;
	seed = rand_mix(seed);
	for (unsigned walk = 0; walk < PERMUTE_WALKS; walk++) {
		i = permute_once(i, bits, seed);
		if (!count || i < count)
			break;
	}
	return i;
}

#endif
