/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_internal: what the host_*.c files share. Nobody else includes it.
 */
#ifndef SQUALL_HOST_INTERNAL_H
#define SQUALL_HOST_INTERNAL_H

#include "host.h"

#include <libmnl/libmnl.h>

/* The kernel hands a dump over in pieces of at most 32 KiB. */
#define HOST_NL_BUF 32768

/* Where the next message or attribute starts. (libmnl's macro mixes signs.) */
static inline size_t host_nl_align(size_t len)
{
	return (len + MNL_ALIGNTO - 1) & ~(size_t)(MNL_ALIGNTO - 1);
}

/* A bound socket of a netlink protocol, closed by the caller with mnl_socket_close(); NULL with errno set. */
struct mnl_socket *host_nl_open(int protocol);

/*
 * Sends one request that is no dump and reads until the kernel's acknowledgement; cb (may be NULL) sees the answers.
 * Returns the kernel's -errno.
 */
int host_nl_talk(struct mnl_socket *nl, struct nlmsghdr *req, mnl_cb_t cb, void *data);

/*
 * Sorts the attributes of one level by type into tb[0..max]; absent ones are NULL, types above max are passed over.
 * -EBADMSG when they are cut short.
 */
int host_nl_index_attrs(const void *data, size_t len, const struct nlattr **tb, unsigned max);

/* The fixed header, of that size, of a whole message, and its attributes as above. NULL when either is cut short. */
const void *host_nl_open_message(const struct nlmsghdr *nlh, size_t header, const struct nlattr **tb, unsigned max);

/*
 * An absent attribute (NULL) leaves *out as it is; a longer one is of a newer kernel and starts the same way. -EBADMSG
 * for a shorter one.
 */
int host_nl_read_attr(const struct nlattr *a, void *out, size_t size);

/* Room for one more object of size bytes behind n of them, zeroed, at an array that was grown this way. NULL: none. */
void *host_grow(void *array, size_t n, size_t size);

/* The link's own counters. What an older kernel does not have is 0. -ENODEV when it is gone. */
struct rtnl_link_stats64;
int host_link_stats(int index, struct rtnl_link_stats64 *out);

/* One SIOCETHTOOL request; cmd is one of linux/ethtool.h's structures. sock: any IP socket. -errno. */
int host_ethtool(int sock, const char *ifname, void *cmd);

/* How many names are in that set (ETH_SS_*) of the driver's; 0: none, or it does not say. sock as above. */
uint32_t host_ethtool_names(int sock, const char *ifname, unsigned set);

/* Fills what ethtool knows: driver, bus, channels, speed, NUMA node. sock: any IP socket. Gaps stay as "unknown". */
void host_link_ethtool(struct host_link *l, int sock);

/* The address in network order of an AF_INET or AF_INET6 object. */
struct ip host_ip(int af, const void *bytes);

/* The address of `link` that the kernel would send from to dst by route r (NULL: by none). NULL: none is usable. */
const struct host_addr *host_source(const struct host *h, int link, const struct ip *dst, const struct host_route *r);

bool host_covers(const struct prefix *outer, const struct prefix *inner);

/* The route that all of dst takes from `link`, as far as no more specific one is inside it; NULL: none. */
const struct host_route *host_best_route(const struct host *h, int link, const struct prefix *dst);

/* A more specific route inside dst that is in force and leads elsewhere than r; NULL: none. */
const struct host_route *host_splitting_route(const struct host *h, int link, const struct prefix *dst,
					      const struct host_route *r);

/* Another route on r's link that is as good as r and leads to another next hop; NULL: none. */
const struct host_route *host_rival_route(const struct host *h, const struct host_route *r);

/* The link's name for a message; never NULL. */
const char *host_link_name(const struct host *h, int index);

#endif
