/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_messages: the recorded rtnetlink dump (tests/data/record_host.py tells what it holds) and messages constructed
 * after linux/if_link.h, linux/if_addr.h and linux/rtnetlink.h for what could not be recorded.
 */
#ifndef SQUALL_TESTS_HOST_MESSAGES_H
#define SQUALL_TESTS_HOST_MESSAGES_H

#include "lib/host.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct messages {
	_Alignas(struct nlmsghdr) char bytes[65536];
	size_t len;
};

static inline void messages_recorded(struct messages *m)
{
	FILE *f = fopen(TEST_DATA "/host.nl", "rb");

	m->len = f ? fread(m->bytes, 1, sizeof(m->bytes), f) : 0;
	if (f)
		fclose(f);
}

static inline void *messages_begin(struct messages *m, uint16_t type, size_t header)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(m->bytes + m->len);

	nlh->nlmsg_type = type;
	return mnl_nlmsg_put_extra_header(nlh, header);
}

static inline struct nlmsghdr *messages_current(struct messages *m)
{
	return (void *)(m->bytes + m->len);
}

static inline void messages_end(struct messages *m)
{
	m->len += messages_current(m)->nlmsg_len;
}

/* Constructed, not recorded: the machine of the recording had no 8021q. */
static inline void messages_add_vlan(struct messages *m, int index, const char *name, uint32_t parent, uint16_t id,
				     uint16_t proto)
{
	static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 0x0a};
	struct ifinfomsg *ifi = messages_begin(m, RTM_NEWLINK, sizeof(*ifi));
	struct nlmsghdr *nlh = messages_current(m);

	ifi->ifi_type = ARPHRD_ETHER;
	ifi->ifi_index = index;
	ifi->ifi_flags = IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST | 0x10000 /* IFF_LOWER_UP */;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	mnl_attr_put_u32(nlh, IFLA_MTU, 1496);
	mnl_attr_put_u32(nlh, IFLA_LINK, parent);
	mnl_attr_put(nlh, IFLA_ADDRESS, sizeof(mac), mac);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);

	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vlan");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);

	mnl_attr_put_u16(nlh, IFLA_VLAN_PROTOCOL, htons(proto));
	mnl_attr_put_u16(nlh, IFLA_VLAN_ID, id);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	messages_end(m);
}

/* Sub-interfaces of the recorded host: 20 and 22 by 802.1Q, 21 by 802.1ad. */
static inline void messages_add_vlans(struct messages *m)
{
	messages_add_vlan(m, 20, "va.100", 10, 100, 0x8100);
	messages_add_vlan(m, 21, "va.q", 10, 300, 0x88a8);
	messages_add_vlan(m, 22, "vb.200", 11, 200, 0x8100);
}

static inline int messages_af(const struct ip *ip)
{
	return ip->family == 4 ? AF_INET : AF_INET6;
}

static inline void messages_put_ip(struct messages *m, uint16_t type, const char *ip)
{
	struct ip a;

	if (ip_parse(ip, &a) == 0)
		mnl_attr_put(messages_current(m), type, ip_bits(&a) / 8, a.b);
}

static inline void messages_add_addr(struct messages *m, uint32_t link, const char *ip, uint8_t prefix_len,
				     uint8_t scope, uint32_t flags)
{
	struct ifaddrmsg *ifa = messages_begin(m, RTM_NEWADDR, sizeof(*ifa));
	struct ip a;

	ip_parse(ip, &a);
	ifa->ifa_family = (uint8_t)messages_af(&a);
	ifa->ifa_prefixlen = prefix_len;
	ifa->ifa_scope = scope;
	ifa->ifa_index = link;
	messages_put_ip(m, IFA_ADDRESS, ip);
	mnl_attr_put_u32(messages_current(m), IFA_FLAGS, flags);
	messages_end(m);
}

/* via may be NULL: connected. */
static inline void messages_add_route(struct messages *m, const char *dst, const char *via, uint32_t link,
				      uint32_t metric)
{
	struct rtmsg *rtm = messages_begin(m, RTM_NEWROUTE, sizeof(*rtm));
	char bare[IP_STRLEN];
	struct prefix p;

	prefix_parse(dst, &p);
	rtm->rtm_family = (uint8_t)messages_af(&p.ip);
	rtm->rtm_dst_len = p.len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_type = RTN_UNICAST;
	if (p.len)
		messages_put_ip(m, RTA_DST, ip_format(&p.ip, bare));
	if (via)
		messages_put_ip(m, RTA_GATEWAY, via);
	mnl_attr_put_u32(messages_current(m), RTA_OIF, link);
	mnl_attr_put_u32(messages_current(m), RTA_PRIORITY, metric);
	messages_end(m);
}

#endif
