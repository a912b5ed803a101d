/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify: what kind of packet this is, from its first bytes. Looks behind up to two VLAN tags; an IPv6 packet is
 * named by its first next header. Pure; reads no byte beyond len.
 */
#ifndef SQUALL_RX_CLASSIFY_H
#define SQUALL_RX_CLASSIFY_H

#include "lib/core/types.h"
#include "lib/stats.h"

#include <stdbool.h>
#include <stdint.h>

enum packet_class {
#define CLASS_ENUM(key, help) CLASS_##key,
	STATS_CLASS(CLASS_ENUM)
#undef CLASS_ENUM
		CLASS_COUNT
};

struct classified {
	enum packet_class what; /* never CLASS_tagged */
	bool tagged;
};

struct classified classify_slowly(const unsigned char *data, uint32_t len);

/* Untagged IPv4 with UDP is told at once: what mostly comes. */
static inline struct classified classify(const unsigned char *data, uint32_t len)
{
	if (len > ETH_HEADER_LEN + 9 && core_get16(data + ETH_MACS_LEN) == core_be16(0x0800) &&
	    data[ETH_HEADER_LEN + 9] == 17)
		return (struct classified){.what = CLASS_ipv4_udp};
	return classify_slowly(data, len);
}

#endif
