/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static inline struct afxdp_tx *tx_of(struct pio_queue *q)
{
	return (struct afxdp_tx *)q;
}

/* ---- what was sent ---- */

/* From here on each packet's length is remembered, since they differ. Those on their way had the same. */
static __attribute__((noinline)) void remember_each(struct afxdp_tx *tx)
{
	for (uint64_t i = 0; i < tx->size >> tx->chunk_shift; i++)
		tx->sent[i] = tx->same_len;
	tx->same_len = AFXDP_DIFFERENT;
}

/* Gives the slots of n chunks back to their homes, most of which is here. */
static inline __attribute__((always_inline)) void give_home(struct afxdp_tx *tx, uint32_t at, uint32_t n)
{
	struct pio_pool *pool = tx->q.port->pool;
	struct pio_cache *own = tx->q.cache;
	const unsigned shift = tx->slot_shift;
	/* Copies, since a store into a stack could, for all the compiler knows, change what it points to. */
	const uint32_t mask = tx->comp->mask;
	const uint32_t first = own->first;
	const uint32_t count = own->count;
	const uint32_t offset = tx->first_slot - first;
	uint32_t *top = own->free + own->n;

	while (n) {
		const uint64_t *addr = (const uint64_t *)tx->comp->ring + (at & mask);
		const uint32_t run = afxdp_side_by_side(mask, at, n);

#pragma GCC unroll 4
		for (uint32_t i = 0; i < run; i++) {
			uint32_t slot = (uint32_t)(addr[i] >> shift) + offset;

			pio_owner_change(pool, first + slot, PIO_OWNER_DEVICE, PIO_OWNER_POOL, "completion");
			if (slot < count)
				*top++ = first + slot;
			else
				pio_slot_home(pool, NULL, first + slot);
		}
		at += run;
		n -= run;
	}
	own->n = (uint32_t)(top - own->free);
}

/* The device dropped some of what came back. */
static __attribute__((noinline)) void count_lost(struct afxdp_tx *tx, uint64_t *packets, uint64_t *bytes)
{
	uint64_t n = tx->lost < *packets ? tx->lost : *packets;
	uint64_t n_bytes = tx->lost_bytes < *bytes ? tx->lost_bytes : *bytes;

	tx->lost -= n;
	tx->lost_bytes -= n_bytes;
	*packets -= n;
	*bytes -= n_bytes;
	stats_add(&tx->q.stats.tx.dropped_driver, n);
}

static inline __attribute__((always_inline)) void count_completed(struct afxdp_tx *tx, uint64_t packets, uint64_t bytes)
{
	if (tx->lost && packets)
		count_lost(tx, &packets, &bytes);
	stats_add(&tx->q.stats.tx.completed, packets);
	stats_add(&tx->q.stats.tx.completed_bytes, bytes);
}

/* Packets whose lengths were remembered. */
static __attribute__((noinline)) void reap_remembered(struct afxdp_tx *tx, uint32_t at, uint32_t n, bool multi_buffer)
{
	uint64_t packets = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = *xsk_ring_cons__comp_addr(tx->comp, at + i);
		uint32_t was = *afxdp_sent_of(tx, addr);

		if (!(was & AFXDP_SENT_MORE)) {
			packets++;
			bytes += was & AFXDP_SENT_LEN;
		}
		if (multi_buffer && !(was & AFXDP_SENT_SLOT_MORE))
			pio_slot_done(tx->q.port->pool, tx->q.cache,
				      tx->first_slot + (uint32_t)(addr >> tx->slot_shift));
	}
	if (!multi_buffer)
		give_home(tx, at, n);
	count_completed(tx, packets, bytes);
}

/* Takes back what the device has finished with. Returns how many chunks that were. */
static inline __attribute__((always_inline)) uint32_t reap(struct afxdp_tx *tx, const bool multi_buffer)
{
	uint32_t n = xsk_cons_nb_avail(tx->comp, UINT32_MAX);
	uint32_t at = tx->comp->cached_cons;

	if (!n)
		return 0;
	if (multi_buffer || tx->same_len == AFXDP_DIFFERENT) {
		reap_remembered(tx, at, n, multi_buffer);
	} else {
		give_home(tx, at, n);
		count_completed(tx, n, (uint64_t)n * tx->same_len);
	}
	tx->comp->cached_cons += n;
	xsk_ring_cons__release(tx->comp, n);
	return n;
}

/* ---- copy mode: the system call sends ---- */

/* 0, or the errno of a call. */
static int wake_up(struct afxdp_tx *tx)
{
	return sendto(tx->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
}

static bool is_gone(int error)
{
	return error == ENXIO || error == ENODEV || error == EBADF;
}

/*
 * Has the kernel send until the ring is empty or it gets no further: one call takes a budget's worth, and it stops at
 * every packet that the device dropped.
 */
static inline __attribute__((always_inline)) void send_copies(struct afxdp_tx *tx, const bool multi_buffer)
{
	while (tx->consumed != tx->ring.cached_prod) {
		uint32_t before = tx->consumed;
		int error = wake_up(tx);

		afxdp_copy_follow(tx, error);
		if (is_gone(error)) {
			pio_queue_gone(&tx->q);
			return;
		}
		if (tx->consumed == before && !reap(tx, multi_buffer)) {
			stats_add(&tx->q.stats.tx.busy, 1);
			return;
		}
	}
}

/* ---- zero-copy: the driver reads the ring itself, once awake ---- */

static void wake_driver(struct afxdp_tx *tx)
{
	int error = 0;

	if (xsk_ring_prod__needs_wakeup(&tx->ring))
		error = wake_up(tx);
	if (is_gone(error))
		pio_queue_gone(&tx->q);
	else if (error)
		stats_add(&tx->q.stats.tx.busy, 1);
}

static inline __attribute__((always_inline)) void push(struct afxdp_tx *tx, const bool multi_buffer)
{
	if (tx->zero_copy)
		wake_driver(tx);
	else
		send_copies(tx, multi_buffer);
	/* Now and not when frames are needed: a slow sender's counters would stand still for hundreds of packets. */
	reap(tx, multi_buffer);
}

/* ---- the calls ---- */

static inline __attribute__((always_inline)) unsigned get(struct pio_queue *q, struct pio_frame *f, unsigned n,
							  const bool multi_buffer)
{
	if (q->cache->n < n)
		reap(tx_of(q), multi_buffer);
	return pio_cache_get(q->cache, f, n);
}

/* The beginning of the array, as far as the frames are this queue's and as long as all before. Returns how many. */
static inline __attribute__((always_inline)) unsigned put_same(struct afxdp_tx *tx, const struct pio_frame *f,
							       unsigned n)
{
	/* What a frame holds besides its address is compared, and goes into the descriptor, as one: no flag is set. */
	const struct pio_frame like = {.len = tx->same_len};
	struct xdp_desc *const ring = tx->ring.ring;
	unsigned char *const base = tx->base;
	const uint64_t size = tx->size;
	const uint64_t mask = (1ULL << tx->slot_shift) - 1;
	const uint64_t last = mask + 1 - tx->same_len; /* where in a slot the packet may begin at most */
	const uint32_t ring_mask = tx->ring.mask;
	uint32_t at = tx->ring.cached_prod;
	unsigned done = 0;

	while (done < n) {
		struct xdp_desc *d = &ring[at & ring_mask];
		const unsigned end = done + afxdp_side_by_side(ring_mask, at, n - done);

		at += end - done;
#pragma GCC unroll 4
		for (; done < end; done++, d++) {
			uint64_t addr = (uint64_t)(f[done].data - base);

			if (memcmp(&f[done].len, &like.len, sizeof(uint64_t)) != 0)
				return done;
			/* The descriptor of a round before: frames mostly come again in the same order. */
			if (d->addr == addr && memcmp(&d->len, &like.len, sizeof(uint64_t)) == 0)
				continue;
			if (addr >= size || (addr & mask) > last)
				return done;
			d->addr = addr;
			memcpy(&d->len, &like.len, sizeof(uint64_t));
		}
	}
	return done;
}

/* The same for frames of any kind, from f[done] on; the length of each is remembered. */
static __attribute__((noinline)) unsigned put_different(struct afxdp_tx *tx, const struct pio_frame *f, unsigned done,
							unsigned n)
{
	const uint64_t slot = 1ULL << tx->slot_shift;

	if (tx->same_len != AFXDP_DIFFERENT)
		remember_each(tx);
	for (; done < n; done++) {
		struct pio_frame frame = f[done];
		uint64_t addr = (uint64_t)(frame.data - tx->base);

		if (addr >= tx->size) {
			if (frame.flags & PIO_MORE || !afxdp_bring_in(tx, &frame))
				break;
			addr = (uint64_t)(frame.data - tx->base);
		}
		if (frame.len - 1U >= tx->q.port->caps.max_frame || frame.len > slot - (addr & (slot - 1)) ||
		    frame.flags & PIO_MORE)
			break;
		*xsk_ring_prod__tx_desc(&tx->ring, tx->ring.cached_prod + done) =
			(struct xdp_desc){.addr = addr, .len = frame.len};
		*afxdp_sent_of(tx, addr) = frame.len;
	}
	return done;
}

static unsigned tx_plain(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct afxdp_tx *tx = tx_of(q);
	uint32_t room = xsk_prod_nb_free(&tx->ring, n);
	unsigned done = 0;

	if (pio_queue_error(q, NULL))
		return 0;
	if (room < n) {
		stats_add(&q->stats.tx.ring_full, 1);
		n = room;
	}
	if (n && !tx->same_len && f->len - 1U < q->port->caps.max_frame)
		tx->same_len = f->len;
	if (tx->same_len && tx->same_len != AFXDP_DIFFERENT)
		done = put_same(tx, f, n);
	if (done < n)
		done = put_different(tx, f, done, n);
	if (done) {
		tx->ring.cached_prod += done;
		xsk_ring_prod__submit(&tx->ring, done);
		stats_add(&q->stats.tx.queued, done);
		stats_add(&q->stats.tx.batches, 1);
	}
	push(tx, false);
	return done;
}

static unsigned tx_multi_buffer(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct afxdp_tx *tx = tx_of(q);
	unsigned done = 0;
	unsigned packets = 0;

	if (pio_queue_error(q, NULL))
		return 0;
	while (done < n) {
		unsigned frames = afxdp_put_packet(tx, f + done, n - done);

		if (!frames)
			break;
		done += frames;
		packets++;
	}
	if (packets) {
		stats_add(&q->stats.tx.queued, packets);
		stats_add(&q->stats.tx.batches, 1);
	}
	push(tx, true);
	return done;
}

static unsigned get_plain(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return get(q, f, n, false);
}

static unsigned get_multi_buffer(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return get(q, f, n, true);
}

static void kick_plain(struct pio_queue *q)
{
	reap(tx_of(q), false);
	push(tx_of(q), false);
}

static void kick_multi_buffer(struct pio_queue *q)
{
	reap(tx_of(q), true);
	push(tx_of(q), true);
}

static unsigned no_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	(void)q;
	(void)f;
	(void)n;
	return 0;
}

static int no_poll(struct pio_queue *q, int timeout_ms)
{
	(void)timeout_ms;
	return pio_queue_error(q, NULL);
}

static void sync_counters(struct pio_queue *q)
{
	struct afxdp_tx *tx = tx_of(q);
	struct xdp_statistics s = {0};
	socklen_t size = sizeof(s);

	afxdp_check_interface(q, tx->fd);
	if (getsockopt(tx->fd, SOL_XDP, XDP_STATISTICS, &s, &size))
		return;
	stats_set(&q->stats.tx.invalid, s.tx_invalid_descs);
	stats_set(&q->stats.tx.ring_empty, s.tx_ring_empty_descs);
}

#define TX_OPS(variant) \
	{ \
		.get = get_##variant, .tx = tx_##variant, .kick = kick_##variant, .rx = no_rx, .poll = no_poll, \
		.sync = sync_counters, .give_up = afxdp_copy_give_up, \
	}

const struct pio_queue_ops afxdp_tx_ops = TX_OPS(plain);
const struct pio_queue_ops afxdp_tx_multi_buffer_ops = TX_OPS(multi_buffer);
