/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_cycle: the order in which streams take turns by their shares: a fixed round of positions in which each stream
 * stands as often as its share says, spread over the round as evenly as it goes. Cold; pure.
 */
#ifndef SQUALL_GEN_STREAM_CYCLE_H
#define SQUALL_GEN_STREAM_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

#define STREAM_CYCLE_MAX 16384U

/* How many positions a round of these shares (1 or more each) has: their sum, divided by what all of them have in
 * common. */
uint64_t stream_cycle_len(const uint32_t *shares, unsigned n);

/*
 * Fills cycle[0 .. stream_cycle_len() - 1], which is at most STREAM_CYCLE_MAX, with numbers below n <= 64. The seed
 * draws who comes first of streams of equal right, and where the round begins.
 */
void stream_cycle_fill(const uint32_t *shares, unsigned n, uint64_t seed, uint8_t *cycle);

/* How many of the first `count` positions, round after round, are stream number `which`. len is the cycle's. */
uint64_t stream_cycle_share(const uint8_t *cycle, uint32_t len, uint8_t which, uint64_t count);

#endif
