/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "lib/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A list that is scrolled: lines are told one after the other, and those in the window are drawn. */
struct list {
	struct layout_area a;
	unsigned skip;
	unsigned n; /* told so far */
};

/* The row of the next line; false: it is not to be seen. */
static bool next(struct list *l, unsigned *row)
{
	unsigned i = l->n++;

	*row = l->a.row + i - l->skip;
	return i >= l->skip && i - l->skip < l->a.rows;
}

/* How much of the text stands in the next line of `width` columns: words are kept whole where they fit. */
static size_t line_length(const char *text, size_t width)
{
	size_t n = strlen(text);

	if (n <= width)
		return n;
	for (n = width; n && text[n] != ' '; n--)
		;
	return n ? n : width;
}

/* A label, and a text in as many lines as it needs. */
static void entry(struct list *l, unsigned indent, const char *label, enum style style, const char *text)
{
	unsigned col = l->a.col + indent, width, row;
	char part[512];
	bool first = true;

	if (col + 8 > l->a.end) /* no room beside labels */
		col = l->a.col;
	width = l->a.end - col;
	do {
		size_t n = line_length(text, width < sizeof(part) ? width : sizeof(part) - 1);

		if (next(l, &row)) {
			snprintf(part, sizeof(part), "%.*s", (int)n, text);
			if (first)
				grid_text(l->a.g, row, l->a.col, indent, STYLE_DIM, label);
			grid_text(l->a.g, row, col, width, style, part);
		}
		first = false;
		text += n;
		text += strspn(text, " ");
	} while (*text);
}

struct column {
	const char *title;
	unsigned width, needs; /* columns; how wide the area must be for it to be there */
};

static const struct column columns[] = {{"queue", 5, 0},        {"cpu", 5, 0},         {"busy", 8, 0},
					{"tx rate", 13, 0},     {"rx rate", 13, 45},   {"drops", 11, 56},
					{"tx packets", 20, 76}, {"rx packets", 20, 96}};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* A row, of as many cells as fit; NULL: what this run does not have. */
static void cells(const struct layout_area *a, unsigned row, enum style style, const char *const text[COLUMNS])
{
	unsigned end = a->col;

	for (size_t i = 0; i < COLUMNS; i++) {
		if (!text[i] || columns[i].needs > a->end - a->col || end + columns[i].width > a->end)
			continue;
		end += columns[i].width;
		grid_right(a->g, row, end, style, text[i]);
	}
}

static void queue_row(const struct view *v, const struct layout_area *a, unsigned row, unsigned i)
{
	const struct report_queue *q = &view_now(v)->queues[i];
	uint64_t drops = calc_tx_dropped(&q->tx_counts) + calc_rx_dropped(&q->rx_counts);
	char number[16], cpu[16] = "-", busy[16] = "-", tx_rate[UNITS_STR] = "-", rx_rate[UNITS_STR] = "-";
	char dropped[24], tx[24], rx[24];

	snprintf(number, sizeof(number), "%u", q->queue);
	if (q->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", q->cpu);
	if (isfinite(v->queue[i].busy))
		snprintf(busy, sizeof(busy), "%.0f %%", v->queue[i].busy * 100);
	if (q->tx)
		units_format_with(v->queue[i].tx_pps, "pps", tx_rate, sizeof(tx_rate));
	if (q->rx)
		units_format_with(v->queue[i].rx_pps, "pps", rx_rate, sizeof(rx_rate));
	snprintf(dropped, sizeof(dropped), "%" PRIu64, drops);
	snprintf(tx, sizeof(tx), "%" PRIu64, q->tx_counts.completed);
	snprintf(rx, sizeof(rx), "%" PRIu64, q->rx_counts.packets);

	const char *const text[COLUMNS] = {number,
					   cpu,
					   busy,
					   v->plan.tx ? tx_rate : NULL,
					   v->plan.rx ? rx_rate : NULL,
					   dropped,
					   v->plan.tx ? tx : NULL,
					   v->plan.rx ? rx : NULL};

	cells(a, row, drops ? STYLE_WARN : STYLE_PLAIN, text);
}

unsigned layout_queues(const struct view *v, struct layout_area a, unsigned skip)
{
	struct list l = {.a = a, .skip = skip};
	const char *head[COLUMNS];
	unsigned row;

	for (size_t i = 0; i < COLUMNS; i++)
		head[i] = columns[i].title;
	for (size_t i = 0; i < COLUMNS; i++)
		if ((strncmp(head[i], "tx", 2) == 0 && !v->plan.tx) || (strncmp(head[i], "rx", 2) == 0 && !v->plan.rx))
			head[i] = NULL;
	if (next(&l, &row))
		cells(&a, row, STYLE_DIM, head);
	for (unsigned i = 0; i < view_now(v)->n_queues; i++)
		if (next(&l, &row))
			queue_row(v, &a, row, i);
	return l.n;
}

/* All that are not 0. */
static unsigned counters(const struct view *v, struct layout_area a, unsigned skip)
{
	const struct report_sample *now = view_now(v);
	struct list l = {.a = a, .skip = skip};
	char text[320];

#define COUNTER(name, block, key, help) \
	if (now->block.key) { \
		snprintf(text, sizeof(text), "%" PRIu64 " %s: %s", now->block.key, #key, help); \
		entry(&l, v->plan.measure ? 10 : 4, name, calc_is_drop(#key) ? STYLE_WARN : STYLE_PLAIN, text); \
	}
#define TX_COUNTER(key, help)    COUNTER("tx", tx, key, help)
#define RX_COUNTER(key, help)    COUNTER("rx", rx, key, help)
#define CLASS_COUNTER(key, help) COUNTER("rx", classes, key, help)
#define STAMP_COUNTER(key, help) COUNTER("measured", measure, key, help)
	STATS_TX(TX_COUNTER)
	STATS_RX(RX_COUNTER)
	STATS_CLASS(CLASS_COUNTER)
	STATS_MEASURE(STAMP_COUNTER)
#undef TX_COUNTER
#undef RX_COUNTER
#undef CLASS_COUNTER
#undef STAMP_COUNTER
#undef COUNTER
	if (!l.n)
		entry(&l, 0, "", STYLE_DIM, "nothing was counted so far");
	return l.n;
}

unsigned layout_plan(const struct view *v, struct layout_area a, unsigned skip)
{
	struct list l = {.a = a, .skip = skip};
	size_t width = strlen("warning");

	for (unsigned i = 0; i < v->plan.n_facts; i++) {
		size_t n = strlen(v->plan.facts[i].label);

		width = n > width ? n : width;
	}
	for (unsigned i = 0; i < v->plan.n_facts; i++)
		entry(&l, (unsigned)width + 2, v->plan.facts[i].label, STYLE_PLAIN, v->plan.facts[i].value);
	for (unsigned i = 0; i < v->plan.warnings.n; i++)
		entry(&l, (unsigned)width + 2, "warning", STYLE_WARN, v->plan.warnings.text[i]);
	return l.n;
}

/* The latest first, since they are what one looks for. */
static unsigned messages(const struct view *v, struct layout_area a, unsigned skip)
{
	struct list l = {.a = a, .skip = skip};

	for (unsigned i = messages_kept(&v->messages); i--;) {
		const char *text = messages_get(&v->messages, i);

		entry(&l, 0, "", message_warns(text) ? STYLE_WARN : STYLE_PLAIN, text);
	}
	if (!l.n)
		entry(&l, 0, "", STYLE_DIM, "nothing was said so far");
	return l.n;
}

static unsigned help(const struct view *v, struct layout_area a, unsigned skip)
{
	static const struct {
		const char *keys, *what;
		bool tx; /* only where something is sent */
	} lines[] = {
		{"q", "stop: what is on its way is waited for, and the report is written below", false},
		{"Ctrl-C", "the same; a second time: leave at once, without a report", false},
		{"+", "ten per cent faster, as SIGUSR1", true},
		{"-", "slower by as much, as SIGUSR2", true},
		{"1 to 6", "the pages; Tab and the arrows to the sides: the next, and the one before", false},
		{"up down", "scroll by a line (also k and j); Page Up and Page Down (also space) by ten", false},
		{"Esc", "back to the overview", false},
		{"Ctrl-Z", "suspend: nothing is sent or taken until fg", false},
		{"? h", "this page, and back", false},
		{"",
		 "Rates are of the last second. busy: processor time that a queue's threads took, per time. L2 is "
		 "the frame with its FCS, L1 has preamble and gap as well (20 bytes a frame).",
		 false},
	};
	struct list l = {.a = a, .skip = skip};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (v->plan.tx || !lines[i].tx)
			entry(&l, 9, lines[i].keys, STYLE_PLAIN, lines[i].what);
	return l.n;
}

unsigned layout_page(const struct view *v, struct layout_area a, unsigned skip)
{
	switch (v->page) {
	case PAGE_QUEUES:
		return layout_queues(v, a, skip);
	case PAGE_COUNTERS:
		return counters(v, a, skip);
	case PAGE_PLAN:
		return layout_plan(v, a, skip);
	case PAGE_MESSAGES:
		return messages(v, a, skip);
	case PAGE_HELP:
		return help(v, a, skip);
	case PAGE_OVERVIEW:
	case PAGE_COUNT:
		break;
	}
	return 0;
}
