/* SPDX-License-Identifier: Apache-2.0 */
#include "queues.h"

#include <stdio.h>
#include <string.h>

/* The driver may have made fewer channels than the link has queues; it never uses more. */
static uint32_t in_use(uint32_t channels, uint32_t queues)
{
	return channels && channels < queues ? channels : queues;
}

void pio_queues_of_link(const struct pio_backend *backend, const struct host_link *link, uint32_t *tx, uint32_t *rx)
{
	*tx = backend->rx_by_device ? in_use(link->channels_tx, link->tx_queues) : link->tx_queues;
	*rx = backend->rx_by_device ? in_use(link->channels_rx, link->rx_queues) : link->rx_queues;
}

/* How to have the device put everything on its first n receive queues, by what its driver offers. */
static void narrow(const struct host_link *link, uint32_t n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	if (link->rss_queues)
		used = (size_t)snprintf(buf, size, "ethtool -X %s equal %u, or ", link->name, n);
	if (strcmp(link->kind, "veth") == 0) /* what was sent from a queue is received on the one of that number */
		snprintf(buf + used, size - used, "ethtool -L %s rx %u and, at its other end, tx %u, or ", link->name,
			 n, n);
	else if (link->channels_rx)
		snprintf(buf + used, size - used, "ethtool -L %s %s %u, or ", link->name,
			 link->channels_combined ? "combined" : "rx", n);
}

char *pio_queues_left(const struct host_link *link, uint32_t opened, const char *or_else, char *buf, size_t size)
{
	uint32_t n = in_use(link->channels_rx, link->rx_queues);
	char ways[160], which[48];

	if (link->rss_queues && link->rss_queues < n)
		n = link->rss_queues;
	buf[0] = '\0';
	if (opened >= n)
		return buf;
	narrow(link, opened, ways, sizeof(ways));
	if (n - opened == 1)
		snprintf(which, sizeof(which), "queue %u of", opened);
	else
		snprintf(which, sizeof(which), "queues %u-%u of", opened, n - 1);
	snprintf(buf, size, "%s %s %s for Linux: to have all of them, %s%s", which, link->name,
		 n - opened == 1 ? "keeps its packets" : "keep their packets", ways, or_else);
	return buf;
}
