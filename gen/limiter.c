/* SPDX-License-Identifier: Apache-2.0 */
#include "limiter.h"

/* A clump spans at most this much of the schedule: below 250 kpps packets leave one by one. */
#define CLUMP_NS 4000U

__extension__ typedef unsigned __int128 uint128;

/* The last position that departs at or before offset ns. */
static uint64_t position_at(const struct limiter *l, uint64_t offset)
{
	uint128 interval = (uint128)l->interval.ns << 32 | l->interval.frac;

	/* Offsets are cut to whole ns: k departs by `offset` when k * interval < offset + 1 ns. */
	return (uint64_t)(((((uint128)offset + 1) << 32) - 1) / interval);
}

uint64_t limiter_departure(const struct limiter *l, uint64_t k)
{
	return l->start_ns + pacer_offset(&l->interval, k);
}

void limiter_init(struct limiter *l, const struct tx_pace *pace, uint64_t catch_up_ns, uint64_t start_ns,
		  uint64_t end_ns)
{
	*l = (struct limiter){
		.interval = pace->interval,
		.unlimited = !pace->interval.ns && !pace->interval.frac,
		.burst = pace->burst,
		.start_ns = start_ns,
		.catch_up_ns = catch_up_ns,
		.positions = UINT64_MAX,
	};
	if (!l->unlimited && end_ns != UINT64_MAX)
		l->positions = end_ns > start_ns ? position_at(l, end_ns - start_ns - 1) + 1 : 0;
	l->clump = 1;
	while (l->clump < l->burst && pacer_offset(&l->interval, l->clump + 1ULL) <= CLUMP_NS)
		l->clump++;
}

/* What one claim takes from position k on. */
static struct limiter_claim claim_at(const struct limiter *l, uint64_t *k, uint32_t max, uint64_t now_ns)
{
	struct limiter_claim c = {.departure_ns = limiter_departure(l, *k), .n = l->clump};

	if (c.departure_ns + l->catch_up_ns < now_ns) {
		*k = position_at(l, now_ns - l->catch_up_ns - l->start_ns);
		c.departure_ns = limiter_departure(l, *k);
	}
	if (c.departure_ns < now_ns) {
		uint64_t late = position_at(l, now_ns - l->start_ns) - *k + 1;

		if (late > c.n)
			c.n = late < l->burst ? (uint32_t)late : l->burst;
	}
	if (c.n > max)
		c.n = max;
	if (*k >= l->positions) {
		*k = l->positions;
		c.n = 0;
	} else if (c.n > l->positions - *k) {
		c.n = (uint32_t)(l->positions - *k);
	}
	return c;
}

struct limiter_claim limiter_claim(struct limiter *l, uint32_t max, uint64_t now_ns)
{
	struct limiter_claim c = {.departure_ns = now_ns, .n = max};
	uint64_t next;
	uint64_t k;

	if (l->unlimited)
		return c;
	next = atomic_load_explicit(&l->next, memory_order_relaxed);
	do {
		k = next;
		c = claim_at(l, &k, max, now_ns);
	} while (!atomic_compare_exchange_weak_explicit(&l->next, &next, k + c.n, memory_order_relaxed,
							memory_order_relaxed));
	return c;
}
