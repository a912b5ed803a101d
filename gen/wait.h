/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait: until a departure time, to the clock's resolution: sleeps while the time is farther off than this thread has
 * been seen to wake up late, then spins on the clock.
 */
#ifndef SQUALL_GEN_WAIT_H
#define SQUALL_GEN_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One thread's. */
struct waiter {
	uint64_t margin_ns; /* spin from this long before the time */
	unsigned fruitless; /* rounds without headway, for waiter_back_off() */
};

/* Also asks the kernel for exact timers for the calling thread (prctl PR_SET_TIMERSLACK). */
void waiter_init(struct waiter *w);

/* Returns true at or after t_ns (monotonic), false as soon as *stop is seen set (within 20 ms). */
bool waiter_until(struct waiter *w, uint64_t t_ns, const _Atomic bool *stop);

/* For a full ring: spins at first, then sleeps a little each round until waiter_progress() is called. */
void waiter_back_off(struct waiter *w);

static inline void waiter_progress(struct waiter *w)
{
	w->fruitless = 0;
}

#endif
