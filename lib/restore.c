/* SPDX-License-Identifier: Apache-2.0 */
#include "restore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The files of the steps, and the line. */
#define KEPT_MAX (RESTORE_STEPS_MAX + 1)

struct step {
	void (*undo)(void *arg);
	void *arg;
	int fd;
};

struct restore {
	unsigned n;
	struct step step[RESTORE_STEPS_MAX];
	/*
	 * A line to the watching process, -1: there is none. Whichever side hangs up, by its end or by shutdown(), has
	 * finished; a line and no pipe, since a shutdown is heard even if a forked process still holds this end.
	 */
	int line;
	pid_t watcher;
};

static int fail(struct err *e, int rc)
{
	return err_set(e, rc, EXIT_RUN, "cannot start the process that restores settings", NULL, "%s", strerror(-rc));
}

int restore_create(struct restore **out, struct err *e)
{
	struct restore *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return fail(e, -ENOMEM);
	r->line = -1;
	return 0;
}

int restore_add(struct restore *r, void (*undo)(void *arg), void *arg, int fd, struct err *e)
{
	if (r->line >= 0)
		return fail(e, -EBUSY);
	if (r->n == RESTORE_STEPS_MAX)
		return fail(e, -E2BIG);
	r->step[r->n++] = (struct step){.undo = undo, .arg = arg, .fd = fd};
	return 0;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Closes all but the n descriptors of `kept`, which it sorts. Below 3 /dev/null takes the place of what goes. */
static int close_others(int *kept, unsigned n)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned from = 0;

	if (null < 0)
		return -errno;
	qsort(kept, n, sizeof(kept[0]), compare);
	for (unsigned i = 0; i <= n; i++) {
		unsigned end = i < n ? (unsigned)kept[i] : ~0U;

		for (; from < end && from <= STDERR_FILENO; from++)
			if ((int)from != null && dup2(null, (int)from) < 0)
				return -errno;
		if (from < end && close_range(from, i < n ? end - 1 : end, 0))
			return -errno;
		from = end + 1;
	}
	return 0;
}

/*
 * A mapping of a ring holds its socket as a descriptor does, and one of a device or of huge pages its memory. Only
 * anonymous memory is kept. Without /proc they go when this process ends.
 */
static void unmap_files(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		char perms[5];
		int name;

		if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %n", &start, &end, perms, &name) == 3 && perms[3] == 's' &&
		    strncmp(line + name, "/dev/zero ", 10) != 0)
			munmap((void *)start, end - start);
	}
	if (maps)
		fclose(maps);
}

/* What the watching process is cut off from. The parent's end of the line is closed like the rest. */
static int detach(const struct restore *r, int line)
{
	int kept[KEPT_MAX] = {line};
	unsigned n = 1;

	for (unsigned i = 0; i < r->n; i++)
		if (r->step[i].fd >= 0)
			kept[n++] = r->step[i].fd;
	if (setsid() < 0 || chdir("/") || prctl(PR_SET_NAME, "sq-restore"))
		return -errno;
	unmap_files();
	return close_others(kept, n);
}

static bool tell(int line, int rc)
{
	return send(line, &rc, sizeof(rc), MSG_NOSIGNAL) == (ssize_t)sizeof(rc);
}

/* Waits for what the other side tells; false when it hung up. */
static bool listen_to(int line, int *rc)
{
	ssize_t n;

	do
		n = recv(line, rc, sizeof(*rc), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*rc);
}

/* The watching process. Every signal is blocked, for good. */
static void watch(const struct restore *r, int line)
{
	int rc = detach(r, line);

	if (!tell(line, rc) || rc)
		return;
	while (listen_to(line, &rc))
		;
	for (unsigned i = r->n; i-- > 0;)
		if (r->step[i].undo)
			r->step[i].undo(r->step[i].arg);
}

static pid_t start(const struct restore *r, int line)
{
	sigset_t all;
	sigset_t before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		watch(r, line);
		/* Nothing is flushed and nothing runs at exit: that is the parent's. */
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -errno : pid;
}

/* Waits until the watching process has ended. Somebody else may have waited for it before: then it has, too. */
static void hang_up(struct restore *r)
{
	int rc;

	shutdown(r->line, SHUT_WR);
	while (listen_to(r->line, &rc))
		;
	close(r->line);
	r->line = -1;
	do
		rc = waitpid(r->watcher, NULL, 0);
	while (rc < 0 && errno == EINTR);
}

int restore_arm(struct restore *r, struct err *e)
{
	int line[2];
	int rc;

	if (!r->n)
		return 0;
	if (r->line >= 0)
		return fail(e, -EBUSY);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line))
		return fail(e, -errno);
	r->line = line[0];
	r->watcher = start(r, line[1]);
	rc = r->watcher < 0 ? r->watcher : 0;
	close(line[1]);
	if (rc) {
		close(r->line);
		r->line = -1;
		return fail(e, rc);
	}
	if (!listen_to(r->line, &rc))
		rc = -ECHILD;
	if (!rc)
		return 0;
	hang_up(r);
	return fail(e, rc);
}

void restore_end(struct restore *r)
{
	if (!r)
		return;
	if (r->line >= 0)
		hang_up(r);
	free(r);
}
