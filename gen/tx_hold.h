/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_hold: how much a sender hands over at once, when it goes on and when it gives up. For the loops of a tx_worker;
 * its thread.
 */
#ifndef SQUALL_GEN_TX_HOLD_H
#define SQUALL_GEN_TX_HOLD_H

#include "lib/clock.h"
#include "tx_loop.h"
#include "wait.h"

/* Packets of one round; TX_BURST_MAX is the most that a backend may wish for. */
#define TX_BURST 128U

static inline uint32_t tx_burst_of(const struct tx_worker *w)
{
	const uint32_t wish = w->queue->port->caps.tx_burst;

	return !wish ? TX_BURST : wish < TX_BURST_MAX ? wish : TX_BURST_MAX;
}

static inline bool tx_stopped(const struct tx_worker *w)
{
	return atomic_load_explicit(w->stop, memory_order_relaxed);
}

/* A schedule ends by itself; what it still holds at the end may be a little late. */
static inline bool tx_out_of_time(const struct tx_worker *w, bool scheduled, uint64_t now_ns)
{
	return now_ns >= w->end_ns && (!scheduled || now_ns - w->end_ns >= TX_GRACE_NS);
}

/* False when a sender that makes no headway should give up: told to stop, out of time, or on a dead queue. */
static inline bool tx_keep_trying(struct tx_worker *w, bool scheduled, struct waiter *waiter)
{
	pio_kick(w->queue);
	if (tx_stopped(w) || pio_queue_error(w->queue, NULL) || tx_out_of_time(w, scheduled, clock_mono_ns()))
		return false;
	waiter_back_off(waiter);
	return true;
}

/* A clock may be set: how far the stamps' one is from the monotonic one is read anew so often. */
#define STAMP_CLOCK_NS (100 * NS_PER_MS)

static inline void tx_stamps_look(struct tx_worker *w, uint64_t now_ns)
{
	if (__builtin_expect(w->stamps_tai && now_ns - w->clock_read_ns >= STAMP_CLOCK_NS, 0)) {
		w->clock_add = clock_offset_ns(CLOCK_MONOTONIC, CLOCK_TAI);
		w->clock_read_ns = now_ns;
	}
}

#endif
