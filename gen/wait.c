/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include "lib/clock.h"

#include <sys/prctl.h>

/* Wake-ups with exact timers were measured 30-450 us late at most loads; the margin follows what this thread sees. */
#define MARGIN_START_NS 200000U
#define MARGIN_MIN_NS   30000U
#define MARGIN_MAX_NS   1000000U
/* The longest sleep: how late a stop may be noticed. */
#define SLEEP_MAX_NS 20000000U
/* Rounds of a full ring that are spun through, and the sleep of each round after them. */
#define SPIN_ROUNDS 64U
#define BACK_OFF_NS 50000U

void waiter_init(struct waiter *w)
{
	w->margin_ns = MARGIN_START_NS;
	w->fruitless = 0;
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static void sleep_until(uint64_t t_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(t_ns / NS_PER_S), .tv_nsec = (long)(t_ns % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Jumps up at once to twice the lateness seen, and comes down slowly. */
static void learn(struct waiter *w, uint64_t late_ns)
{
	uint64_t want = late_ns * 2;

	w->margin_ns = want > w->margin_ns ? want : w->margin_ns - (w->margin_ns - want) / 64;
	if (w->margin_ns < MARGIN_MIN_NS)
		w->margin_ns = MARGIN_MIN_NS;
	if (w->margin_ns > MARGIN_MAX_NS)
		w->margin_ns = MARGIN_MAX_NS;
}

bool waiter_until(struct waiter *w, uint64_t t_ns, const _Atomic bool *stop)
{
	for (;;) {
		uint64_t now = clock_mono_ns();
		uint64_t target;

		if (now >= t_ns)
			return true;
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return false;
		if (t_ns - now <= w->margin_ns) {
			cpu_relax();
			continue;
		}
		target = t_ns - w->margin_ns;
		if (target - now > SLEEP_MAX_NS)
			target = now + SLEEP_MAX_NS;
		sleep_until(target);
		now = clock_mono_ns();
		learn(w, now > target ? now - target : 0);
	}
}

void waiter_back_off(struct waiter *w)
{
	if (w->fruitless++ >= SPIN_ROUNDS)
		sleep_until(clock_mono_ns() + BACK_OFF_NS);
}
