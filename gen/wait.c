/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include "lib/clock.h"

#include <sys/prctl.h>

/* Wake-ups with exact timers were measured 30-450 us late at most loads; the margin follows what this thread sees. */
#define MARGIN_START_NS 200000U
#define MARGIN_MIN_NS   50000U
#define MARGIN_MAX_NS   1000000U
/* The margin shrinks by such a part with each sleep that was not late, and with each wait that needed none. */
#define SHRINK_SLEPT 256U
#define SHRINK_SPUN  4096U
/* The longest sleep: how late a stop may be noticed. */
#define SLEEP_MAX_NS 20000000U
/* The processor's pause takes tens of ns: none of them so near to the time. */
#define PAUSE_NS 500U
/* Rounds of a full ring that are spun through, and the sleep of each round after them. */
#define SPIN_ROUNDS 64U
#define BACK_OFF_NS 50000U

void waiter_init(struct waiter *w, bool sleeps)
{
	*w = (struct waiter){.sleeps = sleeps, .margin_ns = MARGIN_START_NS};
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static void sleep_until(uint64_t t_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(t_ns / NS_PER_S), .tv_nsec = (long)(t_ns % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

uint64_t waiter_sleep_end(const struct waiter *w, uint64_t t_ns, uint64_t now_ns)
{
	uint64_t target = t_ns;

	if (w->sleeps) {
		if (target < w->woke_ns + WAIT_WAKE_NS)
			target = w->woke_ns + WAIT_WAKE_NS;
	} else if (t_ns - now_ns <= w->margin_ns) {
		return 0;
	} else {
		target = t_ns - w->margin_ns;
	}
	return target - now_ns > SLEEP_MAX_NS ? now_ns + SLEEP_MAX_NS : target;
}

/* Jumps up at once to twice the lateness seen, and comes down slowly. */
void waiter_woke(struct waiter *w, uint64_t target_ns, uint64_t now_ns)
{
	uint64_t want = now_ns > target_ns ? (now_ns - target_ns) * 2 : 0;

	w->woke_ns = now_ns;
	w->margin_ns = want > w->margin_ns ? want : w->margin_ns - (w->margin_ns - want) / SHRINK_SLEPT;
	if (w->margin_ns < MARGIN_MIN_NS)
		w->margin_ns = MARGIN_MIN_NS;
	if (w->margin_ns > MARGIN_MAX_NS)
		w->margin_ns = MARGIN_MAX_NS;
}

uint64_t waiter_until(struct waiter *w, uint64_t t_ns, const _Atomic bool *stop)
{
	bool slept = false;

	for (;;) {
		uint64_t now = clock_mono_ns();
		uint64_t target;

		if (now >= t_ns) {
			/* So that a margin as long as the interval does not stay for want of a sleep to learn from. */
			if (!slept && w->margin_ns > MARGIN_MIN_NS)
				w->margin_ns -= w->margin_ns / SHRINK_SPUN;
			return now;
		}
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return 0;
		target = waiter_sleep_end(w, t_ns, now);
		if (target) {
			sleep_until(target);
			waiter_woke(w, target, clock_mono_ns());
			slept = true;
		} else if (t_ns - now > PAUSE_NS) {
			cpu_relax();
		}
	}
}

void waiter_back_off(struct waiter *w)
{
	if (w->sleeps)
		sleep_until(clock_mono_ns() + WAIT_WAKE_NS);
	else if (w->fruitless++ >= SPIN_ROUNDS)
		sleep_until(clock_mono_ns() + BACK_OFF_NS);
}
