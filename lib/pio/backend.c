/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES 128U /* two cache lines: processors fetch them in pairs */

struct pio_queue *pio_queue_create(struct pio_port *port, size_t size, unsigned index, bool tx, uint32_t frames,
				   struct err *e)
{
	struct pio_queue *q = aligned_alloc(LINES, (size + LINES - 1) / LINES * LINES);

	if (!q) {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot make a queue", port->name, "no memory");
		return NULL;
	}
	memset(q, 0, size);
	q->port = port;
	q->index = index;
	q->is_tx = tx;
	if (pio_cache_create(&q->cache, port->pool, frames, !tx, e)) {
		free(q);
		return NULL;
	}
	return q;
}

void pio_queue_destroy(struct pio_queue *q)
{
	if (!q)
		return;
	pio_cache_destroy(q->cache);
	free(q);
}

int pio_check_size(const struct host_link *link, uint32_t max_frame, const char *port, struct err *e)
{
	if (max_frame <= link->mtu + ETH_HEADER_LEN + VLAN_TAG_LEN)
		return 0;
	err_set(e, -EMSGSIZE, EXIT_USAGE, "cannot send packets of this size", port,
		"%u bytes without FCS do not fit the MTU of %u", max_frame, link->mtu);
	err_hint(e, "--packet-size %u (%u with a VLAN tag), or: ip link set %s mtu %u",
		 link->mtu + ETH_HEADER_LEN + FCS_BYTES, link->mtu + ETH_HEADER_LEN + VLAN_TAG_LEN + FCS_BYTES,
		 link->name, max_frame - ETH_HEADER_LEN);
	return -EMSGSIZE;
}

int pio_check_pool(const struct pio_pool *pool, const struct pio_port *port, struct err *e)
{
	if (pool->max_frame >= port->caps.max_frame)
		return 0;
	return err_set(e, -EMSGSIZE, EXIT_RUN, "cannot use the shared frame pool", port->name,
		       "its frames hold %u bytes, %u are needed", pool->max_frame, port->caps.max_frame);
}
