/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json_parts: the parts that both JSON forms are made of; docs/json.md describes them.
 *
 * Each returns a new reference. When memory is short r->rc becomes -ENOMEM and the part is incomplete or NULL; all
 * these functions take such a part.
 */
#ifndef SQUALL_REPORT_JSON_PARTS_H
#define SQUALL_REPORT_JSON_PARTS_H

#include "report_form.h"

#include <jansson.h>

/* Sets key of object and takes value over. */
void report_json_put(struct report *r, json_t *object, const char *key, json_t *value);

json_t *report_json_config(struct report *r);
/* null without a plan. */
json_t *report_json_start(struct report *r, const struct report_plan *plan, uint64_t wall_ns);
json_t *report_json_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now);
/* null without an end. */
json_t *report_json_end(struct report *r, const struct report_end *end);
/* null without an error. */
json_t *report_json_error(struct report *r, const struct err *e, const struct problems *all);

#endif
