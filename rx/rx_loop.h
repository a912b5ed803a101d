/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_loop: one receiving thread: takes packets from its queue, counts them by class, gives the frames back, or sends
 * them back.
 */
#ifndef SQUALL_RX_RX_LOOP_H
#define SQUALL_RX_RX_LOOP_H

#include "capture_ring.h"
#include "lib/pio/pio.h"
#include "lib/stats.h"
#include "measure.h"
#include "reflect.h"
#include "responder.h"

/* What all receiving threads of a run share. */
struct rx_shared {
	uint64_t limit; /* packets to take, 0: no limit */
	const _Atomic bool *stop;
	_Alignas(128) _Atomic uint64_t reserved; /* by threads that are about to take them, and taken */
	_Alignas(128) _Atomic uint64_t taken;
};

/* Set up by the main thread; from rx_worker_run() on the queue's thread's. Any thread reads the atomics. */
struct rx_worker {
	struct pio_queue *queue;
	struct rx_shared *shared;
	struct reflector *reflector;    /* NULL: what was received is given back */
	struct responder *responder;    /* what it answers is not sent back; NULL: there is none */
	bool host_times;                /* packets came when they were taken, whatever the device tells */
	bool answers;                   /* and the kernel does not see it: it is answered from here */
	struct capture_ring *capture;   /* NULL: nothing is kept */
	struct measure_worker *measure; /* NULL: nothing is measured */
	struct stats_class classes;
	uint64_t wall_add; /* makes a monotonic time one of the wall clock; with capture */
	uint64_t windows,
		full_windows; /* of time in which packets came, and in which every look found some; after the thread */
	bool in_chain;        /* the next frame continues a packet */
	bool in_pieces;       /* the same, of what is given back */
	_Atomic bool done;
};

/* Runs until *stop is set (then what has come in is still taken), the limit is reached, or the queue is dead. */
void rx_worker_run(struct rx_worker *w);

#endif
