/* SPDX-License-Identifier: Apache-2.0 */
/* A run in the dashboard's view, with figures that are easy to derive by hand, and what a grid says as text. */
#ifndef SQUALL_TUI_RUN_H
#define SQUALL_TUI_RUN_H

#include "lib/clock.h"
#include "tui/grid.h"
#include "tui/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tui_run {
	struct config cfg;
	struct report_plan plan;
	struct report_sample now;
	struct view view;
	struct grid grid;
};

/* *r: all zero, or begun before. */
static inline void tui_begin(struct tui_run *r, bool tx, bool rx)
{
	grid_free(&r->grid);
	memset(r, 0, sizeof(*r));
	r->cfg.verb = VERB_SEND;
	r->cfg.duration_ns = 30 * NS_PER_S;
	snprintf(r->cfg.interface, sizeof(r->cfg.interface), "eth1");
	r->plan.verb = tx ? "send" : "recv";
	r->plan.tx = tx;
	r->plan.rx = rx;
	report_fact_add(&r->plan, "interface", "interface", "%s", "eth1 (veth, MTU 1500)");
	report_fact_add(&r->plan, "backend", "backend", "%s", "afxdp: native, copy");
	report_fact_add(&r->plan, "backend_why", "because", "%s", "veth has no zero-copy");
	report_fact_add(&r->plan, "xdp.mode", "XDP mode", "%s", "native");
	report_fact_add(&r->plan, "next_hop", "next hop", "%s", "02:00:00:00:00:09 by ARP");
	view_begin(&r->view, &r->cfg, &r->plan);
}

/* A fifth of a second goes on: so many frames of 60 bytes are sent and received by n queues in equal parts. */
static inline void tui_goes_on(struct tui_run *r, uint64_t tx, uint64_t rx, unsigned n, double requested)
{
	struct report_live live = {.now = &r->now, .requested_pps = requested};

	r->now.elapsed_ns += VIEW_SAMPLE_NS;
	r->now.tx.queued += tx;
	r->now.tx.completed += tx;
	r->now.tx.completed_bytes += tx * 60;
	r->now.rx.packets += rx;
	r->now.rx.bytes += rx * 60;
	r->now.n_queues = n;
	for (unsigned i = 0; i < n; i++) {
		struct report_queue *q = &r->now.queues[i];

		q->queue = i;
		q->cpu = i ? (int)i : -1;
		q->tx = r->plan.tx;
		q->rx = r->plan.rx;
		q->tx_counts.completed += tx / n;
		q->rx_counts.packets += rx / n;
		q->cpu_ns += VIEW_SAMPLE_NS / 4;
	}
	view_sample(&r->view, &live);
}

/* A row as text, without the blanks at its end. The buffer is good until the next call. */
static inline const char *tui_row(const struct grid *g, unsigned row)
{
	static char text[4 * GRID_COLS_MAX + 1];
	size_t n = 0;

	for (unsigned col = 0; col < g->cols; col++) {
		wchar_t c = grid_at(g, row, col)->c;

		text[n++] = c == 0 ? '~' : c < 0x80 ? (char)c : '*';
	}
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

/* The first row from `from` on that has the text; fails when there is none. */
static inline unsigned tui_find(const struct grid *g, unsigned from, const char *text)
{
	for (unsigned row = from; row < g->rows; row++)
		if (strstr(tui_row(g, row), text))
			return row;
	for (unsigned row = 0; row < g->rows; row++)
		print_message("|%s|\n", tui_row(g, row));
	fail_msg("no \"%s\" from row %u on", text, from);
	return 0;
}

static inline bool tui_has(const struct grid *g, const char *text)
{
	for (unsigned row = 0; row < g->rows; row++)
		if (strstr(tui_row(g, row), text))
			return true;
	return false;
}

/* A row is made of these words, however far apart. */
static inline void tui_words(const struct grid *g, unsigned row, const char *words)
{
	char text[4 * GRID_COLS_MAX + 1] = "";
	char copy[4 * GRID_COLS_MAX + 1];
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", tui_row(g, row));
	for (const char *word; (word = strtok_r(rest, " ", &rest));)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "", word);
	assert_string_equal(text, words);
}

#endif
