/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <stdio.h>
#include <string.h>

static void write_pattern(const struct option_row *row, FILE *to)
{
	fputs("\t", to);
	for (const char *l = row->letters; *l; l++)
		fprintf(to, "-%c | ", *l);
	fprintf(to, "--%s)", row->name);
}

/* What may follow an option that takes a value. */
static void write_values(const struct option_row *row, FILE *to)
{
	char names[256];

	if (row->type == OPTION_TYPE_BOOL || row->scope == OPTION_SCOPE_STREAM_ONLY)
		return;
	write_pattern(row, to);
	if (row->type == OPTION_TYPE_ENUM) {
		option_choices(row, names, sizeof(names));
		for (char *comma = names; (comma = strchr(comma, ','));)
			memmove(comma, comma + 1, strlen(comma));
		fprintf(to, " words=\"%s\" ;;\n", names);
	} else if (row->type == OPTION_TYPE_FILE) {
		fputs(" mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n", to);
	} else if (row == &option_rows[OPTION_INTERFACE] || row == &option_rows[OPTION_RX_INTERFACE]) {
		fputs(" words=$(ip -br link 2>/dev/null | sed 's/[@ ].*//') ;;\n", to);
	} else {
		fputs(" return ;;\n", to);
	}
}

static void write_names(const struct option_verb *verb, FILE *to)
{
	fprintf(to, "\t\t%s) words=\"", verb->name);
	const char *between = "";

	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		if (!(option_rows[i].verbs & verb->verb) || option_rows[i].scope == OPTION_SCOPE_STREAM_ONLY)
			continue;
		fprintf(to, "%s--%s", between, option_rows[i].name);
		between = " ";
	}
	fputs("\" ;;\n", to);
}

static void write_verbs(FILE *to)
{
	for (unsigned i = 0; i < OPTION_VERBS; i++)
		fprintf(to, "%s ", option_verbs[i].name);
}

void option_completion(FILE *to)
{
	fputs("# shellcheck shell=bash\n"
	      "# SPDX-License-Identifier: Apache-2.0\n"
	      "# Completion for squall, made from its option table.\n"
	      "_squall() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=send words=\n\n"
	      "\tcase ${COMP_WORDS[1]} in\n"
	      "\t",
	      to);
	for (unsigned i = 0; i < OPTION_VERBS; i++)
		fprintf(to, "%s%s", i ? " | " : "", option_verbs[i].name);
	fputs(") verb=${COMP_WORDS[1]} ;;\n"
	      "\tesac\n"
	      "\t# --name=value comes as three words.\n"
	      "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	      "\telif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	      "\tcase $prev in\n",
	      to);
	for (unsigned i = 0; i < OPTION_TOTAL; i++)
		write_values(&option_rows[i], to);
	fputs("\t*)\n"
	      "\t\tcase $verb in\n",
	      to);
	for (unsigned i = 0; i < OPTION_VERBS; i++)
		write_names(&option_verbs[i], to);
	fputs("\t\tesac\n"
	      "\t\t[[ $COMP_CWORD -eq 1 && $cur != -* ]] && words=\"",
	      to);
	write_verbs(to);
	fputs("help version\"\n"
	      "\t\t[[ $prev == help ]] && words=\"",
	      to);
	write_verbs(to);
	fputs("\"\n"
	      "\t\t;;\n"
	      "\tesac\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	      "}\n"
	      "complete -F _squall squall\n",
	      to);
}
