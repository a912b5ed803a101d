/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restoring: what the tests of lib/restore.h share. A process under test is forked, arms its steps and is left to end
 * in some way. What its undo functions see comes back by a pipe, whose end is that of the watching process, since
 * nobody else holds it by then.
 */
#ifndef SQUALL_TESTS_RESTORING_H
#define SQUALL_TESTS_RESTORING_H

#include "lib/restore.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 10000

static struct err err;

/* Ends of pipes: what undo functions tell, what lets a slow one go on, and what the process under test tells. */
static int told[2], gate[2], ready[2];

static inline int setup(void **state)
{
	(void)state;
	return pipe2(told, O_CLOEXEC) || pipe2(gate, O_CLOEXEC) || pipe2(ready, O_CLOEXEC) ? -1 : 0;
}

static inline void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		shut(&told[i]);
		shut(&gate[i]);
		shut(&ready[i]);
	}
	return 0;
}

/* Within the time: one byte, or -1 at the end. */
static inline int next_byte(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char c;

	if (poll(&p, 1, WAIT_MS) != 1)
		fail_msg("nothing came");
	return read(fd, &c, 1) == 1 ? c : -1;
}

static inline bool silent(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

static inline void say(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		abort();
}

/* Undo functions. The argument is the letter to tell. */
static inline void tell_letter(void *arg)
{
	say(told[1], *(const char *)arg);
}

__attribute__((unused)) static char letters[] = "abcdefghijklmnopqrstuvwxyz";

static inline struct restore *must_create(void)
{
	struct restore *r;

	assert_int_equal(restore_create(&r, &err), 0);
	return r;
}

static inline void must_add(struct restore *r, void (*undo)(void *arg), void *arg, int fd)
{
	assert_int_equal(restore_add(r, undo, arg, fd, &err), 0);
}

static inline void must_arm(struct restore *r)
{
	char text[1600];

	if (restore_arm(r, &err))
		fail_msg("%s", err_format(&err, text, sizeof(text)));
}

/* Runs fn in a process of its own group, which then waits to be killed, and returns when it says that it is ready. */
static inline pid_t process_under_test(void (*fn)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		shut(&told[0]);
		shut(&gate[1]);
		fn();
		say(ready[1], 'r');
		for (;;)
			pause();
	}
	shut(&told[1]);
	assert_int_equal(next_byte(ready[0]), 'r');
	return pid;
}

static inline void kill_and_reap(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

#endif
