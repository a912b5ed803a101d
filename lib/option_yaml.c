/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"
#include "yaml_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define TEXT(node) ((const char *)(node)->data.scalar.value)

static void at(struct option_source *src, const yaml_mark_t *mark)
{
	src->line = mark->line + 1;
}

/* A YAML scalar may hold a NUL, which would hide what follows it. */
static bool is_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE && strlen(TEXT(node)) == node->data.scalar.length;
}

/* The text of a value; NULL: it is none. What is !!binary goes through buf. */
static const char *value_text(const yaml_node_t *node, char *buf, size_t size)
{
	if (!is_text(node))
		return NULL;
	if (strcmp((const char *)node->tag, YAML_TAG_BINARY) == 0)
		return yaml_text_decode(TEXT(node), buf, size) ? NULL : buf;
	return TEXT(node);
}

static void read_value(struct option_source *src, yaml_document_t *doc, const struct option_row *row,
		       yaml_node_t *value)
{
	char buf[OPTION_TEXT_MAX];
	const char *text = value_text(value, buf, sizeof(buf));

	at(src, &value->start_mark);
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

		at(src, &node->start_mark);
		text = value_text(node, buf, sizeof(buf));
		if (text)
			option_set(src, row, text);
		else
			option_problem(src, row->name, "takes %s", option_expects(row));
	}
}

static void read_pair(struct option_source *src, yaml_document_t *doc, const yaml_node_pair_t *pair)
{
	yaml_node_t *key = yaml_document_get_node(doc, pair->key);

	at(src, &key->start_mark);
	if (!is_text(key) || !TEXT(key)[0]) {
		option_problem(src, "key", "must be the name of an option");
		return;
	}
	const struct option_row *row = option_find(TEXT(key));

	if (!row) {
		const char *nearest = option_nearest(TEXT(key), src->verb);

		option_problem(src, TEXT(key), "unknown option%s%s%s", nearest ? "; did you mean " : "",
			       nearest ? nearest : "", nearest ? "?" : "");
	} else if (row->command_line_only) {
		option_problem(src, row->name, "belongs on the command line, not in a file");
	} else if (option_bit(src->seen, (unsigned)(row - option_rows))) {
		option_problem(src, row->name, "is given twice");
	} else {
		read_value(src, doc, row, yaml_document_get_node(doc, pair->value));
	}
}

static void read_document(struct option_source *src, yaml_document_t *doc)
{
	const yaml_node_t *root = yaml_document_get_root_node(doc);

	/* Nothing but comments, or "---" alone. */
	if (!root || (root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0))
		return;
	at(src, &root->start_mark);
	if (root->type != YAML_MAPPING_NODE) {
		option_problem(src, "file", "must hold lines such as 'pps: 1M'");
		return;
	}
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++)
		read_pair(src, doc, pair);
}

static bool load(struct option_source *src, yaml_parser_t *parser, yaml_document_t *doc)
{
	if (yaml_parser_load(parser, doc))
		return true;
	at(src, &parser->problem_mark);
	option_problem(src, "file", "is not YAML: %s", parser->problem ? parser->problem : "not readable");
	return false;
}

void option_yaml_read_stream(struct option_source *src, FILE *f)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	bool last = false;

	if (!yaml_parser_initialize(&parser)) {
		problem_add(src->p, "--config", "cannot read %s: %s", src->file, strerror(ENOMEM));
		return;
	}
	yaml_parser_set_input_file(&parser, f);
	for (unsigned n = 0; !last && load(src, &parser, &doc); n++) {
		last = !yaml_document_get_root_node(&doc);
		if (n == 0)
			read_document(src, &doc);
		else if (!last) {
			at(src, &doc.start_mark);
			option_problem(src, "file", "must hold one document, not several");
			last = true;
		}
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
}

void option_yaml_read(struct option_source *src)
{
	FILE *f = fopen(src->file, "re");

	if (!f) {
		if (src->p)
			problem_add(src->p, "--config", "cannot read %s: %s", src->file, strerror(errno));
		return;
	}
	option_yaml_read_stream(src, f);
	fclose(f);
}
