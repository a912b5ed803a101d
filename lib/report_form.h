/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_form: what a form of the report implements (report.c calls it), and what all forms show.
 *
 * A form writes to r->out and does not look at write errors: report.c flushes after every call and keeps the first
 * failure. A failure of the form's own (memory) it leaves in r->rc.
 */
#ifndef SQUALL_REPORT_FORM_H
#define SQUALL_REPORT_FORM_H

#include "report.h"
#include "report_calc.h"

struct report_ops {
	/* plan is NULL on the way to an end without a start. */
	void (*begin)(struct report *r, const struct report_plan *plan, uint64_t wall_ns);
	void (*interval)(struct report *r, const struct report_sample *prev, const struct report_sample *now);
	void (*end)(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all);
	bool (*poll)(struct report *r, uint64_t now_ns, struct report_wish *wish); /* NULL: it is not live */
	void (*live)(struct report *r, const struct report_live *live);            /* likewise */
	void (*document)(struct report *r, const struct report_document *d, const struct err *e,
			 const struct problems *all);
};

struct report {
	const struct report_ops *ops;
	const struct config *cfg;
	FILE *out;
	int rc; /* first failure; nothing is written after it */
	bool begun;
	bool tx, rx; /* the plan's */
	bool measure, missing;
	uint64_t n_intervals;
};

extern const struct report_ops report_text_ops;
extern const struct report_ops report_json_ops;
extern const struct report_ops report_json_stream_ops;
extern const struct report_ops report_csv_ops;
/* Says nothing: for a run before the run that was asked for. */
extern const struct report_ops report_silent_ops;

void report_text_document(struct report *r, const struct report_document *d, const struct err *e,
			  const struct problems *all);

/* A stretch of the run: what was counted in it, and the rates of that. */
struct report_span {
	uint64_t elapsed_ns; /* its end, since the start of the run */
	uint64_t ns;         /* its length */
	struct tx_counts tx;
	struct rx_counts rx;
	struct class_counts classes;
	struct measure_counts measure;
	uint64_t missing; /* at its end */
	struct calc tx_rates;
	struct calc rx_rates;
};

void report_span_interval(struct report_span *s, const struct report_sample *prev, const struct report_sample *now);
/* The whole run; each direction's rates are by the time that it really took. */
void report_span_run(struct report_span *s, const struct report_end *end);

const char *end_reason_name(enum end_reason reason);

static inline bool err_failed(const struct err *e)
{
	return e && e->code != EXIT_DONE;
}

#endif
