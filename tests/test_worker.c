/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/clock.h"
#include "lib/worker.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

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

/* Both until each has worked so long: on one processor one of them waits for the other. */
static _Atomic unsigned busy;

static void work_beside(void *arg)
{
	(void)arg;
	while (clock_read(CLOCK_THREAD_CPUTIME_ID) < 4 * WORK_NS)
		;
	atomic_fetch_sub(&busy, 1);
	while (atomic_load(&busy))
		cpu_relax();
}

static void its_waiting(void **state)
{
	struct worker w[2] = {{0}};
	struct err e;
	int cpu = 0;

	(void)state;
	if (access("/proc/thread-self/schedstat", R_OK))
		skip(); /* the kernel does not tell (CONFIG_SCHED_INFO) */
	while (!worker_cpu_usable(cpu))
		cpu++;
	atomic_store(&busy, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(worker_start(&w[i], "test", cpu, work_beside, NULL, &e), 0);
		assert_int_equal(worker_waited_ns(&w[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		worker_join(&w[i]);
	/* The one that was done first had the other's whole work to wait for, or had waited for it before. */
	assert_in_range(worker_waited_ns(&w[0]) + worker_waited_ns(&w[1]), 4 * WORK_NS, 100 * NS_PER_S);
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
		cmocka_unit_test(its_waiting),
		cmocka_unit_test(its_faults_are_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
