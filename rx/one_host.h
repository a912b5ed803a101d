/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_host: whether an address of a packet is one that a single host may have, so that it can be answered. Pure.
 */
#ifndef SQUALL_RX_ONE_HOST_H
#define SQUALL_RX_ONE_HOST_H

#include <stdbool.h>
#include <string.h>

/* No group, no network, not "this host" and not the loopback. */
static inline bool is_host4(const unsigned char *ip)
{
	return ip[0] != 0 && ip[0] != 127 && ip[0] < 224;
}

static inline bool is_host6(const unsigned char *ip)
{
	static const unsigned char zero[15];

	return ip[0] != 0xff && (memcmp(ip, zero, sizeof(zero)) != 0 || ip[15] > 1);
}

/* No group, and not nobody's. */
static inline bool is_host_mac(const unsigned char *mac)
{
	static const unsigned char zero[6];

	return !(mac[0] & 1) && memcmp(mac, zero, sizeof(zero)) != 0;
}

#endif
