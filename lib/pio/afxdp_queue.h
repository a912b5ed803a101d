/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp_queue: what the parts of the afxdp backend share. Private to lib/pio/afxdp*.c.
 *
 * Each device queue has its own UMEM, so that queues share nothing, and a socket for each direction in use. Both
 * directions on one socket would let poll(2) of the receiver send, and swallow the kernel's word that a packet was
 * dropped. A UMEM is the queue's own part of the pool, or the whole pool when that was given, so that frames of other
 * ports can be sent by reference.
 *
 * Addresses in rings are offsets from the UMEM's start. A chunk is what the kernel knows, at most a page; a slot of a
 * pool for larger packets is several chunks, of which a receiver uses the first.
 */
#ifndef SQUALL_PIO_AFXDP_QUEUE_H
#define SQUALL_PIO_AFXDP_QUEUE_H

#include "pio.h"

#include <xdp/xsk.h>

/* Linux has these since 6.6 and 6.17; the headers of the distribution are older. */
#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD (1 << 0)
#endif
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

#define AFXDP_CHUNK_SHIFT_MAX 12U  /* the kernel takes no chunk larger than a page */
#define AFXDP_CHUNK_SHIFT_MIN 11U  /* nor a smaller one */
#define AFXDP_KERNEL_HEADROOM 256U /* XDP_PACKET_HEADROOM: before every received packet */

struct afxdp_program;
struct afxdp_times;
struct afxdp_tune;
struct restore;

/* The memory of one device queue and its sockets. Each ring is one thread's, so it has cache lines of its own. */
struct afxdp_socket {
	_Alignas(128) struct xsk_ring_prod fill;
	_Alignas(128) struct xsk_ring_cons comp;
	_Alignas(128) struct xsk_umem *umem;
	struct xsk_socket *tx, *rx; /* NULL: not in use */
	unsigned char *base;
	uint64_t size;
};

/* What the kernel still has of a chunk that was sent, in afxdp_tx.sent. */
#define AFXDP_SENT_LEN       0x1fffffffU /* the packet's bytes, with its last chunk */
#define AFXDP_SENT_SLOT_MORE 0x20000000U /* the slot goes on in the next chunk */
#define AFXDP_SENT_MORE      0x40000000U /* so does the packet, here or in another slot */
#define AFXDP_DIFFERENT      UINT32_MAX

struct afxdp_tx {
	struct pio_queue q; /* first */
	struct xsk_ring_prod ring;
	struct xsk_ring_cons *comp;
	unsigned char *base; /* of the UMEM */
	uint64_t size;
	uint32_t slot_shift, chunk_shift;
	uint32_t first_slot; /* of the UMEM in the pool */
	/*
	 * The length of every packet so far, 0: there was none yet, as long as they are all the same; else
	 * AFXDP_DIFFERENT, and `sent` has each chunk's.
	 */
	uint32_t same_len;
	uint32_t *sent;
	int fd;
	bool zero_copy;
	uint32_t consumed; /* copy mode: how far the kernel has read the ring, as sendto told */
	uint64_t lost;     /* packets that the device dropped, on their way back */
	uint64_t lost_bytes;
};

struct afxdp_rx {
	struct pio_queue q; /* first */
	struct xsk_ring_cons ring;
	struct xsk_ring_prod *fill;
	unsigned char *base;
	uint32_t slot_shift;
	uint32_t first_slot;
	uint32_t lot; /* free frames are handed to the kernel in lots of at least so many */
	int fd;
	bool busy_poll;
	bool zero_copy;
	bool in_chain;     /* the last frame was not the packet's last */
	uint64_t quiet_ns; /* monotonic: since when nothing has come; 0: something just did */
	struct afxdp_program *program;
	const struct afxdp_times *times; /* of the packets; NULL: they bring none */
	uint64_t to_mono_ns,
		to_wall_ns; /* with times: from the program's clock to this process's, from that to people's */
};

struct afxdp_port {
	struct pio_port port;         /* first */
	const struct host_link *link; /* while opening */
	enum xdp_choice choice;       /* what was asked for, then what was taken; never AUTO once open */
	bool want_times;
	bool want_multi_buffer;
	uint64_t busy_poll_ns;
	uint32_t chunk_shift;
	uint32_t rx_need; /* the largest packet that the link may bring */
	unsigned n;       /* device queues in use: the larger of n_tx and n_rx */
	struct afxdp_socket *sockets;
	struct afxdp_program *program; /* NULL: none is needed */
	struct restore *restore;       /* watches over libxdp's dispatcher; NULL: there is none */
	struct afxdp_tune *tune;
	int promisc; /* a packet socket whose membership lasts as long as it; -1: none */
};

extern const struct pio_queue_ops afxdp_tx_ops;
extern const struct pio_queue_ops afxdp_tx_multi_buffer_ops;
extern const struct pio_queue_ops afxdp_rx_ops;
extern const struct pio_queue_ops afxdp_rx_multi_buffer_ops;

/*
 * Opens UMEM and sockets of device queue i, whose queues' caches are there. zero_copy is what is tried. Waits for a
 * queue that a process which just ended still holds. -EOPNOTSUPP: the driver has not what was tried.
 */
int afxdp_socket_open(struct afxdp_port *ap, unsigned i, bool zero_copy, struct err *e);
void afxdp_socket_close(struct afxdp_port *ap, unsigned i);

/* Opens program and sockets in the best mode of those that choice allows; tells why not a better one. */
int afxdp_negotiate(struct afxdp_port *ap, const struct filter *filter, struct err *e);

/*
 * Chooses slots and chunks, and makes pool and queues. multi_buffer: packets of several buffers are allowed.
 * afxdp_memory_close() releases it on every path.
 */
int afxdp_memory_open(struct afxdp_port *ap, const struct pio_conf *conf, bool multi_buffer, struct err *e);
void afxdp_memory_close(struct afxdp_port *ap);

/* Packets of several buffers are wanted, and cannot be had: says why, and how large one buffer is. Returns rc. */
int afxdp_refuse_multi_buffer(const struct afxdp_port *ap, int rc, const char *why, struct err *e);

/* Hands free frames to the kernel; before the socket is bound, too. */
void afxdp_rx_fill(struct afxdp_rx *rx);

/* Before the first packet is taken, with rx->times. */
void afxdp_times_open(struct afxdp_rx *rx);
/* Reads how far the wall clock is from the monotonic one: some ten times a second. */
void afxdp_times_clocks(struct afxdp_rx *rx);

/*
 * Tells when the n frames came that were just taken from the ring: q.arrivals_ns, first_ns and last_ns. With rx->times.
 * in_chain: the first of them continues a packet. Queue's thread.
 */
void afxdp_times_take(struct afxdp_rx *rx, const struct pio_frame *f, unsigned n, bool in_chain);

/* How many of n entries from `at` on stand side by side, before a ring begins anew. */
static inline uint32_t afxdp_side_by_side(uint32_t mask, uint32_t at, uint32_t n)
{
	uint32_t to_end = mask + 1 - (at & mask);

	return n < to_end ? n : to_end;
}

static inline uint32_t *afxdp_sent_of(const struct afxdp_tx *tx, uint64_t addr)
{
	return &tx->sent[addr >> tx->chunk_shift];
}

/*
 * A frame of the pool outside this queue's UMEM is copied into one of its own, which *f then is; the other goes home.
 * False: it is no frame of the pool, or there is none to copy into. Queue's thread.
 */
bool afxdp_bring_in(struct afxdp_tx *tx, struct pio_frame *f);

/*
 * Puts the packet that begins with f into the ring, whole. Returns its frames; 0: it does not end within n frames, the
 * kernel would not take it, or there is no room for it now. Queue's thread.
 */
unsigned afxdp_put_packet(struct afxdp_tx *tx, const struct pio_frame *f, unsigned n);

/*
 * Copy mode, after a call that gave `error` (0: none): how far the kernel has read. A call ends with the first packet
 * that the device dropped (EBUSY). Linux 6.18 tells after every call; 6.12 and older only when all is read. Then the
 * packet's bytes are a guess: those of the call's first.
 */
void afxdp_copy_follow(struct afxdp_tx *tx, int error);

/*
 * The ops' give_up. In copy mode nobody reads the ring but a call of ours, and this was the last: what is left in it is
 * not sent. That is no more than what has not come back, should the kernel have read on without telling.
 */
void afxdp_copy_give_up(struct pio_queue *q);

/* Latches the queue's error when its socket's interface is there no more. 0, or the latched -errno. */
int afxdp_check_interface(struct pio_queue *q, int fd);

#endif
