/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json_outcome: what else came of a run than packets sent and received: impairments, packets sent back and
 * requests answered, captures read and written, the devices' own drops.
 */
#ifndef SQUALL_REPORT_JSON_OUTCOME_H
#define SQUALL_REPORT_JSON_OUTCOME_H

#include "report_json_parts.h"

/* Adds a key for each to the end record; null for what the run did not have. */
void report_json_outcome(struct report *r, json_t *o, const struct report_end *end);

json_t *report_json_thresholds(struct report *r, const struct report_end *end);

#endif
