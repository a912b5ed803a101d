/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages: the last lines that were said, for the screen. They come in pieces, as they were written. Pure.
 */
#ifndef SQUALL_TUI_MESSAGES_H
#define SQUALL_TUI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#define MESSAGES_MAX 64
#define MESSAGE_LEN  320 /* what is longer is cut */

struct messages {
	unsigned n; /* all that there were; the last MESSAGES_MAX are kept */
	char line[MESSAGES_MAX][MESSAGE_LEN];
	char part[MESSAGE_LEN]; /* a line whose end has not come */
	size_t part_len;
};

/* Text of any length: lines, the beginning of one, the rest of one. The program's name in front is left out. */
void messages_add(struct messages *m, const char *text, size_t len);

/* How many are kept. */
unsigned messages_kept(const struct messages *m);

/* i from 0, the oldest that is kept. */
const char *messages_get(const struct messages *m, unsigned i);

/* It tells of something that the user should know. */
bool message_warns(const char *line);

#endif
