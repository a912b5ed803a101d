/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a burst of plain frames does not need: frames of other queues are brought in, and large frames and packets of
 * several are cut into pieces of a chunk at most.
 */
#include "afxdp_queue.h"

#include <string.h>

/* Descriptors of one packet at most: the kernel takes MAX_SKB_FRAGS + 1. */
#define PIECES_MAX 18U

bool afxdp_bring_in(struct afxdp_tx *tx, struct pio_frame *f)
{
	struct pio_pool *pool = tx->q.port->pool;
	uint32_t foreign = pio_slot_of(pool, f->data, f->len);
	struct pio_frame own;

	if (foreign == UINT32_MAX || f->len > tx->q.port->caps.max_frame || !pio_cache_get(tx->q.cache, &own, 1))
		return false;
	memcpy(own.data, f->data, f->len);
	own.len = f->len;
	own.flags = f->flags;
	pio_owner_change(pool, pio_slot_of(pool, own.data, 1), PIO_OWNER_POOL, PIO_OWNER_DEVICE, "tx");
	pio_slot_done(pool, tx->q.cache, foreign);
	*f = own;
	return true;
}

/* One packet, as it has to be cut. */
struct cut {
	unsigned frames;  /* 0: not all of it is here, or the kernel would not take it, or it is ill */
	unsigned foreign; /* frames outside this queue's UMEM */
	uint32_t pieces;  /* descriptors, at most */
};

static inline bool is_foreign(const struct afxdp_tx *tx, const struct pio_frame *f)
{
	return (uint64_t)(f->data - tx->base) >= tx->size;
}

/* The packet that begins with f. No descriptor crosses a chunk. */
static struct cut look_at_packet(const struct afxdp_tx *tx, const struct pio_frame *f, unsigned n)
{
	const struct pio_port *port = tx->q.port;
	const uint32_t chunk = 1U << tx->chunk_shift;
	struct cut c = {0};
	unsigned i;

	for (i = 0; i < n && c.pieces <= PIECES_MAX; i++) {
		bool foreign = is_foreign(tx, &f[i]);
		uint64_t offset = foreign ? (port->pool->lines - 1) * PIO_STAGGER_BYTES
					  : (uint64_t)(f[i].data - tx->base) & (chunk - 1);

		if (pio_slot_of(port->pool, f[i].data, f[i].len) == UINT32_MAX || f[i].len > port->caps.max_frame)
			return c;
		c.foreign += foreign;
		c.pieces += (uint32_t)((offset + f[i].len + chunk - 1) >> tx->chunk_shift);
		if (!(f[i].flags & PIO_MORE))
			break;
	}
	if (i < n && c.pieces <= PIECES_MAX)
		c.frames = i + 1;
	return c;
}

/* One frame as descriptors from `at` on; before: bytes of the packet in frames before it. Returns how many. */
static uint32_t put_pieces(struct afxdp_tx *tx, const struct pio_frame *f, uint32_t at, uint32_t before)
{
	const uint64_t chunk = 1ULL << tx->chunk_shift;
	uint64_t addr = (uint64_t)(f->data - tx->base);
	uint32_t left = f->len;
	uint32_t n = 0;

	while (left) {
		uint64_t in_chunk = chunk - (addr & (chunk - 1));
		uint32_t len = left < in_chunk ? left : (uint32_t)in_chunk;
		bool slot_more = len < left;
		bool more = slot_more || f->flags & PIO_MORE;

		*xsk_ring_prod__tx_desc(&tx->ring, at + n) =
			(struct xdp_desc){.addr = addr, .len = len, .options = more ? XDP_PKT_CONTD : 0};
		*afxdp_sent_of(tx, addr) =
			(more ? AFXDP_SENT_MORE : before + f->len) | (slot_more ? AFXDP_SENT_SLOT_MORE : 0);
		n++;
		addr += len;
		left -= len;
	}
	return n;
}

/* There is room in the ring, and a frame of its own for each that is foreign. */
static void put_packet(struct afxdp_tx *tx, const struct pio_frame *f, unsigned frames)
{
	uint32_t at = tx->ring.cached_prod;
	uint32_t bytes = 0;

	for (unsigned i = 0; i < frames; i++) {
		struct pio_frame frame = f[i];

		if (is_foreign(tx, &frame))
			afxdp_bring_in(tx, &frame);
		at += put_pieces(tx, &frame, at, bytes);
		bytes += frame.len;
	}
	xsk_ring_prod__submit(&tx->ring, at - tx->ring.cached_prod);
	tx->ring.cached_prod = at;
}

unsigned afxdp_put_packet(struct afxdp_tx *tx, const struct pio_frame *f, unsigned n)
{
	struct cut c = look_at_packet(tx, f, n);

	if (!c.frames || c.foreign > tx->q.cache->n)
		return 0;
	if (xsk_prod_nb_free(&tx->ring, c.pieces) < c.pieces) {
		stats_add(&tx->q.stats.tx.ring_full, 1);
		return 0;
	}
	put_packet(tx, f, c.frames);
	return c.frames;
}
