/* SPDX-License-Identifier: Apache-2.0 */
/* filters: for tests of what filters mean. */
#ifndef SQUALL_TESTS_FILTERS_H
#define SQUALL_TESTS_FILTERS_H

#include "lib/pio/filter_compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Conditions with spaces between them, which must be good ones. */
static inline void filter_from(struct filter *f, const char *text)
{
	char buf[256];
	char *save = NULL;
	struct err e;

	memset(f, 0, sizeof(*f));
	snprintf(buf, sizeof(buf), "%s", text);
	for (char *t = strtok_r(buf, " ", &save); t; t = strtok_r(NULL, " ", &save))
		if (filter_add_text(f, t, &e))
			fail_msg("%s: %s", t, e.cause);
	if (filter_check(f, &e))
		fail_msg("%s: %s", text, e.cause);
}

/*
 * In a heap block of exactly that size, so that a sanitizer sees the first byte read beyond. The compiled filter must
 * mean the same.
 */
static inline bool matches_exact(const struct filter *f, const unsigned char *data, uint32_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	static struct filter_compiled compiled;
	enum filter_verdict verdict;
	bool m;

	assert_non_null(copy);
	memcpy(copy, data, len);
	m = filter_matches(f, len ? copy : copy + 1, len);
	filter_compile(&compiled, f);
	verdict = filter_compiled_matches(&compiled, len ? copy : copy + 1, len);
	assert_int_equal(verdict != FILTER_NO, m);
	if (verdict == FILTER_YES_PLAIN) {
		assert_memory_equal(data + 12, "\x08\x00\x45", 3);
		assert_int_equal((data[20] & 0x3f) | data[21], 0);
		assert_true(!compiled.udp || data[23] == 17);
	}
	free(copy);
	return m;
}

#endif
