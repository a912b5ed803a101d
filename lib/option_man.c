/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* mdoc(7): a hyphen-minus that is to be copied is \-, a backslash \e. */
static void write_text(const char *text, FILE *to)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", to);
		else if (*text == '\\')
			fputs("\\e", to);
		else
			putc(*text, to);
	}
}

/* Whom it is for, where that is not everybody who moves packets. */
static void write_verbs(const struct option_row *row, FILE *to)
{
	const unsigned all = OPTION_VERBS_MOVE;
	unsigned left = row->verbs & all;

	if (row->verbs & VERB_DEVICES)
		fputs("Also for\n.Cm devices .\n", to);
	if (left == all)
		return;
	fputs("For\n", to);
	for (unsigned i = 0; i < OPTION_VERBS; i++) {
		if (!(left & option_verbs[i].verb))
			continue;
		left &= ~(unsigned)option_verbs[i].verb;
		fprintf(to, ".Cm %s%s\n", option_verbs[i].name, !left ? "" : left & (left - 1) ? " ," : "\nand");
	}
	fputs("only.\n", to);
}

static void write_item(const struct option_row *row, FILE *to)
{
	char facts[OPTION_FACTS_MAX];
	const char *between = "";

	option_facts(row, row->verbs, facts, sizeof(facts));
	fputs(".It", to);
	for (const char *l = row->letters; *l; l++) {
		fprintf(to, "%s Fl %c", between, *l);
		between = " ,";
	}
	if (row->scope == OPTION_SCOPE_STREAM_ONLY) {
		fputs(" Cm ", to);
	} else {
		fprintf(to, "%s Fl \\-", between);
	}
	write_text(row->name, to);
	if (row->scope == OPTION_SCOPE_STREAM_ONLY)
		fputs(" :", to);
	if (*row->arg)
		fprintf(to, " Ar %s", row->arg);
	putc('\n', to);
	putc(toupper((unsigned char)row->help[0]), to);
	write_text(row->help + 1, to);
	if (*facts) {
		fputs(" (", to);
		write_text(facts, to);
		putc(')', to);
	}
	fputs(".\n", to);
	write_verbs(row, to);
}

static void write_options(FILE *to)
{
	fputs(".Sh OPTIONS\n"
	      "Of an option given twice the last one counts.\n"
	      "A flag also takes\n.Li =true\nor\n.Li =false ,\nand\n.Fl \\-no\\- Ns Ar NAME\nturns it off.\n",
	      to);
	for (unsigned section = 0; section < OPTION_SECTION_COUNT; section++) {
		fprintf(to, ".Ss %s\n.Bl -tag -width Ds\n", option_section_titles[section]);
		for (unsigned i = 0; i < OPTION_TOTAL; i++) {
			if (option_rows[i].section == section)
				write_item(&option_rows[i], to);
		}
		fputs(".El\n", to);
	}
}

static void write_exit_status(FILE *to)
{
	static const struct {
		enum exit_code code;
		const char *meaning;
	} codes[] = {
		{EXIT_DONE, "Done; also after a first interrupt, which drains and reports."},
		{EXIT_RUN, "Failed while running."},
		{EXIT_USAGE, "Wrong usage or configuration."},
		{EXIT_REFUSED, "Refused to start: a safety question was not answered."},
		{EXIT_THRESHOLD, "A threshold was not met."},
		{EXIT_RATE, "The requested rate was not reached, with strict\\-rate."},
		{EXIT_CAPABILITY, "A privilege, capability, mode or backend is missing."},
		{EXIT_LINK, "The interface is down or has no carrier."},
		{EXIT_SECOND_SIGNAL, "Stopped by a second signal."},
	};

	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", to);
	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		fprintf(to, ".It %d\n%s\n", (int)codes[i].code, codes[i].meaning);
	fputs(".El\n", to);
}

void option_man(FILE *to)
{
	fputs(".Dd November 30, 2026\n.Dt SQUALL 1\n.Os\n"
	      ".Sh NAME\n.Nm squall\n.Nd line\\-rate packet generator and receiver\n"
	      ".Sh SYNOPSIS\n"
	      ".Nm\n.Op Cm send\n.Op Ar option ...\n"
	      ".Nm\n.Cm recv\n.Op Ar option ...\n"
	      ".Nm\n.Cm pair\n.Op Ar option ...\n"
	      ".Nm\n.Cm reflect\n.Op Ar option ...\n"
	      ".Nm\n.Cm devices\n.Op Ar option ...\n"
	      ".Nm\n.Cm help\n.Op Ar verb\n"
	      ".Sh DESCRIPTION\n",
	      to);
	fputs(".Nm\nsends packets on an interface at a rate, receives and counts them, or does both.\n"
	      ".Bl -tag -width devices\n",
	      to);
	for (unsigned i = 0; i < OPTION_VERBS; i++)
		fprintf(to, ".It Cm %s\n%c%s.\n", option_verbs[i].name, toupper((unsigned char)option_verbs[i].help[0]),
			option_verbs[i].help + 1);
	fputs(".El\n.Pp\n"
	      "Results go to the standard output, everything else to the standard error.\n",
	      to);
	write_options(to);
	fputs(".Sh CONFIGURATION FILE\n"
	      "The file of\n.Fl \\-config\nis YAML: one mapping of long option names to values.\n"
	      "Options of the command line override it.\n"
	      ".Pp\nThe key\n.Cm streams\nlists up to 64 streams that are sent together, each a mapping of what it has "
	      "of "
	      "its own.\nWhat a stream does not say it has from the options of the run; what it says wins over them.\n"
	      "Streams without a rate of their own have the run's rate together, by\n.Cm share .\n",
	      to);
	write_exit_status(to);
	fputs(".Sh EXAMPLES\n"
	      "A thousand flows for ten seconds:\n"
	      ".Dl squall \\-i eth1 \\-\\-dst\\-ip 192.0.2.10 \\-\\-flows 1000 \\-\\-pps 1M \\-d 10s\n"
	      ".Pp\nCount them on the other machine:\n"
	      ".Dl squall recv \\-i eth1\n"
	      ".Pp\nBoth on one machine with two interfaces, through what is between them:\n"
	      ".Dl squall pair \\-i eth1 \\-r eth2 \\-\\-dst\\-ip 192.0.2.10\n",
	      to);
}
