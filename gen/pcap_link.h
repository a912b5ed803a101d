/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_link: the link types of captures: which are Ethernet, and which can become Ethernet with nothing guessed but the
 * two MAC addresses. Pure.
 */
#ifndef SQUALL_GEN_PCAP_LINK_H
#define SQUALL_GEN_PCAP_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum pcap_link_kind {
	PCAP_LINK_ETHERNET, /* as it is */
	PCAP_LINK_CONVERTED,
	PCAP_LINK_REFUSED,
};

enum pcap_link_kind pcap_link_kind(int dlt);

/* "RAW (Raw IP)". Returns buf. */
char *pcap_link_name(int dlt, char *buf, unsigned size);

/*
 * Of a link type that is converted: the EtherType of a packet, and how many bytes of link header it has before what
 * follows that type. -EINVAL: no EtherType says what this packet is.
 */
int pcap_link_parse(int dlt, const unsigned char *data, uint32_t captured, uint16_t *type, uint32_t *skip);

#endif
