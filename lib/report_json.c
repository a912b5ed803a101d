/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document is written piece by piece, so that a run of days takes no memory and a reader that went away is noticed
 * while the run lasts. A line of the stream is the same piece with an "event" in front.
 */
#include "json_value.h"
#include "report_form.h"
#include "report_json_parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define REAL_DIGITS 15 /* a decimal number of so many digits survives a double */

static json_t *head(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	json_t *o = json_object();

	report_json_put(r, o, "squall", json_string(SQUALL_VERSION));
	report_json_put(r, o, "config", report_json_config(r));
	report_json_put(r, o, "start", report_json_start(r, plan, wall_ns));
	return o;
}

static json_t *tail(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	json_t *o = json_object();

	report_json_put(r, o, "end", report_json_end(r, end));
	report_json_put(r, o, "error", report_json_error(r, e, all));
	return o;
}

static json_t *whole(struct report *r, const struct report_document *d, const struct err *e, const struct problems *all)
{
	json_t *o = json_object();

	report_json_put(r, o, "squall", json_string(SQUALL_VERSION));
	report_json_put(r, o, d->key, err_failed(e) ? json_null() : d->json(d->arg));
	report_json_put(r, o, "error", report_json_error(r, e, all));
	return o;
}

struct writing {
	FILE *out;
	bool begun;
};

static int write_part(const char *text, size_t size, void *arg)
{
	struct writing *w = arg;

	w->begun = true;
	return fwrite(text, 1, size, w->out) == size ? 0 : -1;
}

/* Where memory is short, what could not be made is left out or null, and what can is written: above all the error. */
static void write_value(struct report *r, const json_t *value)
{
	struct writing w = {.out = r->out};

	if (ferror(r->out) ||
	    json_dump_callback(value, write_part, &w, JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS)) == 0)
		return;
	if (!w.begun)
		fputs("null", r->out);
	if (!ferror(r->out))
		r->rc = -ENOMEM;
}

/* The members of an object that goes on, one a line. Takes piece over. */
static void write_members(struct report *r, json_t *piece)
{
	const char *separator = "";
	const char *key;
	json_t *value;

	json_object_foreach(piece, key, value)
	{
		fprintf(r->out, "%s\"%s\": ", separator, key);
		write_value(r, value);
		separator = ",\n";
	}
	json_decref(piece);
}

static void json_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	fputs("{", r->out);
	write_members(r, head(r, plan, wall_ns));
	fputs(",\n\"intervals\": [", r->out);
}

static void json_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	json_t *piece = report_json_interval(r, prev, now);

	fputs(r->n_intervals ? ",\n" : "\n", r->out);
	write_value(r, piece);
	json_decref(piece);
}

static void json_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	fputs("],\n", r->out);
	write_members(r, tail(r, end, e, all));
	fputs("}\n", r->out);
}

static void json_document(struct report *r, const struct report_document *d, const struct err *e,
			  const struct problems *all)
{
	fputs("{", r->out);
	write_members(r, whole(r, d, e, all));
	fputs("}\n", r->out);
}

const struct report_ops report_json_ops = {
	.begin = json_begin,
	.interval = json_interval,
	.end = json_end,
	.document = json_document,
};

/* Takes piece over. */
static void write_line(struct report *r, const char *event, json_t *piece)
{
	json_t *line = json_object();

	report_json_put(r, line, "event", json_value_text(event));
	if (json_object_update(line, piece) < 0)
		r->rc = -ENOMEM;
	write_value(r, line);
	fputs("\n", r->out);
	json_decref(line);
	json_decref(piece);
}

static void stream_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	write_line(r, "begin", head(r, plan, wall_ns));
}

static void stream_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	write_line(r, "interval", report_json_interval(r, prev, now));
}

static void stream_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	write_line(r, "end", tail(r, end, e, all));
}

static void stream_document(struct report *r, const struct report_document *d, const struct err *e,
			    const struct problems *all)
{
	write_line(r, "end", whole(r, d, e, all));
}

const struct report_ops report_json_stream_ops = {
	.begin = stream_begin,
	.interval = stream_interval,
	.end = stream_end,
	.document = stream_document,
};
