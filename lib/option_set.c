/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"
#include "option_row.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void option_problem(const struct option_source *src, const char *name, const char *fmt, ...)
{
	char object[96];
	char cause[512];
	char place[320] = "";
	va_list ap;

	if (!src->p)
		return;
	va_start(ap, fmt);
	vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	if (src->stream)
		snprintf(object, sizeof(object), "stream %s: %s", src->stream, name);
	else
		snprintf(object, sizeof(object), "%s%s", src->file ? "" : "--", name);
	if (src->file)
		snprintf(place, sizeof(place), "%s:%lu: ", src->file, src->line);
	problem_add(src->p, object, "%s%s", place, cause);
}

/* rc says why text cannot be read. */
static void tell_bad_value(const struct option_source *src, const struct option_row *row, const char *text, int rc)
{
	char buf[128];
	struct nearest n;

	if (rc == -ERANGE) {
		option_problem(src, row->name, "'%.60s' is out of range: %s", text,
			       option_range(row, buf, sizeof(buf)));
	} else if (rc == -E2BIG) {
		option_problem(src, row->name, "'%.60s' is too long: %s", text, option_limit(row, buf, sizeof(buf)));
	} else if (!row->choices) {
		option_problem(src, row->name, "'%.60s' is not %s", text, option_expects(row));
	} else {
		nearest_start(&n, text);
		for (const struct option_choice *c = row->choices; c->name; c++)
			nearest_try(&n, c->name);
		option_choices(row, buf, sizeof(buf));
		option_problem(src, row->name, "'%.60s' is not one of %s%s%s%s", text, buf,
			       n.best ? "; did you mean " : "", n.best ? n.best : "", n.best ? "?" : "");
	}
}

void option_set(struct option_source *src, const struct option_row *row, const char *text)
{
	unsigned id = (unsigned)(row - option_rows);
	/* Written back only when the value is good. */
	struct config read = *src->cfg;
	char *field = (char *)&read + row->offset;
	char now[OPTION_TEXT_MAX];

	option_bit_set(src->cfg->given, id);
	if (!(row->verbs & src->verb) && !(src->senders && row->verbs & VERB_SEND)) {
		option_problem(src, row->name, "is not an option of squall %s", option_verb_name(src->verb));
		return;
	}
	if (src->stream && row->scope == OPTION_SCOPE_RUN) {
		option_problem(src, row->name, "is one for all streams: it goes to the top of the file");
		return;
	}
	if (!src->stream && row->scope == OPTION_SCOPE_STREAM_ONLY) {
		option_problem(src, row->name,
			       "is a stream's own: it goes under one of the streams in the file of --config");
		return;
	}
	if (!option_bit(src->seen, id) || !option_is_list(row))
		memset(field, 0, row->size);
	option_bit_set(src->seen, id);

	int rc = option_read(row, text, field);

	if (rc) {
		tell_bad_value(src, row, text, rc);
		return;
	}
	if (row->never && strcmp(option_format(row, field, now, sizeof(now)), row->never) == 0) {
		option_problem(src, row->name, "%s is refused: %s", row->never, row->never_why);
		return;
	}
	memcpy((char *)src->cfg + row->offset, field, row->size);
}
