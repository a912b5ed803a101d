/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: time in nanoseconds. Monotonic time orders and paces; wall time is only shown.
 *
 * Pure modules never call these: they take now_ns from their caller, so that tests need no sleeping.
 */
#ifndef SQUALL_CLOCK_H
#define SQUALL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

static inline uint64_t clock_wall_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}

/* What to add to a time of clock `from` to have it by clock `to`, to some 50 ns. Modulo 2^64. */
static inline uint64_t clock_offset_ns(clockid_t from, clockid_t to)
{
	uint64_t best = UINT64_MAX;
	uint64_t add = 0;

	/* The reading that was interrupted the least. */
	for (unsigned i = 0; from != to && i < 5; i++) {
		uint64_t before = clock_read(from);
		uint64_t other = clock_read(to);
		uint64_t took = clock_read(from) - before;

		if (took < best) {
			best = took;
			add = other - before - took / 2;
		}
	}
	return add;
}

/* Tells the core that this is a spin. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
