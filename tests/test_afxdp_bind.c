/* SPDX-License-Identifier: Apache-2.0 */
/* A device queue that another process has: waited for as long as one that ended may take to give it back, and no more.
 */
#include "xdp_links.h"

#include "lib/clock.h"
#include "lib/pio/pio.h"

#include <unistd.h>

static struct host host;

static int open_sender(struct pio_port **port)
{
	const struct pio_conf conf = {.name = "afxdp:va", .host = &host, .tx_queues = 1};

	memset(&err, 0, sizeof(err));
	return pio_open(&conf, port, &err);
}

/* For a child: has the queue, and ends after so many us; NULL: when it is killed. */
static bool take_queue(void *us)
{
	struct pio_port *port;

	if (open_sender(&port))
		return false;
	if (us)
		ualarm(*(useconds_t *)us, 0);
	return true;
}

static void given_back_meanwhile(void **state)
{
	useconds_t us = 100000;
	struct pio_port *port;
	pid_t pid;

	(void)state;
	need_bpf();
	pid = child_that(take_queue, &us);
	if (open_sender(&port))
		fail_msg("%s", err.cause);
	pio_close(port);
	end_child(pid);
}

static void given_back_after_a_kill(void **state)
{
	struct pio_port *port;

	(void)state;
	need_bpf();
	for (int i = 0; i < 5; i++) {
		end_child(child_that(take_queue, NULL));
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
	pid = child_that(take_queue, NULL);
	begin = clock_mono_ns();
	assert_int_equal(open_sender(&port), -EBUSY);
	/* Twenty ms were seen to be needed, and a busy machine needs more; nobody waits much longer for an answer. */
	assert_true(clock_mono_ns() - begin >= 500 * NS_PER_MS);
	assert_int_equal(err.code, EXIT_RUN);
	assert_string_equal(err.what, "cannot bind queue 0");
	expect_in(err.cause, "another AF_XDP socket has it");
	expect_in(err.hint, "ss --xdp");
	end_child(pid);
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
