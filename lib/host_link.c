/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* One request to the kernel about the link with that index. */
static int ask(uint16_t type, const void *header, size_t size, mnl_cb_t cb, void *data)
{
	_Alignas(struct nlmsghdr) char buf[64];
	struct nlmsghdr *req = mnl_nlmsg_put_header(buf);
	struct mnl_socket *nl = host_nl_open(NETLINK_ROUTE);
	int rc;

	if (!nl)
		return -errno;
	req->nlmsg_type = type;
	memcpy(mnl_nlmsg_put_extra_header(req, size), header, size);
	rc = host_nl_talk(nl, req, cb, data);
	mnl_socket_close(nl);
	return rc;
}

static int take_state(const struct nlmsghdr *nlh, void *data)
{
	struct host_link_state *out = data;
	const struct nlattr *tb[IFLA_CARRIER_CHANGES + 1];
	const struct ifinfomsg *m;

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	m = host_nl_open_message(nlh, sizeof(*m), tb, IFLA_CARRIER_CHANGES);
	if (!m || host_nl_read_attr(tb[IFLA_CARRIER_CHANGES], &out->carrier_changes, sizeof(out->carrier_changes))) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	out->up = m->ifi_flags & IFF_UP;
	out->carrier = m->ifi_flags & IFF_LOWER_UP;
	return MNL_CB_OK;
}

int host_link_state(int index, struct host_link_state *out)
{
	struct ifinfomsg m = {.ifi_index = index};

	memset(out, 0, sizeof(*out));
	return ask(RTM_GETLINK, &m, sizeof(m), take_state, out);
}

static int take_stats(const struct nlmsghdr *nlh, void *data)
{
	struct rtnl_link_stats64 *s = data;
	const struct nlattr *a = mnl_nlmsg_get_payload_offset(nlh, sizeof(struct if_stats_msg));
	size_t header = sizeof(struct if_stats_msg);
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	if (nlh->nlmsg_type != RTM_NEWSTATS || len < header + sizeof(*a) || a->nla_len > len - header ||
	    mnl_attr_get_type(a) != IFLA_STATS_LINK_64)
		return MNL_CB_OK;
	/* The structure has grown at its end from kernel to kernel. */
	len = mnl_attr_get_payload_len(a);
	memcpy(s, mnl_attr_get_payload(a), len < sizeof(*s) ? len : sizeof(*s));
	return MNL_CB_OK;
}

int host_link_stats(int index, struct rtnl_link_stats64 *out)
{
	struct if_stats_msg m = {
		.ifindex = (uint32_t)index,
		.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64),
	};

	memset(out, 0, sizeof(*out));
	return ask(RTM_GETSTATS, &m, sizeof(m), take_stats, out);
}

int host_link_counters(int index, struct host_counters *out)
{
	struct rtnl_link_stats64 s;
	int rc = host_link_stats(index, &s);

	*out = (struct host_counters){
		.rx_packets = s.rx_packets,
		.tx_packets = s.tx_packets,
		.rx_bytes = s.rx_bytes,
		.tx_bytes = s.tx_bytes,
		.rx_dropped = s.rx_dropped,
		.tx_dropped = s.tx_dropped,
		.rx_errors = s.rx_errors,
		.tx_errors = s.tx_errors,
	};
	return rc;
}

int host_ethtool(int sock, const char *ifname, void *cmd)
{
	struct ifreq ifr = {.ifr_data = cmd};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	return ioctl(sock, SIOCETHTOOL, &ifr) ? -errno : 0;
}

uint32_t host_ethtool_names(int sock, const char *ifname, unsigned set)
{
	union {
		struct ethtool_sset_info info;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} u = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << set}};
	uint32_t n = 0;

	if (host_ethtool(sock, ifname, &u.info) == 0 && u.info.sset_mask)
		memcpy(&n, u.room + sizeof(u.info), sizeof(n));
	return n;
}

static bool ethtool(int sock, const struct host_link *l, void *cmd)
{
	return host_ethtool(sock, l->name, cmd) == 0;
}

static bool strips_vlan(int sock, const struct host_link *l)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};

	return ethtool(sock, l, &flags) && flags.data & ETH_FLAG_RXVLAN;
}

/* Any number is believed: virtual and future devices have speeds that no list holds. */
static int32_t speed(int sock, const struct host_link *l)
{
	/* Three bitmaps of at most 127 words follow; the first call asks the kernel how long its own are. */
	union {
		struct ethtool_link_settings s;
		uint8_t room[sizeof(struct ethtool_link_settings) + sizeof(uint32_t[3 * INT8_MAX])];
	} u = {.s.cmd = ETHTOOL_GLINKSETTINGS};
	struct ethtool_cmd old = {.cmd = ETHTOOL_GSET};
	uint32_t mbps = 0;

	if (ethtool(sock, l, &u) && u.s.link_mode_masks_nwords < 0) {
		int8_t words = (int8_t)-u.s.link_mode_masks_nwords;

		memset(&u, 0, sizeof(u));
		u.s.cmd = ETHTOOL_GLINKSETTINGS;
		u.s.link_mode_masks_nwords = words;
		if (ethtool(sock, l, &u))
			mbps = u.s.speed;
	} else if (ethtool(sock, l, &old)) {
		mbps = ethtool_cmd_speed(&old);
	}
	return mbps == 0 || mbps > INT32_MAX ? -1 : (int32_t)mbps;
}

/* PCI devices belong to no network namespace, so this part of /sys is right wherever it was mounted. */
static int32_t pci_numa_node(const char *bus)
{
	char path[96];
	int node = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", bus);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &node) != 1)
		node = -1;
	fclose(f);
	return node;
}

/* 0: there is no table. The first call asks the kernel how many entries it has. */
static uint32_t rss_queues(int sock, const struct host_link *l)
{
	struct ethtool_rxfh_indir head = {.cmd = ETHTOOL_GRXFHINDIR};
	struct ethtool_rxfh_indir *table;
	uint32_t queues = 0;

	if (!ethtool(sock, l, &head) || !head.size)
		return 0;
	table = calloc(1, sizeof(*table) + head.size * sizeof(table->ring_index[0]));
	if (!table)
		return 0;
	*table = head;
	if (ethtool(sock, l, table))
		for (uint32_t i = 0; i < head.size; i++)
			if (table->ring_index[i] >= queues)
				queues = table->ring_index[i] + 1;
	free(table);
	return queues;
}

void host_link_ethtool(struct host_link *l, int sock)
{
	struct ethtool_drvinfo drv = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};
	unsigned domain, bus, slot, function;
	int end = 0;

	if (ethtool(sock, l, &drv)) {
		snprintf(l->driver, sizeof(l->driver), "%.*s", (int)sizeof(drv.driver) - 1, drv.driver);
		drv.bus_info[sizeof(drv.bus_info) - 1] = '\0';
		if (sscanf(drv.bus_info, "%x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) == 4 &&
		    !drv.bus_info[end])
			snprintf(l->bus, sizeof(l->bus), "%s", drv.bus_info);
	}
	if (ethtool(sock, l, &ch)) {
		l->channels_rx = ch.rx_count + ch.combined_count;
		l->channels_tx = ch.tx_count + ch.combined_count;
		l->channels_combined = ch.combined_count;
	}
	l->rss_queues = rss_queues(sock, l);
	l->strips_vlan = strips_vlan(sock, l);
	l->speed_mbps = speed(sock, l);
	if (l->bus[0])
		l->numa_node = pci_numa_node(l->bus);
}
