/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_link.h"

#include "lib/core/types.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>

#define ETHERTYPE_IP4 0x0800U
#define ETHERTYPE_IP6 0x86ddU
#define ETHERTYPE_MIN 0x0600U /* below it, IEEE 802.3 has a length */
#define SLL_HEADER    16U
#define SLL2_HEADER   20U
#define NULL_HEADER   4U

enum pcap_link_kind pcap_link_kind(int dlt)
{
	switch (dlt) {
	case DLT_EN10MB:
		return PCAP_LINK_ETHERNET;
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_NULL:
	case DLT_LOOP:
		return PCAP_LINK_CONVERTED;
	default:
		return PCAP_LINK_REFUSED;
	}
}

char *pcap_link_name(int dlt, char *buf, unsigned size)
{
	const char *name = pcap_datalink_val_to_name(dlt);
	const char *words = pcap_datalink_val_to_description(dlt);

	if (name)
		snprintf(buf, size, "%s (%s)", name, words ? words : "no description");
	else
		snprintf(buf, size, "number %d", dlt);
	return buf;
}

static uint16_t be16(const unsigned char *p)
{
	return core_be16(core_get16(p));
}

static int parse_ip(int dlt, const unsigned char *data, uint32_t captured, uint16_t *type)
{
	unsigned version = captured ? data[0] >> 4 : 0;

	if (version == 4 && dlt != DLT_IPV6)
		*type = ETHERTYPE_IP4;
	else if (version == 6 && dlt != DLT_IPV4)
		*type = ETHERTYPE_IP6;
	else
		return -EINVAL;
	return 0;
}

/* The address family, in the byte order of the machine that captured (NULL) or of the network (LOOP), by its system. */
static int parse_family(const unsigned char *data, uint32_t captured, uint16_t *type, uint32_t *skip)
{
	uint32_t family;

	if (captured < NULL_HEADER)
		return -EINVAL;
	family = core_get32(data);
	if (family > 0xffff)
		family = __builtin_bswap32(family);
	switch (family) {
	case 2:
		*type = ETHERTYPE_IP4;
		break;
	case 10: /* Linux */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		*type = ETHERTYPE_IP6;
		break;
	default:
		return -EINVAL;
	}
	*skip = NULL_HEADER;
	return 0;
}

/* Linux' ARPHRD_* of devices whose protocol field is no EtherType: netlink, GRE, radiotap, frame relay access. */
static bool has_ethertype(uint16_t arphrd)
{
	return arphrd != 824 && arphrd != 778 && arphrd != 803 && arphrd != 770;
}

static int parse_sll(const unsigned char *data, uint32_t captured, bool second, uint16_t *type, uint32_t *skip)
{
	*skip = second ? SLL2_HEADER : SLL_HEADER;
	if (captured < *skip || !has_ethertype(be16(data + (second ? 8 : 2))))
		return -EINVAL;
	*type = be16(data + (second ? 0 : 14));
	return *type < ETHERTYPE_MIN ? -EINVAL : 0;
}

int pcap_link_parse(int dlt, const unsigned char *data, uint32_t captured, uint16_t *type, uint32_t *skip)
{
	*skip = 0;
	switch (dlt) {
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		return parse_ip(dlt, data, captured, type);
	case DLT_NULL:
	case DLT_LOOP:
		return parse_family(data, captured, type, skip);
	case DLT_LINUX_SLL:
		return parse_sll(data, captured, false, type, skip);
	case DLT_LINUX_SLL2:
		return parse_sll(data, captured, true, type, skip);
	default:
		return -EINVAL;
	}
}
