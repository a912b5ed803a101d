/* SPDX-License-Identifier: Apache-2.0 */
/* A checked build stops at the first frame that is used by who does not own it; other builds have nothing to test. */
#include "rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig_wire wire;

static void put_twice(void)
{
	struct pio_frame f;

	pio_get(wire.tx->tx[0], &f, 1);
	pio_put(wire.tx->tx[0], &f, 1);
	pio_put(wire.tx->tx[0], &f, 1);
}

static void send_after_put(void)
{
	struct pio_frame f;

	pio_get(wire.tx->tx[0], &f, 1);
	pio_put(wire.tx->tx[0], &f, 1);
	f.len = RIG_MIN_LEN;
	pio_tx(wire.tx->tx[0], &f, 1);
}

static void put_after_send(void)
{
	struct pio_frame f;

	pio_get(wire.tx->tx[0], &f, 1);
	rig_fill(f.data, RIG_MIN_LEN, 1, 0);
	f.len = RIG_MIN_LEN;
	rig_send(wire.tx->tx[0], &f, 1);
	pio_put(wire.tx->tx[0], &f, 1);
}

static void send_twice(void)
{
	struct pio_frame f[2];

	pio_get(wire.tx->tx[0], f, 1);
	f[0].len = RIG_MIN_LEN;
	f[1] = f[0];
	pio_tx(wire.tx->tx[0], f, 2);
}

static void put_foreign(void)
{
	unsigned char own[64];

	pio_put(wire.tx->tx[0], &(struct pio_frame){.data = own}, 1);
}

/* What it does is done in a child, which must die by abort(). */
static void assert_aborts(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit none = {0};
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void violations_abort(void **state)
{
	void (*const violations[])(void) = {put_twice, send_after_put, put_after_send, send_twice, put_foreign};

	(void)state;
#ifndef SQUALL_CHECKED
	rig_skip("only a build with SQUALL_CHECKED keeps the ownership map");
#endif
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1});
	for (unsigned i = 0; i < sizeof(violations) / sizeof(violations[0]); i++)
		assert_aborts(violations[i]);
	rig_close(&wire);
}

int conform_checked(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(violations_abort),
	};

	return RIG_RUN("checked build", tests);
}
