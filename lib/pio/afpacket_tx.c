/* SPDX-License-Identifier: Apache-2.0 */
#include "afpacket_queue.h"

#include "lib/clock.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

/* After a carrier comes back its queueing discipline follows within the same work item of the kernel. */
#define QDISC_SETTLE_NS 10000000ULL

enum refusal {
	REFUSED_NOW,   /* no room, no link: back-pressure */
	REFUSED_FRAME, /* this frame will never do */
	REFUSED_ALL,   /* the interface is gone */
};

static enum refusal refusal_of(int error)
{
	switch (error) {
	case ENOBUFS: /* the device dropped it: busy, its queue full, no carrier, or the other side's backlog full */
	case EAGAIN:
	case ENETDOWN:
	case ENOMEM:
	case EINTR:
		return REFUSED_NOW;
	case ENXIO:
	case ENODEV:
	case EBADF:
	case ENOTSOCK:
		return REFUSED_ALL;
	default:
		return REFUSED_FRAME;
	}
}

static inline struct afpacket_tx *tx_of(struct pio_queue *q)
{
	return (struct afpacket_tx *)q;
}

static inline struct tpacket2_hdr *slot_at(const struct afpacket_tx *tx, uint32_t i)
{
	return (struct tpacket2_hdr *)(void *)(tx->ring + ((size_t)(i & (tx->slots - 1)) << tx->slot_shift));
}

/* The upper bits of a status report a time stamp. */
static inline uint32_t slot_status(const struct tpacket2_hdr *slot)
{
	return __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) &
	       (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING | TP_STATUS_WRONG_FORMAT);
}

static inline void slot_give(struct tpacket2_hdr *slot)
{
	__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
}

/*
 * A queueing discipline answers NET_XMIT_CN, which the socket reports as success, when it stands in for a device
 * without carrier (noop_qdisc) and throws the packet away. So with a discipline the carrier is looked at around every
 * send, and what the kernel gave back without one is not counted as sent.
 */
static bool has_carrier(struct afpacket_tx *tx)
{
	struct ifreq r = {.ifr_ifindex = tx->ifindex};

	if (ioctl(tx->fd, SIOCGIFNAME, &r) || ioctl(tx->fd, SIOCGIFFLAGS, &r)) {
		if (errno == ENODEV)
			pio_queue_gone(&tx->q);
		return false;
	}
	return (r.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

static bool may_send(struct afpacket_tx *tx)
{
	if (!tx->qdisc)
		return true;
	if (!has_carrier(tx)) {
		tx->hold_until = clock_mono_ns() + QDISC_SETTLE_NS;
		return false;
	}
	return !tx->hold_until || clock_mono_ns() >= tx->hold_until;
}

/* For what was just given back as sent. */
static bool was_sent(struct afpacket_tx *tx)
{
	return !tx->qdisc || has_carrier(tx);
}

/* A whole packet inside one slot of the pool. */
static inline bool frame_fits(const struct pio_queue *q, const struct pio_frame *f)
{
	return pio_slot_of(q->port->pool, f->data, f->len) != UINT32_MAX && f->len <= q->port->caps.max_frame &&
	       !(f->flags & PIO_MORE);
}

/* The kernel has its copy. */
static inline void frame_done(struct pio_queue *q, const struct pio_frame *f)
{
	pio_slot_done(q->port->pool, q->cache, pio_slot_of(q->port->pool, f->data, 1));
}

static unsigned tx_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

static unsigned tx_no_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	(void)q;
	(void)f;
	(void)n;
	return 0;
}

static int tx_no_poll(struct pio_queue *q, int timeout_ms)
{
	(void)timeout_ms;
	return pio_queue_error(q, NULL);
}

static void tx_nothing(struct pio_queue *q)
{
	(void)q;
}

/* ---- rings ---- */

/*
 * The kernel refused the oldest slot for good and will look nowhere else until that slot is offered again. The ones
 * behind it move up by one.
 */
static void ring_close_gap(struct afpacket_tx *tx)
{
	const size_t header = sizeof(struct tpacket2_hdr);

	for (uint32_t i = tx->tail; i + 1 != tx->head; i++) {
		struct tpacket2_hdr *to = slot_at(tx, i);
		const struct tpacket2_hdr *from = slot_at(tx, i + 1);

		to->tp_len = from->tp_len;
		memcpy((unsigned char *)to + header, (const unsigned char *)from + header,
		       tx->data_offset - header + from->tp_len);
		slot_give(to);
	}
	tx->head--;
	__atomic_store_n(&slot_at(tx, tx->head)->tp_status, TP_STATUS_AVAILABLE, __ATOMIC_RELEASE);
}

/* Takes back what the kernel has finished with. True when a refused frame was among it and held up others. */
static bool ring_reap(struct afpacket_tx *tx)
{
	struct stats_tx *s = &tx->q.stats.tx;
	const uint32_t overhead = tx->data_offset - (uint32_t)sizeof(struct tpacket2_hdr);
	uint64_t packets = 0;
	uint64_t bytes = 0;
	uint64_t refused = 0;
	bool unblocked = false;

	while (tx->tail != tx->head) {
		const struct tpacket2_hdr *slot = slot_at(tx, tx->tail);
		uint32_t status = slot_status(slot);

		if (status == TP_STATUS_AVAILABLE) {
			packets++;
			bytes += slot->tp_len - overhead;
			tx->tail++;
		} else if (status == TP_STATUS_WRONG_FORMAT) {
			refused++;
			ring_close_gap(tx);
			unblocked = tx->tail != tx->head;
		} else {
			break;
		}
	}
	if (packets && !was_sent(tx)) {
		refused += packets;
		packets = bytes = 0;
	}
	if (packets) {
		stats_add(&s->completed, packets);
		stats_add(&s->completed_bytes, bytes);
	}
	if (refused)
		stats_add(&s->dropped_driver, refused);
	return unblocked;
}

/* Lets the kernel send what is offered. It works in order, so the youngest slot tells whether anything is left. */
static void ring_kick(struct pio_queue *q)
{
	struct afpacket_tx *tx = tx_of(q);

	do {
		if (tx->tail == tx->head)
			return;
		if (slot_status(slot_at(tx, tx->head - 1)) != TP_STATUS_SEND_REQUEST)
			continue;
		if (!may_send(tx)) {
			stats_add(&q->stats.tx.busy, 1);
		} else if (send(tx->fd, NULL, 0, MSG_DONTWAIT) < 0) {
			/* A frame refused for good is told by its slot's status. */
			enum refusal r = refusal_of(errno);

			if (r == REFUSED_ALL)
				pio_queue_gone(q);
			else if (r == REFUSED_NOW)
				stats_add(&q->stats.tx.busy, 1);
		}
	} while (ring_reap(tx));
}

/* The kernel works in order: what it has not begun with are the youngest slots. */
static void ring_give_up(struct pio_queue *q)
{
	struct afpacket_tx *tx = tx_of(q);
	uint64_t n = 0;

	while (tx->head != tx->tail && slot_status(slot_at(tx, tx->head - 1)) == TP_STATUS_SEND_REQUEST) {
		tx->head--;
		__atomic_store_n(&slot_at(tx, tx->head)->tp_status, TP_STATUS_AVAILABLE, __ATOMIC_RELEASE);
		n++;
	}
	stats_add(&q->stats.tx.dropped_end, n);
}

static inline __attribute__((always_inline)) unsigned ring_tx(struct pio_queue *q, const struct pio_frame *f,
							      unsigned n, const bool linear)
{
	struct afpacket_tx *tx = tx_of(q);
	const uint32_t header = (uint32_t)sizeof(struct tpacket2_hdr);
	unsigned done = 0;

	if (pio_queue_error(q, NULL))
		return 0;
	if (n > tx->slots - (tx->head - tx->tail)) {
		ring_kick(q);
		uint32_t room = tx->slots - (tx->head - tx->tail);

		if (n > room) {
			stats_add(&q->stats.tx.ring_full, 1);
			n = room;
		}
	}
	for (; done < n; done++) {
		struct tpacket2_hdr *slot = slot_at(tx, tx->head);
		unsigned char *at = (unsigned char *)slot + header;
		uint32_t len = f[done].len;

		if (!frame_fits(q, &f[done]))
			break;
		slot->tp_len = len;
		if (linear) {
			struct virtio_net_hdr v = {.hdr_len = (uint16_t)len};

			memcpy(at, &v, sizeof(v));
			at += sizeof(v);
			slot->tp_len += (uint32_t)sizeof(v);
		}
		memcpy(at, f[done].data, len);
		slot_give(slot);
		tx->head++;
		frame_done(q, &f[done]);
	}
	if (!done)
		return 0;
	stats_add(&q->stats.tx.queued, done);
	stats_add(&q->stats.tx.batches, 1);
	ring_kick(q);
	return done;
}

static unsigned ring_tx_pages(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	return ring_tx(q, f, n, false);
}

static unsigned ring_tx_linear(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	return ring_tx(q, f, n, true);
}

/* ---- sendmmsg ---- */

/* Sends the messages 0..n-1 and returns how many are settled: accepted, or refused for good. */
static unsigned mmsg_send(struct afpacket_tx *tx, unsigned n)
{
	struct stats_tx *s = &tx->q.stats.tx;
	unsigned settled = 0;

	while (settled < n && may_send(tx)) {
		int rc = sendmmsg(tx->fd, tx->msgs + settled, n - settled, MSG_DONTWAIT);

		if (rc > 0) {
			uint64_t bytes = 0;

			for (unsigned i = 0; i < (unsigned)rc; i++)
				bytes += tx->iov[settled + i].iov_len;
			settled += (unsigned)rc;
			stats_add(&s->queued, (unsigned)rc);
			if (was_sent(tx)) {
				stats_add(&s->completed, (unsigned)rc);
				stats_add(&s->completed_bytes, bytes);
			} else {
				stats_add(&s->dropped_driver, (unsigned)rc);
			}
			continue;
		}
		enum refusal r = refusal_of(errno);

		if (r == REFUSED_ALL)
			pio_queue_gone(&tx->q);
		if (r != REFUSED_FRAME)
			break;
		stats_add(&s->queued, 1);
		stats_add(&s->dropped_driver, 1);
		settled++;
	}
	return settled;
}

static unsigned mmsg_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct afpacket_tx *tx = tx_of(q);
	unsigned done = 0;
	unsigned settled = 0;
	unsigned batch = 0;

	if (pio_queue_error(q, NULL))
		return 0;
	do {
		for (batch = 0; batch < AFPACKET_TX_BATCH && done + batch < n; batch++) {
			const struct pio_frame *frame = &f[done + batch];

			if (!frame_fits(q, frame))
				break;
			tx->iov[batch] = (struct iovec){.iov_base = frame->data, .iov_len = frame->len};
		}
		settled = mmsg_send(tx, batch);
		for (unsigned i = 0; i < settled; i++)
			frame_done(q, &f[done + i]);
		done += settled;
	} while (settled == AFPACKET_TX_BATCH && done < n);
	if (settled < batch)
		stats_add(&q->stats.tx.busy, 1);
	if (done)
		stats_add(&q->stats.tx.batches, 1);
	return done;
}

/* What the three mechanisms have in common: nothing is received, and the counters are always up to date. */
#define TX_OPS(...) \
	{ \
		.get = tx_get, .rx = tx_no_rx, .poll = tx_no_poll, .sync = tx_nothing, __VA_ARGS__ \
	}

const struct pio_queue_ops afpacket_ring_ops = TX_OPS(.tx = ring_tx_pages, .kick = ring_kick, .give_up = ring_give_up);

const struct pio_queue_ops afpacket_linear_ops =
	TX_OPS(.tx = ring_tx_linear, .kick = ring_kick, .give_up = ring_give_up);

const struct pio_queue_ops afpacket_sendmmsg_ops = TX_OPS(.tx = mmsg_tx, .kick = tx_nothing);
