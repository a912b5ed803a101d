/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch: writes one flow into a frame that already holds the template. Only the bytes that change are touched.
 *
 * l3 is a pointer to the IP header; extra is a sum over what else was written into the payload (0: nothing).
 */
#ifndef SQUALL_CORE_PATCH_H
#define SQUALL_CORE_PATCH_H

#include "flow.h"

#define IP4_CHECK     10
#define IP4_SADDR     12
#define IP4_DADDR     16
#define IP4_HLEN      20
#define IP6_SADDR_LOW 20
#define IP6_DADDR_LOW 36
#define IP6_HLEN      40
#define UDP_SPORT     0
#define UDP_DPORT     2
#define UDP_CHECK     6
#define UDP_HLEN      8

CORE_INLINE void tx_patch_udp(unsigned char *udp, const struct tx_flow *f, uint64_t extra)
{
	core_put16(udp + UDP_SPORT, f->sport);
	core_put16(udp + UDP_DPORT, f->dport);
	core_put16(udp + UDP_CHECK, csum_finish_udp(f->l4_sum + extra));
}

/* Behind an IPv4 header without options addresses and ports lie side by side, in the order of struct tx_flow. */
_Static_assert(IP4_SADDR + 4 == IP4_DADDR && IP4_DADDR + 4 == IP4_HLEN + UDP_SPORT && UDP_SPORT + 2 == UDP_DPORT,
	       "the flow's first 12 bytes are a piece of the packet");

CORE_INLINE void tx_patch_udp4(unsigned char *l3, const struct tx_flow *f, uint64_t extra)
{
	core_put16(l3 + IP4_CHECK, f->l3_check);
	__builtin_memcpy(l3 + IP4_SADDR, f, 12);
	core_put16(l3 + IP4_HLEN + UDP_CHECK, csum_finish_udp(f->l4_sum + extra));
}

CORE_INLINE void tx_patch_udp6(unsigned char *l3, const struct tx_flow *f, uint64_t extra)
{
	core_put32(l3 + IP6_SADDR_LOW, f->saddr);
	core_put32(l3 + IP6_DADDR_LOW, f->daddr);
	tx_patch_udp(l3 + IP6_HLEN, f, extra);
}

#endif
