/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_wire: what the files of the loop backend share. A wire joins one transmit queue to one receive queue: a ring of
 * slots with copies of packets, written by the sender's thread and read by the receiver's, without a lock.
 */
#ifndef SQUALL_PIO_LOOP_WIRE_H
#define SQUALL_PIO_LOOP_WIRE_H

#include "filter_compiled.h"
#include "lib/core/rand.h"
#include "pio.h"

#include <string.h>

#define LOOP_QUEUES_MAX  64U
#define LOOP_HOLD_FLOW   16U /* frames held of one flow; also the longest that one is held, in frames of its flow */
#define LOOP_HOLD_FRAMES 1024U
#define LOOP_HOLD_LISTS  1024U
#define LOOP_HOLD_NONE   UINT32_MAX
#define LOOP_COPY_MIN    64U /* bytes that a slot holds at least */
/* Time on the wire is kept in 1/1024 ns since the port was opened. */
#define LOOP_TIME_SHIFT 10U

struct loop_options {
	bool sink;
	uint32_t queues;
	uint32_t ring;
	uint64_t interval;                 /* between two frames, in 1/1024 ns; 0: no rate */
	uint64_t delay_ns;                 /* 0: none */
	uint64_t loss, duplicate, reorder; /* probabilities in 2^-64; 0: never, UINT64_MAX: always */
	uint64_t seed;
	uint64_t fail[LOOP_QUEUES_MAX]; /* after so many packets, by transmit queue; LOOP_FAIL_NEVER: not */
	uint64_t rx_fail[LOOP_QUEUES_MAX];
};

#define LOOP_FAIL_NEVER UINT64_MAX

/* A queue that fails on purpose. */
struct loop_failing {
	uint64_t after, had; /* packets */
	struct pio_queue_ops ops;
	const struct pio_queue_ops *healthy;
};

struct loop_slot {
	uint64_t due_ns; /* when it arrives; monotonic */
	uint32_t len;
	_Alignas(16) unsigned char data[]; /* so that what is copied by 16 bytes lies in one cache line each */
};

struct loop_wire {
	_Alignas(128) _Atomic uint32_t tail; /* written by the sender */
	uint32_t fill;                       /* the sender's tail, before it publishes */
	uint32_t head_seen;
	_Alignas(128) _Atomic uint32_t head; /* written by the receiver */
	_Alignas(128) unsigned char *slots;
	uint32_t stride;
	uint32_t mask;
	uint32_t capacity;
};

struct loop {
	struct pio_port port;
	struct loop_options options;
	struct filter_compiled filter;
	struct loop_wire *wires; /* wire of transmit queue t and receive queue r: t * n_rx + r */
	struct stats_loop *did;  /* one per transmit queue */
	unsigned char *slots;
	size_t slots_size;
	uint64_t start_ns;
	_Alignas(128) _Atomic uint64_t free_at; /* when the wire has sent everything it took (rate) */
};

/* A frame that waits for later ones of its flow. In a list by flow hash, oldest first. */
struct loop_held {
	uint64_t flow;
	uint32_t next;
	uint32_t len;
	uint32_t wait;  /* later frames of the flow still to be delivered before it leaves */
	bool overtaken; /* at least one was */
};

struct loop_hold {
	uint32_t n;
	uint32_t free;
	uint32_t stride;
	bool flushing; /* the queue is being drained */
	unsigned char *data;
	uint32_t first[LOOP_HOLD_LISTS];
	struct loop_held held[LOOP_HOLD_FRAMES];
};

struct loop_tx {
	struct pio_queue q;
	struct loop_wire *wires; /* n_wires of them */
	unsigned n_wires;
	struct loop *loop;
	struct stats_loop *did;
	uint64_t rand;
	struct loop_hold *hold; /* NULL: nothing is reordered */
	struct loop_failing fail;
};

struct loop_rx {
	struct pio_queue q;
	struct loop_wire *wires; /* every n_rx-th of the port's */
	unsigned n_wires, step;
	unsigned next;       /* where the next call begins */
	uint64_t stop_ns;    /* what is due later is not taken; UINT64_MAX: it was not stopped */
	uint64_t to_wall_ns; /* from the monotonic clock to the wall clock */
	const struct filter_compiled *filter;
	struct loop_failing fail;
};

extern const struct pio_queue_ops loop_sink_ops, loop_plain_ops, loop_shaped_ops, loop_rx_ops;

/* Fills *o from what stands behind "loop:". EXIT_USAGE. */
int loop_parse(const char *device, struct loop_options *o, struct err *e);

/* Lets an open queue fail after so many packets. fail is the queue's own. */
void loop_fail_after(struct pio_queue *q, struct loop_failing *fail, uint64_t packets);

/* ---- the sender's side of a wire ---- */

static inline uint32_t loop_wire_room(struct loop_wire *w, uint32_t wanted)
{
	uint32_t room = w->capacity - (w->fill - w->head_seen);

	if (room < wanted) {
		w->head_seen = atomic_load_explicit(&w->head, memory_order_acquire);
		room = w->capacity - (w->fill - w->head_seen);
	}
	return room;
}

/* There is room. */
static inline void loop_wire_put(struct loop_wire *w, const unsigned char *data, uint32_t len, uint64_t due_ns)
{
	struct loop_slot *s = (void *)(w->slots + (size_t)(w->fill++ & w->mask) * w->stride);

	s->due_ns = due_ns;
	s->len = len;
	memcpy(s->data, data, len);
}

static inline void loop_wire_publish(struct loop_wire *w)
{
	if (atomic_load_explicit(&w->tail, memory_order_relaxed) != w->fill)
		atomic_store_explicit(&w->tail, w->fill, memory_order_release);
}

static inline void loop_publish_all(struct loop_tx *tx)
{
	for (unsigned i = 0; i < tx->n_wires; i++)
		loop_wire_publish(&tx->wires[i]);
}

/* The slot of a frame that may be sent, or UINT32_MAX. */
static inline uint32_t loop_slot_to_send(const struct pio_pool *pool, const struct pio_frame *f, uint32_t max_frame)
{
	if (f->len > max_frame || f->flags & PIO_MORE)
		return UINT32_MAX;
	return pio_slot_of(pool, f->data, f->len);
}

#endif
