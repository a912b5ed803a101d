/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/clock.h"
#include "lib/worker.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define WORK_NS (5 * NS_PER_MS)

static _Atomic bool worked, leave;
static volatile sig_atomic_t faulted;

static void work(void *arg)
{
	(void)arg;
	while (clock_read(CLOCK_THREAD_CPUTIME_ID) < WORK_NS)
		;
	atomic_store(&worked, true);
	while (!atomic_load(&leave))
		cpu_relax();
}

static void its_processor_time(void **state)
{
	struct worker w = {0};
	struct err e;
	uint64_t running;

	(void)state;
	assert_int_equal(worker_cpu_ns(&w), 0);
	assert_int_equal(worker_start(&w, "test", WORKER_CPU_ANY, work, NULL, &e), 0);
	while (!atomic_load(&worked))
		;
	running = worker_cpu_ns(&w);
	assert_in_range(running, WORK_NS, 100 * NS_PER_S);
	atomic_store(&leave, true);
	worker_join(&w);
	assert_in_range(worker_cpu_ns(&w), running, clock_read(CLOCK_PROCESS_CPUTIME_ID));
}

static void on_fault(int sig)
{
	faulted = sig;
}

static void fault(void *arg)
{
	(void)arg;
	raise(SIGBUS);
	raise(SIGTERM); /* is not for a worker: stays pending, and goes with the thread */
}

static void its_faults_are_heard(void **state)
{
	struct sigaction act = {.sa_handler = on_fault}, before;
	struct worker w = {0};
	struct err e;

	(void)state;
	sigaction(SIGBUS, &act, &before);
	assert_int_equal(worker_start(&w, "test", WORKER_CPU_ANY, fault, NULL, &e), 0);
	worker_join(&w);
	sigaction(SIGBUS, &before, NULL);
	assert_int_equal(faulted, SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_processor_time),
		cmocka_unit_test(its_faults_are_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
