/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <ctype.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A driver may get more counters or fewer between two questions (ethtool -L): then all are asked again. */
#define TRIES 5

/* What drivers write where packets are lost. Each list ends in NULL. */
static const char *const loss[] = {
	"drop",       "discard", "overrun", "underrun",     "overflow",   "over_err",    "fifo_err",
	"no_buf",     "nobuf",   "no_desc", "nodesc",       "no_dma",     "no_mem",      "no_space",
	"out_of_buf", "_oob",    "rx_miss", "_missed_pack", "tx_aborted", "xdp_aborted", "allowance_exceeded",
	NULL,
};
/* Frames that an XDP program sends cannot wait: an error, or a full ring, is a loss. (With xsk for xdp they wait.) */
static const char *const xdp_loss[] = {
	"xdp_err",      "xdp_full",         "xdp_tx_err",        "xdp_tx_full",
	"xdp_xmit_err", "xdp_redirect_err", "xdp_redirect_fail", NULL,
};
/* What interrupts, clocks, and the tables of flows and of buffers miss and drop is no packet. */
static const char *const no_packet[] = {"irq", "interrupt", "stamp", "ptp", "fdir", "cache", NULL};

static bool has_one(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* Lower case, and one '_' for whatever stands between letters and digits. */
static void plain_name(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n < size - 1; name++) {
		if (isalnum((unsigned char)*name))
			out[n++] = (char)tolower((unsigned char)*name);
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	out[n] = '\0';
}

bool host_is_drop(const char *name)
{
	char plain[2 * ETH_GSTRING_LEN];

	plain_name(name, plain, sizeof(plain));
	return !has_one(plain, no_packet) && (has_one(plain, loss) || has_one(plain, xdp_loss));
}

/* How long the link was held, and how often it changed, are other figures. */
bool host_is_pause(const char *name)
{
	static const char *const pause[] = {"pause", "flow_control_xo", "link_xoff", "link_xon", NULL};
	static const char *const no_frames[] = {"duration", "transition", "storm", "timeout", NULL};
	char plain[2 * ETH_GSTRING_LEN];

	plain_name(name, plain, sizeof(plain));
	return has_one(plain, pause) && !has_one(plain, no_frames);
}

/* The index of that name, or d->n. */
static unsigned find(const struct host_drops *d, const char *name)
{
	unsigned i = 0;

	while (i < d->n && strcmp(d->drop[i].name, name) != 0)
		i++;
	return i;
}

/* Some drivers give one name to two counters: here they are one, the sum of both. */
static int add(struct host_drops *d, const char *name, uint64_t count)
{
	unsigned i = find(d, name);

	if (i == d->n) {
		struct host_drop *p = host_grow(d->drop, d->n, sizeof(*p));

		if (!p)
			return -ENOMEM;
		d->drop = p;
		snprintf(p[i].name, sizeof(p[i].name), "%s", name);
		d->n++;
	}
	d->drop[i].n += count;
	return 0;
}

static int add_link(struct host_drops *d, int index)
{
	struct rtnl_link_stats64 s;
	int rc = host_link_stats(index, &s);
	const struct host_drop own[] = {
		{"link rx_dropped", s.rx_dropped},     {"link rx_missed", s.rx_missed_errors},
		{"link rx_over", s.rx_over_errors},    {"link rx_fifo", s.rx_fifo_errors},
		{"link rx_nohandler", s.rx_nohandler}, {"link tx_dropped", s.tx_dropped},
		{"link tx_fifo", s.tx_fifo_errors},
	};

	for (size_t i = 0; !rc && i < sizeof(own) / sizeof(own[0]); i++)
		rc = add(d, own[i].name, own[i].n);
	return rc;
}

/*
 * A counter's name as it stands in the driver's table: not always ended by a zero, and padded by some. Only what is
 * printable goes into a report.
 */
static int add_stat(struct host_drops *d, const uint8_t *entry, uint64_t count, bool (*wanted)(const char *name))
{
	char name[ETH_GSTRING_LEN + 1];
	char *start = name;
	size_t n;

	snprintf(name, sizeof(name), "%.*s", ETH_GSTRING_LEN, (const char *)entry);
	for (char *p = name; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	while (*start == ' ')
		start++;
	for (n = strlen(start); n && start[n - 1] == ' '; n--)
		;
	start[n] = '\0';
	return wanted(start) ? add(d, start, count) : 0;
}

/* -EAGAIN when the number of counters changed between the questions. */
static int add_driver_once(struct host_drops *d, int sock, const char *ifname, bool (*wanted)(const char *name))
{
	uint32_t n = host_ethtool_names(sock, ifname, ETH_SS_STATS);
	/* The kernel writes as many as there are when it is asked, whatever we have room for. */
	size_t room = 2 * (size_t)n + 64;
	struct ethtool_gstrings *names = NULL;
	struct ethtool_stats *stats = NULL;
	int rc = 0;

	if (!n)
		return 0;
	names = calloc(1, sizeof(*names) + room * ETH_GSTRING_LEN);
	stats = calloc(1, sizeof(*stats) + room * sizeof(stats->data[0]));
	if (!names || !stats) {
		rc = -ENOMEM;
		goto out;
	}
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = n;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = n;
	/* A driver that does not answer has said what it has to say. */
	if (host_ethtool(sock, ifname, names) || host_ethtool(sock, ifname, stats))
		goto out;
	if (names->len != n || stats->n_stats != n)
		rc = -EAGAIN;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = add_stat(d, names->data + (size_t)i * ETH_GSTRING_LEN, stats->data[i], wanted);
out:
	free(names);
	free(stats);
	return rc;
}

static int add_driver(struct host_drops *d, int index, bool (*wanted)(const char *name))
{
	char ifname[IF_NAMESIZE];
	int rc = -EAGAIN;
	int sock;

	if (!if_indextoname((unsigned)index, ifname))
		return -ENODEV;
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	for (int i = 0; i < TRIES && rc == -EAGAIN; i++)
		rc = add_driver_once(d, sock, ifname, wanted);
	close(sock);
	return rc == -EAGAIN ? 0 : rc;
}

int host_link_drops(int index, struct host_drops *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = add_link(out, index);
	if (!rc)
		rc = add_driver(out, index, host_is_drop);
	if (rc)
		host_drops_free(out);
	return rc;
}

int host_link_pauses(int index, struct host_drops *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = add_driver(out, index, host_is_pause);
	if (rc)
		host_drops_free(out);
	return rc;
}

int host_drops_sub(struct host_drops *out, const struct host_drops *now, const struct host_drops *then)
{
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; !rc && i < now->n; i++) {
		unsigned k = find(then, now->drop[i].name);

		if (k < then->n && now->drop[i].n > then->drop[k].n)
			rc = add(out, now->drop[i].name, now->drop[i].n - then->drop[k].n);
	}
	if (rc)
		host_drops_free(out);
	return rc;
}

int host_drops_add(struct host_drops *sum, const struct host_drops *part, const char *owner)
{
	char name[IF_NAMESIZE + 1 + sizeof(part->drop->name)]; /* an owner is an interface */
	int rc = 0;

	for (unsigned i = 0; !rc && i < part->n; i++) {
		snprintf(name, sizeof(name), "%s%s%s", owner ? owner : "", owner ? " " : "", part->drop[i].name);
		rc = add(sum, name, part->drop[i].n);
	}
	return rc;
}

void host_drops_free(struct host_drops *d)
{
	free(d->drop);
	memset(d, 0, sizeof(*d));
}
