/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_ring: packets on their way from a receiving thread to the thread that writes them to a file. A ring of bytes
 * with one writer and one reader, without a lock; what does not fit is dropped and counted, so that the receiver never
 * waits.
 */
#ifndef SQUALL_RX_CAPTURE_RING_H
#define SQUALL_RX_CAPTURE_RING_H

#include "lib/pio/pio.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In front of each packet's bytes; records are multiples of 16 bytes long. */
struct capture_record {
	uint64_t time_ns; /* wall clock */
	uint32_t kept;    /* bytes that follow; CAPTURE_SKIP: the ring goes on at its beginning */
	uint32_t len;     /* of the packet, without FCS */
};

#define CAPTURE_SKIP UINT32_MAX

/* How many packets all rings of a run may still take. */
struct capture_budget {
	uint64_t limit; /* 0: no limit */
	_Atomic uint64_t taken;
};

struct capture_ring {
	/* The receiving thread's. */
	_Alignas(128) _Atomic uint64_t tail; /* bytes written since the start */
	uint64_t head_seen;
	uint64_t building; /* where the packet that is being written begins */
	bool in_packet;
	bool passing; /* the rest of the packet is not taken */
	struct capture_budget *budget;
	uint32_t snaplen;
	_Atomic uint64_t dropped;
	/* The file's thread's. */
	_Alignas(128) _Atomic uint64_t head;
	/* Both read. */
	_Alignas(128) unsigned char *bytes;
	uint64_t size; /* a power of two */
};

/* size: a power of two, 64 KiB or more. -ENOMEM. Main thread. */
int capture_ring_init(struct capture_ring *r, uint64_t size, uint32_t snaplen, struct capture_budget *budget);
void capture_ring_free(struct capture_ring *r);

/*
 * The frames that one call of rx returned. arrival_ns: when each came; NULL: all at now_ns. to_wall_ns is added to
 * either. Receiving thread.
 */
void capture_frames(struct capture_ring *r, const struct pio_frame *f, uint32_t n, const uint64_t *arrival_ns,
		    uint64_t now_ns, uint64_t to_wall_ns);

/* The oldest record, its bytes behind it; NULL: there is none. Stays until capture_ring_pop(). The file's thread. */
const struct capture_record *capture_ring_peek(struct capture_ring *r);
void capture_ring_pop(struct capture_ring *r);

#endif
