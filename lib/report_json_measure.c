/* SPDX-License-Identifier: Apache-2.0 */
#include "report_json_measure.h"

#include "ether.h"
#include "json_value.h"
#include "report_json_parts.h"

#include <errno.h>

static void put_count(struct report *r, json_t *o, const char *key, uint64_t n)
{
	report_json_put(r, o, key, json_value_count(n));
}

static void put_time(struct report *r, json_t *o, const char *key, uint64_t ns)
{
	report_json_put(r, o, key, ns ? json_value_count(ns) : json_null());
}

static void append(struct report *r, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		r->rc = -ENOMEM;
}

json_t *report_json_buckets(struct report *r, const struct hist *h)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		json_t *bucket;

		if (!h->n[i])
			continue;
		bucket = json_array();
		append(r, bucket, json_value_count(hist_low(i)));
		append(r, bucket, i + 1 < HIST_BUCKETS ? json_value_count(hist_low(i + 1)) : json_null());
		append(r, bucket, json_value_count(h->n[i]));
		append(r, array, bucket);
	}
	return array;
}

static json_t *hist_json(struct report *r, const struct hist *h)
{
	json_t *o;

	if (!h->total)
		return json_null();
	o = json_object();
	put_count(r, o, "count", h->total);
	put_count(r, o, "min", h->least - 1);
	report_json_put(r, o, "mean", json_value_real((double)h->sum / (double)h->total));
#define PUT_QUANTILE(key, in_a_million) put_count(r, o, #key, hist_quantile(h, in_a_million));
	REPORT_QUANTILES(PUT_QUANTILE)
#undef PUT_QUANTILE
	put_count(r, o, "max", h->greatest);
	report_json_put(r, o, "buckets", report_json_buckets(r, h));
	return o;
}

static json_t *latency_json(struct report *r, const struct report_measure *m, const struct report_measured *d)
{
	json_t *o;

	if (!m->clock || !d->latency->total)
		return json_null();
	o = hist_json(r, d->latency);
	report_json_put(r, o, "clock", json_value_text(m->clock));
	report_json_put(r, o, "clock_error_ns", m->clock_error_ns ? json_value_count(m->clock_error_ns) : json_null());
	report_json_put(r, o, "arrivals", json_value_text(m->arrivals));
	return o;
}

/* RFC 5481 section 4.2: how much longer than the shortest. */
static json_t *pdv_json(struct report *r, const struct report_pdv *p)
{
	json_t *o;

	if (!p->known)
		return json_null();
	o = json_object();
#define PUT_QUANTILE(key, in_a_million) put_count(r, o, #key, p->key);
	REPORT_QUANTILES(PUT_QUANTILE)
#undef PUT_QUANTILE
	put_count(r, o, "max", p->max);
	return o;
}

json_t *report_json_measure_counts(struct report *r, const struct measure_counts *c)
{
	json_t *o = json_object();

#define PUT_COUNT(key, help) put_count(r, o, #key, c->key);
	STATS_MEASURE(PUT_COUNT)
#undef PUT_COUNT
	put_count(r, o, "bytes_l2", c->bytes + FCS_BYTES * c->stamped);
	return o;
}

static json_t *measured_json(struct report *r, const struct report_measured *d)
{
	json_t *o = report_json_measure_counts(r, &d->counts);

	put_count(r, o, "flows", d->flows);
	put_count(r, o, "lost", d->lost);
	report_json_put(r, o, "loss_ratio", json_value_real(d->loss_ratio));
	put_count(r, o, "longest_loss", d->longest_loss);
	report_json_put(r, o, "extent", hist_json(r, d->extent));
	put_time(r, o, "first_ns", d->first_ns);
	put_time(r, o, "last_ns", d->last_ns);
	return o;
}

/* The same of the whole run and of a stream. */
static void put_times(struct report *r, json_t *o, const struct report_measure *m, const struct report_measured *d)
{
	report_json_put(r, o, "latency_ns", latency_json(r, m, d));
	report_json_put(r, o, "pdv_ns", pdv_json(r, &d->pdv));
	report_json_put(r, o, "ipdv_ns", hist_json(r, d->ipdv));
	report_json_put(r, o, "jitter_ns", json_value_real(d->jitter_ns));
	report_json_put(r, o, "gap_ns", hist_json(r, d->gap));
}

static json_t *streams_json(struct report *r, const struct report_measure *m)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < m->n_streams; i++) {
		json_t *o = measured_json(r, &m->streams[i]);

		put_count(r, o, "stream", i);
		report_json_put(r, o, "name", json_value_text(m->streams[i].name));
		put_times(r, o, m, &m->streams[i]);
		append(r, array, o);
	}
	return array;
}

static json_t *measure_json(struct report *r, const struct report_measure *m)
{
	json_t *o = measured_json(r, &m->total);

	report_json_put(r, o, "run", m->run < 0 ? json_null() : json_integer(m->run));
	report_json_put(r, o, "run_learnt", json_boolean(m->run_learnt));
	report_json_put(r, o, "sent_known", json_boolean(m->sent_known));
	report_json_put(r, o, "books_close", json_boolean(!m->books[0]));
	report_json_put(r, o, "not_sent", m->sent_known && !m->partly ? json_value_count(m->not_sent) : json_null());
	put_count(r, o, "joined", m->joined);
	report_json_put(r, o, "before_first", m->sent_known ? json_null() : json_value_count(m->before_first));
	put_count(r, o, "flow_limit", m->flow_limit);
	put_count(r, o, "window", m->window);
	put_count(r, o, "memory_bytes", m->memory);
	report_json_put(r, o, "early", m->clock ? json_value_count(m->early) : json_null());
	report_json_put(r, o, "no_latency", json_value_text(m->no_clock));
	report_json_put(r, o, "arrivals", json_value_text(m->arrivals));
	report_json_put(r, o, "streams", streams_json(r, m));
	return o;
}

static json_t *flow_json(struct report *r, const struct report_flow *f, const char *name)
{
	json_t *o = json_object();

	put_count(r, o, name, f->flow);
#define PUT_FLOW(key) put_count(r, o, #key, f->key);
	PUT_FLOW(stamped)
	PUT_FLOW(unique)
	PUT_FLOW(lost)
	PUT_FLOW(duplicate)
	PUT_FLOW(reordered)
	PUT_FLOW(late)
	PUT_FLOW(bytes)
	PUT_FLOW(longest_loss)
	PUT_FLOW(extent_max)
#undef PUT_FLOW
	report_json_put(r, o, "loss_ratio", json_value_real(f->loss_ratio));
	put_time(r, o, "first_ns", f->first_ns);
	put_time(r, o, "last_ns", f->last_ns);
	report_json_put(r, o, "jitter_ns", json_value_real(f->jitter_ns));
	report_json_put(r, o, "latency_min_ns", f->have_latency ? json_value_count(f->latency_min) : json_null());
	report_json_put(r, o, "latency_mean_ns", f->have_latency ? json_value_real(f->latency_mean) : json_null());
	report_json_put(r, o, "latency_max_ns", f->have_latency ? json_value_count(f->latency_max) : json_null());
	return o;
}

static json_t *flows_json(struct report *r, const struct report_measure *m)
{
	json_t *array = json_array();

	for (uint64_t i = 0; i < m->n_flows; i++)
		append(r, array, flow_json(r, &m->flows[i], "flow"));
	return array;
}

void report_json_measure(struct report *r, json_t *end, const struct report_measure *m)
{
	static const char *const keys[] = {"measure", "latency_ns", "pdv_ns", "ipdv_ns", "jitter_ns", "gap_ns"};

	for (unsigned i = 0; !m && i < sizeof(keys) / sizeof(keys[0]); i++)
		report_json_put(r, end, keys[i], json_null());
	if (m) {
		report_json_put(r, end, "measure", measure_json(r, m));
		put_times(r, end, m, &m->total);
	}
	report_json_put(r, end, "flows", m && m->per_flow ? flows_json(r, m) : json_null());
	report_json_put(r, end, "flows_rest", m && m->per_flow ? flow_json(r, &m->rest, "flows") : json_null());
}
