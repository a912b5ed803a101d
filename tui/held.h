/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held: what is written to the standard error while the screen is ours, by whomever, must not tear it: it goes to a
 * file in memory, from there to the screen, and when the screen is given back to where it was meant for. A standard
 * error that is not the terminal gets it at once.
 */
#ifndef SQUALL_TUI_HELD_H
#define SQUALL_TUI_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct held {
	int file;     /* stands in for the standard error; -1: nothing is held */
	int meant;    /* the standard error as it was */
	bool at_once; /* it is elsewhere than the screen */
	off_t seen;   /* shown so far */
	off_t passed; /* passed on so far */
};

/* More is not kept: a run that says so much is to say it to a file. */
#define HELD_MAX (1 << 20)

/* at_once: pass on what comes at every look. -errno: nothing is held. */
int held_begin(struct held *h, bool at_once);

/* Calls fn with what was written since the last look. Main thread. */
void held_look(struct held *h, void (*fn)(void *arg, const char *text, size_t len), void *arg);

/* Gives the standard error back, and it gets the rest. Async-signal-safe; does nothing when nothing is held. */
void held_end(struct held *h);

#endif
