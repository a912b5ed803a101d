/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_flow: a packet whose stamp was found, and what is counted of its flow with per_flow. shared is a constant:
 * other threads may count the same flow.
 */
#ifndef SQUALL_RX_MEASURE_FLOW_H
#define SQUALL_RX_MEASURE_FLOW_H

#include "measure_internal.h"

/*
 * A packet with a stamp of the run. What is written at one time is not side by side: compilers pack that into one
 * store, by more instructions than two stores are.
 */
struct measure_item {
	struct measure_record *record; /* its flow's */
	uint64_t place;                /* stamp_place() */
	uint64_t *word;                /* of its block, in the record */
	uint64_t arrival_ns;           /* by the stamps' clock */
	uint64_t sequence;             /* the low 32 bits */
	uint64_t len;
};

static inline uint32_t measure_item_flow(const struct measure_item *it)
{
	return (uint32_t)(it->place >> STAMP_TIME_BITS);
}

static inline __attribute__((always_inline)) void flow_add(uint64_t *counter, uint64_t n, const bool shared)
{
	if (shared)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	else
		*counter += n;
}

/* Makes *p the greater, or with 0 as none the lesser, of itself and v. */
#define FLOW_EXTREME(name, type, keeps) \
	static inline void name(type *p, type v, const bool shared) \
	{ \
		type was = shared ? __atomic_load_n(p, __ATOMIC_RELAXED) : *p; \
\
		if (!shared) \
			*p = keeps ? was : v; \
		else \
			while (!(keeps) && \
			       !__atomic_compare_exchange_n(p, &was, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
				; \
	}
FLOW_EXTREME(flow_most, uint64_t, was >= v)
FLOW_EXTREME(flow_least, uint64_t, (was && was <= v))
FLOW_EXTREME(flow_most32, uint32_t, was >= v)

static inline void flow_came(struct measure_flow *f, const struct measure_item *it, const struct seqwin_seen *seen,
			     uint32_t overtaken, const bool shared)
{
	flow_add(&f->bytes, it->len, shared);
	flow_least(&f->first_ns, it->arrival_ns + 1, shared);
	flow_most(&f->last_ns, it->arrival_ns + 1, shared);
	if (seen->run_ended)
		flow_most32(&f->longest, seen->run_ended, shared);
	switch (seen->verdict) {
	case SEQWIN_NEW:
		flow_add(&f->unique, 1, shared);
		if (overtaken) {
			flow_add(&f->reordered, 1, shared);
			flow_most32(&f->extent, overtaken, shared);
		}
		break;
	case SEQWIN_DUPLICATE:
		flow_add(&f->duplicate, 1, shared);
		break;
	case SEQWIN_LATE:
		flow_add(&f->late, 1, shared);
	}
}

static inline void flow_took(struct measure_flow *f, uint64_t latency, const bool shared)
{
	flow_add(&f->latency_sum, latency, shared);
	flow_least(&f->latency_least, latency + 1, shared);
	flow_most(&f->latency_most, latency, shared);
}

/* RFC 3550 section 6.4.1 and its appendix A.8: times 16, rounded. */
static inline uint64_t jitter_next(uint64_t jitter, uint64_t change)
{
	return jitter + change - ((jitter + 8) >> 4);
}

static inline void flow_jitter(struct measure_flow *f, uint64_t change, const bool shared)
{
	seqwin_store(&f->jitter, jitter_next(seqwin_load(&f->jitter, shared), change), shared);
}

#endif
