/* SPDX-License-Identifier: Apache-2.0 */
#include "option.h"

#include "nearest.h"
#include "option_row.h"

#include <stdlib.h>
#include <string.h>

#define FOR_SEND    (VERB_SEND | VERB_PAIR)
#define FOR_RECV    (VERB_RECV | VERB_PAIR | VERB_REFLECT)
#define FOR_PAIR    VERB_PAIR
#define FOR_MEASURE (VERB_RECV | VERB_PAIR)
#define FOR_STAMPS  (VERB_SEND | VERB_RECV | VERB_PAIR)
#define FOR_BOTH    OPTION_VERBS_MOVE
#define FOR_ALL     (FOR_BOTH | VERB_DEVICES)

OPTION_TABLE(OPTION_CHECK)

#define OPTION_ROW(id, long_name, shorts, kind, field, default_text, value_name, verb_mask, reach, heading, ...) \
	[OPTION_##id] = { \
		.name = long_name, \
		.letters = shorts, \
		.type = OPTION_TYPE_##kind, \
		.offset = offsetof(struct config, field), \
		.size = sizeof(OPTION_FIELD(field)), \
		.text = default_text, \
		.arg = value_name, \
		.verbs = FOR_##verb_mask, \
		.scope = OPTION_SCOPE_##reach, \
		.section = OPTION_SECTION_##heading, \
		.help = __VA_ARGS__, \
	},

const struct option_row option_rows[OPTION_TOTAL] = {OPTION_TABLE(OPTION_ROW)};

_Static_assert(OPTION_TOTAL <= sizeof(((struct config *)0)->given) * 8, "every option has its bit");

#define SECTION_TITLE(id, title) [OPTION_SECTION_##id] = (title),
const char *const option_section_titles[OPTION_SECTION_COUNT] = {OPTION_SECTIONS(SECTION_TITLE)};

const struct option_verb option_verbs[OPTION_VERBS] = {
	{"send", VERB_SEND, "send packets (the default)"},
	{"recv", VERB_RECV, "receive and count packets"},
	{"pair", VERB_PAIR,
	 "send and receive in one process: over two interfaces, or one that brings the packets back"},
	{"reflect", VERB_REFLECT,
	 "receive packets and send them back, so that their sender can measure the way there and back"},
	{"devices", VERB_DEVICES, "list the interfaces and what each backend can do with them"},
};

const char *option_verb_name(enum verb verb)
{
	unsigned i = 0;

	while (i < OPTION_VERBS - 1 && option_verbs[i].verb != verb)
		i++;
	return option_verbs[i].name;
}

void option_free(struct config *cfg)
{
	free(cfg->streams);
	cfg->streams = NULL;
	cfg->n_streams = 0;
}

bool option_in_vain(const struct config *cfg, enum option_id id)
{
	return option_bit(cfg->ousted, id);
}

const char *option_name(enum option_id id)
{
	return option_rows[id].name;
}

bool option_of_streams(enum option_id id)
{
	return option_rows[id].scope == OPTION_SCOPE_STREAM;
}

bool option_said(const struct config *stream, enum option_id id)
{
	return option_bit(stream->said, id);
}

bool option_given(const struct config *cfg, enum option_id id)
{
	return option_bit(cfg->given, id);
}

const struct option_row *option_find(const char *name)
{
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		if (strcmp(option_rows[i].name, name) == 0)
			return &option_rows[i];
	}
	return NULL;
}

const char *option_nearest(const char *name, enum verb verb)
{
	struct nearest n;

	/* Of equally near names the verb's own. */
	nearest_start(&n, name);
	for (unsigned i = 0; i < 2 * OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i % OPTION_TOTAL];

		if (i >= OPTION_TOTAL || row->verbs & verb)
			nearest_try(&n, row->name);
	}
	return n.best;
}

const char *option_default(const struct option_row *row, enum verb verb)
{
	if (verb & (VERB_RECV | VERB_REFLECT) && row->recv_text)
		return row->recv_text;
	return verb == VERB_PAIR && row->pair_text ? row->pair_text : row->text;
}

void option_defaults(struct config *cfg)
{
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];
		const char *text = option_default(row, cfg->verb);
		char *field = (char *)cfg + row->offset;

		if (option_bit(cfg->given, i))
			continue;
		memset(field, 0, row->size);
		if (*text)
			option_read(row, text, field);
	}
}

void option_each(const struct config *cfg, void (*fn)(void *arg, const char *name, const char *value, bool given),
		 void *arg)
{
	char text[OPTION_TEXT_MAX];

	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->verbs & cfg->verb) || row->command_line_only)
			continue;
		if (row->scope == (cfg->name[0] ? OPTION_SCOPE_RUN : OPTION_SCOPE_STREAM_ONLY))
			continue;
		fn(arg, row->name, option_format(row, option_field(row, cfg), text, sizeof(text)),
		   option_bit(cfg->given, i));
	}
}
