/* SPDX-License-Identifier: Apache-2.0 */
#include "json_check.h"
#include "report_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <unistd.h>

enum { JSON, STREAM, CSV, TEXT, FORMS };

static void choose(struct fixture *f, int form)
{
	f->cfg.json = form == JSON;
	f->cfg.json_stream = form == STREAM;
	f->cfg.csv = form == CSV;
}

/* A run whose results go to out, which takes nothing: each call must say so. */
static void nothing_is_taken(FILE *out, int form, int rc)
{
	struct fixture f;

	fixture_run(&f);
	choose(&f, form);
	assert_non_null(out);
	f.report = report_open(&f.cfg, out);
	assert_non_null(f.report);
	assert_int_equal(report_begin(f.report, &f.plan, WALL), rc);
	assert_int_equal(report_interval(f.report, &f.zero, &f.half), rc);
	assert_int_equal(report_end(f.report, &f.end, NULL, NULL), rc);
	report_close(f.report);
	fclose(out);
}

static void a_full_disk_is_told(void **state)
{
	static char small[64]; /* stdio itself writes and fails, before the flush */

	(void)state;
	for (int form = 0; form < FORMS; form++) {
		FILE *out = fopen("/dev/full", "w");

		nothing_is_taken(out, form, -ENOSPC);
		out = fopen("/dev/full", "w");
		assert_non_null(out);
		setvbuf(out, small, _IOFBF, sizeof(small));
		nothing_is_taken(out, form, -ENOSPC);
		out = fopen("/dev/full", "w");
		assert_non_null(out);
		setvbuf(out, NULL, _IONBF, 0);
		nothing_is_taken(out, form, -ENOSPC);
	}
}

static void a_closed_pipe_is_told(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (int form = 0; form < FORMS; form++) {
		int fd[2];

		assert_int_equal(pipe(fd), 0);
		close(fd[0]);
		nothing_is_taken(fdopen(fd[1], "w"), form, -EPIPE);
	}
}

static ssize_t refuse(void *cookie, const char *buf, size_t size)
{
	(void)cookie;
	(void)buf;
	(void)size;
	return 0;
}

static void a_failure_without_a_reason_is_told(void **state)
{
	(void)state;
	for (int form = 0; form < FORMS; form++) {
		errno = ENOENT; /* somebody else's */
		nothing_is_taken(fopencookie(NULL, "w", (cookie_io_functions_t){.write = refuse}), form, -EIO);
	}
}

/* The disk was full for a moment: a document with a hole must not be finished as if nothing had happened. */
static void nothing_is_written_after_a_failure(void **state)
{
	struct fixture f;
	int fd[2];
	char buf[16];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	fixture_run(&f);
	f.cfg.json = true;
	assert_int_equal(pipe(fd), 0);
	f.out = fopen("/dev/full", "w");
	assert_non_null(f.out);
	f.report = report_open(&f.cfg, f.out);
	assert_int_equal(report_begin(f.report, &f.plan, WALL), -ENOSPC);
	dup2(fd[1], fileno(f.out));
	close(fd[1]);
	__fpurge(f.out);
	clearerr(f.out);
	assert_int_equal(report_end(f.report, &f.end, NULL, NULL), -ENOSPC);
	report_close(f.report);
	fclose(f.out);
	assert_int_equal(read(fd[0], buf, sizeof(buf)), 0);
	close(fd[0]);
}

static long until_failure; /* allocations that succeed before the one that fails */

static void *scarce(size_t size)
{
	return until_failure-- == 0 ? NULL : malloc(size);
}

/* Every allocation of jansson fails once: the run is told, and nothing is left out without a word. */
static void short_memory_is_told(void **state)
{
	(void)state;
	for (int form = JSON; form <= STREAM; form++) {
		bool complete = false;

		for (long n = 0; !complete; n++) {
			struct fixture f;
			int rc;

			fixture_run(&f);
			choose(&f, form);
			fixture_open(&f);
			json_set_alloc_funcs(scarce, free);
			until_failure = n;
			rc = report_begin(f.report, &f.plan, WALL);
			if (!rc)
				rc = report_interval(f.report, &f.zero, &f.half);
			if (!rc)
				rc = report_end(f.report, &f.end, NULL, NULL);
			complete = until_failure >= 0;
			json_set_alloc_funcs(malloc, free);
			assert_int_equal(rc, complete ? 0 : -ENOMEM);
			if (complete && form == JSON)
				json_decref(parsed(f.text));
			fixture_close(&f);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_closed_pipe_is_told),
		cmocka_unit_test(a_failure_without_a_reason_is_told),
		cmocka_unit_test(nothing_is_written_after_a_failure),
		cmocka_unit_test(short_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
