/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a JSON text back and checking what is at a path of it. */
#ifndef SQUALL_JSON_CHECK_H
#define SQUALL_JSON_CHECK_H

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline json_t *parsed(const char *text)
{
	json_error_t at;
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &at);

	if (!o)
		fail_msg("%s at %d: %s", at.text, at.position, text);
	return o;
}

/* "end.tx.packets"; a number is an index. */
static inline json_t *at(json_t *o, const char *path)
{
	char copy[128];
	char *rest = copy;
	char *step;

	snprintf(copy, sizeof(copy), "%s", path);
	while (o && (step = strsep(&rest, ".")))
		o = json_is_array(o) ? json_array_get(o, (size_t)atoi(step)) : json_object_get(o, step);
	if (!o)
		fail_msg("no %s", path);
	return o;
}

static inline void is_count(json_t *o, const char *path, json_int_t want)
{
	assert_true(json_is_integer(at(o, path)));
	assert_int_equal(json_integer_value(at(o, path)), want);
}

static inline void is_real(json_t *o, const char *path, double want)
{
	assert_true(json_is_real(at(o, path)));
	assert_true(fabs(json_real_value(at(o, path)) - want) <= 1e-9);
}

static inline void is_text(json_t *o, const char *path, const char *want)
{
	assert_string_equal(json_string_value(at(o, path)), want);
}

static inline void is_null(json_t *o, const char *path)
{
	assert_true(json_is_null(at(o, path)));
}

#endif
