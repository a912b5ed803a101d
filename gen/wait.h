/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait: until a departure time, in one of two ways. A precise waiter sleeps while the time is farther off than this
 * thread has been seen to wake up late, then spins on the clock. A sleeping one never spins and wakes at most once in
 * WAIT_WAKE_NS, so that it is late by that much at most and by less than half of it on average.
 */
#ifndef SQUALL_GEN_WAIT_H
#define SQUALL_GEN_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WAIT_WAKE_NS 1000000U

/* One thread's. */
struct waiter {
	bool sleeps;
	uint64_t margin_ns; /* precise: spin from this long before the time */
	uint64_t woke_ns;   /* sleeping: when this thread last woke */
	unsigned fruitless; /* rounds without headway, for waiter_back_off() */
};

/* Also asks the kernel for exact timers for the calling thread (prctl PR_SET_TIMERSLACK). */
void waiter_init(struct waiter *w, bool sleeps);

/* Returns the time (monotonic), t_ns or later; 0 as soon as *stop is seen set (within 20 ms). */
uint64_t waiter_until(struct waiter *w, uint64_t t_ns, const _Atomic bool *stop);

/* For a full ring: tries again at once at first, then sleeps a little each round until waiter_progress() is called. */
void waiter_back_off(struct waiter *w);

static inline void waiter_progress(struct waiter *w)
{
	w->fruitless = 0;
}

/* The two halves of waiter_until(), on the caller's clock: until when to sleep before t_ns > now_ns, 0: spin; and what
 * a sleep until target_ns that ended at now_ns teaches.
 */
uint64_t waiter_sleep_end(const struct waiter *w, uint64_t t_ns, uint64_t now_ns);
void waiter_woke(struct waiter *w, uint64_t target_ns, uint64_t now_ns);

#endif
