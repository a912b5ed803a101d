/* SPDX-License-Identifier: Apache-2.0 */
/* sum: Internet checksums over whole packets, whatever their length. Cold: csum.h is for the parts of hot ones. */
#ifndef SQUALL_RX_SUM_H
#define SQUALL_RX_SUM_H

#include "lib/core/csum.h"

/* The sum of len bytes, as of csum_bytes(). */
static inline uint64_t sum_bytes(const unsigned char *p, uint32_t len)
{
	uint64_t sum = 0;

	for (; len > 256; p += 256, len -= 256)
		sum += csum_bytes(p, 256, 256);
	return sum + csum_bytes(p, len, 257);
}

/* The pseudo header of IPv6, and of UDP and TCP over IPv4 (RFC 8200 section 8.1, RFC 768); size: of one address. */
static inline uint64_t sum_pseudo(const unsigned char *addresses, uint32_t size, uint8_t proto, uint32_t l4_len)
{
	return sum_bytes(addresses, 2 * size) + core_be16(proto) + core_be16((uint16_t)l4_len);
}

#endif
