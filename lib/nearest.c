/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

#define WORD_MAX 32

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string alignment). */
static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= na; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			unsigned change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[na][nb];
}

void nearest_start(struct nearest *n, const char *word)
{
	size_t third = strlen(word) / 3;

	/* A third of the word may be wrong, and of a short one a letter. */
	*n = (struct nearest){.word = word, .distance = (unsigned)(third ? third : 1) + 1};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t nw = strlen(n->word);
	size_t nc = strlen(candidate);
	unsigned distance;

	if (nw == 0 || nw > WORD_MAX || nc > WORD_MAX)
		return;
	/* Someone who stops early means the word that goes on. */
	if (nw > 1 && nw < nc && memcmp(n->word, candidate, nw) == 0)
		distance = 1;
	else
		distance = edit_distance(n->word, nw, candidate, nc);
	if (distance < n->distance) {
		n->distance = distance;
		n->best = candidate;
	}
}
