/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include "clock.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The second of three numbers (Documentation/scheduler/sched-stats.rst). */
static uint64_t waited_ns(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ran, waited = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return waited;
}

static void *enter(void *arg)
{
	struct worker *w = arg;

	w->fn(w->arg);
	atomic_store(&w->waited_ns, waited_ns());
	atomic_store(&w->cpu_ns, clock_read(CLOCK_THREAD_CPUTIME_ID));
	return NULL;
}

bool worker_cpu_usable(int cpu)
{
	cpu_set_t set;

	return cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof(set), &set) == 0 &&
	       CPU_ISSET((unsigned)cpu, &set);
}

unsigned worker_cpus_usable(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Of a thread that has one of these blocked, the kernel ends the process without asking its handler. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

int worker_start(struct worker *w, const char *name, int cpu, void (*fn)(void *arg), void *arg, struct err *e)
{
	pthread_attr_t attr;
	sigset_t all, before;
	cpu_set_t set;
	int rc;

	*w = (struct worker){.fn = fn, .arg = arg};
	if (cpu != WORKER_CPU_ANY && !worker_cpu_usable(cpu))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot start a thread", name,
			       "processor %d does not exist or this process may not run on it", cpu);
	pthread_attr_init(&attr);
	if (cpu != WORKER_CPU_ANY) {
		CPU_ZERO(&set);
		CPU_SET((unsigned)cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&w->thread, &attr, enter, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		return err_set(e, -rc, EXIT_RUN, "cannot start a thread", name, "%s", strerror(rc));
	w->running = true;
	pthread_setname_np(w->thread, name);
	return 0;
}

void worker_join(struct worker *w)
{
	if (!w->running)
		return;
	pthread_join(w->thread, NULL);
	w->running = false;
}

uint64_t worker_cpu_ns(const struct worker *w)
{
	uint64_t ns = atomic_load(&w->cpu_ns);
	struct timespec ts;
	clockid_t id;

	if (ns || !w->running)
		return ns;
	if (pthread_getcpuclockid(w->thread, &id) || clock_gettime(id, &ts)) /* it is just ending */
		return atomic_load(&w->cpu_ns);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t worker_waited_ns(const struct worker *w)
{
	return atomic_load(&w->waited_ns);
}
