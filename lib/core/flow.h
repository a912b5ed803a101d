/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow: what distinguishes flow n from the others, ready to be copied into a frame: an entry of a flow table.
 */
#ifndef SQUALL_CORE_FLOW_H
#define SQUALL_CORE_FLOW_H

#include "csum.h"
#include "permute.h"
#include "plan.h"

/* Which step of its walk flow n takes. */
CORE_INLINE uint64_t tx_walk_step(const struct tx_walk *w, uint64_t n)
{
	uint64_t step = w->every > 1 ? n / w->every : n;

	if (w->count) {
		step %= w->count;
		step = step >= w->count - w->first ? step - (w->count - w->first) : step + w->first;
	} else {
		step += w->first;
	}
	return w->order == TX_RANDOM ? permute(step, w->count, w->seed) : step;
}

/* The value of a step; not of TX_LIST, whose values are the plan's. */
CORE_INLINE uint64_t tx_walk_value(const struct tx_walk *w, uint64_t step)
{
	return w->order == TX_DOWN ? w->base - step * w->stride : w->base + step * w->stride;
}

/* The value of a walk for flow n. */
CORE_INLINE uint64_t tx_walk_at(const struct tx_plan *plan, const struct tx_walk *w, uint64_t n)
{
	uint64_t step = tx_walk_step(w, n);

	return w->order == TX_LIST ? plan->values[(w->base + step) % TX_VALUES_MAX] : tx_walk_value(w, step);
}

/* Writes the low `bits` of v so that they end `shift` bits before the end of the byte in front of `end`. */
CORE_INLINE void tx_put_bits(unsigned char *end, uint32_t bits, uint32_t shift, uint64_t v)
{
	for (unsigned i = 0; i < 9 && bits; i++) {
		uint32_t take = 8 - shift < bits ? 8 - shift : bits;
		uint32_t mask = ((1U << take) - 1) << shift;

		end--;
		*end = (unsigned char)((*end & ~mask) | ((uint32_t)(v << shift) & mask));
		v >>= take;
		bits -= take;
		shift = 0;
	}
}

/* The sum of bytes that begin at an odd offset is that of the same bytes at an even one, its two bytes exchanged. */
CORE_INLINE uint64_t tx_cover_sum(const unsigned char *entry, const struct tx_cover *c)
{
	uint64_t sum = csum_turn(csum_bytes(entry + c->at, c->len, TX_PART_MAX), c->odd * 8U);

	return c->less ? (uint16_t)~csum_fold(sum) : sum;
}

/* Entry of flow n < plan->flows: plan->entry bytes. */
CORE_INLINE void tx_entry_at(const struct tx_plan *plan, uint64_t n, unsigned char *entry)
{
	uint64_t sums[TX_SUMS_MAX];
	uint32_t at = 0;

	for (uint32_t i = 0; i < TX_PARTS_MAX && i < plan->n_parts; i++) {
		const struct tx_part *p = &plan->parts[i];

		for (uint32_t b = 0; b < TX_PART_MAX && b < p->len; b++)
			entry[at++] = plan->frame[p->at + b];
	}
	for (uint32_t i = 0; i < TX_WALKS_MAX && i < plan->n_walks; i++) {
		const struct tx_walk *w = &plan->walks[i];

		tx_put_bits(entry + w->end, w->bits, w->shift, tx_walk_at(plan, w, n));
	}
	for (uint32_t i = 0; i < TX_SUMS_MAX; i++)
		sums[i] = plan->sums[i].fixed;
	for (uint32_t i = 0; i < TX_COVERS_MAX && i < plan->n_covers; i++)
		sums[plan->covers[i].sum % TX_SUMS_MAX] += tx_cover_sum(entry, &plan->covers[i]);
	for (uint32_t i = 0; i < TX_SUMS_MAX && i < plan->n_sums; i++) {
		const struct tx_sum *s = &plan->sums[i];
		uint16_t word = s->follows  ? csum_fold(sums[i])
				: s->is_udp ? csum_finish_udp(sums[i])
					    : csum_finish(sums[i]);

		core_put16(entry + plan->entry_sums + 2 * i, word);
	}
}

#endif
