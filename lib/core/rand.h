/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand: a small seeded generator: splitmix64 (Steele, Lea, Flood 2014: a Weyl sequence through a 64-bit mixer). The
 * same seed gives the same sequence everywhere. Not for secrets.
 */
#ifndef SQUALL_CORE_RAND_H
#define SQUALL_CORE_RAND_H

#include "types.h"

CORE_INLINE uint64_t rand_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

CORE_INLINE uint64_t rand_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return rand_mix(*state);
}

#endif
