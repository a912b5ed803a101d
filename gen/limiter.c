/* SPDX-License-Identifier: Apache-2.0 */
#include "limiter.h"

/* The counter: a segment's number above, a position of it below. */
#define POSITION_BITS 56U
#define POSITION_MASK ((1ULL << POSITION_BITS) - 1)

__extension__ typedef unsigned __int128 uint128;

/* A segment as one claim sees it. */
struct view {
	uint64_t start_ns;
	uint32_t start_frac;
	struct pacer_rate interval;
	uint64_t positions;
	uint32_t clump;
};

static uint64_t load(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static void store(_Atomic uint64_t *p, uint64_t v)
{
	atomic_store_explicit(p, v, memory_order_relaxed);
}

static struct view view_of(const struct limiter *l, uint64_t next)
{
	const struct limiter_segment *s = &l->segments[(next >> POSITION_BITS) % LIMITER_SEGMENTS];

	return (struct view){
		.start_ns = load(&s->start_ns),
		.start_frac = (uint32_t)load(&s->start_frac),
		.interval = {.ns = load(&s->interval_ns), .frac = (uint32_t)load(&s->interval_frac)},
		.positions = load(&s->positions),
		.clump = (uint32_t)load(&s->clump),
	};
}

static uint128 fixed(const struct pacer_rate *r)
{
	return (uint128)r->ns << 32 | r->frac;
}

/* How many intervals fit before offset ns of the segment are over: a departure is cut to whole ns. */
static uint64_t intervals_by(const struct view *v, uint64_t offset)
{
	/* k departs by `offset` when frac + k * interval < offset + 1 ns. */
	return (uint64_t)(((((uint128)offset + 1) << 32) - 1 - v->start_frac) / fixed(&v->interval));
}

static uint64_t departure(const struct limiter *l, const struct view *v, uint64_t k)
{
	return v->start_ns + pacer_offset_from(&v->interval, v->start_frac, l->group == 1 ? k : k / l->group);
}

/* The last position that departs at or before t_ns, which is not before the segment's start; of a group the first. */
static uint64_t position_by(const struct limiter *l, const struct view *v, uint64_t t_ns)
{
	return intervals_by(v, t_ns - v->start_ns) * l->group;
}

uint64_t limiter_departure(const struct limiter *l, uint64_t k)
{
	struct view v = view_of(l, load(&l->next));

	return departure(l, &v, k);
}

/* A segment that begins at start_ns + start_frac with the present interval. */
static void begin_segment(struct limiter *l, uint64_t number, uint64_t start_ns, uint32_t start_frac)
{
	struct limiter_segment *s = &l->segments[number % LIMITER_SEGMENTS];
	struct view v = {.start_ns = start_ns, .start_frac = start_frac, .interval = l->interval};
	uint64_t positions = POSITION_MASK;
	uint32_t clump = 1;

	if (l->end_ns != UINT64_MAX)
		positions = l->end_ns > start_ns ? position_by(l, &v, l->end_ns - 1) + l->group : 0;
	while (clump < l->burst && pacer_offset(&l->interval, clump + 1ULL) <= LIMITER_CLUMP_NS)
		clump++;
	store(&s->start_ns, start_ns);
	store(&s->start_frac, start_frac);
	store(&s->interval_ns, l->interval.ns);
	store(&s->interval_frac, l->interval.frac);
	store(&s->positions, positions);
	store(&s->clump, clump);
}

void limiter_init(struct limiter *l, const struct tx_pace *pace, uint64_t catch_up_ns, uint64_t start_ns,
		  uint64_t end_ns)
{
	*l = (struct limiter){
		.base = pace->interval,
		.interval = pace->interval,
		.unlimited = !pace->interval.ns && !pace->interval.frac,
		.burst = pace->burst,
		.group = pace->group ? pace->group : 1,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.catch_up_ns = catch_up_ns,
	};
	if (!l->unlimited)
		begin_segment(l, 0, start_ns, 0);
}

/* ---- claims ---- */

/* How many positions from k on leave together. */
static uint32_t clump_at(const struct limiter *l, const struct view *v, uint64_t k, uint64_t departure_ns,
			 uint64_t now_ns)
{
	uint32_t n = v->clump;

	if (l->group > 1)
		return l->group - (uint32_t)(k % l->group);
	if (departure_ns < now_ns) {
		uint64_t late = position_by(l, v, now_ns) - k + 1;

		if (late > n)
			n = late < l->burst ? (uint32_t)late : l->burst;
	}
	return n;
}

/* What one claim takes from position k on. */
static struct limiter_claim claim_at(const struct limiter *l, const struct view *v, uint64_t *k, uint32_t max,
				     uint64_t now_ns)
{
	struct limiter_claim c = {.departure_ns = departure(l, v, *k)};

	if (c.departure_ns + l->catch_up_ns < now_ns) {
		uint64_t first = position_by(l, v, now_ns - l->catch_up_ns);

		*k = first > *k ? first : *k; /* of a group that has begun, the rest */
		c.departure_ns = departure(l, v, *k);
	}
	c.n = clump_at(l, v, *k, c.departure_ns, now_ns);
	if (c.n > max)
		c.n = max;
	if (*k >= v->positions) {
		*k = v->positions;
		c.n = 0;
	} else if (c.n > v->positions - *k) {
		c.n = (uint32_t)(v->positions - *k);
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
	next = atomic_load_explicit(&l->next, memory_order_acquire);
	do {
		struct view v = view_of(l, next);

		k = next & POSITION_MASK;
		c = claim_at(l, &v, &k, max, now_ns);
	} while (!atomic_compare_exchange_weak_explicit(&l->next, &next, (next & ~POSITION_MASK) | (k + c.n),
							memory_order_acquire, memory_order_acquire));
	return c;
}

double limiter_interval_ns(const struct limiter *l)
{
	const struct view v = view_of(l, atomic_load_explicit(&l->next, memory_order_acquire));

	return (double)v.interval.ns + (double)v.interval.frac / 4294967296.0;
}

bool limiter_makes_clumps(const struct limiter *l)
{
	return view_of(l, atomic_load_explicit(&l->next, memory_order_acquire)).clump > 1;
}

/* ---- changes of the rate, and what it comes to ---- */

/* From the run's own interval each time, so that a step back undoes a step exactly. */
static bool interval_at(const struct limiter *l, int steps, struct pacer_rate *out)
{
	uint128 f = fixed(&l->base);

	for (int i = 0; i < steps && f >> 32; i++)
		f = (f * 10 + 10) / 11;
	for (int i = 0; i > steps && f >> 32 <= PACER_INTERVAL_MAX_NS; i--)
		f = (f * 11 + 9) / 10;
	out->ns = (uint64_t)(f >> 32);
	out->frac = (uint32_t)f;
	return out->ns && out->ns <= PACER_INTERVAL_MAX_NS;
}

bool limiter_scale(struct limiter *l, int steps)
{
	uint64_t next = load(&l->next);
	struct pacer_rate to;
	uint64_t number;

	if (l->unlimited || !steps || !interval_at(l, l->steps + steps, &to))
		return false;
	l->steps += steps;
	l->interval = to;
	number = (next >> POSITION_BITS) + 1;
	for (;;) {
		const struct view v = view_of(l, next);
		uint64_t k = next & POSITION_MASK;
		uint64_t intervals = k / l->group;
		uint64_t begun = k % l->group; /* of a group that some of have been claimed */

		begin_segment(l, number, departure(l, &v, k), pacer_frac_from(&v.interval, v.start_frac, intervals));
		if (atomic_compare_exchange_strong_explicit(&l->next, &next, number << POSITION_BITS | begun,
							    memory_order_release, memory_order_relaxed)) {
			l->before += k - begun;
			return true;
		}
	}
}

uint64_t limiter_claimed(const struct limiter *l)
{
	return l->before + (load(&l->next) & POSITION_MASK);
}

uint64_t limiter_positions(const struct limiter *l)
{
	struct view v = view_of(l, load(&l->next));

	return v.positions == POSITION_MASK ? UINT64_MAX : l->before + v.positions;
}

uint64_t limiter_span(const struct limiter *l, uint64_t n)
{
	return n < l->before ? 0 : limiter_departure(l, n - l->before) - l->start_ns;
}
