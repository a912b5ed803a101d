/* SPDX-License-Identifier: Apache-2.0 */
#include "form.h"
#include "lib/log.h"
#include "lib/option.h"
#include "lib/report.h"
#include "signals.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum log_level log_most;

/* Results go to the standard output, everything else here. */
static void to_stderr(enum log_level level, const char *line)
{
	static const char *const prefix[] = {
		[LOG_LEVEL_WARN] = "warning: ", [LOG_LEVEL_NOTE] = "", [LOG_LEVEL_DEBUG] = ""};

	if (level <= log_most)
		fprintf(stderr, "squall: %s%s\n", prefix[level], line);
}

/*
 * A closed standard descriptor would be given to the next socket, and a report written into it. What stands in for a
 * closed standard output refuses to be written: the report is missed.
 */
static void open_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_RUN);
}

static int say(const struct err *e)
{
	char line[2048];

	if (e->code != EXIT_DONE)
		fprintf(stderr, "squall: %s\n", err_format(e, line, sizeof(line)));
	return (int)e->code;
}

static int say_all(const struct problems *p)
{
	char line[2048];
	unsigned kept = p->n < PROBLEMS_MAX ? p->n : PROBLEMS_MAX;

	for (unsigned i = 0; i < kept; i++)
		fprintf(stderr, "squall: %s\n", err_format(&p->e[i], line, sizeof(line)));
	if (p->n > kept)
		fprintf(stderr, "squall: and %u more\n", p->n - kept);
	return EXIT_USAGE;
}

/* Help, version and such: a text, and whether it could be written. */
static int wrote(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	fprintf(stderr, "squall: cannot write: %s\n", strerror(errno));
	return EXIT_RUN;
}

static int run_verb(struct config *cfg, struct problems *problems)
{
	struct err e = {.code = EXIT_DONE};
	struct report *report = report_open(cfg, stdout);

	if (!report)
		return say((err_set(&e, -ENOMEM, EXIT_RUN, "cannot start", "squall", "no memory"), &e));
	if (cfg->verb != VERB_DEVICES)
		traffic_check(cfg, problems);
	if (problems->n) {
		problems_merge(problems, &e);
		report_end(report, NULL, &e, problems);
		report_close(report);
		return say_all(problems);
	}
	form_choose(cfg, report);
	if (cfg->verb == VERB_DEVICES)
		devices_main(report, &e);
	else
		traffic_main(cfg, report, &e);
	form_close();
	report_failed(report, &e);
	report_close(report);
	return say(&e);
}

static int act(enum option_action action, struct config *cfg, struct problems *problems)
{
	switch (action) {
	case OPTION_HELP:
		option_help(cfg->verb, stdout);
		return wrote();
	case OPTION_VERSION:
		puts("squall " SQUALL_VERSION);
		return wrote();
	default:
		break;
	}
	log_most = cfg->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTE;
	if (cfg->dump_config && !problems->n) {
		option_dump_config(cfg, stdout);
		return wrote();
	}
	return run_verb(cfg, problems);
}

int main(int argc, char **argv)
{
	static struct config cfg;
	static struct problems problems;
	int code;

	open_standard_files();
	signals_install();
	log_set_sink(to_stderr);
	code = act(option_parse(&cfg, argc, argv, &problems), &cfg, &problems);
	option_free(&cfg);
	return code;
}
