/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: what a run says of itself, in one of several forms (text, JSON, JSON lines, CSV; the dashboard is one more).
 *
 * The run fills plain structs, a form writes them. Main thread only. Results go to `out`; a failed write (closed pipe,
 * full disk) is returned as -errno by the call that met it and every later one. Numbers that do not exist are null,
 * never NaN. docs/json.md documents every key.
 */
#ifndef SQUALL_REPORT_H
#define SQUALL_REPORT_H

#include "config.h"
#include "err.h"
#include "stats.h"

#include <stdio.h>

/* On the wire a frame has 4 bytes of FCS that no buffer holds, and 20 more of preamble, delimiter and gap (L1). */
#define FCS_BYTES      4U
#define L1_EXTRA_BYTES 20U

#define REPORT_QUEUES_MAX 256

/* How often what the whole machine's processors did, in seconds; from /proc/stat. */
struct cpu_seconds {
	double user, system, softirq, irq, steal;
};
int cpu_seconds_read(struct cpu_seconds *out);

struct report_queue {
	unsigned queue;
	int cpu;     /* where its thread runs; -1: not pinned */
	bool tx, rx; /* which directions it has */
	struct tx_counts tx_counts;
	struct rx_counts rx_counts;
};

/* Totals since the start of the run, at one moment. */
struct report_sample {
	uint64_t elapsed_ns;
	struct tx_counts tx;
	struct rx_counts rx;
	struct class_counts classes;
	unsigned n_queues;
	struct report_queue queues[REPORT_QUEUES_MAX];
};

/* One line of the plan: what will be done, in words. key is the JSON key under start ("next_hop"), label is for people.
 */
struct report_fact {
	char key[24];
	char label[24];
	char value[256];
};

#define REPORT_FACTS_MAX    40
#define REPORT_WARNINGS_MAX 16

struct report_plan {
	const struct config *cfg;
	const char *verb; /* "send", "recv" */
	bool tx, rx;      /* which directions the run has */
	unsigned n_facts;
	struct report_fact facts[REPORT_FACTS_MAX];
	unsigned n_warnings;
	char warnings[REPORT_WARNINGS_MAX][256];
};

void report_fact_add(struct report_plan *p, const char *key, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void report_warn(struct report_plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum end_reason { END_DURATION, END_COUNT, END_SIGNAL, END_ERROR, END_IDLE };

struct report_end {
	enum end_reason reason;
	const struct report_sample *total;
	uint64_t tx_ns;             /* first departure to the last packet taken; transmit rates divide by this */
	double requested_pps;       /* negative: unlimited */
	uint64_t unsent;            /* packets the schedule asked for that were not sent */
	uint64_t first_ns, last_ns; /* wall clock of the first and last counted received packet; 0: none */
	bool have_loop;
	struct loop_counts loop;
	struct cpu_seconds cpu;
	unsigned n_warnings;
	char warnings[REPORT_WARNINGS_MAX][256];
};

struct report;

struct report_ops {
	const char *name;
	int (*begin)(struct report *r, const struct report_plan *plan, uint64_t wall_ns);
	/* Between two samples; prev is all zero for the first. */
	int (*interval)(struct report *r, const struct report_sample *prev, const struct report_sample *now);
	/* Called once on every path. end is NULL when the run never started; e->code is EXIT_DONE when nothing failed.
	 */
	int (*end)(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all);
	/* A verb's own document instead of a run ("devices"): a jansson object, which the call takes over. */
	int (*document)(struct report *r, const char *key, void *json, const struct err *e);
};

/* The form that cfg asks for; out stays the caller's. NULL when memory is short. */
struct report *report_open(const struct config *cfg, FILE *out);
void report_close(struct report *r);

int report_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns);
int report_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now);
int report_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all);

#endif
