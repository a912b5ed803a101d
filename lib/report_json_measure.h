/* SPDX-License-Identifier: Apache-2.0 */
/* report_json_measure: what a measurement told, as values of the end record. */
#ifndef SQUALL_REPORT_JSON_MEASURE_H
#define SQUALL_REPORT_JSON_MEASURE_H

#include "report_form.h"

#include <jansson.h>

/* Puts measure, latency_ns, pdv_ns, ipdv_ns, jitter_ns, gap_ns, flows and flows_rest; all null when m is. */
void report_json_measure(struct report *r, json_t *end, const struct report_measure *m);

/* What an interval counted; null in a run that measures nothing. */
json_t *report_json_measure_counts(struct report *r, const struct measure_counts *c);

/* The buckets of a histogram that hold something: [from, up to but without, how many] of each. */
json_t *report_json_buckets(struct report *r, const struct hist *h);

#endif
