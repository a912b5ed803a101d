/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and their undoing in a process that lives on. */
#include "tests/restoring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void last_step_first(void **state)
{
	struct restore *r = must_create();

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		must_add(r, tell_letter, &letters[i], told[1]);
	must_arm(r);
	shut(&told[1]);
	assert_true(silent(told[0]));
	restore_end(r);
	/* All of it was there when restore_end() returned. */
	for (int i = 2; i >= 0; i--) {
		assert_false(silent(told[0]));
		assert_int_equal(next_byte(told[0]), letters[i]);
	}
	assert_int_equal(next_byte(told[0]), -1);
}

static void nothing_to_do(void **state)
{
	struct restore *r = must_create();

	(void)state;
	must_arm(r);
	restore_end(r);
	restore_end(must_create());
	restore_end(NULL);
}

static void limits(void **state)
{
	struct restore *r = must_create();

	(void)state;
	for (unsigned i = 0; i < RESTORE_STEPS_MAX; i++)
		must_add(r, tell_letter, &letters[i], told[1]);
	assert_int_equal(restore_add(r, tell_letter, letters, -1, &err), -E2BIG);
	assert_int_equal(err.code, EXIT_RUN);
	must_arm(r);
	assert_int_equal(restore_add(r, tell_letter, letters, -1, &err), -EBUSY);
	assert_int_equal(restore_arm(r, &err), -EBUSY);
	restore_end(r);
	for (unsigned i = RESTORE_STEPS_MAX; i-- > 0;)
		assert_int_equal(next_byte(told[0]), letters[i]);
	assert_true(silent(told[0]));
}

/* Nothing is left that somebody would have to wait for. */
static void no_child_left(void **state)
{
	struct restore *r = must_create();

	(void)state;
	must_add(r, tell_letter, letters, told[1]);
	must_arm(r);
	restore_end(r);
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(next_byte(told[0]), 'a');
}

static pid_t only_child(void)
{
	int pid = -1;
	FILE *f = fopen("/proc/thread-self/children", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

/* The watching process was killed, and somebody who waits for any child has heard of it. */
static void waited_for_by_others(void **state)
{
	struct restore *r = must_create();
	int status;

	(void)state;
	must_add(r, NULL, NULL, told[1]);
	must_arm(r);
	shut(&told[1]);
	assert_true(silent(told[0]));
	pid_t pid = only_child();

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(-1, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(next_byte(told[0]), -1);
	restore_end(r);
}

static void child_signals_ignored(void **state)
{
	struct restore *r = must_create();

	(void)state;
	must_add(r, tell_letter, letters, told[1]);
	signal(SIGCHLD, SIG_IGN);
	must_arm(r);
	signal(SIGCHLD, SIG_DFL);
	restore_end(r);
	assert_int_equal(next_byte(told[0]), 'a');
}

/* What goes wrong in the new process, here for want of a descriptor, is told; then nothing watches. */
static void cannot_start(void **state)
{
	struct rlimit before;
	struct rlimit few;
	struct restore *r = must_create();
	int spare[64];
	int n = 0;

	(void)state;
	must_add(r, tell_letter, letters, told[1]);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = sizeof(spare) / sizeof(spare[0]), .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int fd = dup(STDIN_FILENO); fd >= 0; fd = dup(STDIN_FILENO))
		spare[n++] = fd;
	/* Room for the line to the new process, and no more. */
	assert_true(n >= 2);
	close(spare[--n]);
	close(spare[--n]);
	int rc = restore_arm(r, &err);

	while (n)
		close(spare[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc, -EMFILE);
	assert_int_equal(err.code, EXIT_RUN);
	assert_non_null(strstr(err.cause, strerror(EMFILE)));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	restore_end(r);
	assert_true(silent(told[0]));
}

static void tell_exit(void)
{
	say(told[1], 'x');
}

/* What this process prints, and does at its exit, the watching one does not do again. */
static void ends_once(void **state)
{
	(void)state;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct restore *r = must_create();

		atexit(tell_exit);
		dup2(ready[1], STDOUT_FILENO);
		setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
		fputc('p', stdout);
		must_add(r, tell_letter, letters, told[1]);
		must_arm(r);
		restore_end(r);
		fflush(stdout);
		_exit(0);
	}
	shut(&told[1]);
	shut(&ready[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(next_byte(told[0]), 'a');
	assert_int_equal(next_byte(told[0]), -1);
	assert_int_equal(next_byte(ready[0]), 'p');
	assert_int_equal(next_byte(ready[0]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(last_step_first, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_to_do, setup, teardown),
		cmocka_unit_test_setup_teardown(limits, setup, teardown),
		cmocka_unit_test_setup_teardown(cannot_start, setup, teardown),
		cmocka_unit_test_setup_teardown(no_child_left, setup, teardown),
		cmocka_unit_test_setup_teardown(waited_for_by_others, setup, teardown),
		cmocka_unit_test_setup_teardown(child_signals_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_once, setup, teardown),
	};

	return cmocka_run_group_tests_name("restore", tests, NULL, NULL);
}
