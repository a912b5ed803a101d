/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: what to send, as plain data that a user-space loop and the kernel engine read alike. Built in gen/ from the
 * options. No pointers: it fits a BPF map.
 */
#ifndef SQUALL_CORE_PLAN_H
#define SQUALL_CORE_PLAN_H

#include "pacer.h"

#define TX_TEMPLATE_MAX 9216U /* the largest frame, without FCS, rounded up */

/* How one field of the flow goes from flow to flow: value of flow n = base + (first + n) mod count. */
struct tx_walk {
	uint32_t base;  /* host byte order */
	uint32_t first; /* where in the range flow 0 stands */
	uint64_t count; /* size of the range, 1..2^32; 1: the field is fixed */
};

enum tx_family { TX_RAW = 0, TX_UDP4 = 4, TX_UDP6 = 6 };

/* The pace: one departure every interval. A zero interval: as fast as the device takes them. */
struct tx_pace {
	struct pacer_rate interval;
	uint32_t burst; /* packets that may leave in one clump */
};

struct tx_plan {
	uint32_t family;      /* enum tx_family */
	uint32_t len;         /* frame length without FCS */
	uint32_t l3;          /* offset of the IP header: 14, 18 with one tag */
	uint32_t l4;          /* offset of the UDP header */
	uint64_t flows;       /* how many; flow n is a function of this struct and n */
	struct tx_walk saddr; /* IPv4 address, or the low 32 bits of an IPv6 address */
	struct tx_walk daddr;
	struct tx_walk sport;
	struct tx_walk dport;
	/*
	 * Sums over everything that no flow changes (addresses' and ports' varying words left out, lengths and payload
	 * in), folded to 16 bits.
	 */
	uint32_t l3_sum;
	uint32_t l4_sum;
	struct tx_pace pace;
	unsigned char frame[TX_TEMPLATE_MAX]; /* the template: headers and payload, varying fields 0, checksums 0 */
};

#endif
