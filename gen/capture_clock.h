/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_clock: from the times in a capture to a schedule that never goes back and has no gap beyond a limit. Pure.
 *
 * A packet that is stamped earlier than one before it departs together with that one; the packets after it keep their
 * distance to the latest time so far. A step beyond the limit, in either direction, is a clock that was set: time goes
 * on from there, after the limit (forward) or at once (backwards).
 */
#ifndef SQUALL_GEN_CAPTURE_CLOCK_H
#define SQUALL_GEN_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct capture_clock {
	bool started;
	uint64_t latest_ns; /* the file's time that at_ns stands for */
	uint64_t at_ns;
	uint64_t max_gap_ns;         /* 0: no limit */
	uint64_t backwards, clamped; /* how many */
};

/* When the next packet departs, in ns after the first. */
static inline uint64_t capture_clock_next(struct capture_clock *c, uint64_t time_ns)
{
	const uint64_t limit = c->max_gap_ns ? c->max_gap_ns : UINT64_MAX;

	if (!c->started) {
		c->started = true;
		c->latest_ns = time_ns;
	} else if (time_ns >= c->latest_ns) {
		uint64_t gap = time_ns - c->latest_ns;

		c->clamped += gap > limit;
		c->at_ns += gap > limit ? limit : gap;
		c->latest_ns = time_ns;
	} else {
		c->backwards++;
		if (c->latest_ns - time_ns > limit) {
			c->clamped++;
			c->latest_ns = time_ns;
		}
	}
	return c->at_ns;
}

#endif
