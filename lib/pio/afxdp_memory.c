/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of an afxdp port: how large their slots are, and which part of the pool each queue has. */
#include "afxdp_queue.h"
#include "backend.h"

#include <errno.h>
#include <stdlib.h>

#define TX_FRAMES      512U  /* copy mode sends within the call: only a burst is ever out */
#define TX_FRAMES_ZC   2048U /* what hardware may hold at a time */
#define TX_BURST       512U  /* measured on veth: 4 % less than with 128 */
#define RX_FRAMES      16384U
#define SLOT_SHIFT_MAX 17U
#define FILL_LOT       64U
#define FILL_PART      8U /* of a small ring; the kernel has the other frames */
#define PAGE_BYTES     4096U

static uint32_t one_buffer(const struct afxdp_port *ap, bool rx)
{
	return (1U << ap->chunk_shift) - (rx ? AFXDP_KERNEL_HEADROOM : (PIO_STAGGER_MIN - 1) * PIO_STAGGER_BYTES) -
	       PIO_TAILROOM;
}

/* What the kernel puts into one chunk. */
static uint32_t rx_room(const struct afxdp_port *ap)
{
	return (1U << ap->chunk_shift) - AFXDP_KERNEL_HEADROOM;
}

int afxdp_refuse_multi_buffer(const struct afxdp_port *ap, int rc, const char *why, struct err *e)
{
	const struct pio_port *port = &ap->port;
	uint32_t tx_room = one_buffer(ap, false);

	if (port->n_tx && port->caps.max_frame > tx_room) {
		err_set(e, rc, EXIT_CAPABILITY, "cannot send packets of this size", port->name,
			"%u bytes without FCS need several buffers, and %s", port->caps.max_frame, why);
		err_hint(e, "--packet-size %u at most, or afpacket:%s", tx_room + FCS_BYTES, ap->link->name);
		return rc;
	}
	err_set(e, rc, EXIT_CAPABILITY, "cannot receive packets of this size", port->name,
		"with an MTU of %u they need several buffers, and %s", ap->link->mtu, why);
	err_hint(e, "ip link set %s mtu %u, or afpacket:%s", ap->link->name, rx_room(ap) - PIO_LINK_L2_MAX,
		 ap->link->name);
	return rc;
}

/* Chunks as small as the packets allow, and slots of several chunks for packets that are sent and larger than a page.
 */
static unsigned choose_slots(struct afxdp_port *ap)
{
	const struct pio_port *port = &ap->port;
	unsigned shift = AFXDP_CHUNK_SHIFT_MIN;

	ap->chunk_shift = AFXDP_CHUNK_SHIFT_MIN;
	if ((port->n_rx && ap->rx_need > one_buffer(ap, true)) ||
	    (port->n_tx && port->caps.max_frame > one_buffer(ap, false)))
		ap->chunk_shift = shift = AFXDP_CHUNK_SHIFT_MAX;
	while (port->n_tx && shift < SLOT_SHIFT_MAX &&
	       port->caps.max_frame + PIO_TAILROOM + (PIO_STAGGER_MIN - 1) * PIO_STAGGER_BYTES > 1U << shift)
		shift++;
	return shift;
}

/* Behind a received packet: what the largest leaves of its chunk. The pieces of a chain may fill theirs. */
static uint32_t room_behind(const struct afxdp_port *ap)
{
	uint32_t left = ap->rx_need < rx_room(ap) ? rx_room(ap) - ap->rx_need : 0;

	return left < PIO_TAILROOM ? left : PIO_TAILROOM;
}

/* Several buffers cost, so they are asked for only when a packet may need them. */
static bool needs_multi_buffer(const struct afxdp_port *ap)
{
	return ap->port.pool->shift > ap->chunk_shift || (ap->port.n_rx && ap->rx_need > rx_room(ap));
}

static int make_pool(struct afxdp_port *ap, uint32_t frames, struct err *e)
{
	struct pio_port *port = &ap->port;
	unsigned shift = choose_slots(ap);
	uint32_t slot = 1U << shift;
	uint32_t lines = PIO_STAGGER_MIN;
	uint32_t largest;

	while (lines < PIO_STAGGER_MAX &&
	       port->caps.max_frame + PIO_TAILROOM + (2 * lines - 1) * PIO_STAGGER_BYTES <= slot)
		lines *= 2;
	largest = slot - PIO_TAILROOM - (lines - 1) * PIO_STAGGER_BYTES;
	if (port->n_rx && shift == ap->chunk_shift && one_buffer(ap, true) < largest)
		largest = one_buffer(ap, true);
	port->own_pool = true;
	return pio_pool_create_slots(&port->pool, frames, shift, lines, largest, e);
}

static int share_pool(struct afxdp_port *ap, struct pio_pool *pool, struct err *e)
{
	struct pio_port *port = &ap->port;

	port->pool = pool;
	ap->chunk_shift = pool->shift < AFXDP_CHUNK_SHIFT_MAX ? pool->shift : AFXDP_CHUNK_SHIFT_MAX;
	return pio_check_pool(pool, port, e);
}

/* A receiver that does not get the whole of the largest packet gets none of it, ever. */
static uint32_t frames_of_largest(const struct afxdp_port *ap)
{
	const uint32_t piece = (1U << AFXDP_CHUNK_SHIFT_MAX) - AFXDP_KERNEL_HEADROOM;

	return (ap->rx_need + piece - 1) / piece;
}

/* A queue's part of the pool begins and ends with a page. */
static uint32_t whole_pages(uint32_t frames)
{
	const uint32_t per_page = PAGE_BYTES >> AFXDP_CHUNK_SHIFT_MIN;

	return (frames + per_page - 1) / per_page * per_page;
}

/* ---- queues ---- */

static uint32_t lot_of(uint32_t rx_frames)
{
	uint32_t part = rx_frames / FILL_PART;

	return part > FILL_LOT ? FILL_LOT : part ? part : 1;
}

/* The queues of one number side by side, so that a part of the pool is one socket's memory. */
static int make_queues(struct afxdp_port *ap, uint32_t tx_frames, uint32_t rx_frames, struct err *e)
{
	struct pio_port *port = &ap->port;
	struct pio_pool *pool = port->pool;

	for (unsigned i = 0; i < ap->n; i++) {
		struct afxdp_socket *s = &ap->sockets[i];
		uint32_t first = port->own_pool ? pool->taken : 0;

		if (i < port->n_tx) {
			struct afxdp_tx *tx =
				(struct afxdp_tx *)pio_queue_create(port, sizeof(*tx), i, true, tx_frames, e);

			port->tx[i] = (struct pio_queue *)tx;
			if (!tx)
				return -ENOMEM;
			tx->fd = -1;
			tx->slot_shift = pool->shift;
			tx->first_slot = first;
		}
		if (i < port->n_rx) {
			struct afxdp_rx *rx =
				(struct afxdp_rx *)pio_queue_create(port, sizeof(*rx), i, false, rx_frames, e);

			port->rx[i] = (struct pio_queue *)rx;
			if (!rx)
				return -ENOMEM;
			rx->fd = -1;
			rx->slot_shift = pool->shift;
			rx->first_slot = first;
			rx->lot = lot_of(rx_frames);
			rx->q.ops = ap->want_multi_buffer ? &afxdp_rx_multi_buffer_ops : &afxdp_rx_ops;
		}
		s->base = pool->base + ((uint64_t)first << pool->shift);
		s->size = port->own_pool ? (uint64_t)(pool->taken - first) << pool->shift : pool->size;
	}
	return 0;
}

static void free_queues(struct pio_queue **queues, unsigned n)
{
	for (unsigned i = 0; queues && i < n; i++) {
		if (queues[i] && queues[i]->is_tx)
			free(((struct afxdp_tx *)queues[i])->sent);
		pio_queue_destroy(queues[i]);
	}
	free(queues);
}

void afxdp_memory_close(struct afxdp_port *ap)
{
	struct pio_port *port = &ap->port;

	free_queues(port->tx, port->n_tx);
	free_queues(port->rx, port->n_rx);
	if (port->own_pool)
		pio_pool_destroy(port->pool);
}

int afxdp_memory_open(struct afxdp_port *ap, const struct pio_conf *conf, bool multi_buffer, struct err *e)
{
	struct pio_port *port = &ap->port;
	uint32_t tx_frames = conf->tx_frames;
	uint32_t rx_frames = conf->rx_frames ? conf->rx_frames : RX_FRAMES;
	struct host_xdp can;
	int rc;

	if (!tx_frames)
		tx_frames = host_link_xdp(ap->link->index, &can) == 0 && can.zero_copy ? TX_FRAMES_ZC : TX_FRAMES;
	ap->rx_need = ap->link->mtu + PIO_LINK_L2_MAX;
	if (!conf->pool) {
		if (rx_frames < frames_of_largest(ap))
			rx_frames = frames_of_largest(ap);
		tx_frames = whole_pages(tx_frames);
		rx_frames = whole_pages(rx_frames);
	}
	rc = conf->pool ? share_pool(ap, conf->pool, e)
			: make_pool(ap, port->n_tx * tx_frames + port->n_rx * rx_frames, e);
	if (rc)
		return rc;
	ap->want_multi_buffer = needs_multi_buffer(ap);
	if (ap->want_multi_buffer && !multi_buffer)
		return afxdp_refuse_multi_buffer(ap, -EOPNOTSUPP, "they are switched off (multi-buffer=off)", e);
	port->caps.tx_burst = TX_BURST;
	port->caps.rx_chains = port->caps.tx_chains = ap->want_multi_buffer;
	port->caps.tailroom = room_behind(ap);
	port->caps.crosses_by_reference = !port->own_pool;
	return make_queues(ap, tx_frames, rx_frames, e);
}
