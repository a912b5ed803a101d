/* SPDX-License-Identifier: Apache-2.0 */
#include "claim.h"

#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More who wait than this are told that the claim is held. */
#define WAITERS 16

/* A holder that does not listen is about to, or is going. */
#define AGAIN_MS 1

/* Until the holder lets go: a connection that nobody accepts is hung up then. */
static void wait_for_end(const struct sockaddr_un *name, socklen_t len, int timeout_ms, pid_t *holder)
{
	struct pollfd p = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	struct ucred who;
	socklen_t size = sizeof(who);

	if (p.fd < 0 || connect(p.fd, (const struct sockaddr *)name, len)) {
		poll(NULL, 0, AGAIN_MS);
	} else {
		if (getsockopt(p.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0)
			*holder = who.pid;
		poll(&p, 1, timeout_ms);
	}
	if (p.fd >= 0)
		close(p.fd);
}

int claim_take(const char *name, unsigned timeout_ms, pid_t *holder)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	/* The zero before the name makes it abstract. */
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				    (size_t)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "squall/%s", name));
	uint64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	*holder = 0;
	if (fd < 0)
		return -errno;
	while (bind(fd, (const struct sockaddr *)&a, len)) {
		uint64_t now = clock_mono_ns();

		rc = errno == EADDRINUSE ? -EBUSY : -errno;
		if (rc != -EBUSY)
			break;
		wait_for_end(&a, len, now < deadline ? (int)((deadline - now) / NS_PER_MS) + 1 : 0, holder);
		if (now >= deadline)
			break;
		rc = 0;
	}
	if (!rc && listen(fd, WAITERS))
		rc = -errno;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}
