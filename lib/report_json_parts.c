/* SPDX-License-Identifier: Apache-2.0 */
#include "report_json_parts.h"

#include "clock.h"
#include "json_value.h"
#include "option.h"
#include "report_json_measure.h"
#include "report_json_outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void report_json_put(struct report *r, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) == 0)
		return;
	r->rc = -ENOMEM;
	json_object_set_new(object, key, json_null());
}

static void put_count(struct report *r, json_t *object, const char *key, uint64_t n)
{
	report_json_put(r, object, key, json_value_count(n));
}

static void put_real(struct report *r, json_t *object, const char *key, double v)
{
	report_json_put(r, object, key, json_value_real(v));
}

static void put_text(struct report *r, json_t *object, const char *key, const char *s)
{
	report_json_put(r, object, key, json_value_text(s));
}

/* Nothing to say is null. */
static void put_text_or_null(struct report *r, json_t *object, const char *key, const char *s)
{
	put_text(r, object, key, s[0] ? s : NULL);
}

static void append(struct report *r, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		r->rc = -ENOMEM;
}

struct config_walk {
	struct report *r;
	json_t *object;
};

static void put_option(void *arg, const char *name, const char *value, bool given)
{
	struct config_walk *w = arg;

	(void)given;
	put_text_or_null(w->r, w->object, name, value);
}

json_t *report_json_config(struct report *r)
{
	struct config_walk w = {.r = r, .object = json_object()};
	json_t *streams = r->cfg->n_streams ? json_array() : json_null();

	option_each(r->cfg, put_option, &w);
	for (unsigned i = 0; i < r->cfg->n_streams; i++) {
		struct config_walk one = {.r = r, .object = json_object()};

		option_each(&r->cfg->streams[i], put_option, &one);
		append(r, streams, one.object);
	}
	if (verb_sends(r->cfg->verb))
		report_json_put(r, w.object, "streams", streams);
	else
		json_decref(streams);
	return w.object;
}

static json_t *warnings_json(struct report *r, const struct report_warnings *w)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < w->n; i++)
		append(r, array, json_value_text(w->text[i]));
	return array;
}

static void put_fact(struct report *r, json_t *start, const struct report_fact *fact)
{
	const char *dot = strchr(fact->key, '.');
	char name[sizeof(fact->key)];
	json_t *object;

	if (!dot) {
		put_text(r, start, fact->key, fact->value);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(dot - fact->key), fact->key);
	object = json_object_get(start, name);
	if (!object) {
		object = json_object();
		report_json_put(r, start, name, object);
	}
	put_text(r, object, dot + 1, fact->value);
}

json_t *report_json_start(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	json_t *o;

	if (!plan)
		return json_null();
	o = json_object();
	put_count(r, o, "time", wall_ns);
	put_text(r, o, "verb", plan->verb);
	for (unsigned i = 0; i < plan->n_facts; i++)
		put_fact(r, o, &plan->facts[i]);
	report_json_put(r, o, "warnings", warnings_json(r, &plan->warnings));
	return o;
}

static void put_rates(struct report *r, json_t *o, const struct calc *rates)
{
#define PUT_RATE(key) put_real(r, o, #key, rates->key);
	CALC_RATES(PUT_RATE)
#undef PUT_RATE
}

static void put_calc(struct report *r, json_t *o, const struct calc *rates)
{
	put_count(r, o, "packets", rates->packets);
	put_count(r, o, "bytes_l2", rates->bytes_l2);
	put_rates(r, o, rates);
}

#define PUT_COUNT(key, help) put_count(r, o, #key, c->key);

static json_t *tx_json(struct report *r, const struct report_span *s)
{
	const struct tx_counts *c = &s->tx;
	json_t *o = json_object();

	put_calc(r, o, &s->tx_rates);
	put_count(r, o, "dropped", calc_tx_dropped(c));
	STATS_TX(PUT_COUNT)
	return o;
}

static json_t *class_json(struct report *r, const struct class_counts *c)
{
	json_t *o = json_object();

	STATS_CLASS(PUT_COUNT)
	return o;
}

static json_t *rx_json(struct report *r, const struct report_span *s)
{
	const struct rx_counts *c = &s->rx;
	json_t *o = json_object();

	put_calc(r, o, &s->rx_rates);
	put_count(r, o, "dropped", calc_rx_dropped(c));
	STATS_RX(PUT_COUNT)
	report_json_put(r, o, "classes", class_json(r, &s->classes));
	return o;
}

/* The counts are one queue's, the span is that of all: a queue's rate is its share of the rate of all. */
static json_t *queue_json(struct report *r, const struct report_queue *q, const struct report_span *s)
{
	const struct tx_counts *tx = &q->tx_counts;
	const struct rx_counts *rx = &q->rx_counts;
	double tx_pps = calc_share_pps(&s->tx_rates, tx->completed);
	double rx_pps = calc_share_pps(&s->rx_rates, rx->packets);
	json_t *o = json_object();

#define PUT_TX(key, help) report_json_put(r, o, "tx_" #key, q->tx ? json_value_count(tx->key) : json_null());
#define PUT_RX(key, help) report_json_put(r, o, "rx_" #key, q->rx ? json_value_count(rx->key) : json_null());
	put_count(r, o, "queue", q->queue);
	report_json_put(r, o, "cpu", q->cpu < 0 ? json_null() : json_integer(q->cpu));
	report_json_put(r, o, "tx_packets", q->tx ? json_value_count(tx->completed) : json_null());
	report_json_put(r, o, "tx_pps", q->tx ? json_value_real(tx_pps) : json_null());
	STATS_TX(PUT_TX)
	report_json_put(r, o, "rx_pps", q->rx ? json_value_real(rx_pps) : json_null());
	STATS_RX(PUT_RX)
#undef PUT_TX
#undef PUT_RX
	return o;
}

static json_t *interval_measure_json(struct report *r, const struct report_span *s)
{
	json_t *o = report_json_measure_counts(r, &s->measure);

	report_json_put(r, o, "missing_so_far", r->missing ? json_value_count(s->missing) : json_null());
	return o;
}

/* What was handed over of a stream in ns. */
static json_t *stream_json(struct report *r, unsigned i, const struct report_sent *sent, uint64_t ns)
{
	const struct calc rates = calc_over(sent->queued, sent->bytes, ns);
	json_t *o = json_object();

	put_count(r, o, "stream", i);
	put_text(r, o, "name", r->cfg->streams[i].name);
	put_count(r, o, "queued", rates.packets);
	put_count(r, o, "bytes_l2", rates.bytes_l2);
	put_rates(r, o, &rates);
	return o;
}

static json_t *interval_streams_json(struct report *r, const struct report_sample *prev,
				     const struct report_sample *now, uint64_t ns)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < now->n_streams; i++) {
		const struct report_sent sent = {
			.queued = now->streams[i].queued - prev->streams[i].queued,
			.bytes = now->streams[i].bytes - prev->streams[i].bytes,
		};

		append(r, array, stream_json(r, i, &sent, ns));
	}
	return array;
}

json_t *report_json_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	json_t *queues = json_array();
	json_t *o = json_object();
	struct report_span s;

	report_span_interval(&s, prev, now);
	for (unsigned i = 0; i < now->n_queues; i++) {
		struct report_queue q = now->queues[i];

		tx_counts_sub(&q.tx_counts, &now->queues[i].tx_counts, &prev->queues[i].tx_counts);
		rx_counts_sub(&q.rx_counts, &now->queues[i].rx_counts, &prev->queues[i].rx_counts);
		append(r, queues, queue_json(r, &q, &s));
	}
	put_real(r, o, "elapsed_s", (double)s.elapsed_ns / NS_PER_S);
	put_real(r, o, "seconds", (double)s.ns / NS_PER_S);
	report_json_put(r, o, "tx", r->tx ? tx_json(r, &s) : json_null());
	report_json_put(r, o, "rx", r->rx ? rx_json(r, &s) : json_null());
	report_json_put(r, o, "measure", r->measure ? interval_measure_json(r, &s) : json_null());
	report_json_put(r, o, "queues", queues);
	report_json_put(r, o, "streams", now->n_streams ? interval_streams_json(r, prev, now, s.ns) : json_null());
	return o;
}

static json_t *lateness_json(struct report *r, const struct report_lateness *l)
{
	json_t *o;

	if (!l->known)
		return json_null();
	o = json_object();
	put_count(r, o, "p50", l->p50);
	put_count(r, o, "p99", l->p99);
	put_count(r, o, "max", l->max);
	if (l->hist)
		report_json_put(r, o, "buckets", report_json_buckets(r, l->hist));
	return o;
}

static json_t *end_tx_json(struct report *r, const struct report_end *end, const struct report_span *s)
{
	json_t *o;

	if (!r->tx)
		return json_null();
	o = tx_json(r, s);
	report_json_put(r, o, "requested_pps",
			end->requested_pps < 0 ? json_null() : json_value_real(end->requested_pps));
	report_json_put(r, o, "last_pps", end->last_pps < 0 ? json_null() : json_value_real(end->last_pps));
	put_count(r, o, "rate_changes", end->rate_changes);
	put_count(r, o, "unsent", end->unsent);
	report_json_put(r, o, "lateness_ns", lateness_json(r, &end->lateness));
	return o;
}

static json_t *end_rx_json(struct report *r, const struct report_end *end, const struct report_span *s)
{
	json_t *o;

	if (!r->rx)
		return json_null();
	o = rx_json(r, s);
	report_json_put(r, o, "first_ns", end->first_ns ? json_value_count(end->first_ns) : json_null());
	report_json_put(r, o, "last_ns", end->last_ns ? json_value_count(end->last_ns) : json_null());
	return o;
}

static json_t *cpu_json(struct report *r, const struct cpu_seconds *c)
{
	json_t *o = json_object();

#define PUT_SECONDS(key) put_real(r, o, #key "_s", c->key);
	CPU_SECONDS(PUT_SECONDS)
#undef PUT_SECONDS
	return o;
}

static json_t *streams_json(struct report *r, const struct report_end *end)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < end->n_streams; i++) {
		const struct report_stream *s = &end->streams[i];
		json_t *o = stream_json(r, i, &end->total->streams[i], end->tx_ns);

		report_json_put(r, o, "requested_pps",
				s->requested_pps < 0 ? json_null() : json_value_real(s->requested_pps));
		report_json_put(r, o, "unsent", s->have_unsent ? json_value_count(s->unsent) : json_null());
		append(r, array, o);
	}
	return array;
}

json_t *report_json_end(struct report *r, const struct report_end *end)
{
	struct report_span s;
	json_t *queues;
	json_t *o;

	if (!end)
		return json_null();
	report_span_run(&s, end);
	queues = json_array();
	for (unsigned i = 0; i < end->total->n_queues; i++)
		append(r, queues, queue_json(r, &end->total->queues[i], &s));
	o = json_object();
	put_real(r, o, "seconds", (double)s.ns / NS_PER_S);
	put_text(r, o, "reason", end_reason_name(end->reason));
	report_json_put(r, o, "tx", end_tx_json(r, end, &s));
	report_json_put(r, o, "rx", end_rx_json(r, end, &s));
	report_json_put(r, o, "difference", end->pair ? json_integer(calc_difference(&s.tx, &s.rx)) : json_null());
	report_json_put(r, o, "queues", queues);
	report_json_put(r, o, "streams", end->n_streams ? streams_json(r, end) : json_null());
	report_json_outcome(r, o, end);
	report_json_measure(r, o, end->measure);
	report_json_put(r, o, "cpu", cpu_json(r, &end->cpu));
	report_json_put(r, o, "warnings", warnings_json(r, &end->warnings));
	report_json_put(r, o, "thresholds", report_json_thresholds(r, end));
	return o;
}

/* What both an error and each of its problems have. */
static void put_reason(struct report *r, json_t *o, const struct err *e)
{
	put_text_or_null(r, o, "object", e->object);
	put_text(r, o, "cause", e->cause);
	put_text_or_null(r, o, "try", e->hint);
}

json_t *report_json_error(struct report *r, const struct err *e, const struct problems *all)
{
	unsigned kept = !all ? 0 : all->n < PROBLEMS_MAX ? all->n : PROBLEMS_MAX;
	json_t *problems;
	json_t *o;

	if (!err_failed(e))
		return json_null();
	problems = json_array();
	for (unsigned i = 0; i < kept; i++) {
		json_t *p = json_object();

		put_reason(r, p, &all->e[i]);
		append(r, problems, p);
	}
	o = json_object();
	put_count(r, o, "code", e->code);
	put_text(r, o, "what", e->what);
	put_reason(r, o, e);
	report_json_put(r, o, "problems", problems);
	return o;
}
