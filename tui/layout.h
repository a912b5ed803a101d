/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout: draws a view into a grid of any size. Pure: the same view gives the same cells.
 */
#ifndef SQUALL_TUI_LAYOUT_H
#define SQUALL_TUI_LAYOUT_H

#include "grid.h"
#include "view.h"

/* A grid that is smaller than this has no room for more than the rates. */
#define LAYOUT_ROWS_MIN 5
#define LAYOUT_COLS_MIN 24

/* The whole grid. Returns how far the view's page can be scrolled. */
unsigned layout_draw(const struct view *v, struct grid *g);

/* A part of a grid: `rows` rows from `row` on, the columns from col to in front of end. */
struct layout_area {
	struct grid *g;
	unsigned row, rows, col, end;
};

/* layout_overview.c: the rates, and as much of the rest as there is room for. */
void layout_overview(const struct view *v, struct layout_area a);
/* layout_pages.c: lists. Draw from line `skip` on; return how many lines there are. */
unsigned layout_page(const struct view *v, struct layout_area a, unsigned skip);
unsigned layout_queues(const struct view *v, struct layout_area a, unsigned skip);
unsigned layout_plan(const struct view *v, struct layout_area a, unsigned skip);
/* layout_graph.c: the history of a direction, as high as the area; top is the rate of its full height. */
void layout_graph(const struct view *v, struct layout_area a, const struct history *h, enum style style, double top);

#endif
