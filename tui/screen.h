/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen: shows grids on the terminal with ncurses, which sends only what has changed.
 *
 * ncurses writes into a file in memory; from there it goes to the terminal without waiting. A terminal that does not
 * take it (a dead connection) so holds nobody up: the next grid is drawn when it has taken the last. Main thread.
 */
#ifndef SQUALL_TUI_SCREEN_H
#define SQUALL_TUI_SCREEN_H

#include "grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct screen {
	void *curses; /* ncurses' SCREEN; NULL: not open */
	FILE *out, *in;
	long sent; /* bytes of what is written that the terminal has taken */
	unsigned rows, cols;
	bool colours;
	bool blocks; /* its characters are those of Unicode */
};

/* The terminal of $TERM can place its cursor and erase. False, and why not. */
bool screen_can(char *why, size_t size);

/* -errno. */
int screen_open(struct screen *s, unsigned rows, unsigned cols);
void screen_close(struct screen *s);

/* Everything is drawn anew then. */
void screen_resize(struct screen *s, unsigned rows, unsigned cols);

/* The terminal's state before screen_open(): what to write for it. Returns how many bytes; 0: more than size. */
size_t screen_leave_text(const struct screen *s, char *buf, size_t size);

void screen_draw(struct screen *s, const struct grid *g);

/* Passes on to fd what it takes. True: it has taken everything. */
bool screen_flush(struct screen *s, int fd);

#endif
