/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view: what the dashboard knows of the run and which part of it is looked at. Filled from the plan and from samples;
 * the layout only reads it. Pure; main thread.
 */
#ifndef SQUALL_TUI_VIEW_H
#define SQUALL_TUI_VIEW_H

#include "history.h"
#include "lib/report_form.h"
#include "messages.h"

/* X(id, title) */
#define VIEW_PAGES(X) \
	X(OVERVIEW, "overview") \
	X(QUEUES, "queues") \
	X(COUNTERS, "counters") \
	X(PLAN, "plan") \
	X(MESSAGES, "messages") \
	X(HELP, "help")

enum view_page {
#define VIEW_PAGE_ENUM(id, title) PAGE_##id,
	VIEW_PAGES(VIEW_PAGE_ENUM)
#undef VIEW_PAGE_ENUM
		PAGE_COUNT
};

/* How often samples come, and how many of them a rate is over: one second. */
#define VIEW_SAMPLE_NS 200000000ULL
#define VIEW_SAMPLES   6

/* Of a queue, in the last second. */
struct view_queue {
	double tx_pps, rx_pps;
	double busy; /* processor time per time, of all of its threads; NAN: unknown */
};

struct view {
	const struct config *cfg;
	struct report_plan plan;
	struct report_sample samples[VIEW_SAMPLES]; /* a ring; begins with one of nothing */
	unsigned n_samples;                         /* that there were */
	struct report_span last;                    /* the last second */
	struct calc tx_run, rx_run;                 /* the run so far */
	struct view_queue queue[REPORT_QUEUES_MAX];
	double requested_pps; /* negative: unlimited; NAN: nothing is sent */
	unsigned rate_changes;
	uint64_t count;
	bool stopping;
	struct history tx, rx;
	struct messages messages;
	bool blocks; /* the terminal shows eighths of a block */
	enum view_page page;
	unsigned scroll;
};

/* *v is overwritten. cfg stays the caller's; the plan is copied. */
void view_begin(struct view *v, const struct config *cfg, const struct report_plan *plan);
void view_sample(struct view *v, const struct report_live *live);

/* The latest sample. */
const struct report_sample *view_now(const struct view *v);

const char *view_page_title(enum view_page page);

/* The plan's value for that key; NULL: it has none. */
const char *view_fact(const struct view *v, const char *key);

#endif
