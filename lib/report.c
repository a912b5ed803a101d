/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"
#include "report_form.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void report_fact_add(struct report_plan *p, const char *key, const char *label, const char *fmt, ...)
{
	struct report_fact *f = &p->facts[p->n_facts];
	va_list ap;

	if (p->n_facts == REPORT_FACTS_MAX)
		return;
	p->n_facts++;
	snprintf(f->key, sizeof(f->key), "%s", key);
	snprintf(f->label, sizeof(f->label), "%s", label);
	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
}

void report_warn(struct report_warnings *w, const char *fmt, ...)
{
	va_list ap;

	if (w->n == REPORT_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(w->text[w->n], sizeof(w->text[w->n]), fmt, ap);
	va_end(ap);
	w->n++;
}

const char *end_reason_name(enum end_reason reason)
{
	switch (reason) {
	case END_DURATION:
		return "duration";
	case END_COUNT:
		return "count";
	case END_SIGNAL:
		return "signal";
	case END_ERROR:
		return "error";
	case END_IDLE:
		return "idle";
	case END_USER:
		return "user";
	}
	return "error";
}

void report_span_interval(struct report_span *s, const struct report_sample *prev, const struct report_sample *now)
{
	s->elapsed_ns = now->elapsed_ns;
	s->ns = now->elapsed_ns - prev->elapsed_ns;
	tx_counts_sub(&s->tx, &now->tx, &prev->tx);
	rx_counts_sub(&s->rx, &now->rx, &prev->rx);
	class_counts_sub(&s->classes, &now->classes, &prev->classes);
	measure_counts_sub(&s->measure, &now->measure, &prev->measure);
	s->missing = now->missing;
	s->tx_rates = calc_over(s->tx.completed, s->tx.completed_bytes, s->ns);
	s->rx_rates = calc_over(s->rx.packets, s->rx.bytes, s->ns);
}

void report_span_run(struct report_span *s, const struct report_end *end)
{
	s->elapsed_ns = end->total->elapsed_ns;
	s->ns = end->total->elapsed_ns;
	s->tx = end->total->tx;
	s->rx = end->total->rx;
	s->classes = end->total->classes;
	s->measure = end->total->measure;
	s->missing = end->total->missing;
	s->tx_rates = calc_over(s->tx.completed, s->tx.completed_bytes, end->tx_ns);
	s->rx_rates = calc_between(s->rx.packets, s->rx.bytes, end->first_ns, end->last_ns);
}

static const struct report_ops *form(const struct config *cfg)
{
	if (cfg->json_stream)
		return &report_json_stream_ops;
	if (cfg->json)
		return &report_json_ops;
	if (cfg->csv)
		return &report_csv_ops;
	return &report_text_ops;
}

struct report *report_open(const struct config *cfg, FILE *out)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ops = form(cfg);
	r->cfg = cfg;
	r->out = out;
	return r;
}

void report_set_form(struct report *r, const struct report_ops *ops)
{
	r->ops = ops;
}

void report_close(struct report *r)
{
	free(r);
}

/* errno is cleared before a form writes: a write that fails inside of stdio leaves its reason there, and only a flag in
 * the stream. */
static bool ready(struct report *r)
{
	errno = 0;
	return !r->rc;
}

static int settle(struct report *r)
{
	bool failed = fflush(r->out) || ferror(r->out);

	if (failed && !r->rc)
		r->rc = errno ? -errno : -EIO;
	return r->rc;
}

int report_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	if (!ready(r))
		return r->rc;
	r->begun = true;
	r->tx = plan && plan->tx;
	r->rx = plan && plan->rx;
	r->measure = plan && plan->measure;
	r->missing = plan && plan->missing;
	r->ops->begin(r, plan, wall_ns);
	return settle(r);
}

int report_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	if (!ready(r))
		return r->rc;
	r->ops->interval(r, prev, now);
	r->n_intervals++;
	return settle(r);
}

bool report_poll(struct report *r, uint64_t now_ns, struct report_wish *wish)
{
	return r->ops->poll && !r->rc && r->ops->poll(r, now_ns, wish);
}

void report_live(struct report *r, const struct report_live *live)
{
	if (r->ops->live && !r->rc)
		r->ops->live(r, live);
}

int report_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	if (!r->begun)
		report_begin(r, NULL, 0);
	/* Memory that was short for one piece may do for another; a stream that failed stays so. */
	if (!ready(r) && r->rc != -ENOMEM)
		return r->rc;
	r->ops->end(r, end, e, all);
	return settle(r);
}

int report_document(struct report *r, const struct report_document *d, const struct err *e, const struct problems *all)
{
	if (!ready(r))
		return r->rc;
	r->ops->document(r, d, e, all);
	return settle(r);
}

int report_failed(const struct report *r, struct err *e)
{
	if (r->rc && e->code == EXIT_DONE)
		err_set(e, r->rc, EXIT_RUN, "cannot write the report", "standard output", "%s", strerror(-r->rc));
	return r->rc;
}
