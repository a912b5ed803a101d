/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid: a screen in memory: rows of cells, each a character and what it means. The layout writes it, the screen shows
 * it, a test reads it.
 *
 * What lies outside of the grid is cut off; nothing here fails for it. Main thread.
 */
#ifndef SQUALL_TUI_GRID_H
#define SQUALL_TUI_GRID_H

#include <stdint.h>
#include <wchar.h>

enum style {
	STYLE_PLAIN,
	STYLE_DIM,   /* what explains */
	STYLE_VALUE, /* what one came for */
	STYLE_TITLE, /* a bar over the whole width */
	STYLE_WARN,
	STYLE_TX, /* of the graph */
	STYLE_RX,
	STYLE_COUNT
};

struct grid_cell {
	wchar_t c; /* 0: the second half of a wide character */
	uint32_t style;
};

struct grid {
	unsigned rows, cols;
	struct grid_cell *cells;
};

/* A larger terminal is used in part: nobody reads more than this at once. */
#define GRID_ROWS_MAX 200
#define GRID_COLS_MAX 400

/* To this size, or the largest there is; all cells are blank then. A new grid is all zero. -ENOMEM: as it was. */
int grid_resize(struct grid *g, unsigned rows, unsigned cols);
void grid_free(struct grid *g);
void grid_clear(struct grid *g);

static inline struct grid_cell *grid_at(const struct grid *g, unsigned row, unsigned col)
{
	return &g->cells[(size_t)row * g->cols + col];
}

void grid_set(struct grid *g, unsigned row, unsigned col, enum style style, wchar_t c);
void grid_fill(struct grid *g, unsigned row, enum style style);

/*
 * Text from a column on, of at most `width` columns, in the locale's encoding; what cannot be shown is a question mark.
 * Returns the first column behind it.
 */
unsigned grid_text(struct grid *g, unsigned row, unsigned col, unsigned width, enum style style, const char *text);

/* Ends in front of column `end`. What is too long loses its beginning. */
void grid_right(struct grid *g, unsigned row, unsigned end, enum style style, const char *text);

#endif
