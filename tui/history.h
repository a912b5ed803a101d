/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history: the rate in each second of the last minute, from totals that are looked at now and then. Pure.
 */
#ifndef SQUALL_TUI_HISTORY_H
#define SQUALL_TUI_HISTORY_H

#include <stdint.h>

#define HISTORY_SECONDS 60

struct history {
	uint64_t ns, packets;        /* where the last second that is complete ended, and the total then */
	unsigned n;                  /* how many there are */
	double pps[HISTORY_SECONDS]; /* the latest first */
};

/*
 * The total so far. Once a second has passed since the last one ended, a new one is there; the rate is over the time
 * that it really took. Where nobody looked for several seconds, all of them have their mean.
 */
void history_add(struct history *h, uint64_t elapsed_ns, uint64_t packets);

/* The highest of the latest n; 0 when there is none. */
double history_top(const struct history *h, unsigned n);

#endif
