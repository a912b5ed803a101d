/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

/* Steps of a cell: eighths of a block (U+2581 and on), or what plain characters give. */
static const wchar_t blocks[] = {L' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588};
static const wchar_t plain[] = {L' ', L'.', L':', L'#'};

void layout_graph(const struct view *v, struct layout_area a, const struct history *h, enum style style, double top)
{
	const wchar_t *glyph = v->blocks ? blocks : plain;
	const unsigned steps = (unsigned)(v->blocks ? sizeof(blocks) : sizeof(plain)) / sizeof(wchar_t) - 1;
	const unsigned width = a.end - a.col;

	for (unsigned i = 0; i < width && i < h->n; i++) {
		double part = top > 0 ? h->pps[i] / top : 0;
		unsigned level = (unsigned)(part * steps * a.rows + 0.5);

		if (!level && h->pps[i] > 0) /* little is more than nothing */
			level = 1;
		for (unsigned row = 0; row < a.rows; row++) {
			unsigned below = (a.rows - 1 - row) * steps;
			unsigned here = level <= below ? 0 : level - below < steps ? level - below : steps;

			grid_set(a.g, a.row + row, a.end - 1 - i, style, glyph[here]);
		}
	}
}
