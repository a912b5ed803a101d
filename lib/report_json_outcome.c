/* SPDX-License-Identifier: Apache-2.0 */
#include "report_json_outcome.h"

#include "host.h"
#include "json_value.h"

#include <errno.h>

static void put_count(struct report *r, json_t *object, const char *key, uint64_t n)
{
	report_json_put(r, object, key, json_value_count(n));
}

#define PUT_COUNT(key, help) put_count(r, o, #key, c->key);

static json_t *loop_json(struct report *r, const struct loop_counts *c)
{
	json_t *o = json_object();

	STATS_LOOP(PUT_COUNT)
	return o;
}

static json_t *reflect_json(struct report *r, const struct reflect_counts *c)
{
	json_t *o;

	if (!c)
		return json_null();
	o = json_object();
	STATS_REFLECT(PUT_COUNT)
	return o;
}

static json_t *respond_json(struct report *r, const struct respond_counts *c)
{
	json_t *o;

	if (!c)
		return json_null();
	o = json_object();
	STATS_RESPOND(PUT_COUNT)
	return o;
}

static json_t *capture_json(struct report *r, const struct report_capture *c)
{
	json_t *o;

	if (!c)
		return json_null();
	o = json_object();
	report_json_put(r, o, "file", json_value_text(c->file));
	put_count(r, o, "packets", c->packets);
	put_count(r, o, "dropped", c->dropped);
	return o;
}

static json_t *pcap_json(struct report *r, const struct pcap_counts *c)
{
	json_t *o;

	if (!c)
		return json_null();
	o = json_object();
	STATS_PCAP(PUT_COUNT)
	return o;
}

static json_t *device_drops_json(struct report *r, const struct host_drops *d)
{
	json_t *o;

	if (!d)
		return json_null();
	o = json_object();
	for (unsigned i = 0; i < d->n; i++)
		put_count(r, o, d->drop[i].name, d->drop[i].n);
	return o;
}

static json_t *floor_json(struct report *r, const struct report_floor *f)
{
	json_t *o;

	if (!f)
		return json_null();
	o = json_object();
	put_count(r, o, "packets", f->packets);
	put_count(r, o, "min", f->min);
	put_count(r, o, "p50", f->p50);
	put_count(r, o, "p99", f->p99);
	report_json_put(r, o, "subtracted", json_boolean(f->subtracted));
	return o;
}

void report_json_outcome(struct report *r, json_t *o, const struct report_end *end)
{
	report_json_put(r, o, "floor_ns", floor_json(r, end->floor));
	report_json_put(r, o, "loop", end->have_loop ? loop_json(r, &end->loop) : json_null());
	report_json_put(r, o, "reflect", reflect_json(r, end->reflect));
	report_json_put(r, o, "respond", respond_json(r, end->respond));
	report_json_put(r, o, "capture", capture_json(r, end->capture));
	report_json_put(r, o, "pcap", pcap_json(r, end->pcap));
	report_json_put(r, o, "device_drops", device_drops_json(r, end->device_drops));
}

json_t *report_json_thresholds(struct report *r, const struct report_end *end)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < end->n_thresholds; i++) {
		const struct report_threshold *t = &end->thresholds[i];
		json_t *o = json_object();

		report_json_put(r, o, "name", json_value_text(t->name));
		report_json_put(r, o, "limit", json_value_real(t->limit));
		report_json_put(r, o, "value", json_value_real(t->value));
		report_json_put(r, o, "ok", json_boolean(t->ok));
		if (json_array_append_new(array, o) < 0)
			r->rc = -ENOMEM;
	}
	return array;
}
