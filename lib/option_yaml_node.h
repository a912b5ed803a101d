/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_yaml_node: what the readers of a file of options share: the document, its nodes and their places.
 */
#ifndef SQUALL_OPTION_YAML_NODE_H
#define SQUALL_OPTION_YAML_NODE_H

#include "option_row.h"

#include <string.h>
#include <yaml.h>

struct option_yaml {
	yaml_document_t doc;
	yaml_node_t *streams; /* the list, found by option_yaml_read(); NULL: none */
};

static inline const char *yaml_node_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* A YAML scalar may hold a NUL, which would hide what follows it. */
static inline bool yaml_node_is_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE && strlen(yaml_node_text(node)) == node->data.scalar.length;
}

/* The problems to come are of this place in the file. */
static inline void yaml_node_at(struct option_source *src, const yaml_node_t *node)
{
	src->line = node->start_mark.line + 1;
}

/* Reads one key and its value. */
void option_yaml_pair(struct option_source *src, yaml_document_t *doc, const yaml_node_pair_t *pair);

#endif
