/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"
#include "yaml_text.h"

#include <stdio.h>

static void write_pair(const char *name, const char *value, FILE *to)
{
	fprintf(to, "%s: ", name);
	yaml_text_write(value, to);
	putc('\n', to);
}

/* Defaults stand as comments, so that what reads the file back can tell what was given. */
static void write_option(void *arg, const char *name, const char *value, bool given)
{
	FILE *to = arg;

	if (!*value) {
		fprintf(to, "#%s:\n", name);
		return;
	}
	fputs(given ? "" : "#", to);
	write_pair(name, value, to);
}

/* What its own item says; of a sender's, that a receiver read, also what it had from options that are not written. */
static void write_stream(const struct config *stream, bool received, FILE *to)
{
	const char *before = "  - ";
	char text[OPTION_TEXT_MAX];

	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];

		if (!option_bit(stream->said, i) && !(received && i == OPTION_FLOWS))
			continue;
		fputs(before, to);
		write_pair(row->name, option_format(row, option_field(row, stream), text, sizeof(text)), to);
		before = "    ";
	}
	if (before[2] == '-')
		fputs("  - {}\n", to);
}

void option_dump_config(const struct config *cfg, FILE *to)
{
	const char *verb = option_verb_name(cfg->verb);

	fprintf(to, "# squall %s --config FILE; lines that begin with # are the defaults of squall %s\n", verb,
		SQUALL_VERSION);
	option_each(cfg, write_option, to);
	if (cfg->n_streams)
		fputs("streams:\n", to);
	for (unsigned i = 0; i < cfg->n_streams; i++)
		write_stream(&cfg->streams[i], cfg->verb == VERB_RECV, to);
}
