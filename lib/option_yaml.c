/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"
#include "option_row.h"
#include "option_yaml_node.h"
#include "yaml_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list of streams, which is no option. */
#define STREAMS_KEY "streams"

static void tell_unknown(const struct option_source *src, const char *key)
{
	struct nearest n;
	const char *option = option_nearest(key, src->verb);

	nearest_start(&n, key);
	if (option)
		nearest_try(&n, option);
	if (!src->stream)
		nearest_try(&n, STREAMS_KEY);
	option_problem(src, key, "unknown option%s%s%s", n.best ? "; did you mean " : "", n.best ? n.best : "",
		       n.best ? "?" : "");
}

/* The text of a value; NULL: it is none. What is !!binary goes through buf. */
static const char *value_text(const yaml_node_t *node, char *buf, size_t size)
{
	if (!yaml_node_is_text(node))
		return NULL;
	if (strcmp((const char *)node->tag, YAML_TAG_BINARY) == 0)
		return yaml_text_decode(yaml_node_text(node), buf, size) ? NULL : buf;
	return yaml_node_text(node);
}

static void read_value(struct option_source *src, yaml_document_t *doc, const struct option_row *row,
		       yaml_node_t *value)
{
	char buf[OPTION_TEXT_MAX];
	const char *text = value_text(value, buf, sizeof(buf));

	yaml_node_at(src, value);
	if (text) {
		option_set(src, row, text);
		return;
	}
	if (value->type != YAML_SEQUENCE_NODE || !option_is_list(row)) {
		option_problem(src, row->name, "takes %s", option_expects(row));
		return;
	}
	const yaml_node_item_t *end = value->data.sequence.items.top;

	for (const yaml_node_item_t *item = value->data.sequence.items.start; item < end; item++) {
		yaml_node_t *node = yaml_document_get_node(doc, *item);

		yaml_node_at(src, node);
		text = value_text(node, buf, sizeof(buf));
		if (text)
			option_set(src, row, text);
		else
			option_problem(src, row->name, "takes %s", option_expects(row));
	}
}

void option_yaml_pair(struct option_source *src, yaml_document_t *doc, const yaml_node_pair_t *pair)
{
	yaml_node_t *key = yaml_document_get_node(doc, pair->key);

	yaml_node_at(src, key);
	if (!yaml_node_is_text(key) || !yaml_node_text(key)[0]) {
		option_problem(src, "key", "must be the name of an option");
		return;
	}
	const struct option_row *row = option_find(yaml_node_text(key));

	if (!row) {
		tell_unknown(src, yaml_node_text(key));
	} else if (row->command_line_only) {
		option_problem(src, row->name, "belongs on the command line, not in a file");
	} else if (option_bit(src->seen, (unsigned)(row - option_rows))) {
		option_problem(src, row->name, "is given twice");
	} else {
		read_value(src, doc, row, yaml_document_get_node(doc, pair->value));
	}
}

static bool is_streams(const yaml_node_t *key)
{
	return yaml_node_is_text(key) && strcmp(yaml_node_text(key), STREAMS_KEY) == 0;
}

static bool has_streams(struct option_yaml *y, const yaml_node_t *root)
{
	const yaml_node_pair_t *pair = root->data.mapping.pairs.start;

	while (pair < root->data.mapping.pairs.top && !is_streams(yaml_document_get_node(&y->doc, pair->key)))
		pair++;
	return pair < root->data.mapping.pairs.top;
}

void option_yaml_read(struct option_source *src, struct option_yaml *y)
{
	const yaml_node_t *root = y ? yaml_document_get_root_node(&y->doc) : NULL;

	/* Nothing but comments, or "---" alone. */
	if (!root || (root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0))
		return;
	yaml_node_at(src, root);
	if (root->type != YAML_MAPPING_NODE) {
		option_problem(src, "file", "must hold lines such as 'pps: 1M'");
		return;
	}
	src->senders = src->verb == VERB_RECV && has_streams(y, root);
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = yaml_document_get_node(&y->doc, pair->key);

		if (!is_streams(key)) {
			option_yaml_pair(src, &y->doc, pair);
		} else if (y->streams) {
			yaml_node_at(src, key);
			option_problem(src, STREAMS_KEY, "is given twice");
		} else {
			y->streams = yaml_document_get_node(&y->doc, pair->value);
		}
	}
}

/* ---- from the file ---- */

static bool load(struct option_source *src, yaml_parser_t *parser, yaml_document_t *doc)
{
	if (yaml_parser_load(parser, doc))
		return true;
	src->line = parser->problem_mark.line + 1;
	option_problem(src, "file", "is not YAML: %s", parser->problem ? parser->problem : "not readable");
	return false;
}

/* The first document of the file, which is to be its only one. */
static bool load_only(struct option_source *src, yaml_parser_t *parser, yaml_document_t *doc)
{
	yaml_document_t next;
	bool last;

	if (!load(src, parser, doc))
		return false;
	if (!yaml_document_get_root_node(doc))
		return true;
	if (!load(src, parser, &next)) {
		yaml_document_delete(doc);
		return false;
	}
	last = !yaml_document_get_root_node(&next);
	if (!last) {
		src->line = next.start_mark.line + 1;
		option_problem(src, "file", "must hold one document, not several");
	}
	yaml_document_delete(&next);
	return true;
}

static struct option_yaml *no_memory(const struct option_source *src)
{
	if (src->p)
		problem_add(src->p, "--config", "cannot read %s: %s", src->file, strerror(ENOMEM));
	return NULL;
}

static struct option_yaml *read_all(struct option_source *src, const char *text, size_t len, FILE *f)
{
	struct option_yaml *y = calloc(1, sizeof(*y));
	yaml_parser_t parser;

	if (!y || !yaml_parser_initialize(&parser)) {
		free(y);
		return no_memory(src);
	}
	if (f)
		yaml_parser_set_input_file(&parser, f);
	else
		yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!load_only(src, &parser, &y->doc)) {
		free(y);
		y = NULL;
	}
	yaml_parser_delete(&parser);
	return y;
}

struct option_yaml *option_yaml_parse(struct option_source *src, const char *text, size_t len)
{
	return read_all(src, text, len, NULL);
}

struct option_yaml *option_yaml_load(struct option_source *src)
{
	struct option_yaml *y;
	FILE *f = fopen(src->file, "re");

	if (!f) {
		if (src->p)
			problem_add(src->p, "--config", "cannot read %s: %s", src->file, strerror(errno));
		return NULL;
	}
	y = read_all(src, NULL, 0, f);
	fclose(f);
	return y;
}

void option_yaml_free(struct option_yaml *y)
{
	if (y)
		yaml_document_delete(&y->doc);
	free(y);
}
