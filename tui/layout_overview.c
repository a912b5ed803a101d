/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "lib/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLS  12 /* of the table */
#define NUMBER_COLS 22
/* Below this rate a share of it says nothing: it goes by single packets. */
#define SHARE_MIN_PPS 100

/* What an overview has, from the top down. */
enum block {
	BLOCK_WAY,
	BLOCK_TABLE,
	BLOCK_ASKED,
	BLOCK_MEASURED,
	BLOCK_DROPS,
	BLOCK_GRAPH,
	BLOCK_QUEUES,
	BLOCK_MESSAGES,
	BLOCKS
};

/* Who gets room, in this order: up to so many rows in all, as long as the block has something for them. */
static const struct {
	enum block block;
	unsigned rows;
} order[] = {
	{BLOCK_TABLE, 6},
	{BLOCK_ASKED, 1},
	{BLOCK_MEASURED, 1},
	{BLOCK_MESSAGES, 1},
	{BLOCK_WAY, 1},
	{BLOCK_TABLE, 9},
	{BLOCK_DROPS, 2},
	{BLOCK_GRAPH, 2},
	{BLOCK_QUEUES, 3},
	{BLOCK_WAY, 3},
	{BLOCK_GRAPH, 4},
	{BLOCK_DROPS, 8},
	{BLOCK_QUEUES, 9},
	{BLOCK_WAY, 12},
	{BLOCK_MESSAGES, 4},
	{BLOCK_GRAPH, 9},
	{BLOCK_QUEUES, REPORT_QUEUES_MAX},
	{BLOCK_MESSAGES, 16},
};

/* Facts about how the interface is used. */
static bool is_way(const char *key)
{
	return strncmp(key, "backend", strlen("backend")) == 0 || strncmp(key, "xdp", strlen("xdp")) == 0;
}

static void way(const struct view *v, struct layout_area a)
{
	unsigned row = 0;

	for (unsigned i = 0; i < v->plan.n_facts && row < a.rows; i++) {
		const struct report_fact *f = &v->plan.facts[i];
		unsigned col = a.col;

		if (!is_way(f->key))
			continue;
		if (strcmp(f->key, "backend") != 0)
			col = grid_text(a.g, a.row + row, col, a.end - col, STYLE_DIM, f->label) + 1;
		grid_text(a.g, a.row + row, col, a.end - col, STYLE_PLAIN, f->value);
		row++;
	}
}

/* One line of the table; columns of directions that the run does not have stay away. */
static void line(const struct view *v, const struct layout_area *a, unsigned row, enum style style, const char *label,
		 const char *tx, const char *rx)
{
	unsigned room = a->end - a->col - LABEL_COLS;
	unsigned n = v->plan.tx && v->plan.rx ? 2 : 1;
	unsigned width = room / n < NUMBER_COLS ? room / n : NUMBER_COLS;
	unsigned end = a->col + LABEL_COLS;

	if (row >= a->rows)
		return;
	grid_text(a->g, a->row + row, a->col, LABEL_COLS, STYLE_DIM, label);
	if (v->plan.tx)
		grid_right(a->g, a->row + row, end + width, style, tx);
	if (v->plan.rx)
		grid_right(a->g, a->row + row, end + (v->plan.tx ? 2 : 1) * width, style, rx);
}

static void rate_line(const struct view *v, const struct layout_area *a, unsigned row, const char *label, double tx,
		      double rx, const char *unit)
{
	char t[UNITS_STR], r[UNITS_STR];

	line(v, a, row, STYLE_VALUE, label, units_format_with(tx, unit, t, sizeof(t)),
	     units_format_with(rx, unit, r, sizeof(r)));
}

static void count_line(const struct view *v, const struct layout_area *a, unsigned row, enum style style,
		       const char *label, uint64_t tx, uint64_t rx)
{
	char t[UNITS_STR], r[UNITS_STR];

	snprintf(t, sizeof(t), "%" PRIu64, tx);
	snprintf(r, sizeof(r), "%" PRIu64, rx);
	line(v, a, row, style, label, t, r);
}

/* The first six lines are those that always have room. */
static void table(const struct view *v, struct layout_area a)
{
	const struct calc *tx = &v->last.tx_rates, *rx = &v->last.rx_rates;
	const struct report_sample *now = view_now(v);
	uint64_t tx_drops = calc_tx_dropped(&now->tx), rx_drops = calc_rx_dropped(&now->rx);

	line(v, &a, 0, STYLE_DIM, "", "TX", "RX");
	rate_line(v, &a, 1, "now", tx->pps, rx->pps, "pps");
	rate_line(v, &a, 2, "L1", tx->bps_l1, rx->bps_l1, "bit/s");
	rate_line(v, &a, 3, "L2", tx->bps_l2, rx->bps_l2, "bit/s");
	count_line(v, &a, 4, STYLE_VALUE, "packets", v->tx_run.packets, v->rx_run.packets);
	count_line(v, &a, 5, tx_drops || rx_drops ? STYLE_WARN : STYLE_PLAIN, "dropped", tx_drops, rx_drops);
	count_line(v, &a, 6, STYLE_PLAIN, "bytes (L2)", v->tx_run.bytes_l2, v->rx_run.bytes_l2);
	rate_line(v, &a, 7, "mean frame", v->tx_run.mean_bytes_l2, v->rx_run.mean_bytes_l2, "B");
	rate_line(v, &a, 8, "whole run", v->tx_run.pps, v->rx_run.pps, "pps");
}

static void asked(const struct view *v, struct layout_area a)
{
	double share = v->last.tx_rates.pps / v->requested_pps * 100;
	bool behind = false;
	char rate[UNITS_STR];
	char text[128];
	size_t n;

	if (v->requested_pps < 0) {
		n = (size_t)snprintf(text, sizeof(text), "no limit");
	} else {
		units_format_with(v->requested_pps, "pps", rate, sizeof(rate));
		n = (size_t)snprintf(text, sizeof(text), "%s", rate);
		if (v->requested_pps >= SHARE_MIN_PPS && isfinite(share)) {
			n += (size_t)snprintf(text + n, sizeof(text) - n, ", %.2f %% of it sent now", share);
			behind = share < 99;
		}
	}
	if (v->rate_changes)
		snprintf(text + n, sizeof(text) - n, ", changed %u time%s", v->rate_changes,
			 v->rate_changes == 1 ? "" : "s");
	grid_text(a.g, a.row, a.col, LABEL_COLS, STYLE_DIM, "asked for");
	grid_text(a.g, a.row, a.col + LABEL_COLS, a.end - a.col - LABEL_COLS, behind ? STYLE_WARN : STYLE_PLAIN, text);
}

/* How many stamps there were, and what was not as it should be. What of the missing is lost is known at the end. */
static void measured(const struct view *v, struct layout_area a)
{
	const struct measure_counts *c = &view_now(v)->measure;
	char text[256];
	size_t n = (size_t)snprintf(text, sizeof(text), "%" PRIu64 " stamped", c->stamped);

#define MEASURED(key, help) \
	if (c->key && n < sizeof(text) && strcmp(#key, "stamped") != 0 && strcmp(#key, "bytes") != 0 && \
	    strcmp(#key, "unique") != 0) \
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %" PRIu64 " " #key, c->key);
	STATS_MEASURE(MEASURED)
#undef MEASURED
	if (view_now(v)->missing && n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, ", %" PRIu64 " missing so far", view_now(v)->missing);
	grid_text(a.g, a.row, a.col, LABEL_COLS, STYLE_DIM, "measured");
	grid_text(a.g, a.row, a.col + LABEL_COLS, a.end - a.col - LABEL_COLS, STYLE_PLAIN, text);
}

/* Drops by cause. Returns how many lines there are; draws those that fit. */
static unsigned drops(const struct view *v, const struct layout_area *a)
{
	const struct report_sample *now = view_now(v);
	unsigned n = 0;
	char text[256];

#define DROP_LINE(dir, key, help) \
	if (now->dir.key && (calc_is_drop(#key) || strcmp(#key, "filtered") == 0)) { \
		snprintf(text, sizeof(text), #dir "  %" PRIu64 " " #key ": %s", now->dir.key, help); \
		if (a && n < a->rows) \
			grid_text(a->g, a->row + n, a->col, a->end - a->col, \
				  calc_is_drop(#key) ? STYLE_WARN : STYLE_PLAIN, text); \
		n++; \
	}
#define TX_DROP(key, help) DROP_LINE(tx, key, help)
#define RX_DROP(key, help) DROP_LINE(rx, key, help)
	STATS_TX(TX_DROP)
	STATS_RX(RX_DROP)
#undef TX_DROP
#undef RX_DROP
#undef DROP_LINE
	return n;
}

/* A title and the bars of one direction. */
static void half(const struct view *v, struct layout_area a, const char *name, const struct history *h,
		 enum style style, double top)
{
	unsigned seconds = a.end - a.col < HISTORY_SECONDS ? a.end - a.col : HISTORY_SECONDS;
	char rate[UNITS_STR], text[96];

	a.end = a.col + seconds;
	snprintf(text, sizeof(text), "%s, last %u s, up to %s", name, seconds,
		 units_format_with(top, "pps", rate, sizeof(rate)));
	grid_text(a.g, a.row, a.col, a.end - a.col, STYLE_DIM, text);
	a.row++;
	a.rows--;
	layout_graph(v, a, h, style, top);
}

/* Both directions side by side, on one scale. */
static void graph(const struct view *v, struct layout_area a)
{
	unsigned middle = v->plan.tx && v->plan.rx ? a.col + (a.end - a.col) / 2 : a.end;
	unsigned seconds = middle - a.col;
	double tx = v->plan.tx ? history_top(&v->tx, seconds) : 0;
	double rx = v->plan.rx ? history_top(&v->rx, seconds) : 0;
	double top = tx > rx ? tx : rx;
	struct layout_area right = a;

	right.col = middle;
	a.end = middle < a.end ? middle - 1 : a.end;
	if (v->plan.tx)
		half(v, a, "tx", &v->tx, STYLE_TX, top);
	if (v->plan.rx)
		half(v, v->plan.tx ? right : a, "rx", &v->rx, STYLE_RX, top);
}

/* The latest ones, the last at the bottom. */
static void messages(const struct view *v, struct layout_area a)
{
	unsigned kept = messages_kept(&v->messages);

	for (unsigned i = 0; i < a.rows && i < kept; i++) {
		const char *text = messages_get(&v->messages, kept - a.rows + i);

		grid_text(a.g, a.row + i, a.col, a.end - a.col, message_warns(text) ? STYLE_WARN : STYLE_PLAIN, text);
	}
}

static void draw(const struct view *v, enum block block, struct layout_area a)
{
	switch (block) {
	case BLOCK_WAY:
		way(v, a);
		break;
	case BLOCK_TABLE:
		table(v, a);
		break;
	case BLOCK_ASKED:
		asked(v, a);
		break;
	case BLOCK_MEASURED:
		measured(v, a);
		break;
	case BLOCK_DROPS:
		drops(v, &a);
		break;
	case BLOCK_GRAPH:
		graph(v, a);
		break;
	case BLOCK_QUEUES:
		layout_queues(v, a, 0);
		break;
	case BLOCK_MESSAGES:
		messages(v, a);
		break;
	case BLOCKS:
		break;
	}
}

void layout_overview(const struct view *v, struct layout_area a)
{
	unsigned needs[BLOCKS] = {
		[BLOCK_TABLE] = 9,
		[BLOCK_ASKED] = v->plan.tx ? 1 : 0,
		[BLOCK_MEASURED] = v->plan.measure ? 1 : 0,
		[BLOCK_DROPS] = drops(v, NULL),
		[BLOCK_GRAPH] = 9,
		[BLOCK_QUEUES] = view_now(v)->n_queues + 1,
		[BLOCK_MESSAGES] = messages_kept(&v->messages),
	};
	unsigned has[BLOCKS] = {0};
	unsigned left = a.rows;

	for (unsigned i = 0; i < v->plan.n_facts; i++)
		needs[BLOCK_WAY] += is_way(v->plan.facts[i].key);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		enum block b = order[i].block;
		unsigned most = needs[b] < order[i].rows ? needs[b] : order[i].rows;
		unsigned more = most > has[b] ? most - has[b] : 0;

		more = more < left ? more : left;
		if (!has[b] && more == 1 && (b == BLOCK_GRAPH || b == BLOCK_QUEUES)) /* a heading alone says nothing */
			more = 0;
		has[b] += more;
		left -= more;
	}
	for (int b = 0; b < BLOCKS; b++) {
		a.rows = has[b];
		if (a.rows)
			draw(v, (enum block)b, a);
		a.row += a.rows;
	}
}
