/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp_find: where in a frame a stamp would stand: at the end of the packet as the IP header tells it, since a frame
 * may be padded behind that. Looks behind up to two VLAN tags and an MPLS label stack; of packets in tunnels the outer
 * one's end is the inner one's, too. Pure; reads no byte beyond len.
 */
#ifndef SQUALL_RX_STAMP_FIND_H
#define SQUALL_RX_STAMP_FIND_H

#include "lib/core/stamp.h"
#include "lib/ether.h"

#include <stdint.h>

#define STAMP_IN_FRAGMENTS UINT32_MAX

/*
 * The offset behind the stamp; 0: there can be none (not IP, broken, too short); STAMP_IN_FRAGMENTS: it is in pieces.
 * May be beyond len, where the frame is only the beginning of the packet: at least the transport header must be in it.
 */
uint32_t stamp_end_slowly(const unsigned char *data, uint32_t len);

/*
 * Untagged IPv4 with UDP, without options, and whole: what mostly comes. Where it ends; 0: it is none such, or too
 * short for a stamp.
 */
static inline uint32_t stamp_end_plain(const unsigned char *data, uint32_t len)
{
	const uint32_t is_ip4 = core_be32(0x08004500U), ip4 = core_be32(0xffffff00U);
	/* length, id, flags and fragment offset, TTL, protocol */
	const uint64_t is_whole_udp = core_be64(17), whole_udp = core_be64(0x3fff00ffU);
	const uint32_t least = ETH_HEADER_LEN + 28 + STAMP_LEN;
	uint64_t second;
	uint32_t end;

	if (len < least || (core_get32(data + ETH_MACS_LEN) & ip4) != is_ip4)
		return 0;
	second = core_get64(data + ETH_HEADER_LEN + 2);
	if ((second & whole_udp) != is_whole_udp)
		return 0;
	end = ETH_HEADER_LEN + (uint32_t)(core_be64(second) >> 48);
	return end < least || end > len ? 0 : end;
}

/* The same of a packet that is known to be such. */
static inline uint64_t stamp_end_udp4(const unsigned char *data, uint64_t len)
{
	const uint64_t least = ETH_HEADER_LEN + 28 + STAMP_LEN;
	uint64_t end = ETH_HEADER_LEN + (core_be32(core_get32(data + ETH_HEADER_LEN + 2)) >> 16);

	return end < least || end > len ? 0 : end;
}

static inline uint32_t stamp_end(const unsigned char *data, uint32_t len)
{
	uint32_t end = stamp_end_plain(data, len);

	return end ? end : stamp_end_slowly(data, len);
}

#endif
