/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys: from the bytes that a terminal sends to what they mean here. Pure.
 */
#ifndef SQUALL_TUI_KEYS_H
#define SQUALL_TUI_KEYS_H

#include "view.h"

/* A sequence that has begun, between two calls. */
struct keys {
	enum { KEYS_PLAIN, KEYS_ESCAPE, KEYS_SEQUENCE } state;
	unsigned first; /* its first parameter */
	bool more;      /* and there are others */
};

/*
 * Takes what was read; turns pages and scrolls in *v, adds the rest to *wish. True: *v is another than before. An
 * escape at the end of what was read is the key of that name.
 */
bool keys_take(struct keys *k, const char *bytes, size_t n, struct view *v, struct report_wish *wish);

#endif
