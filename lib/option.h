/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option: the one table of what can be configured (option_table.h) and what is made from it: command line, YAML file,
 * defaults, validation, help, docs/options.md, man page, completion, --dump-config.
 *
 * Main thread only. Nothing here touches the network or prints: texts are written to a FILE that the caller gives.
 */
#ifndef SQUALL_OPTION_H
#define SQUALL_OPTION_H

#include "config.h"
#include "err.h"
#include "option_table.h"

#include <stdio.h>

enum option_id {
#define OPTION_ENUM(id, ...) OPTION_##id,
	OPTION_TABLE(OPTION_ENUM)
#undef OPTION_ENUM
		OPTION_TOTAL
};

enum option_action {
	OPTION_RUN,     /* cfg is complete; p->n == 0 or the problems say what is wrong */
	OPTION_HELP,    /* --help, squall help [verb]: the caller prints option_help(cfg->verb) */
	OPTION_VERSION, /* --version, squall version */
};

/*
 * Fills *cfg: defaults, then the YAML file of --config, then argv (the last of a repeated flag wins, lists are replaced
 * by a later file or command line and extended within one). argv[0] is the program; argv[1] may be a verb, send is
 * the default; --mode receive makes it recv. What was not given gets the verb's default. A value is checked
 * against its row (type, range, choices, verb); relations between options are the caller's. Output flags (--json …) are
 * found even when other arguments are wrong, so that errors can be reported in the form that was asked for.
 * option_free() releases what cfg has in memory of its own.
 */
enum option_action option_parse(struct config *cfg, int argc, char **argv, struct problems *p);

/* The streams of a configuration; those that have none are left as they are. */
void option_free(struct config *cfg);

bool option_given(const struct config *cfg, enum option_id id);
/* Of a stream: whether its own item says so, and not the run's options alone. */
bool option_said(const struct config *stream, enum option_id id);

/* Whether each stream of a run may have its own. */
bool option_of_streams(enum option_id id);

/* Whether the command line gives what every stream of the file says otherwise. */
bool option_in_vain(const struct config *cfg, enum option_id id);
const char *option_name(enum option_id id);

/* Calls fn once per option of a run, or of a stream, in table order, with its value as it would be typed. */
void option_each(const struct config *cfg, void (*fn)(void *arg, const char *name, const char *value, bool given),
		 void *arg);

void option_help(enum verb verb, FILE *to);
void option_dump_config(const struct config *cfg, FILE *to); /* YAML that --config reads back to the same config */
void option_markdown(FILE *to);                              /* docs/options.md */
void option_man(FILE *to);                                   /* squall.1 (mdoc) */
void option_completion(FILE *to);                            /* bash */

#endif
