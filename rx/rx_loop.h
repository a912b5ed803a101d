/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_loop: one receiving thread: takes packets from its queue, counts them by class, gives the frames back.
 */
#ifndef SQUALL_RX_RX_LOOP_H
#define SQUALL_RX_RX_LOOP_H

#include "lib/pio/pio.h"
#include "lib/stats.h"

#define RX_BUDGET_NONE UINT64_MAX

/* What all receiving threads of a run share. */
struct rx_shared {
	_Alignas(128) _Atomic uint64_t budget; /* packets that may still be taken, or RX_BUDGET_NONE */
	const _Atomic bool *stop;
};

/* Set up by the main thread; from rx_worker_run() on the queue's thread's. Any thread reads the atomics. */
struct rx_worker {
	struct pio_queue *queue;
	struct rx_shared *shared;
	struct stats_class classes;
	bool in_chain;                           /* the next frame continues a packet */
	_Alignas(128) _Atomic uint64_t first_ns; /* wall clock of the first and the last packet; 0: none */
	_Atomic uint64_t last_ns;
	_Atomic bool done;
};

/* Runs until *stop is set (what the ring still holds is taken then), the budget is used up, or the queue is dead. */
void rx_worker_run(struct rx_worker *w);

#endif
