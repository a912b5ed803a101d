/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: what a run says of itself, in one of several forms (text, JSON, JSON lines, CSV; the dashboard is one more).
 *
 * The run fills plain structs, a form (report_form.h) writes them. Main thread only. Results go to `out`, each piece
 * flushed when its call returns; a failed write (closed pipe, full disk) is returned as -errno by the call that met it
 * and by every later one, which writes nothing more. SIGPIPE has to be ignored. Numbers that do not exist are null,
 * never NaN. docs/json.md documents every key.
 */
#ifndef SQUALL_REPORT_H
#define SQUALL_REPORT_H

#include "config.h"
#include "cpu_seconds.h"
#include "err.h"
#include "report_measure.h"
#include "stats.h"

#include <stdio.h>

struct json_t; /* jansson's */
struct host_drops;

#define REPORT_QUEUES_MAX 256

struct report_queue {
	unsigned queue;
	int cpu;         /* where its thread runs; -1: not pinned */
	bool tx, rx;     /* which directions it has */
	uint64_t cpu_ns; /* processor time that its threads have had */
	struct tx_counts tx_counts;
	struct rx_counts rx_counts;
};

/* What the device was handed of one of a list of streams. */
struct report_sent {
	uint64_t queued; /* packets, */
	uint64_t bytes;  /* and theirs, without FCS */
};

/* Totals since the start of the run, at one moment. */
struct report_sample {
	uint64_t elapsed_ns;
	struct tx_counts tx;
	struct rx_counts rx;
	struct class_counts classes;
	struct measure_counts measure;
	uint64_t missing; /* sent, and not come so far: lost, or still on their way */
	unsigned n_queues;
	struct report_queue queues[REPORT_QUEUES_MAX];
	unsigned n_streams; /* 0: the run has no list of them */
	struct report_sent streams[CONFIG_STREAMS_MAX];
};

/* More than these are not kept. */
#define REPORT_FACTS_MAX    128
#define REPORT_WARNINGS_MAX 16

/*
 * One line of the plan: what will be done, in words. key is the JSON key under start: "next_hop", or with the name of
 * an object under start in front, "xdp.mode"; facts of one object stand together. label is for people.
 */
struct report_fact {
	char key[32];
	char label[32];
	char value[512];
};

struct report_warnings {
	unsigned n;
	char text[REPORT_WARNINGS_MAX][256];
};

void report_warn(struct report_warnings *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct report_plan {
	const char *verb; /* "send", "recv" */
	bool tx, rx;      /* which directions the run has */
	bool measure;     /* and that what is received is measured */
	bool missing;     /* and that its samples tell what is missing */
	unsigned n_facts;
	struct report_fact facts[REPORT_FACTS_MAX];
	struct report_warnings warnings;
};

void report_fact_add(struct report_plan *p, const char *key, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

enum end_reason { END_DURATION, END_COUNT, END_SIGNAL, END_ERROR, END_IDLE, END_USER };

/* How late packets were handed to the device, in ns. */
struct report_lateness {
	bool known; /* false: there was no schedule to be late on */
	uint64_t p50, p99, max;
	const struct hist *hist; /* all of it; NULL: only these three are told */
};

/* One of a list of streams: what is known at the end, beside the sample's. */
struct report_stream {
	const char *name;
	double requested_pps; /* while it sends; negative: unlimited */
	bool have_unsent;     /* false: it shares a schedule, whose positions that nobody took are nobody's */
	uint64_t unsent;
};

/* The latency of the path before the run, when nothing else was on it (pair --calibrate). */
struct report_floor {
	uint64_t packets;       /* by which it was measured */
	uint64_t min, p50, p99; /* ns */
	bool subtracted;        /* min was taken off every latency of the run */
};

/* One limit that the run was to keep. */
#define REPORT_THRESHOLDS_MAX 8
struct report_threshold {
	const char *name; /* of its option: "max-loss" */
	double limit;     /* ratios as such, times in ns, rates in packets a second */
	double value;     /* NAN: not known, and then not ok */
	bool ok;
	const char *unknown; /* why it is not known */
};

/* What became of --capture. */
struct report_capture {
	const char *file;
	uint64_t packets; /* in the file */
	uint64_t dropped; /* received and not in it: there was no room on the way, or the file took no more */
};

struct report_end {
	enum end_reason reason;
	const struct report_sample *total;
	uint64_t tx_ns;       /* first departure to the last packet taken; transmit rates divide by this */
	double requested_pps; /* negative: unlimited */
	double last_pps;      /* at the end, after changes; negative likewise */
	unsigned rate_changes;
	uint64_t unsent; /* packets the schedule asked for that were not sent */
	struct report_lateness lateness;
	uint64_t first_ns, last_ns;           /* wall clock of the first and last counted received packet; 0: none */
	bool pair;                            /* what was sent is what was to be received: their difference is told */
	const struct reflect_counts *reflect; /* NULL: nothing was to be sent back */
	const struct respond_counts *respond; /* NULL: nothing was to be answered for */
	const struct report_floor *floor;     /* NULL: it was not measured */
	unsigned n_thresholds;
	const struct report_threshold *thresholds;
	const struct report_capture *capture; /* NULL: none was asked for */
	const struct report_measure *measure; /* NULL: nothing was measured */
	bool have_loop;
	struct loop_counts loop;
	unsigned n_streams; /* the sample's */
	const struct report_stream *streams;
	const struct pcap_counts *pcap;        /* of a replay; NULL: none */
	const struct host_drops *device_drops; /* host_drops_sub() of end and start; NULL: unknown, or no link */
	struct cpu_seconds cpu;                /* what the run took: cpu_seconds_sub() of end and start */
	struct report_warnings warnings;
};

/* A verb's own result instead of a run ("devices"). Only the function of the form in use is called. */
struct report_document {
	const char *key;
	struct json_t *(*json)(const void *arg);  /* a new reference; NULL when memory is short */
	void (*text)(const void *arg, FILE *out); /* also when CSV was asked for */
	const void *arg;
};

/* A run on its way, for a form that follows it between intervals. */
struct report_live {
	const struct report_sample *now;
	double requested_pps; /* as things stand; negative: unlimited, NAN: nothing is sent */
	unsigned rate_changes;
	uint64_t count; /* packets after which it ends; 0: no limit */
	bool stopping;  /* told to end: what is on its way is waited for */
};

/* What somebody asked of a run through the form that shows it. */
struct report_wish {
	bool stop;
	int rate_steps; /* faster; negative: slower */
};

struct report;
struct report_ops;

/* The form that cfg asks for. cfg and out stay the caller's and outlive the report. NULL when memory is short. */
struct report *report_open(const struct config *cfg, FILE *out);
/* Before anything else is reported: another form than the one that cfg asks for. */
void report_set_form(struct report *r, const struct report_ops *ops);
void report_close(struct report *r);

int report_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns);

/* Between two samples; prev is all zero for the first. */
int report_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now);

/*
 * Between begin and end, a few times as often as somebody wants to be heard: adds to *wish what was asked for since the
 * last call. True when the form wants report_live() now. Other forms than live ones do nothing. now_ns: monotonic.
 */
bool report_poll(struct report *r, uint64_t now_ns, struct report_wish *wish);
void report_live(struct report *r, const struct report_live *live);

/*
 * Once, on every path. end is NULL when the run never started; e may be NULL, and e->code is EXIT_DONE when nothing
 * failed. all (may be NULL) are the problems that e tells as one. People get errors from cmd/ on stderr: only the
 * JSON forms write them here.
 */
int report_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all);

/* Instead of begin to end. d's data are not asked for when e is an error. */
int report_document(struct report *r, const struct report_document *d, const struct err *e, const struct problems *all);

/* The first failed write, and what is said of it: in *e, unless that tells of a failure already. 0: there was none. */
int report_failed(const struct report *r, struct err *e);

#endif
