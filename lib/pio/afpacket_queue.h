/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afpacket_queue: what the parts of the afpacket backend share. Private to lib/pio/afpacket*.c.
 *
 * Every queue is a socket of its own. Transmit sockets are bound with protocol 0: no receive hook, so they cost the
 * receive path nothing.
 */
#ifndef SQUALL_PIO_AFPACKET_QUEUE_H
#define SQUALL_PIO_AFPACKET_QUEUE_H

#include "filter_compiled.h"
#include "pio.h"

#include <sys/socket.h>
#include <sys/uio.h>

#define AFPACKET_TX_BATCH 64U /* messages per sendmmsg; more brings nothing */

/*
 * AFPACKET_RING: the kernel makes packets of the ring's pages. A device that lets go of a packet before it was read
 * (skb_orphan: veth, tap, bridges) gives the slot back too early, and its content changes under the reader.
 * AFPACKET_LINEAR: a ring whose packets the kernel copies whole, told so by the length in a virtio header.
 */
enum afpacket_mechanism { AFPACKET_RING, AFPACKET_LINEAR, AFPACKET_SENDMMSG };

struct afpacket_tx {
	struct pio_queue q; /* first */
	int fd;
	int ifindex;
	bool qdisc;
	uint64_t hold_until; /* qdisc: nothing is sent before, monotonic ns */
	/* Rings. Slots tail..head-1 are the kernel's. */
	unsigned char *ring;
	size_t ring_size;
	unsigned slot_shift;
	uint32_t slots; /* a power of two */
	uint32_t head, tail;
	uint32_t data_offset; /* of the packet in its slot */
	/* sendmmsg */
	struct mmsghdr *msgs;
	struct iovec *iov;
};

struct afpacket_rx {
	struct pio_queue q; /* first */
	int fd;
	unsigned char *ring;
	size_t ring_size;
	uint32_t block_size, blocks;
	uint32_t block; /* the one to read next */
	uint32_t left;  /* packets of it not yet read; 0: it is not open */
	uint32_t at;    /* where in it the next one is */
	uint32_t part;  /* bytes of it that were already delivered */
	uint32_t room;  /* bytes of a packet that one frame holds */
	const struct filter_compiled *filter;
};

struct afpacket_port {
	struct pio_port port; /* first */
	struct filter_compiled filter;
};

extern const struct pio_queue_ops afpacket_ring_ops;
extern const struct pio_queue_ops afpacket_linear_ops;
extern const struct pio_queue_ops afpacket_sendmmsg_ops;
extern const struct pio_queue_ops afpacket_rx_ops;

/*
 * Opens the socket of a transmit queue whose q is filled. *mechanism is what is wanted, and on return what was taken;
 * when that is less, the reason is in `why`. slots: of the ring; 0: as many as do best.
 */
int afpacket_tx_open(struct afpacket_tx *tx, int ifindex, uint32_t slots, bool qdisc,
		     enum afpacket_mechanism *mechanism, char *why, size_t why_size, struct err *e);
void afpacket_tx_close(struct afpacket_tx *tx);

/*
 * Opens the sockets of all receive queues of a port, whose q are filled. None of them holds a packet from before the
 * filter, and none a packet that another one got too. frames: packets of full size that a ring holds at least.
 */
int afpacket_rx_open(struct afpacket_rx *const *rx, unsigned n, int ifindex, uint32_t frames, struct err *e);
void afpacket_rx_close(struct afpacket_rx *rx);

/* A socket for the queue; EXIT_CAPABILITY when the privilege is missing. */
int afpacket_socket(const char *port, int *fd, struct err *e);

/* A filter that no packet passes. -errno. */
int afpacket_attach_nothing(int fd);

#endif
