/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQUALL_GEN_GCD_H
#define SQUALL_GEN_GCD_H

#include <stdint.h>

/* Greatest common divisor (Euclid). gcd(n, 0) is n. */
static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

#endif
