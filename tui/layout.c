/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "lib/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* From this width on the plan stands beside the numbers. */
#define BESIDE_COLS 132
#define LEFT_COLS   80

/* "running  0:12 of 0:30, 0:18 left"; brief: "0:12 of 0:30" */
static void time_text(const struct view *v, bool brief, char *buf, size_t size)
{
	uint64_t elapsed = view_now(v)->elapsed_ns, whole = v->cfg->duration_ns;
	char at[UNITS_STR], of[UNITS_STR], left[UNITS_STR];
	size_t n = 0;

	if (!brief)
		n = (size_t)snprintf(buf, size, "%s  ", v->stopping ? "stopping" : "running");
	units_format_clock(elapsed, false, at, sizeof(at));
	units_format_clock(whole, false, of, sizeof(of));
	units_format_clock(whole > elapsed ? whole - elapsed : 0, false, left, sizeof(left));
	n += (size_t)snprintf(buf + n, size - n, "%s%s%s", at, whole ? " of " : "", whole ? of : "");
	if (v->count) {
		const struct report_sample *now = view_now(v);
		uint64_t packets = v->plan.tx ? now->tx.completed : now->rx.packets;

		n += (size_t)snprintf(buf + n, size - n, ", %.1f %%", (double)packets * 100 / (double)v->count);
		if (!brief)
			n += (size_t)snprintf(buf + n, size - n, " of %" PRIu64 " packets", v->count);
	}
	if (brief)
		return;
	if (whole)
		snprintf(buf + n, size - n, ", %s left", left);
	else if (!v->count)
		snprintf(buf + n, size - n, ", until stopped");
}

static void title(const struct view *v, struct grid *g)
{
	char left[sizeof(v->cfg->interface) + 32], right[160];
	unsigned used;

	grid_fill(g, 0, STYLE_TITLE);
	snprintf(left, sizeof(left), "squall %s  %s", v->plan.verb, v->cfg->interface);
	used = grid_text(g, 0, 1, g->cols, STYLE_TITLE, left);
	time_text(v, false, right, sizeof(right));
	if (used + 2 + strlen(right) > g->cols - 1)
		time_text(v, true, right, sizeof(right));
	if (strlen(right) + 2 < g->cols)
		grid_set(g, 0, g->cols - 2 - (unsigned)strlen(right), STYLE_TITLE, L' ');
	grid_right(g, 0, g->cols - 1, STYLE_TITLE, right);
}

static void key(struct grid *g, unsigned *col, const char *name, const char *what, enum style style)
{
	unsigned row = g->rows - 1;

	*col = grid_text(g, row, *col, g->cols, STYLE_VALUE, name) + 1;
	*col = grid_text(g, row, *col, g->cols, style, what) + 2;
}

static void keys(const struct view *v, struct grid *g)
{
	unsigned col = 1;
	char digits[8];

	key(g, &col, "q", "stop", STYLE_DIM);
	if (v->plan.tx)
		key(g, &col, "+ -", "rate", STYLE_DIM);
	if (g->cols < LEFT_COLS) {
		snprintf(digits, sizeof(digits), "1-%d", PAGE_COUNT - 1);
		key(g, &col, digits, view_page_title(v->page), STYLE_DIM);
	} else {
		for (int p = 0; p < PAGE_HELP; p++) {
			snprintf(digits, sizeof(digits), "%d", p + 1);
			key(g, &col, digits, view_page_title((enum view_page)p),
			    p == (int)v->page ? STYLE_VALUE : STYLE_DIM);
		}
	}
	key(g, &col, "?", "help", v->page == PAGE_HELP ? STYLE_VALUE : STYLE_DIM);
}

/* Where hardly anything fits. */
static unsigned tiny(const struct view *v, struct grid *g)
{
	char text[UNITS_STR];

	if (v->plan.tx) {
		units_format_with(v->last.tx_rates.pps, "pps", text, sizeof(text));
		grid_text(g, 0, grid_text(g, 0, 0, g->cols, STYLE_DIM, "tx "), g->cols, STYLE_VALUE, text);
	}
	if (v->plan.rx) {
		unsigned row = v->plan.tx ? 1 : 0;

		units_format_with(v->last.rx_rates.pps, "pps", text, sizeof(text));
		grid_text(g, row, grid_text(g, row, 0, g->cols, STYLE_DIM, "rx "), g->cols, STYLE_VALUE, text);
	}
	if (g->rows > 2)
		grid_text(g, g->rows - 1, 0, g->cols, STYLE_DIM, "terminal too small");
	return 0;
}

unsigned layout_draw(const struct view *v, struct grid *g)
{
	struct layout_area a = {.g = g, .row = 1, .rows = g->rows - 2, .col = 1, .end = g->cols - 1};
	unsigned lines;

	grid_clear(g);
	if (g->rows < LAYOUT_ROWS_MIN || g->cols < LAYOUT_COLS_MIN)
		return tiny(v, g);
	title(v, g);
	keys(v, g);
	if (v->page == PAGE_OVERVIEW) {
		struct layout_area right = a;

		if (g->cols >= BESIDE_COLS) {
			right.col = LEFT_COLS + 2;
			a.end = LEFT_COLS;
			layout_plan(v, right, 0);
		}
		layout_overview(v, a);
		return 0;
	}
	lines = layout_page(v, a, v->scroll);
	return lines > a.rows ? lines - a.rows : 0;
}
