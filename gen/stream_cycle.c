/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_cycle.h"

#include "gcd.h"
#include "lib/core/rand.h"

#define STREAMS 64U

static uint64_t common_divisor(const uint32_t *shares, unsigned n)
{
	uint64_t d = 0;

	for (unsigned i = 0; i < n; i++)
		d = gcd(d, shares[i]);
	return d ? d : 1;
}

uint64_t stream_cycle_len(const uint32_t *shares, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += shares[i];
	return sum / common_divisor(shares, n);
}

/* An order of the numbers below n, drawn (Durstenfeld's shuffle). */
static void draw_order(uint8_t *order, unsigned n, uint64_t *rand)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = (uint8_t)i;
	for (unsigned i = n; i > 1; i--) {
		unsigned j = (unsigned)(rand_next(rand) % i);
		uint8_t t = order[j];

		order[j] = order[i - 1];
		order[i - 1] = t;
	}
}

/*
 * Each position goes to the stream that is owed most: all are credited their share at each position, and who gets it
 * pays the whole round. So nobody is ever ahead of or behind its share by a whole position (smooth weighted round
 * robin).
 */
void stream_cycle_fill(const uint32_t *shares, unsigned n, uint64_t seed, uint8_t *cycle)
{
	const uint64_t len = stream_cycle_len(shares, n);
	const uint64_t divisor = common_divisor(shares, n);
	uint64_t rand = rand_mix(seed);
	int64_t owed[STREAMS] = {0};
	uint8_t order[STREAMS] = {0};
	uint64_t begin;

	if (!len)
		return;
	draw_order(order, n, &rand);
	begin = rand_next(&rand) % len;
	for (uint64_t k = 0; k < len; k++) {
		uint8_t most = order[0];

		for (unsigned i = 0; i < n; i++) {
			uint8_t s = order[i];

			owed[s] += (int64_t)(shares[s] / divisor);
			if (owed[s] > owed[most])
				most = s;
		}
		owed[most] -= (int64_t)len;
		cycle[(k + begin) % len] = most;
	}
}

uint64_t stream_cycle_share(const uint8_t *cycle, uint32_t len, uint8_t which, uint64_t count)
{
	uint64_t whole = 0, rest = 0;

	for (uint32_t i = 0; i < len; i++) {
		whole += cycle[i] == which;
		rest += cycle[i] == which && i < count % len;
	}
	return len ? count / len * whole + rest : 0;
}
