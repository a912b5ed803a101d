/* SPDX-License-Identifier: Apache-2.0 */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int rc, enum exit_code code, const char *what, const char *object, const char *cause_fmt,
	    ...)
{
	va_list ap;

	if (!e)
		return rc;
	e->code = code;
	snprintf(e->what, sizeof(e->what), "%s", what);
	snprintf(e->object, sizeof(e->object), "%s", object ? object : "");
	va_start(ap, cause_fmt);
	vsnprintf(e->cause, sizeof(e->cause), cause_fmt, ap);
	va_end(ap);
	e->hint[0] = '\0';
	return rc;
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

char *err_format(const struct err *e, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s: %s%s%s", e->what, e->object[0] ? ": " : "", e->object, e->cause,
		 e->hint[0] ? "; try: " : "", e->hint);
	return buf;
}
