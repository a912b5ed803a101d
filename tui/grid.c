/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

int grid_resize(struct grid *g, unsigned rows, unsigned cols)
{
	rows = least(rows ? rows : 1, GRID_ROWS_MAX);
	cols = least(cols ? cols : 1, GRID_COLS_MAX);
	if (rows != g->rows || cols != g->cols) {
		struct grid_cell *cells = calloc((size_t)rows * cols, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		free(g->cells);
		g->cells = cells;
		g->rows = rows;
		g->cols = cols;
	}
	grid_clear(g);
	return 0;
}

void grid_free(struct grid *g)
{
	free(g->cells);
	*g = (struct grid){0};
}

void grid_clear(struct grid *g)
{
	for (size_t i = 0; i < (size_t)g->rows * g->cols; i++)
		g->cells[i] = (struct grid_cell){L' ', STYLE_PLAIN};
}

void grid_set(struct grid *g, unsigned row, unsigned col, enum style style, wchar_t c)
{
	if (row < g->rows && col < g->cols)
		*grid_at(g, row, col) = (struct grid_cell){c, style};
}

void grid_fill(struct grid *g, unsigned row, enum style style)
{
	for (unsigned col = 0; col < g->cols; col++)
		grid_set(g, row, col, style, L' ');
}

/* The next character of a text, and how many columns it takes. Returns how many bytes it is. */
static size_t next(const char *text, wchar_t *c, unsigned *width)
{
	mbstate_t state = {0};
	size_t n = mbrtowc(c, text, strlen(text), &state);
	int columns = n > 0 && n <= strlen(text) ? wcwidth(*c) : -1;

	*width = columns > 0 ? (unsigned)columns : 1;
	if (columns > 0)
		return n;
	*c = L'?';
	return n > 0 && n <= strlen(text) ? n : 1;
}

unsigned grid_text(struct grid *g, unsigned row, unsigned col, unsigned width, enum style style, const char *text)
{
	unsigned end = width < g->cols && col < g->cols - width ? col + width : g->cols;

	while (*text) {
		unsigned columns;
		wchar_t c;

		text += next(text, &c, &columns);
		if (col >= end || columns > end - col)
			break;
		grid_set(g, row, col, style, c);
		for (unsigned i = 1; i < columns; i++)
			grid_set(g, row, col + i, style, 0);
		col += columns;
	}
	return col;
}

void grid_right(struct grid *g, unsigned row, unsigned end, enum style style, const char *text)
{
	size_t n = strlen(text);

	if (n > end)
		text += n - end;
	grid_text(g, row, end - (unsigned)strlen(text), end, style, text);
}
