/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_bytes.h"

static uint64_t len_at(const struct tx_plan *plan, uint64_t at)
{
	return plan->sizes[plan->cycle[at % plan->n_cycle]].len;
}

/*
 * Wherever it begins, a round of the cycle has the same sizes. What is left over begins where the cycle has been moved
 * to by then, which is after whole rounds of it.
 */
uint64_t tx_source_bytes(const struct tx_source *s, uint64_t packets)
{
	const struct tx_plan *plan = s->plan;
	uint64_t round = 0, rest = 0;
	uint64_t left, moves;

	if (!packets)
		return 0;
	left = packets % plan->n_cycle;
	moves = packets / (s->cycle_rounds * s->n_flows) % s->cycle_shifts;
	for (uint64_t i = 0; i < plan->n_cycle; i++) {
		uint64_t len = len_at(plan, moves + i);

		round += len;
		rest += i < left ? len : 0;
	}
	return packets / plan->n_cycle * round + rest;
}
