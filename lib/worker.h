/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker: a named thread on a processor. Signals are blocked in it, so that they reach the main thread; but not those
 * that its own faults raise, so that who has something to put right before the end can.
 */
#ifndef SQUALL_WORKER_H
#define SQUALL_WORKER_H

#include "err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKER_CPU_ANY (-1)

struct worker {
	pthread_t thread;
	bool running;
	void (*fn)(void *arg);
	void *arg;
	_Atomic uint64_t cpu_ns;    /* what it took in all; written as it ends */
	_Atomic uint64_t waited_ns; /* likewise: while it was ready to run, and had no processor */
};

/*
 * Starts fn(arg) in a thread of its own, pinned to cpu (WORKER_CPU_ANY: wherever the process may run). name: up to 15
 * characters. *w must live until worker_join(). -EINVAL with EXIT_USAGE for a processor that does not exist or is not
 * in the process's affinity mask; -EAGAIN when the system has no thread left.
 */
int worker_start(struct worker *w, const char *name, int cpu, void (*fn)(void *arg), void *arg, struct err *e);

/* Waits for its end. Does nothing when it is not running. */
void worker_join(struct worker *w);

/* Processor time that it has had so far, or in all when it has ended; 0 when it was never started. Who joins it. */
uint64_t worker_cpu_ns(const struct worker *w);

/*
 * How long it was ready to run and others had its processor, in all; 0 before it has ended, and where the kernel does
 * not tell. Who joins it.
 */
uint64_t worker_waited_ns(const struct worker *w);

/* True when the process may run on that processor. */
bool worker_cpu_usable(int cpu);

/* How many processors the process may run on. */
unsigned worker_cpus_usable(void);

#endif
