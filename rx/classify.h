/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify: what kind of packet this is, from its first bytes. Looks behind up to two VLAN tags; an IPv6 packet is
 * named by its first next header. Pure; reads no byte beyond len.
 */
#ifndef SQUALL_RX_CLASSIFY_H
#define SQUALL_RX_CLASSIFY_H

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

struct classified classify(const unsigned char *data, uint32_t len);

#endif
