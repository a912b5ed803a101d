/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_rewrite.h"

#include "lib/core/csum.h"
#include "lib/ether.h"

#include <netinet/in.h>
#include <string.h>

#define TPID_CUSTOMER 0x8100U
#define TPID_SERVICE  0x88a8U
#define TPID_OLD      0x9100U /* used for outer tags before 802.1ad */
#define ETHERTYPE_IP4 0x0800U
#define ETHERTYPE_IP6 0x86ddU
#define IP4_HEADER    20U
#define IP6_HEADER    40U
#define IP6_EXT_MAX   16

static uint16_t be16(const unsigned char *p)
{
	return core_be16(core_get16(p));
}

static bool is_tag(uint16_t type)
{
	return type == TPID_CUSTOMER || type == TPID_SERVICE || type == TPID_OLD;
}

uint32_t pcap_l3_of(const unsigned char *frame, uint32_t len, uint16_t *type)
{
	uint32_t at = ETH_MACS_LEN;

	*type = be16(frame + at);
	while (is_tag(*type) && at + VLAN_TAG_LEN + 2 <= len) {
		at += VLAN_TAG_LEN;
		*type = be16(frame + at);
	}
	return at + 2;
}

static bool put_mac(unsigned char *at, const struct mac *m)
{
	if (memcmp(at, m->b, sizeof(m->b)) == 0)
		return false;
	memcpy(at, m->b, sizeof(m->b));
	return true;
}

static bool map_mac(const struct pcap_rewrite *w, unsigned char *at, bool set, const struct mac *to)
{
	if (set)
		return put_mac(at, to);
	for (unsigned i = 0; i < w->n_macs; i++)
		if (memcmp(at, w->macs[i].from.b, sizeof(w->macs[i].from.b)) == 0)
			return put_mac(at, &w->macs[i].to);
	return false;
}

static bool vlan_wanted(const struct pcap_rewrite *w, uint16_t have, uint16_t *want)
{
	if (w->vlan_all) {
		*want = w->vlan_to;
		return *want != have;
	}
	for (unsigned i = 0; i < w->n_vlans; i++)
		if (w->vlans[i].from == have) {
			*want = w->vlans[i].to;
			return *want != have;
		}
	return false;
}

/* The outermost tag changes its id and keeps its priority; or it goes; or there is a new one. */
static bool rewrite_vlan(const struct pcap_rewrite *w, unsigned char *frame, uint32_t *captured, uint32_t *len)
{
	unsigned char *tag = frame + ETH_MACS_LEN;
	bool tagged = is_tag(be16(tag)) && *captured >= ETH_HEADER_LEN + VLAN_TAG_LEN;
	uint16_t have = tagged ? be16(tag + 2) & 0xfff : PCAP_VLAN_NONE;
	uint16_t want;

	if (!vlan_wanted(w, have, &want))
		return false;
	if (want == PCAP_VLAN_NONE) {
		memmove(tag, tag + VLAN_TAG_LEN, *len - ETH_MACS_LEN - VLAN_TAG_LEN);
		*len -= VLAN_TAG_LEN;
		*captured -= VLAN_TAG_LEN;
		return true;
	}
	if (!tagged) {
		memmove(tag + VLAN_TAG_LEN, tag, *len - ETH_MACS_LEN);
		core_put16(tag, core_be16(TPID_CUSTOMER));
		core_put16(tag + 2, 0);
		*len += VLAN_TAG_LEN;
		*captured += VLAN_TAG_LEN;
	}
	core_put16(tag + 2, core_be16((be16(tag + 2) & 0xf000) | want));
	return true;
}

/* Maps one address. Adds to *delta what a checksum over it changes by: ~old + new (RFC 1624, equation 3). */
static bool map_ip(const struct pcap_rewrite *w, unsigned char *at, uint8_t family, uint64_t *delta)
{
	const unsigned bytes = family == 6 ? 16 : 4;
	struct ip ip = {.family = family};

	memcpy(ip.b, at, bytes);
	for (unsigned i = 0; i < w->n_ips; i++) {
		const struct prefix *to = &w->ips[i].to;

		if (w->ips[i].from.ip.family != family || !prefix_contains(&w->ips[i].from, &ip))
			continue;
		for (unsigned b = 0; b < bytes; b++) {
			unsigned bits = to->len <= b * 8 ? 0 : to->len - b * 8 >= 8 ? 8 : to->len - b * 8;
			uint8_t mask = (uint8_t)(0xff00U >> bits);

			ip.b[b] = (uint8_t)((to->ip.b[b] & mask) | (ip.b[b] & ~mask));
		}
		if (memcmp(at, ip.b, bytes) == 0)
			return false;
		for (unsigned b = 0; b < bytes; b += 2)
			*delta += (uint16_t)~core_get16(at + b) + (uint64_t)core_get16(ip.b + b);
		memcpy(at, ip.b, bytes);
		return true;
	}
	return false;
}

static void update_sum(unsigned char *at, uint64_t delta)
{
	core_put16(at, csum_finish((uint16_t)~core_get16(at) + delta));
}

/* The checksum of what follows the IP header, if it has the addresses in it and was captured. */
static void update_l4(unsigned char *l4, uint32_t captured, uint8_t protocol, bool ip6, uint64_t delta)
{
	uint32_t at;

	switch (protocol) {
	case IPPROTO_TCP:
		at = 16;
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		at = 6;
		break;
	case IPPROTO_ICMPV6:
		if (!ip6)
			return;
		at = 2;
		break;
	case IPPROTO_DCCP:
		at = 6;
		break;
	case IPPROTO_MH:
		at = 4;
		break;
	default:
		return;
	}
	if (captured < at + 2)
		return;
	if (protocol == IPPROTO_UDP && !core_get16(l4 + at)) /* there is none */
		return;
	update_sum(l4 + at, delta);
	if (protocol == IPPROTO_UDP && !core_get16(l4 + at))
		core_put16(l4 + at, 0xffff);
}

static bool rewrite_ip4(const struct pcap_rewrite *w, unsigned char *ip, uint32_t captured)
{
	uint64_t delta = 0;
	uint32_t header;
	bool changed;

	if (captured < IP4_HEADER || ip[0] >> 4 != 4)
		return false;
	header = (ip[0] & 0xfU) * 4;
	if (header < IP4_HEADER)
		return false;
	changed = map_ip(w, ip + 12, 4, &delta);
	changed |= map_ip(w, ip + 16, 4, &delta);
	if (!changed)
		return false;
	update_sum(ip + 10, delta);
	if (!(be16(ip + 6) & 0x1fff) && header <= captured) /* not a later fragment */
		update_l4(ip + header, captured - header, ip[9], false, delta);
	return true;
}

/*
 * Goes over the extension headers (RFC 8200). False when no transport header of this packet is there: a later fragment,
 * something encrypted, or more than was captured. *via: a routing header still has stops, and the pseudo-header's
 * destination is the last of them.
 */
static bool find_l4(const unsigned char *ip, uint32_t captured, uint8_t *protocol, uint32_t *at, bool *via)
{
	*protocol = ip[6];
	*at = IP6_HEADER;
	*via = false;
	for (unsigned i = 0; i < IP6_EXT_MAX; i++) {
		const unsigned char *ext = ip + *at;
		uint32_t len;

		if (captured < *at + 8)
			return *protocol == IPPROTO_ICMPV6 && captured >= *at + 4;
		switch (*protocol) {
		case IPPROTO_FRAGMENT:
			if (be16(ext + 2) & 0xfff8)
				return false;
			len = 8;
			break;
		case IPPROTO_AH:
			len = (ext[1] + 2U) * 4;
			break;
		case IPPROTO_ROUTING:
			*via |= ext[3] != 0;
			len = (ext[1] + 1U) * 8;
			break;
		case IPPROTO_HOPOPTS:
		case IPPROTO_DSTOPTS:
			len = (ext[1] + 1U) * 8;
			break;
		default:
			return true;
		}
		*protocol = ext[0];
		*at += len;
	}
	return false;
}

static bool rewrite_ip6(const struct pcap_rewrite *w, unsigned char *ip, uint32_t captured)
{
	uint64_t src = 0, dst = 0;
	uint8_t protocol;
	uint32_t at;
	bool changed, via;

	if (captured < IP6_HEADER || ip[0] >> 4 != 6)
		return false;
	changed = map_ip(w, ip + 8, 6, &src);
	changed |= map_ip(w, ip + 24, 6, &dst);
	if (changed && find_l4(ip, captured, &protocol, &at, &via) && at <= captured)
		update_l4(ip + at, captured - at, protocol, true, via ? src : src + dst);
	return changed;
}

unsigned pcap_rewrite_frame(const struct pcap_rewrite *w, unsigned char *frame, uint32_t captured, uint32_t *len)
{
	unsigned done = 0;
	bool mac = map_mac(w, frame, w->set_dst, &w->dst);
	uint16_t type;
	uint32_t l3;

	mac |= map_mac(w, frame + sizeof(w->dst.b), w->set_src, &w->src);
	done = mac ? PCAP_REWROTE_MAC : 0;
	if ((w->vlan_all || w->n_vlans) && captured >= ETH_HEADER_LEN && rewrite_vlan(w, frame, &captured, len))
		done |= PCAP_REWROTE_VLAN;
	if (!w->n_ips || captured < ETH_HEADER_LEN)
		return done;
	l3 = pcap_l3_of(frame, captured, &type);
	if (l3 <= captured && ((type == ETHERTYPE_IP4 && rewrite_ip4(w, frame + l3, captured - l3)) ||
			       (type == ETHERTYPE_IP6 && rewrite_ip6(w, frame + l3, captured - l3))))
		done |= PCAP_REWROTE_IP;
	return done;
}
