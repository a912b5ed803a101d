/* SPDX-License-Identifier: Apache-2.0 */
/* Needs root, for namespaces in which nobody else claims anything. */
#include "lib/claim.h"

#include "tests/restoring.h"

#include <errno.h>
#include <sched.h>

static pid_t holder;

static int each(void **state)
{
	return unshare(CLONE_NEWNET) || setup(state) ? -1 : 0;
}

static void one_at_a_time(void **state)
{
	int first = claim_take("a", 0, &holder);
	int other;

	(void)state;
	assert_true(first >= 0);
	assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
	assert_int_equal(claim_take("a", 0, &holder), -EBUSY);
	assert_int_equal(holder, getpid());
	other = claim_take("ab", 0, &holder);
	assert_true(other >= 0);
	assert_int_equal(holder, 0);
	close(other);
	/* Held by every copy of the descriptor. */
	other = dup(first);
	close(first);
	assert_int_equal(claim_take("a", 0, &holder), -EBUSY);
	close(other);
	first = claim_take("a", 0, &holder);
	assert_true(first >= 0);
	close(first);
}

static void hold(void)
{
	assert_true(claim_take("a", 0, &holder) >= 0);
}

static void killed(void **state)
{
	pid_t pid = process_under_test(hold);

	(void)state;
	assert_int_equal(claim_take("a", 0, &holder), -EBUSY);
	assert_int_equal(holder, pid);
	/* For a while, and in vain. */
	assert_int_equal(claim_take("a", 20, &holder), -EBUSY);
	kill_and_reap(pid);
	int claim = claim_take("a", 0, &holder);

	assert_true(claim >= 0);
	close(claim);
}

static void wait_for_it(void)
{
	say(ready[1], 'w');
	if (claim_take("a", WAIT_MS, &holder) >= 0)
		say(gate[1], 'g');
}

static void waited_for(void **state)
{
	pid_t pid = process_under_test(hold);
	pid_t waiter = fork();

	(void)state;
	assert_true(waiter >= 0);
	if (waiter == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_for_it();
		_exit(0);
	}
	assert_int_equal(next_byte(ready[0]), 'w');
	assert_true(silent(gate[0]));
	kill_and_reap(pid);
	assert_int_equal(next_byte(gate[0]), 'g');
	assert_int_equal(waitpid(waiter, NULL, 0), waiter);
}

static void by_namespace(void **state)
{
	int first = claim_take("a", 0, &holder);
	int second;

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	second = claim_take("a", 0, &holder);
	assert_true(first >= 0);
	assert_true(second >= 0);
	close(first);
	close(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_at_a_time, each, teardown),
		cmocka_unit_test_setup_teardown(killed, each, teardown),
		cmocka_unit_test_setup_teardown(waited_for, each, teardown),
		cmocka_unit_test_setup_teardown(by_namespace, each, teardown),
	};

	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
