/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel fills blocks of packets and hands over a block when it is full or 1 ms old; packets are copied into the
 * pool's frames and the block goes back as soon as it is drained. Offsets that the kernel wrote are checked before
 * they are followed.
 */
#include "afpacket_queue.h"

#include "lib/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <string.h>

#define PREFETCH 1024U /* bytes ahead: packets follow each other without gaps; 34 instead of 42 ns a packet */
#define LOOK_MAX 1024U /* packets looked at by one call, so that a flood of strangers does not hold it */

static inline struct afpacket_rx *rx_of(struct pio_queue *q)
{
	return (struct afpacket_rx *)q;
}

static inline struct tpacket_block_desc *block_at(const struct afpacket_rx *rx)
{
	return (struct tpacket_block_desc *)(void *)(rx->ring + (size_t)rx->block * rx->block_size);
}

static inline bool block_ready(const struct afpacket_rx *rx)
{
	return __atomic_load_n(&block_at(rx)->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER;
}

static void block_release(struct afpacket_rx *rx)
{
	__atomic_store_n(&block_at(rx)->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	rx->left = 0;
	if (++rx->block == rx->blocks)
		rx->block = 0;
}

static bool block_open(struct afpacket_rx *rx)
{
	while (block_ready(rx)) {
		const struct tpacket_hdr_v1 *h = &block_at(rx)->hdr.bh1;

		rx->left = h->num_pkts;
		rx->at = h->offset_to_first_pkt;
		if (rx->left)
			return true;
		block_release(rx);
	}
	return false;
}

/* One packet of a block, its fields read once and found to lie inside the block. */
struct packet {
	const unsigned char *data;
	uint32_t len;   /* there */
	uint32_t whole; /* as it was received, the outer tag not counted */
	uint32_t next;  /* offset of the next packet in the block */
	uint32_t flags;
	uint32_t tag; /* big-endian TPID and TCI, 0: none */
	uint64_t ns;  /* when the kernel got it, wall clock */
};

static inline bool packet_at(const struct afpacket_rx *rx, struct packet *p)
{
	const unsigned char *block = (const unsigned char *)block_at(rx);
	const struct tpacket3_hdr *h = (const struct tpacket3_hdr *)(const void *)(block + rx->at);
	const uint32_t size = rx->block_size;

	if (rx->at > size - sizeof(*h) || rx->at % _Alignof(struct tpacket3_hdr))
		return false;
	uint32_t room = size - rx->at;
	uint32_t mac = h->tp_mac;
	uint32_t status = h->tp_status;

	p->len = h->tp_snaplen;
	p->whole = h->tp_len;
	p->next = rx->at + h->tp_next_offset;
	p->ns = h->tp_sec * NS_PER_S + h->tp_nsec;
	if (mac < sizeof(*h) + sizeof(struct virtio_net_hdr) || mac > room || p->len > room - mac ||
	    h->tp_next_offset >= room)
		return false;
	p->data = (const unsigned char *)h + mac;
	__builtin_prefetch((const unsigned char *)h + PREFETCH);
	__builtin_prefetch((const unsigned char *)h + PREFETCH + 64);

	const struct virtio_net_hdr *v = (const struct virtio_net_hdr *)(const void *)(p->data - sizeof(*v));

	p->flags = status & TP_STATUS_CSUMNOTREADY ? PIO_CSUM_UNFINISHED
						   : (status & TP_STATUS_CSUM_VALID ? PIO_CSUM_OK : 0);
	if (v->gso_type & ~VIRTIO_NET_HDR_GSO_ECN)
		p->flags |= PIO_SUPER;
	p->tag = 0;
	if (status & TP_STATUS_VLAN_VALID && p->len >= ETH_MACS_LEN) {
		uint32_t tpid = status & TP_STATUS_VLAN_TPID_VALID ? h->hv1.tp_vlan_tpid : ETH_P_8021Q;

		p->tag = htonl(tpid << 16 | (h->hv1.tp_vlan_tci & 0xffff));
	}
	return true;
}

/* Copies `len` bytes of the packet from `from` on, the tag back in its place. */
static inline void copy_part(unsigned char *to, const struct packet *p, uint32_t from, uint32_t len)
{
	if (!p->tag) {
		memcpy(to, p->data + from, len);
	} else if (from) {
		memcpy(to, p->data + from - VLAN_TAG_LEN, len);
	} else {
		memcpy(to, p->data, ETH_MACS_LEN);
		memcpy(to + ETH_MACS_LEN, &p->tag, VLAN_TAG_LEN);
		memcpy(to + ETH_MACS_LEN + VLAN_TAG_LEN, p->data + ETH_MACS_LEN, len - ETH_MACS_LEN - VLAN_TAG_LEN);
	}
}

enum outcome {
	DELIVERED,
	DELIVERED_PART, /* the rest of its frames comes with the next call */
	PASSED_OVER,
	NO_ROOM,
};

/*
 * A packet of several frames. It is given whole; only one that is larger than the caller's array (then nothing lies in
 * it yet) or than all the frames of the queue goes in parts.
 */
static enum outcome deliver_chain(struct afpacket_rx *rx, const struct packet *p, uint32_t total, struct pio_frame *f,
				  unsigned n, bool array_empty, unsigned *used)
{
	struct pio_cache *cache = rx->q.cache;
	unsigned want = (total - rx->part + rx->room - 1) / rx->room;
	unsigned room = n < cache->n ? n : cache->n;

	if (want > room) {
		if (!(array_empty && want > n) && cache->n < cache->count)
			return NO_ROOM;
		want = room;
	}
	pio_cache_get(cache, f, want);
	for (unsigned i = 0; i < want; i++) {
		uint32_t rest = total - rx->part;

		f[i].len = rest < rx->room ? rest : rx->room;
		f[i].flags = rx->part ? 0 : p->flags;
		copy_part(f[i].data, p, rx->part, f[i].len);
		rx->part += f[i].len;
		if (rx->part < total)
			f[i].flags |= PIO_MORE;
	}
	*used = want;
	if (rx->part < total)
		return DELIVERED_PART;
	rx->part = 0;
	return DELIVERED;
}

/* Makes frames of the packet, at most n; *used is how many it took. */
static inline enum outcome deliver(struct afpacket_rx *rx, const struct packet *p, struct pio_frame *f, unsigned n,
				   bool array_empty, unsigned *used)
{
	struct pio_cache *cache = rx->q.cache;
	uint32_t total = p->len + (p->tag ? VLAN_TAG_LEN : 0);
	uint32_t first = total < rx->room ? total : rx->room;
	enum filter_verdict verdict;

	if (p->len < p->whole) {
		/* It did not fit a block: the kernel cut it. */
		stats_add(&rx->q.stats.rx.dropped_ring, 1);
		return PASSED_OVER;
	}
	if (!cache->n)
		return NO_ROOM;
	if (!rx->part) {
		unsigned char *data = pio_slot_start(cache, cache->free[cache->n - 1]);

		copy_part(data, p, 0, first);
		verdict = filter_compiled_matches(rx->filter, data, first);
		if (verdict == FILTER_NO) {
			stats_add(&rx->q.stats.rx.filtered, 1);
			return PASSED_OVER;
		}
		if (first == total) {
			pio_cache_get(cache, f, 1);
			f->len = total;
			f->flags = p->flags;
			if (verdict == FILTER_YES_PLAIN && rx->filter->udp && !(p->flags & PIO_SUPER))
				f->flags |= PIO_UDP4;
			*used = 1;
			return DELIVERED;
		}
	}
	return deliver_chain(rx, p, total, f, n, array_empty, used);
}

struct tally {
	uint64_t packets, bytes, super, unfinished;
	uint64_t first_ns, last_ns;
};

static void tally_add(struct tally *t, const struct packet *p)
{
	if (!t->packets++)
		t->first_ns = p->ns;
	t->last_ns = p->ns;
	t->bytes += p->len + (p->tag ? VLAN_TAG_LEN : 0);
	t->super += !!(p->flags & PIO_SUPER);
	t->unfinished += !!(p->flags & PIO_CSUM_UNFINISHED);
}

static void tally_count(const struct tally *t, struct pio_queue *q)
{
	struct stats_rx *s = &q->stats.rx;

	if (t->packets)
		pio_note_arrival(q, t->first_ns, t->last_ns);
	stats_add(&s->packets, t->packets);
	stats_add(&s->bytes, t->bytes);
	if (t->super)
		stats_add(&s->super_frames, t->super);
	if (t->unfinished)
		stats_add(&s->csum_unfinished, t->unfinished);
}

static unsigned rx_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	struct afpacket_rx *rx = rx_of(q);
	struct tally tally = {0};
	unsigned got = 0;

	for (unsigned look = 0; look < LOOK_MAX && got < n && (rx->left || block_open(rx)); look++) {
		bool started = rx->part;
		struct packet p;
		unsigned used = 0;

		if (!packet_at(rx, &p)) {
			pio_queue_fail(q, -EBADMSG, EXIT_RUN, "cannot read the receive ring",
				       "the kernel's offsets lead out of the block");
			block_release(rx);
			break;
		}
		enum outcome o = deliver(rx, &p, f + got, n - got, got == 0, &used);

		if (o == NO_ROOM)
			break;
		if (o != PASSED_OVER && !started) {
			tally_add(&tally, &p);
			if (q->arrivals_ns)
				q->arrivals_ns[got] = p.ns;
		}
		got += used;
		if (o == DELIVERED_PART)
			break;
		rx->at = p.next;
		if (!--rx->left)
			block_release(rx);
	}
	if (got) {
		tally_count(&tally, q);
		stats_add(&q->stats.rx.batches, 1);
	}
	return got;
}

static void rx_kick(struct pio_queue *q)
{
	(void)q;
}

static unsigned rx_no_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	(void)q;
	(void)f;
	(void)n;
	return 0;
}

static unsigned rx_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

/* A socket whose interface was removed forgets its index; one whose interface is down does not. */
static int check_interface(struct afpacket_rx *rx)
{
	struct sockaddr_ll a = {0};
	socklen_t size = sizeof(a);

	if (getsockname(rx->fd, (struct sockaddr *)&a, &size) == 0 && a.sll_ifindex <= 0)
		pio_queue_gone(&rx->q);
	return pio_queue_error(&rx->q, NULL);
}

static int rx_poll(struct pio_queue *q, int timeout_ms)
{
	struct afpacket_rx *rx = rx_of(q);
	struct pollfd p = {.fd = rx->fd, .events = POLLIN | POLLERR};
	int rc = pio_queue_error(q, NULL);

	if (rc)
		return rc;
	if (rx->left || block_ready(rx))
		return 1;
	rc = poll(&p, 1, timeout_ms);
	if (rc < 0)
		return -errno;
	if (p.revents & POLLERR) {
		int error;
		socklen_t size = sizeof(error);

		/* Reading the error clears it. ENETDOWN: the socket comes back by itself when the link does. */
		getsockopt(rx->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	}
	if (block_ready(rx))
		return 1;
	return check_interface(rx);
}

static void rx_sync(struct pio_queue *q)
{
	struct afpacket_rx *rx = rx_of(q);
	struct tpacket_stats_v3 s;
	socklen_t size = sizeof(s);

	/* Reading the kernel's counters clears them. */
	if (getsockopt(rx->fd, SOL_PACKET, PACKET_STATISTICS, &s, &size) == 0 && s.tp_drops)
		stats_add(&q->stats.rx.dropped_ring, s.tp_drops);
	check_interface(rx);
}

/* A filter that lets nothing in: what the ring holds stays. */
static void rx_stop(struct pio_queue *q)
{
	afpacket_attach_nothing(rx_of(q)->fd);
}

const struct pio_queue_ops afpacket_rx_ops = {
	.get = rx_get,
	.tx = rx_no_tx,
	.kick = rx_kick,
	.rx = rx_rx,
	.poll = rx_poll,
	.sync = rx_sync,
	.stop = rx_stop,
};
