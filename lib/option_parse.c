/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"
#include "option_row.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* What getopt_long() returns for long names: the row, and beyond all rows its --no- form. Letters are below. */
#define LONG_BASE 256
#define LONG_NO   (LONG_BASE + OPTION_TOTAL)
#define NAME_SIZE 24

struct grammar {
	struct option names[2 * OPTION_TOTAL + 1];
	char no_names[OPTION_TOTAL][NAME_SIZE];
	char letters[3 * OPTION_TOTAL + 3];
};

static void grammar_build(struct grammar *g)
{
	unsigned n = 0;
	char *letter = g->letters;

	/* In order, so that a stray word is met where it stands; a missing value told apart from an unknown option. */
	*letter++ = '-';
	*letter++ = ':';
	for (int i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];
		bool flag = row->type == OPTION_TYPE_BOOL;

		g->names[n++] =
			(struct option){row->name, flag ? optional_argument : required_argument, NULL, LONG_BASE + i};
		if (flag && strncmp(row->name, "no-", 3) != 0) {
			snprintf(g->no_names[i], NAME_SIZE, "no-%s", row->name);
			g->names[n++] = (struct option){g->no_names[i], no_argument, NULL, LONG_NO + i};
		}
		for (const char *l = row->letters; *l; l++) {
			*letter++ = *l;
			if (!flag)
				*letter++ = ':';
		}
	}
	g->names[n] = (struct option){0};
	*letter = '\0';
}

static const struct option_row *row_of(int code)
{
	if (code >= LONG_NO)
		return &option_rows[code - LONG_NO];
	if (code >= LONG_BASE)
		return &option_rows[code - LONG_BASE];
	for (int i = 0; i < OPTION_TOTAL; i++) {
		if (code && strchr(option_rows[i].letters, code))
			return &option_rows[i];
	}
	return NULL;
}

static bool is_long_name(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
	       (word[2 + n] == '\0' || word[2 + n] == '=');
}

/* getopt_long() also takes the beginning of a name; a script that relies on it breaks when a new option comes. */
static bool is_exact(const struct grammar *g, const char *word)
{
	if (strncmp(word, "--", 2) != 0)
		return true;
	for (const struct option *o = g->names; o->name; o++) {
		if (is_long_name(word, o->name))
			return true;
	}
	return false;
}

static void tell_unknown(const struct option_source *src, const char *word)
{
	char name[64];

	if (word[1] != '-') {
		char letter[] = {'-', (char)optopt, '\0'};

		if (src->p)
			problem_add(src->p, letter, "unknown option; squall help %s lists them",
				    option_verb_name(src->verb));
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	const char *nearest = option_nearest(name, src->verb);

	if (nearest)
		option_problem(src, name, "unknown option; did you mean --%s?", nearest);
	else
		option_problem(src, name, "unknown option; squall help %s lists them", option_verb_name(src->verb));
}

/* An empty word is one that a script has put in for a variable that is not set. */
static const char *shown(const char *word)
{
	return *word ? word : "\"\"";
}

static void tell_stray(const struct option_source *src, const char *word)
{
	for (unsigned i = 0; i < OPTION_VERBS; i++) {
		if (src->p && strcmp(word, option_verbs[i].name) == 0) {
			problem_add(src->p, word, "the verb comes first: squall %s", word);
			return;
		}
	}
	if (src->p)
		problem_add(src->p, shown(word), "unexpected word; squall %s takes options only",
			    option_verb_name(src->verb));
}

/* argv[0] is passed over. */
static void parse_arguments(struct option_source *src, int argc, char **argv)
{
	struct grammar g;
	bool value_of_unknown = false;

	grammar_build(&g);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	for (;;) {
		int at = optind ? optind : 1;
		int code = getopt_long(argc, argv, g.letters, g.names, NULL);

		if (code < 0)
			break;
		const char *word = argv[at];

		if (code == 1) { /* a word that is no option: after an unknown one most likely its value */
			if (!value_of_unknown)
				tell_stray(src, word);
			value_of_unknown = false;
			continue;
		}
		value_of_unknown = false;
		bool known = is_exact(&g, word);
		const struct option_row *row = row_of(code == '?' || code == ':' ? optopt : code);

		if (!known || !row) {
			tell_unknown(src, word);
			value_of_unknown = optind > at && !strchr(word, '=') && code == '?';
		} else if (code == '?') {
			option_problem(src, row->name, "the form --no-%s takes no value", row->name);
		} else if (code == ':') {
			option_problem(src, row->name, "needs a value: %s", row->arg);
		} else if (optarg && optind == at + 2 && strncmp(optarg, "--", 2) == 0 && optarg[2] &&
			   is_exact(&g, optarg)) {
			option_problem(src, row->name, "needs a value: %s", row->arg);
			optind--; /* what was taken for the value is the next option */
		} else {
			option_set(src, row, optarg ? optarg : code >= LONG_NO ? "false" : "true");
		}
	}
	for (int i = optind; i < argc; i++)
		tell_stray(src, argv[i]);
}

static const struct option_verb *find_verb(const char *word)
{
	for (unsigned i = 0; i < OPTION_VERBS; i++) {
		if (strcmp(option_verbs[i].name, word) == 0)
			return &option_verbs[i];
	}
	return NULL;
}

static void tell_unknown_verb(const char *word, struct problems *p)
{
	struct nearest n;

	nearest_start(&n, word);
	for (unsigned i = 0; i < OPTION_VERBS; i++)
		nearest_try(&n, option_verbs[i].name);
	if (n.best)
		problem_add(p, word, "unknown verb; did you mean squall %s?", n.best);
	else
		problem_add(p, shown(word), "unknown verb; squall help lists them");
}

enum option_action option_parse(struct config *cfg, int argc, char **argv, struct problems *p)
{
	enum option_action action = OPTION_RUN;
	const char *word = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;

	memset(cfg, 0, sizeof(*cfg));
	cfg->verb = VERB_SEND;
	if (word && strcmp(word, "version") == 0)
		action = OPTION_VERSION;
	if (word && strcmp(word, "help") == 0)
		action = OPTION_HELP;
	if (action != OPTION_RUN) {
		argv++;
		argc--;
		word = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
	}
	if (word) {
		const struct option_verb *verb = find_verb(word);

		if (verb) {
			cfg->verb = verb->verb;
		} else {
			tell_unknown_verb(word, p);
			action = OPTION_RUN;
		}
		argv++;
		argc--;
	}
	option_defaults(cfg);

	/* The file comes before the command line, which must be looked through to find it. */
	struct config scratch = *cfg;
	struct option_source search = {.cfg = &scratch, .verb = cfg->verb};

	struct option_yaml *yaml = NULL;

	parse_arguments(&search, argc, argv);
	if (scratch.config_file[0]) {
		struct option_source file = {.cfg = cfg, .p = p, .verb = cfg->verb, .file = scratch.config_file};

		yaml = option_yaml_load(&file);
		option_yaml_read(&file, yaml);
	}
	struct option_source line = {.cfg = cfg, .p = p, .verb = cfg->verb};

	parse_arguments(&line, argc, argv);
	if (cfg->help)
		action = OPTION_HELP;
	else if (cfg->version)
		action = OPTION_VERSION;
	if (cfg->verb == VERB_SEND && cfg->mode == MODE_RECEIVE) {
		cfg->verb = VERB_RECV;
		option_defaults(cfg);
	}
	/* A receiver measures by it. */
	if (verb_sends(cfg->verb) || cfg->measure) {
		struct option_source streams = {.cfg = cfg,
						.p = p,
						.verb = cfg->verb,
						.senders = cfg->verb == VERB_RECV,
						.file = scratch.config_file};

		option_yaml_streams(&streams, yaml, line.seen);
	}
	option_yaml_free(yaml);
	return action;
}
