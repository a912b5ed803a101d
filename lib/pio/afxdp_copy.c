/* SPDX-License-Identifier: Apache-2.0 */
/* What a system call that sends by copying has done with the ring. */
#include "afxdp_queue.h"

#include <errno.h>

/* The device dropped the packet whose last descriptor is that; the kernel completes it like any other. */
static void note_drop(struct afxdp_tx *tx, uint32_t last)
{
	const struct xdp_desc *d = xsk_ring_prod__tx_desc(&tx->ring, last);

	tx->lost++;
	tx->lost_bytes += tx->same_len == AFXDP_DIFFERENT ? *afxdp_sent_of(tx, d->addr) & AFXDP_SENT_LEN : d->len;
}

/* Where the packet that begins at `at` has its last descriptor. */
static uint32_t packet_end(struct afxdp_tx *tx, uint32_t at)
{
	while (xsk_ring_prod__tx_desc(&tx->ring, at)->options & XDP_PKT_CONTD && at + 1 != tx->ring.cached_prod)
		at++;
	return at;
}

void afxdp_copy_follow(struct afxdp_tx *tx, int error)
{
	uint32_t told = __atomic_load_n(tx->ring.consumer, __ATOMIC_ACQUIRE);
	bool moved = (int32_t)(told - tx->consumed) > 0;

	if (moved)
		tx->consumed = told;
	if (error != EBUSY)
		return;
	if (!moved)
		tx->consumed = packet_end(tx, tx->consumed) + 1;
	note_drop(tx, tx->consumed - 1);
}

void afxdp_copy_give_up(struct pio_queue *q)
{
	struct afxdp_tx *tx = (struct afxdp_tx *)q;
	uint64_t packets = 0;
	uint64_t out;
	struct tx_counts c;

	if (tx->zero_copy)
		return;
	for (uint32_t at = tx->consumed; at != tx->ring.cached_prod; at++)
		packets += !(xsk_ring_prod__tx_desc(&tx->ring, at)->options & XDP_PKT_CONTD);
	tx_counts_read(&q->stats.tx, &c);
	out = c.queued - c.completed - c.dropped_driver;
	stats_add(&q->stats.tx.dropped_end, packets < out ? packets : out);
	tx->consumed = tx->ring.cached_prod;
}
