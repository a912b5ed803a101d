/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow: what distinguishes flow n from the others, ready to be written into a frame.
 */
#ifndef SQUALL_CORE_FLOW_H
#define SQUALL_CORE_FLOW_H

#include "csum.h"
#include "plan.h"

/* 16 bytes, four to a cache line: a table of these is what the send loop reads. Fields are in network byte order. */
struct tx_flow {
	uint32_t saddr;
	uint32_t daddr;
	uint16_t sport;
	uint16_t dport;
	uint16_t l3_check; /* the IPv4 header checksum, final; 0 for IPv6 */
	uint16_t l4_sum;   /* the UDP sum before its complement: what else varies is added to it */
};

_Static_assert(sizeof(struct tx_flow) == 16, "a flow table entry is 16 bytes");

CORE_INLINE uint32_t tx_walk_at(const struct tx_walk *w, uint64_t n)
{
	return w->base + (uint32_t)((w->first + n) % w->count);
}

/* Flow n of the plan, n < flows. */
CORE_INLINE void tx_flow_at(const struct tx_plan *plan, uint64_t n, struct tx_flow *out)
{
	uint64_t addrs;
	uint64_t ports;

	out->saddr = core_be32(tx_walk_at(&plan->saddr, n));
	out->daddr = core_be32(tx_walk_at(&plan->daddr, n));
	out->sport = core_be16(tx_walk_at(&plan->sport, n));
	out->dport = core_be16(tx_walk_at(&plan->dport, n));
	addrs = (uint64_t)out->saddr + out->daddr;
	ports = (uint64_t)out->sport + out->dport;
	out->l3_check = plan->family == TX_UDP4 ? csum_finish(plan->l3_sum + addrs) : 0;
	out->l4_sum = csum_fold(plan->l4_sum + addrs + ports);
}

#endif
