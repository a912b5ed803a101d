/* SPDX-License-Identifier: Apache-2.0 */
#include "option_yaml_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What its item calls a stream; NULL: nothing that can be read. */
static const yaml_node_t *find_name(yaml_document_t *doc, const yaml_node_t *item)
{
	for (const yaml_node_pair_t *pair = item->data.mapping.pairs.start; pair < item->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = yaml_document_get_node(doc, pair->key);
		const yaml_node_t *value = yaml_document_get_node(doc, pair->value);

		if (yaml_node_is_text(key) && strcmp(yaml_node_text(key), option_rows[OPTION_STREAM_NAME].name) == 0)
			return yaml_node_is_text(value) ? value : NULL;
	}
	return NULL;
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return n && n < CONFIG_NAME_MAX &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* Its name is known before anything else is read, for the problems that are met. */
static void name_stream(struct option_source *src, yaml_document_t *doc, const yaml_node_t *item, unsigned number)
{
	const yaml_node_t *name = item->type == YAML_MAPPING_NODE ? find_name(doc, item) : NULL;
	struct config *cfg = src->cfg;

	snprintf(cfg->name, sizeof(cfg->name), "%u", number);
	src->stream = cfg->name;
	if (!name)
		return;
	if (is_name(yaml_node_text(name))) {
		snprintf(cfg->name, sizeof(cfg->name), "%s", yaml_node_text(name));
		return;
	}
	yaml_node_at(src, name);
	option_problem(src, option_rows[OPTION_STREAM_NAME].name,
		       "'%.60s' is not a name of 1 to %d letters, digits, dots, dashes and underscores",
		       yaml_node_text(name), CONFIG_NAME_MAX - 1);
}

static void read_item(struct option_source *src, yaml_document_t *doc, const yaml_node_t *item)
{
	yaml_node_at(src, item);
	src->cfg->line = (unsigned)src->line;
	if (item->type != YAML_MAPPING_NODE) {
		option_problem(src, "item", "must hold lines such as 'dst-ip: 192.0.2.10'");
		return;
	}
	for (const yaml_node_pair_t *pair = item->data.mapping.pairs.start; pair < item->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = yaml_document_get_node(doc, pair->key);

		if (yaml_node_is_text(key) && strcmp(yaml_node_text(key), option_rows[OPTION_STREAM_NAME].name) == 0 &&
		    !option_bit(src->seen, OPTION_STREAM_NAME) &&
		    yaml_node_is_text(yaml_document_get_node(doc, pair->value)))
			option_bit_set(src->seen, OPTION_STREAM_NAME); /* name_stream() has it */
		else
			option_yaml_pair(src, doc, pair);
	}
	memcpy(src->cfg->said, src->seen, sizeof(src->cfg->said));
}

static void check_names(struct option_source *src)
{
	const struct config *cfg = src->cfg;

	for (unsigned i = 1; i < cfg->n_streams; i++)
		for (unsigned k = 0; k < i; k++) {
			if (strcmp(cfg->streams[i].name, cfg->streams[k].name) != 0)
				continue;
			src->stream = cfg->streams[i].name;
			src->line = cfg->streams[i].line;
			option_problem(src, option_rows[OPTION_STREAM_NAME].name,
				       "the stream of line %u has it already", cfg->streams[k].line);
			break;
		}
	src->stream = NULL;
}

/* What the command line gives in vain. */
static void find_ousted(struct config *cfg, const uint64_t line[4])
{
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		bool all = option_rows[i].scope == OPTION_SCOPE_STREAM && option_bit(line, i);

		for (unsigned s = 0; s < cfg->n_streams; s++)
			all = all && option_bit(cfg->streams[s].said, i);
		if (all)
			option_bit_set(cfg->ousted, i);
	}
}

int option_yaml_streams(struct option_source *src, struct option_yaml *y, const uint64_t line[4])
{
	const yaml_node_t *list = y ? y->streams : NULL;
	struct config *cfg = src->cfg;
	const yaml_node_item_t *item;
	size_t n;

	if (!list)
		return 0;
	yaml_node_at(src, list);
	n = list->type == YAML_SEQUENCE_NODE ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
					     : 0;
	if (!n || n > CONFIG_STREAMS_MAX) {
		option_problem(src, "streams", "must be a list of 1 to %d streams", CONFIG_STREAMS_MAX);
		return 0;
	}
	cfg->streams = calloc(n, sizeof(*cfg->streams));
	if (!cfg->streams) {
		option_problem(src, "streams", "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	item = list->data.sequence.items.start;
	for (unsigned i = 0; i < n; i++) {
		const yaml_node_t *node = yaml_document_get_node(&y->doc, item[i]);
		struct option_source one = *src;

		cfg->streams[i] = *cfg;
		cfg->streams[i].streams = NULL;
		one.cfg = &cfg->streams[i];
		memset(one.seen, 0, sizeof(one.seen));
		name_stream(&one, &y->doc, node, i + 1);
		read_item(&one, &y->doc, node);
	}
	cfg->n_streams = (unsigned)n;
	check_names(src);
	find_ousted(cfg, line);
	return 0;
}
