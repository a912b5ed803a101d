/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the option table share: a command line as one string, and what it must lead to. */
#ifndef SQUALL_TESTS_OPTION_CASE_H
#define SQUALL_TESTS_OPTION_CASE_H

#include "lib/option.h"
#include "lib/option_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ARGS_MAX 40

static struct config cfg;
static struct problems problems;

/* Words separated by one space; '~' in a word stands for a space. The program's name is put in front. */
static enum option_action parse(const char *line)
{
	static char text[1024];
	char name[] = "squall";
	char *argv[ARGS_MAX] = {name};
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		for (char *c = word; *c; c++)
			*c = *c == '~' ? ' ' : *c;
		argv[argc++] = word;
	}
	memset(&cfg, 0xaa, sizeof(cfg));
	problems.n = 0;
	return option_parse(&cfg, argc, argv, &problems);
}

static inline void good(const char *line)
{
	parse(line);
	if (problems.n)
		fail_msg("%s: %s: %s", line, problems.e[0].object, problems.e[0].cause);
}

/* One problem, about object, with word in its cause. */
static inline void bad(const char *line, const char *object, const char *word)
{
	parse(line);
	if (problems.n != 1 || strcmp(problems.e[0].object, object) != 0 || !strstr(problems.e[0].cause, word))
		fail_msg("%s: %u problems, the first: %s: %s", line, problems.n, problems.e[0].object,
			 problems.e[0].cause);
	assert_int_equal(problems.e[0].code, EXIT_USAGE);
}

#endif
