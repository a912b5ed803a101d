/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest: which of some words was meant by a mistyped one. Pure; a search is used by one thread.
 */
#ifndef SQUALL_NEAREST_H
#define SQUALL_NEAREST_H

struct nearest {
	const char *word;
	const char *best; /* NULL: none is near enough to be worth telling */
	unsigned distance;
};

void nearest_start(struct nearest *n, const char *word);
/* candidate must outlive n. The first of equally near ones stays. */
void nearest_try(struct nearest *n, const char *candidate);

#endif
