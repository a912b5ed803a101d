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
	/* What the user typed is quoted, and shall not steer the terminal. */
	for (char *c = buf; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return buf;
}

struct err *problem_add(struct problems *p, const char *object, const char *cause_fmt, ...)
{
	static struct err overflow;
	struct err *e = p->n < PROBLEMS_MAX ? &p->e[p->n] : &overflow;
	va_list ap;

	p->n++;
	err_set(e, 0, EXIT_USAGE, "bad configuration", object, "%s", "");
	va_start(ap, cause_fmt);
	vsnprintf(e->cause, sizeof(e->cause), cause_fmt, ap);
	va_end(ap);
	return e;
}

void problem_missing(struct problems *p, const char *object, const char *cause)
{
	for (unsigned i = 0; i < p->n && i < PROBLEMS_MAX; i++)
		if (strcmp(p->e[i].object, object) == 0 || strncmp(p->e[i].object, "--", 2) != 0 ||
		    strcmp(p->e[i].object, "--config") == 0)
			return;
	problem_add(p, object, "%s", cause);
}

void problems_merge(const struct problems *p, struct err *out)
{
	size_t used_object = 0;
	size_t used_cause = 0;
	unsigned kept = p->n < PROBLEMS_MAX ? p->n : PROBLEMS_MAX;

	if (p->n == 1) {
		*out = p->e[0];
		return;
	}
	err_set(out, 0, EXIT_USAGE, "bad configuration", "", "%s", "");
	for (unsigned i = 0; i < kept; i++) {
		const struct err *e = &p->e[i];
		const char *sep = i ? "; " : "";
		int n = snprintf(out->object + used_object, sizeof(out->object) - used_object, "%s%s", i ? ", " : "",
				 e->object);

		used_object += n > 0 && used_object + (size_t)n < sizeof(out->object) ? (size_t)n : 0;
		n = snprintf(out->cause + used_cause, sizeof(out->cause) - used_cause, "%s%s: %s", sep, e->object,
			     e->cause);
		used_cause += n > 0 && used_cause + (size_t)n < sizeof(out->cause) ? (size_t)n : 0;
	}
}
