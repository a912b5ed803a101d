/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond: answers for addresses that the kernel does not own, so that routers under test can find us: ARP (RFC 826),
 * neighbour solicitation (RFC 4861), ICMP and ICMPv6 echo (RFC 792, RFC 4443). Pure.
 */
#ifndef SQUALL_RX_RESPOND_H
#define SQUALL_RX_RESPOND_H

#include "lib/addr.h"
#include "lib/stats.h"

#include <stdbool.h>
#include <stdint.h>

#define RESPOND_ADDRESSES_MAX 32U

struct respond_set {
	struct mac own; /* what the addresses are answered with */
	unsigned n;
	struct ip ip[RESPOND_ADDRESSES_MAX];
};

enum respond_kind {
#define RESPOND_ENUM(key, help) RESPOND_##key,
	STATS_RESPOND(RESPOND_ENUM)
#undef RESPOND_ENUM
		RESPOND_COUNT
};

/* An answer may be longer than its request by so much: a solicitation without the option of 8 bytes. */
#define RESPOND_GROWTH 8U

/*
 * Turns a request for one of the addresses into its answer, in place: a whole packet, up to two VLAN tags in the data,
 * len without FCS, and room for RESPOND_GROWTH more. Returns the answer's length and its kind, or 0 when none is due;
 * the packet is then as it was. Nothing is said to groups, to nobody and to ourselves, to what was sent to another MAC
 * address, nor to what is broken: a wrong checksum, a solicitation that has crossed a router (hop limit below 255) or
 * whose options are not whole, a fragment. Duplicate address detection is told that the address is taken.
 */
uint32_t respond_answer(const struct respond_set *set, unsigned char *data, uint32_t len, enum respond_kind *kind);

#endif
