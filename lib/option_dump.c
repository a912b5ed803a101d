/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Plain where YAML cannot take it for anything else, else in double quotes (YAML 1.1, section 9.3.1). */
static void write_scalar(const char *text, FILE *to)
{
	if (isalnum((unsigned char)text[0]) && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
								  "0123456789._/%-")]) {
		fputs(text, to);
		return;
	}
	putc('"', to);
	for (const char *s = text; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(to, "\\x%02x", c);
		else
			putc(c, to);
	}
	putc('"', to);
}

/* Defaults stand as comments, so that what reads the file back can tell what was given. */
static void write_option(void *arg, const char *name, const char *value, bool given)
{
	FILE *to = arg;

	if (!*value) {
		fprintf(to, "#%s:\n", name);
		return;
	}
	fprintf(to, "%s%s: ", given ? "" : "#", name);
	write_scalar(value, to);
	putc('\n', to);
}

void option_dump_config(const struct config *cfg, FILE *to)
{
	const char *verb = option_verb_name(cfg->verb);

	fprintf(to, "# squall %s --config FILE; lines that begin with # are the defaults of squall %s\n", verb,
		SQUALL_VERSION);
	option_each(cfg, write_option, to);
}
