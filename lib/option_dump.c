/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"
#include "yaml_text.h"

#include <stdio.h>

/* Defaults stand as comments, so that what reads the file back can tell what was given. */
static void write_option(void *arg, const char *name, const char *value, bool given)
{
	FILE *to = arg;

	if (!*value) {
		fprintf(to, "#%s:\n", name);
		return;
	}
	fprintf(to, "%s%s: ", given ? "" : "#", name);
	yaml_text_write(value, to);
	putc('\n', to);
}

void option_dump_config(const struct config *cfg, FILE *to)
{
	const char *verb = option_verb_name(cfg->verb);

	fprintf(to, "# squall %s --config FILE; lines that begin with # are the defaults of squall %s\n", verb,
		SQUALL_VERSION);
	option_each(cfg, write_option, to);
}
