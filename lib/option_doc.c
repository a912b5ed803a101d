/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 28
#define HELP_WIDTH  96

static size_t append(char *buf, size_t size, size_t used, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static size_t append(char *buf, size_t size, size_t used, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf + used, size - used, fmt, ap);

	va_end(ap);
	return n > 0 && (size_t)n < size - used ? used + (size_t)n : size - 1;
}

static const char *shown_default(const struct option_row *row, enum verb verb)
{
	const char *text = option_default(row, verb);

	return row->type == OPTION_TYPE_BOOL && strcmp(text, "false") == 0 ? "" : text;
}

char *option_facts(const struct option_row *row, unsigned verbs, char *buf, size_t size)
{
	const char *text = shown_default(row, verbs & VERB_SEND ? VERB_SEND : (enum verb)verbs);
	char list[128];
	size_t used = 0;

	buf[0] = '\0';
	if (row->choices)
		used = append(buf, size, used, "%s", option_choices(row, list, sizeof(list)));
	if (*text)
		used = append(buf, size, used, "%sdefault %s", used ? "; " : "", text);
	if (row->recv_text && verbs & VERB_SEND && verbs & VERB_RECV)
		used = append(buf, size, used, "%sfor recv and reflect %s", used ? ", " : "", row->recv_text);
	if (row->pair_text && verbs & VERB_PAIR && verbs & ~(unsigned)VERB_PAIR)
		used = append(buf, size, used, "%sfor pair %s", used ? ", " : "", row->pair_text);
	if (row->min || row->max) {
		option_range(row, list, sizeof(list));
		if (!row->max)
			*strstr(list, " to ") = '\0';
		append(buf, size, used, "%s%s%s", used ? "; " : "", row->max ? "" : "at least ", list);
	}
	return buf;
}

/* "-v, -V, --version" and the value's name; as in a file what stands there alone. */
static char *option_left(const struct option_row *row, char *buf, size_t size)
{
	size_t used = 0;

	for (const char *l = row->letters; *l; l++)
		used = append(buf, size, used, "-%c, ", *l);
	if (row->scope == OPTION_SCOPE_STREAM_ONLY)
		append(buf, size, used, "%s: %s", row->name, row->arg);
	else
		append(buf, size, used, "--%s%s%s", row->name, *row->arg ? " " : "", row->arg);
	return buf;
}

/* Words of text from column on, wrapped; the line is already there up to that column. */
static void write_wrapped(const char *text, size_t column, size_t width, FILE *to)
{
	size_t at = column;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > column && at + 1 + n > width) {
			fprintf(to, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			putc(' ', to);
			at++;
		}
		fprintf(to, "%.*s", (int)n, text);
		at += n;
		text += n;
		text += strspn(text, " ");
	}
	putc('\n', to);
}

static void write_help(const struct option_row *row, enum verb verb, FILE *to)
{
	char left[96];
	char facts[OPTION_FACTS_MAX];
	char text[1024];

	option_left(row, left, sizeof(left));
	option_facts(row, verb, facts, sizeof(facts));
	snprintf(text, sizeof(text), "%s%s%s%s", row->help, *facts ? " (" : "", facts, *facts ? ")" : "");
	/* Long names stand in one column, below each other. */
	fprintf(to, "  %s%s", *row->letters ? "" : "    ", left);
	size_t used = strlen(left) + (*row->letters ? 2U : 6U);

	if (used + 2 > HELP_COLUMN) {
		putc('\n', to);
		used = 0;
	}
	fprintf(to, "%*s", (int)(HELP_COLUMN - used), "");
	write_wrapped(text, HELP_COLUMN, HELP_WIDTH, to);
}

void option_help(enum verb verb, FILE *to)
{
	fprintf(to, "Usage: squall [send] OPTION...\n       squall recv OPTION...\n       squall pair OPTION...\n"
		    "       squall reflect OPTION...\n       squall devices [OPTION...]\n"
		    "       squall help [VERB]\n\n");
	for (unsigned i = 0; i < OPTION_VERBS; i++) {
		if (option_verbs[i].verb == verb)
			fprintf(to, "squall %s: %s.\n", option_verbs[i].name, option_verbs[i].help);
	}
	for (unsigned section = 0; section < OPTION_SECTION_COUNT; section++) {
		bool titled = false;

		for (unsigned i = 0; i < OPTION_TOTAL; i++) {
			if (option_rows[i].section != section || !(option_rows[i].verbs & verb))
				continue;
			if (!titled)
				fprintf(to, "\n%s:\n", option_section_titles[section]);
			titled = true;
			write_help(&option_rows[i], verb, to);
		}
	}
	fprintf(to, "\nAn option given twice: the last one counts. A flag also takes =true or =false, and --no-NAME "
		    "turns it "
		    "off.\nEvery option but --config, --dump-config, --help and --version may stand in the file of "
		    "--config.\n");
}

static void write_markdown_row(const struct option_row *row, FILE *to)
{
	char facts[OPTION_FACTS_MAX];

	option_facts(row, row->verbs, facts, sizeof(facts));
	fputs("| ", to);
	for (const char *l = row->letters; *l; l++)
		fprintf(to, "`-%c`, ", *l);
	if (row->scope == OPTION_SCOPE_STREAM_ONLY)
		fprintf(to, "`%s: %s` |", row->name, row->arg);
	else
		fprintf(to, "`--%s%s%s` |", row->name, *row->arg ? " " : "", row->arg);
	for (unsigned i = 0; i < OPTION_VERBS; i++) {
		if (row->verbs & option_verbs[i].verb)
			fprintf(to, " %s", option_verbs[i].name);
	}
	fprintf(to, " | %c%s%s%s%s. |\n", toupper((unsigned char)row->help[0]), row->help + 1, *facts ? " (" : "",
		facts, *facts ? ")" : "");
}

static void write_streams_chapter(FILE *to)
{
	fputs("\n### Streams\n\n"
	      "The key `streams` lists up to 64 streams, which the run sends together; without it the options describe "
	      "the "
	      "one\nstream. Each item of the list is a mapping of the keys that a stream may have of its own:\n\n",
	      to);
	const char *before = "";

	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		if (option_rows[i].scope == OPTION_SCOPE_RUN || option_rows[i].section == OPTION_SECTION_PCAP)
			continue;
		fprintf(to, "%s`%s`", before, option_rows[i].name);
		before = ", ";
	}
	fputs(".\n\nWhat a stream does not say it has from the options of the run, and what it says wins over them, "
	      "the "
	      "command line's too.\n\n"
	      "Streams without a rate of their own have the run's rate together: their packets take turns by `share`, "
	      "in "
	      "a fixed\nround in which each is spread as evenly as it goes; who comes first of equals is drawn from "
	      "`seed`. A stream with\n`pps`, `bps` or a `burst-profile` of N/TIME has its own pace beside them, in the "
	      "order of departure times. Streams\nwithout any limit take what the others leave, by `share`. Before "
	      "its `start-delay`, and after the N packets of a\n`burst-profile: N`, a stream's turns pass by unused: "
	      "the "
	      "others' rates stay what they are. `--count` is dealt by the\nround; with rates of their own each stream "
	      "has its own `burst-profile: N` instead. `squall recv` reads the same file,\nand `--measure` tells "
	      "of each stream of the list for itself.\n\n"
	      "    interface: eth1\n    pps: 100k\n    streams:\n      - name: web\n        mode: tcp-syn\n        "
	      "dst-ip: 192.0.2.0/24\n        dst-port: 443\n        flows: 254\n        share: 3\n      - name: "
	      "voice\n  "
	      "      dst-ip: 192.0.2.10\n        packet-size: 214\n        dscp: 46\n        pps: 50\n        "
	      "start-delay: 2s\n",
	      to);
}

void option_markdown(FILE *to)
{
	fputs("# Options\n\n"
	      "This page is made from the option table, `lib/option_table.h`, by `cmake --build build --target "
	      "docs`.\n\n"
	      "    squall [send] OPTION...\n    squall recv OPTION...\n    squall pair OPTION...\n"
	      "    squall reflect OPTION...\n    squall devices [OPTION...]\n"
	      "    squall help [VERB]\n    squall version\n\n"
	      "`send` is the verb when none is given. An option given twice: the last one counts. A flag also takes "
	      "`=true` or\n`=false`, and `--no-NAME` turns it off. All problems are told together, before any "
	      "interface is "
	      "touched.\n\n"
	      "| value | how it is written |\n|---|---|\n"
	      "| packet rate | `100k`, `2.5M`, `0.5`, `1e6`, `14.88Mpps`, `100 kp/s`, `1Ki`, `80%` of the link's "
	      "speed; "
	      "`0` or `unlimited` |\n"
	      "| bit rate | the same with `bps`, `bit/s`, `bit` or `b/s`, and the layer `l1` (default), `l2` or `l3`: "
	      "`10G`, `2.5Gbit/s`, `9.5Gbpsl2` |\n"
	      "| time | `30s`, `5m`, `1h30m`, `200ms`, `50us`, `10ns`, `0`; the unit is needed |\n"
	      "| count | `1000`, `20k`, `2M`, `1e6` |\n"
	      "| list | `53,9000`; CPUs also as `0-3,5` |\n",
	      to);
	for (unsigned section = 0; section < OPTION_SECTION_COUNT; section++) {
		fprintf(to, "\n## %s\n\n| option | verbs | what it does |\n|---|---|---|\n",
			option_section_titles[section]);
		for (unsigned i = 0; i < OPTION_TOTAL; i++) {
			if (option_rows[i].section == section)
				write_markdown_row(&option_rows[i], to);
		}
	}
	fputs("\n## The file of --config\n\n"
	      "YAML: one mapping of long names to values. Lists may be written as `[53, 9000]`. What the command line "
	      "gives\n"
	      "comes after the file and wins. `--dump-config` writes the file of a command line, with the defaults as "
	      "comments.\n\n"
	      "    interface: eth1\n    dst-ip: 192.0.2.10\n    pps: 1M\n    flows: 1000\n    json: true\n",
	      to);
	write_streams_chapter(to);
}
