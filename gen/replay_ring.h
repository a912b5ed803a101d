/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_ring: packets read ahead of one sender: a bounded ring of bytes between the thread that reads the capture and
 * the sender. A packet lies in one piece; what is left at the end of the ring is passed over.
 */
#ifndef SQUALL_GEN_REPLAY_RING_H
#define SQUALL_GEN_REPLAY_RING_H

#include "capture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* In front of each frame; begins at a multiple of its size. */
struct replay_record {
	uint64_t at_ns; /* its departure after the start, with original timing */
	uint32_t len;   /* 0: nothing, the next one is at the ring's begin */
	uint32_t size;  /* from here to what follows */
};

_Static_assert(sizeof(struct replay_record) == 16, "records follow each other without gaps");

struct replay_ring {
	unsigned char *data;
	size_t size;                            /* a multiple of a record's */
	size_t put;                             /* reader's: bytes in all, */
	size_t at;                              /* and where the next record goes */
	_Alignas(128) _Atomic uint64_t written; /* reader's: packets */
	_Atomic bool ended;                     /* and that no more will come */
	_Alignas(128) _Atomic size_t freed;     /* sender's: bytes that it has done with */
	_Atomic bool closed;                    /* and that it takes no more */
};

/* Bytes of a record with a frame; as many as are copied as one block can be read behind its begin. */
static inline size_t replay_record_size(uint32_t len)
{
	size_t room = len > CAPTURE_SLACK ? len : CAPTURE_SLACK;

	return sizeof(struct replay_record) + (room + 15) / 16 * 16;
}

/* bytes: at least two of the largest record. */
static inline int replay_ring_init(struct replay_ring *r, size_t bytes)
{
	memset(r, 0, sizeof(*r));
	r->size = bytes / sizeof(struct replay_record) * sizeof(struct replay_record);
	r->data = aligned_alloc(128, (r->size + 127) / 128 * 128);
	return r->data ? 0 : -1;
}

static inline void replay_ring_free(struct replay_ring *r)
{
	free(r->data);
	r->data = NULL;
}

static inline size_t replay_ring_room(const struct replay_ring *r)
{
	return r->size - (r->put - atomic_load_explicit(&r->freed, memory_order_acquire));
}

/* False, and nothing is put: there is no room now. Reader's thread. */
static inline bool replay_ring_put(struct replay_ring *r, const struct capture_frame *f)
{
	const size_t need = replay_record_size(f->len);
	const size_t rest = r->size - r->at;
	const size_t skip = rest < need ? rest : 0;
	struct replay_record *record = (struct replay_record *)(r->data + r->at);

	if (replay_ring_room(r) < skip + need)
		return false;
	if (skip) {
		*record = (struct replay_record){.size = (uint32_t)skip};
		record = (struct replay_record *)r->data;
		r->at = 0;
	}
	*record = (struct replay_record){.at_ns = f->at_ns, .len = f->len, .size = (uint32_t)need};
	memcpy(record + 1, f->data, f->len);
	r->put += skip + need;
	r->at = r->at + need == r->size ? 0 : r->at + need;
	atomic_store_explicit(&r->written, atomic_load_explicit(&r->written, memory_order_relaxed) + 1,
			      memory_order_release);
	return true;
}

/* A sender's place. */
struct replay_ring_at {
	size_t at;      /* of the next record */
	size_t done;    /* bytes before it, in all */
	uint64_t taken; /* packets before it */
};

/* How many packets are there behind a place. Sender's thread, as all below. */
static inline uint64_t replay_ring_ready(const struct replay_ring *r, const struct replay_ring_at *p)
{
	return atomic_load_explicit(&r->written, memory_order_acquire) - p->taken;
}

/* The next packet, which must be ready. The place moves over what is nothing. */
static inline const struct replay_record *replay_ring_next(const struct replay_ring *r, struct replay_ring_at *p)
{
	const struct replay_record *record = (const struct replay_record *)(r->data + p->at);

	if (!record->len) {
		p->done += record->size;
		p->at = 0;
		record = (const struct replay_record *)r->data;
	}
	return record;
}

/* Past that packet. Its room stays until it is freed. */
static inline void replay_ring_step(const struct replay_ring *r, struct replay_ring_at *p,
				    const struct replay_record *record)
{
	p->done += record->size;
	p->at = p->at + record->size == r->size ? 0 : p->at + record->size;
	p->taken++;
}

static inline void replay_ring_release(struct replay_ring *r, const struct replay_ring_at *p)
{
	atomic_store_explicit(&r->freed, p->done, memory_order_release);
}

#endif
