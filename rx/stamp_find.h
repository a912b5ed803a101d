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

/* Untagged IPv4 with UDP, without options, and whole: what mostly comes. */
static inline uint32_t stamp_end(const unsigned char *data, uint32_t len)
{
	const uint32_t mask = core_be32(0xffffff00U), ip4 = core_be32(0x08004500U);

	if (len >= ETH_HEADER_LEN + 28 + STAMP_LEN && (core_get32(data + ETH_MACS_LEN) & mask) == ip4 &&
	    data[23] == 17 && !(core_get16(data + 20) & core_be16(0x3fff))) {
		uint32_t end = ETH_HEADER_LEN + core_be16(core_get16(data + 16));

		if (end >= ETH_HEADER_LEN + 28 + STAMP_LEN && end <= len)
			return end;
	}
	return stamp_end_slowly(data, len);
}

#endif
