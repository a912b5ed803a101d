/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/* The kernel hands them over as the bits of one word. */
#define FLAGS_MAX 32U

/* The link's name as it is now, in the socket's namespace. */
static int name_of(int sock, int index, char ifname[IF_NAMESIZE])
{
	struct ifreq ifr = {.ifr_ifindex = index};

	if (ioctl(sock, SIOCGIFNAME, &ifr))
		return -errno;
	snprintf(ifname, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, ifr.ifr_name);
	return 0;
}

static int find(int sock, const char *ifname, const char *flag, uint32_t *bit)
{
	union {
		struct ethtool_gstrings head;
		uint8_t room[sizeof(struct ethtool_gstrings) + sizeof(char[FLAGS_MAX][ETH_GSTRING_LEN])];
	} u = {.head = {.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_PRIV_FLAGS}};
	uint32_t n = host_ethtool_names(sock, ifname, ETH_SS_PRIV_FLAGS);
	int rc;

	/* The kernel writes as many names as there are, whatever room there is. */
	if (!n || n > FLAGS_MAX)
		return -ENOENT;
	u.head.len = n;
	rc = host_ethtool(sock, ifname, &u);
	for (uint32_t i = 0; !rc && i < n; i++) {
		if (strncmp((const char *)u.room + sizeof(u.head) + (size_t)i * ETH_GSTRING_LEN, flag,
			    ETH_GSTRING_LEN) == 0) {
			*bit = 1U << i;
			return 0;
		}
	}
	return rc ? rc : -ENOENT;
}

/* The link's name, the flag's bit, and all flags as they are. */
static int look(int sock, int index, const char *flag, char ifname[IF_NAMESIZE], uint32_t *bit, uint32_t *all)
{
	struct ethtool_value v = {.cmd = ETHTOOL_GPFLAGS};
	int rc = name_of(sock, index, ifname);

	if (!rc)
		rc = find(sock, ifname, flag, bit);
	if (!rc)
		rc = host_ethtool(sock, ifname, &v);
	*all = v.data;
	return rc;
}

int host_flag_get(int sock, int index, const char *flag, bool *on)
{
	char ifname[IF_NAMESIZE];
	uint32_t bit = 0;
	uint32_t all;
	int rc = look(sock, index, flag, ifname, &bit, &all);

	*on = !rc && (all & bit);
	return rc;
}

int host_flag_set(int sock, int index, const char *flag, bool on)
{
	char ifname[IF_NAMESIZE];
	uint32_t bit = 0;
	uint32_t all;
	int rc = look(sock, index, flag, ifname, &bit, &all);
	struct ethtool_value v = {.cmd = ETHTOOL_SPFLAGS, .data = on ? all | bit : all & ~bit};

	return rc || v.data == all ? rc : host_ethtool(sock, ifname, &v);
}
