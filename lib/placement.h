/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement: which processors suit the threads of a device's queues.
 *
 * AF_XDP's kernel half runs on the processor that takes the queue's interrupt, and its user half wants to be next to
 * it: another core under the same last-level cache, since on the same core the two take turns; a sibling thread of a
 * core that is taken comes last, since it shares what is scarce. Queues without an interrupt of their own (virtual
 * devices) get no place: the kernel moves their threads better than a guess.
 */
#ifndef SQUALL_PLACEMENT_H
#define SQUALL_PLACEMENT_H

#include "host.h"

#include <sched.h>
#include <stdbool.h>

#define PLACEMENT_CPUS_MAX CPU_SETSIZE

/* One processor. */
struct placement_cpu {
	bool usable; /* online, and this process may run there */
	int core;    /* equal for sibling threads; -1: unknown, a core of its own */
	int cache;   /* equal for those under one last-level cache; -1: unknown */
	int node;    /* memory node; -1: unknown */
};

struct placement {
	unsigned n_cpus;
	struct placement_cpu cpu[PLACEMENT_CPUS_MAX];
};

/*
 * Reads the machine. root: "" but in tests, where it stands before /sys. allowed: where threads may run; NULL: where
 * the calling thread may. What cannot be read is unknown, and usable all the same.
 */
void placement_read(struct placement *p, const char *root, const cpu_set_t *allowed);

/*
 * The processors that take the interrupts of a link's queues 0 to n - 1; -1 for a queue that has none of its own, or
 * whose interrupt is not to be found. Lines of /proc/interrupts are told by their names, which follow the driver's
 * habits ("eth1-TxRx-3", "i40e-eth1-rx-3", "mlx5_comp3@pci:BUS", "virtio0-input.3"), and by the interrupts that the
 * PCI device of the link says it has. Receive and combined interrupts count, transmit ones do not; a device's only one
 * serves all queues. root: as above.
 */
void placement_irq_cpus(const char *root, const struct host_link *link, unsigned n, int *cpu);

/*
 * A processor for each of n threads; irq_cpu[i] is where the interrupt of thread i's queue runs, -1: it has none, and
 * the answer is -1 too. Pure. Best first: a core that no thread has and no interrupt of these queues runs on, under
 * the cache of the thread's own interrupt, then elsewhere on its memory node; siblings of cores that are taken so, in
 * the same order; then other nodes. Processors that take an interrupt of these queues come last, the thread's own
 * first. No processor is given twice as long as there is a usable one that was not given; without any all are -1.
 * cpu may be irq_cpu.
 */
void placement_choose(const struct placement *p, const int *irq_cpu, unsigned n, int *cpu);

/*
 * All of it, for a run: a processor for each of n_tx + n_rx threads, those that send first; thread i of
 * either kind has queue i, of the sending and of the receiving link, which may be one. root, allowed and -1: as above.
 * A link that is NULL: there is none, and its threads are at -1.
 */
void placement_of_threads(const char *root, const cpu_set_t *allowed, const struct host_link *tx, unsigned n_tx,
			  const struct host_link *rx, unsigned n_rx, int *cpu);

/*
 * For threads that have no place (-1), but must not be moved: one processor after the other of those that the process
 * may use, from the caller's on. Another program that asks at the same time is likely to be elsewhere.
 */
void placement_stay(unsigned n, int *cpu);

#endif
