/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int held_begin(struct held *h, bool at_once)
{
	*h = (struct held){.file = memfd_create("squall-stderr", MFD_CLOEXEC), .meant = -1, .at_once = at_once};
	if (h->file < 0)
		return -errno;
	h->meant = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (h->meant < 0 || fcntl(h->file, F_SETFL, O_APPEND) || dup2(h->file, STDERR_FILENO) < 0) {
		int rc = -errno;

		if (h->meant >= 0)
			close(h->meant);
		close(h->file);
		h->file = -1;
		return rc;
	}
	return 0;
}

static void write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

static void pass_on(struct held *h)
{
	char part[4096];
	ssize_t n;

	while ((n = pread(h->file, part, sizeof(part), h->passed)) > 0) {
		write_all(h->meant, part, (size_t)n);
		h->passed += n;
	}
}

void held_look(struct held *h, void (*fn)(void *arg, const char *text, size_t len), void *arg)
{
	static const char left_out[] = "squall: warning: lines before this one were left out\n";
	char part[4096];
	ssize_t n;

	if (h->file < 0)
		return;
	while ((n = pread(h->file, part, sizeof(part), h->seen)) > 0) {
		fn(arg, part, (size_t)n);
		h->seen += n;
	}
	if (h->at_once)
		pass_on(h);
	if (h->seen < HELD_MAX || ftruncate(h->file, 0))
		return;
	h->seen = h->passed = 0;
	if (!h->at_once)
		write_all(h->file, left_out, strlen(left_out));
}

void held_end(struct held *h)
{
	if (h->file < 0)
		return;
	dup2(h->meant, STDERR_FILENO);
	pass_on(h);
	close(h->meant);
	close(h->file);
	h->file = -1;
}
