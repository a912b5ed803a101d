/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_namespaces: two network namespaces without names, so that they end with the process however it ends. The
 * process stays in `here` but for the commands that it runs in `there`.
 */
#ifndef SQUALL_TESTS_HOST_NAMESPACES_H
#define SQUALL_TESTS_HOST_NAMESPACES_H

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int here = -1;
static int there = -1;

/* Runs a shell command in a namespace. */
__attribute__((format(printf, 2, 3))) static void run(int ns, const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	assert_int_equal(setns(ns, CLONE_NEWNET), 0);
	int rc = system(cmd);

	assert_int_equal(setns(here, CLONE_NEWNET), 0);
	if (rc)
		fail_msg("%s: status %d", cmd, rc);
}

static int new_namespace(void)
{
	return unshare(CLONE_NEWNET) ? -1 : open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* Root only. 0, or -1. */
static int namespaces_make(void)
{
	there = new_namespace();
	here = new_namespace();
	return there < 0 || here < 0 ? -1 : 0;
}

#endif
