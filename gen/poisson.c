/* SPDX-License-Identifier: Apache-2.0 */
#include "poisson.h"

#include "lib/core/rand.h"

#include <math.h>

/* 2^-53: what turns the upper bits of a random word into a fraction, all of which a double holds. */
#define FRACTION (1.0 / 9007199254740992.0)

/* What is passed over is drawn one by one up to so many: a millisecond. */
#define DRAWN_MAX 65536.0

static double mean_gap_ns(const struct poisson *p, const struct limiter *l)
{
	return limiter_interval_ns(l) * p->queues;
}

/* To the next departure. */
static void draw(struct poisson *p, double mean_ns)
{
	/* In (0, 1]: log(0) is never asked for. */
	double u = (double)((rand_next(&p->rand) >> 11) + 1) * FRACTION;
	double gap = mean_ns * -log(u);
	uint64_t whole = (uint64_t)gap;
	uint64_t frac = (uint64_t)((gap - (double)whole) * 4294967296.0) + p->next_frac;

	p->next_ns += whole + (frac >> 32);
	p->next_frac = (uint32_t)frac;
}

static void step(struct poisson *p, double mean_ns)
{
	p->drawn++;
	draw(p, mean_ns);
}

void poisson_init(struct poisson *p, const struct limiter *l, uint64_t seed, unsigned q, unsigned n)
{
	/* Mixed, so that neighbouring seeds and queues have nothing in common. */
	*p = (struct poisson){.queues = n, .next_ns = l->start_ns, .rand = rand_mix(rand_mix(seed) + q)};
	draw(p, mean_gap_ns(p, l));
}

/*
 * Passes over what departs before t_ns. Where that would take long it is not drawn one by one: a process without memory
 * begins anew at any time, and the mean tells how many there were.
 */
static void pass_over(struct poisson *p, uint64_t t_ns, double mean_ns)
{
	double many = t_ns > p->next_ns ? (double)(t_ns - p->next_ns) / mean_ns : 0;

	if (many > DRAWN_MAX) {
		p->drawn += 1 + (uint64_t)many;
		p->next_ns = t_ns;
		draw(p, mean_ns);
	}
	while (p->next_ns < t_ns)
		step(p, mean_ns);
}

struct limiter_claim poisson_claim(struct poisson *p, const struct limiter *l, uint32_t max, uint64_t now_ns)
{
	const double mean_ns = mean_gap_ns(p, l);
	struct limiter_claim c = {0};
	uint64_t together;

	if (now_ns > l->catch_up_ns)
		pass_over(p, now_ns - l->catch_up_ns < l->end_ns ? now_ns - l->catch_up_ns : l->end_ns, mean_ns);
	c.departure_ns = p->next_ns;
	/* At the rates at which the limiter makes clumps, this does: of what departs within as short a time. */
	together = limiter_makes_clumps(l) ? c.departure_ns + LIMITER_CLUMP_NS : c.departure_ns;
	if (together < now_ns)
		together = now_ns;
	while (c.n < max && p->next_ns < l->end_ns && (!c.n || (c.n < l->burst && p->next_ns <= together))) {
		c.n++;
		step(p, mean_ns);
	}
	return c;
}

uint64_t poisson_rest(const struct poisson *p, const struct limiter *l)
{
	if (l->end_ns == UINT64_MAX || p->next_ns >= l->end_ns)
		return 0;
	return 1 + (uint64_t)((double)(l->end_ns - p->next_ns) / mean_gap_ns(p, l));
}
