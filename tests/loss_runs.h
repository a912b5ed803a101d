/* SPDX-License-Identifier: Apache-2.0 */
/* The longest run of zeros among n bytes. */
#ifndef SQUALL_TESTS_LOSS_RUNS_H
#define SQUALL_TESTS_LOSS_RUNS_H

#include <stdint.h>

static inline uint32_t longest_gap(const unsigned char *came, uint64_t n)
{
	uint32_t longest = 0, run = 0;

	for (uint64_t i = 0; i < n; i++) {
		run = came[i] ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

#endif
