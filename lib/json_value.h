/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_value: jansson values of what jansson does not take as it is.
 *
 * Pure. Each call returns a new reference, or NULL when memory is short.
 */
#ifndef SQUALL_JSON_VALUE_H
#define SQUALL_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

/* A string. Bytes that are not UTF-8 (RFC 3629) become U+FFFD, one each: names and arguments come from outside.
 * NULL is null. */
json_t *json_value_text(const char *s);

/* jansson's integers are signed: a count above 2^63 - 1 is given as that. */
json_t *json_value_count(uint64_t n);

/* NAN and infinities, which JSON does not have, are null. */
json_t *json_value_real(double v);

#endif
