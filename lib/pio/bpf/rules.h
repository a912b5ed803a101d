/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules: a filter (lib/pio/filter.h) as plain data for a BPF program, which reads it from its constants: what the
 * verifier knows not to be asked for, it removes from the program.
 */
#ifndef SQUALL_PIO_BPF_RULES_H
#define SQUALL_PIO_BPF_RULES_H

#include "lib/pio/filter.h"

#include <stdint.h>

enum rules_take {
	RULES_NOTHING,
	RULES_ALL,
	RULES_MATCHES,
	RULES_UNMANAGED, /* keep_management; the nets are the host's own addresses */
};

/* A value of VLAN, EtherType, protocol or port, or a MAC address as rules_mac() has it; both ends included. */
struct rules_range {
	uint64_t lo, hi;
};

/* An address is in it when (address ^ value) & mask is 0; as loaded from the packet, IPv4 in the first 4 bytes. */
struct rules_net {
	uint64_t value[2];
	uint64_t mask[2];
	uint32_t family;
	uint32_t unused;
};

struct rules {
	uint32_t take;      /* enum rules_take */
	uint32_t kinds;     /* 1 << enum filter_kind for each that has conditions */
	uint32_t port_only; /* one protocol, one range of destination ports, nothing else: what receivers mostly ask for
			     */
	uint32_t fragmented; /* packets may have more buffers than the program sees (it has to look at the whole length)
			      */
	uint16_t first[FILTER_KINDS]; /* the conditions of a kind are first .. end - 1, of ranges or nets */
	uint16_t end[FILTER_KINDS];
	struct rules_range ranges[FILTER_MATCHES_MAX];
	struct rules_net nets[FILTER_MATCHES_MAX];
};

/* A MAC address as two loads from the packet give it: 4 bytes, then 2. */
#define rules_mac(first4, last2) ((uint64_t)(last2) << 32 | (uint64_t)(first4))

#endif
