/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: what Linux knows about its links, addresses, routes and neighbours, and where a packet would go.
 *
 * Everything comes by netlink and ethtool ioctls of the calling thread's network namespace. No interface is looked up
 * in /sys, which may show another namespace; only a PCI device's NUMA node is read there, as it belongs to none. (See
 * host_link_sysfs() for what can only be set there.)
 * A struct host is a snapshot: filled once, then only read (any thread).
 */
#ifndef SQUALL_HOST_H
#define SQUALL_HOST_H

#include "addr.h"
#include "err.h"

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_link {
	int index;
	char name[IF_NAMESIZE];
	char kind[16];   /* IFLA_INFO_KIND: "veth", "vlan", "ifb", …; empty for most hardware */
	char driver[32]; /* ethtool driver name; empty when the driver does not say */
	char bus[32];    /* ethtool bus address (PCI); empty when there is none */
	struct mac mac;  /* zero when the link has no 6-byte hardware address */
	bool ethernet;   /* ARPHRD_ETHER with a 6-byte address */
	bool loopback;
	bool up;      /* IFF_UP: administratively */
	bool carrier; /* IFF_LOWER_UP (operstate UNKNOWN with LOWER_UP is a carrier) */
	uint32_t mtu;
	uint32_t tx_queues;     /* IFLA_NUM_TX_QUEUES */
	uint32_t rx_queues;     /* IFLA_NUM_RX_QUEUES */
	uint32_t channels_rx;   /* ethtool channels in use (rx + combined); 0: the driver does not say */
	uint32_t channels_tx;   /* likewise tx + combined */
	bool channels_combined; /* some of them carry both directions */
	uint32_t rss_queues;    /* receive queues that the indirection table reaches (the highest + 1); 0: no table */
	bool strips_vlan;       /* rx-vlan-offload is on */
	int32_t speed_mbps;     /* -1: unknown */
	int32_t numa_node;      /* -1: none, or not to be known in this namespace */
	int parent;             /* IFLA_LINK in this namespace: index of the lower link; 0: none */
	uint16_t vlan_id;       /* kind "vlan": its id; else 0 */
	uint16_t vlan_proto;    /* kind "vlan": 0x8100 or 0x88a8; else 0 */
};

struct host_addr {
	int link;
	struct ip ip;
	uint8_t prefix_len;
	uint8_t scope;  /* RT_SCOPE_* */
	bool tentative; /* IPv6 duplicate detection not over, or failed: not usable as source */
	bool deprecated;
};

struct host_route {
	int link; /* RTA_OIF; for a multipath route one entry per next hop */
	struct prefix dst;
	struct ip gateway; /* family 0: connected. May be of the other family (RTA_VIA) */
	struct ip prefsrc; /* family 0: none */
	uint32_t metric;
	uint32_t table;
	uint8_t type; /* RTN_UNICAST, RTN_LOCAL, RTN_BLACKHOLE, … */
	bool onlink;
	bool multipath; /* one of several next hops */
};

struct host_neigh {
	int link;
	struct ip ip;
	struct mac mac;
	bool has_mac;
	uint16_t state; /* NUD_* */
};

struct host {
	struct host_link *links;
	size_t n_links;
	struct host_addr *addrs;
	size_t n_addrs;
	struct host_route *routes;
	size_t n_routes;
	struct host_neigh *neighs;
	size_t n_neighs;
};

/* Fills *h from the kernel. On failure *h is empty. host_free() releases what host_load() or host_parse() allocated. */
int host_load(struct host *h, struct err *e);
void host_free(struct host *h);

/*
 * Adds the objects of one or several raw rtnetlink messages (as received, RTM_NEW* only; others are passed over) to
 * *h, which starts zeroed. This is what host_load() feeds, and what tests feed with recorded messages.
 * -EBADMSG for a message that is cut short. msgs is aligned like a struct nlmsghdr.
 */
int host_parse(struct host *h, const void *msgs, size_t len);

const struct host_link *host_link_by_name(const struct host *h, const char *name);
const struct host_link *host_link_by_index(const struct host *h, int index);

/* The link as it is now. -ENODEV when it is gone. Cheap enough for twenty calls a second. */
struct host_link_state {
	bool up, carrier;         /* as in struct host_link */
	uint32_t carrier_changes; /* how often the carrier came or went: what happens between two looks shows here */
};
int host_link_state(int index, struct host_link_state *out);

/* The link's own 64-bit counters (RTM_GETSTATS). -ENODEV when it is gone. */
struct host_counters {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, rx_dropped, tx_dropped, rx_errors, tx_errors;
};
int host_link_counters(int index, struct host_counters *out);

/* What the link's driver can do with XDP programs. */
struct host_xdp {
	bool known;           /* the kernel tells (6.3 and later); else all the rest is false */
	bool native;          /* runs programs itself: pass, drop, abort, send back */
	bool redirect;        /* and hands packets on to others, AF_XDP sockets among them */
	bool ndo_xmit;        /* sends what others redirect to it */
	bool zero_copy;       /* AF_XDP sockets on the driver's own rings */
	bool multi_buffer;    /* native programs on packets of several buffers */
	uint32_t zc_segments; /* buffers of one packet with zero_copy; 0 or 1: one */
};

/* Generic netlink family "netdev". -ENODEV when the link is gone; 0 with known false where the kernel has no such. */
int host_link_xdp(int index, struct host_xdp *out);

/*
 * Pure: reads one message of the answer, as received (NETDEV_CMD_DEV_GET). This is what host_link_xdp() feeds, and
 * what tests feed. -EBADMSG for a message that is cut short. msg is aligned like a struct nlmsghdr.
 */
int host_xdp_parse(const void *msg, size_t len, struct host_xdp *out);

/* Counters of lost packets by name. They are several views of the same packets: to be shown, never added up. */
struct host_drop {
	char name[64];
	uint64_t n;
};
struct host_drops {
	unsigned n;
	struct host_drop *drop;
};

/*
 * Pure: the name of a driver's counter (ethtool -S) says that it counts lost packets: dropped, discarded, missed,
 * overrun, without a buffer, refused by a limit. No errors of the wire, no failed allocations, nothing that only had
 * to wait, no lost interrupts or time stamps.
 */
bool host_is_drop(const char *name);

/*
 * What the link has lost since it came up: the driver's counters of such names ("rx_queue_0_drops"), and Linux' own,
 * with "link" in front ("link rx_missed"). host_drops_free() releases it. -ENODEV when the link is gone, -ENOMEM; *out
 * is empty then.
 */
int host_link_drops(int index, struct host_drops *out);

/* Pure: the name of a driver's counter says that it counts pause frames (IEEE 802.3 annex 31B), of either direction. */
bool host_is_pause(const char *name);

/* The driver's counters of pause frames; none where it has no such. Errors as above. */
int host_link_pauses(int index, struct host_drops *out);

/*
 * What grew from `then` to `now`, by so much. A counter that was not there before, or that went backwards (the driver
 * began anew), is left out: how much it counted in between is unknown. host_drops_free() releases it. -ENOMEM; *out is
 * empty then.
 */
int host_drops_sub(struct host_drops *out, const struct host_drops *now, const struct host_drops *then);
/* Adds each counter of part, with the owner's name in front unless that is NULL. -ENOMEM: sum holds some of them. */
int host_drops_add(struct host_drops *sum, const struct host_drops *part, const char *owner);
void host_drops_free(struct host_drops *d);

/*
 * The link's own directory in sysfs (class/net/NAME), as a descriptor that the caller closes: in the calling thread's
 * network namespace, whatever /sys shows, by a mount that nobody else sees. Without the right to make one, by /sys
 * where that provably shows this link: one of the same name, index and address on the same PCI function. -ENODEV: the
 * link is gone or has another name by now. Else -errno of the refused mount.
 */
int host_link_sysfs(const struct host_link *l);

/*
 * A private flag of the link's driver ("ethtool --show-priv-flags"). sock: any IP socket of the link's namespace; the
 * calling thread may be elsewhere. Neither allocates. -ENOENT: the driver has no flag of that name. -ENODEV. Setting
 * changes no other flag; drivers may restart the link for it.
 */
int host_flag_get(int sock, int index, const char *flag, bool *on);
int host_flag_set(int sock, int index, const char *flag, bool on);

/*
 * The link that a run may use: exists, is Ethernet, is no loopback, no VLAN sub-interface (the error names the parent
 * and --vlan). Admin state and carrier are not judged here. Errors carry EXIT_USAGE.
 */
const struct host_link *host_usable_link(const struct host *h, const char *name, struct err *e);

/* True when a default route leaves through the link (or through a VLAN sub-interface of it). */
bool host_is_default_route(const struct host *h, int link);

/* What a run asks: send from `link`, tagged with `vlan` (0: untagged), to every address of `dst`. */
struct host_target {
	const struct host_link *link;
	uint16_t vlan;
	struct prefix dst;
	struct ip src;     /* family 0: choose one */
	bool have_dst_mac; /* the user gave --dst-mac: no next hop is looked for, an own address is allowed */
};

struct host_path {
	int l3_link; /* where the addresses live: the link, or its VLAN sub-interface with that id */
	struct ip src;
	struct ip next_hop;   /* family 0 when no neighbour has to be asked (multicast, --dst-mac) */
	struct mac dst_mac;   /* valid when have_mac */
	bool have_mac;        /* multicast mapping, or a neighbour entry that the kernel holds for certain */
	uint16_t neigh_state; /* NUD_* of the entry found, 0: none */
	char how[96];         /* for the plan: "10.0.0.2 is connected", "gateway 10.0.0.1", "multicast mapping" */
};

/*
 * Pure: decides source address and next hop from the snapshot as the kernel would for a packet bound to that link:
 * longest prefix, then a route through the link, then lowest metric, in the tables local, main and default; a more
 * specific route through another link is refused, not overridden. The source address by prefsrc, then by the
 * next hop's subnet, scope and IPv6 preferences (RFC 6724 as far as one link goes).
 * Refused, each naming the ways out (another -i, or --dst-mac, or --src-ip): no route at all (EXIT_RUN), a route that
 * leaves through another link, a connected prefix of more than one address, a prefix split between next hops, a
 * multipath route with several gateways on the link, the host's own address, a broadcast address, a prefix of
 * multicast groups, no usable source address.
 */
int host_route_to(const struct host *h, const struct host_target *t, struct host_path *out, struct err *e);

/*
 * Fills path->dst_mac. Asks the kernel to resolve (or, when the entry is stale, to confirm) path->next_hop on
 * path->l3_link and waits at most timeout_ms; does nothing when the MAC is known or none is wanted. A stale entry is
 * asked at its old MAC first, and by broadcast when that stays silent for half of the time (1 s at most).
 * *cancel non-zero ends the wait with -EINTR (may be NULL). EXIT_RUN naming the address when it stays silent. Never
 * returns a zero MAC. Without CAP_NET_ADMIN the kernel is made to ask by UDP datagrams to port 9 instead, and a stale
 * entry is used as the kernel would use it.
 */
int host_resolve(struct host_path *path, unsigned timeout_ms, const volatile int *cancel, struct err *e);

#endif
