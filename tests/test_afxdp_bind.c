/* SPDX-License-Identifier: Apache-2.0 */
/* A device queue that another process has: waited for as long as one that ended may take to give it back, and no more.
 */
#include "xdp_links.h"

#include "lib/clock.h"
#include "lib/pio/pio.h"

#include <signal.h>
#include <sys/wait.h>

static struct host host;

static int open_sender(struct pio_port **port)
{
	const struct pio_conf conf = {.name = "afxdp:va", .host = &host, .tx_queues = 1};

	memset(&err, 0, sizeof(err));
	return pio_open(&conf, port, &err);
}

/* A child that has the queue, and ends so many ms after it said so; 0: when it is killed. */
static pid_t holder(unsigned ms)
{
	const struct timespec t = {.tv_nsec = (long)(ms * NS_PER_MS)};
	struct pio_port *port;
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (open_sender(&port) || write(ready[1], "", 1) != 1)
			_exit(1);
		if (!ms)
			pause();
		nanosleep(&t, NULL);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_holder(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void given_back_meanwhile(void **state)
{
	struct pio_port *port;
	pid_t pid;

	(void)state;
	need_bpf();
	pid = holder(300);
	if (open_sender(&port))
		fail_msg("%s", err.cause);
	pio_close(port);
	end_holder(pid);
}

static void given_back_after_a_kill(void **state)
{
	struct pio_port *port;

	(void)state;
	need_bpf();
	for (int i = 0; i < 5; i++) {
		end_holder(holder(0));
		if (open_sender(&port))
			fail_msg("%s", err.cause);
		pio_close(port);
	}
}

static void kept(void **state)
{
	struct pio_port *port;
	uint64_t begin;
	pid_t pid;

	(void)state;
	need_bpf();
	pid = holder(0);
	begin = clock_mono_ns();
	assert_int_equal(open_sender(&port), -EBUSY);
	/* Twenty ms were seen to be needed, and a busy machine needs more; nobody waits much longer for an answer. */
	assert_true(clock_mono_ns() - begin >= 500 * NS_PER_MS);
	assert_int_equal(err.code, EXIT_RUN);
	assert_string_equal(err.what, "cannot bind queue 0");
	expect_in(err.cause, "another AF_XDP socket has it");
	expect_in(err.hint, "ss --xdp");
	end_holder(pid);
}

static int set_up(void **state)
{
	int rc = xdp_links_make(state);

	return rc || !have_bpf ? rc : host_load(&host, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_back_meanwhile),
		cmocka_unit_test(given_back_after_a_kill),
		cmocka_unit_test(kept),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
