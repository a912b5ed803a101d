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

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Reads the machine. root: "" but in tests, where it stands before /sys. What cannot be read is unknown. */
void placement_read(struct placement *p, const char *root);

/*
 * The processor that takes the interrupt of a device's queue, or -1. By /proc/interrupts, whose lines are named by the
 * driver's habits: "IFACE-TxRx-3", "IFACE-rx-3", "mlx5_comp3@pci:BUS", "virtio0-input.3". root as above. Receive and
 * combined interrupts serve for both directions.
 */
int placement_irq_cpu(const char *root, const char *ifname, const char *bus, unsigned queue);

/*
 * A processor for each of n threads; irq_cpu[i] is where the interrupt of thread i's queue runs, -1: it has none, and
 * the answer is -1 too. Pure. No processor is given twice as long as there are free ones; none that is not usable.
 */
void placement_choose(const struct placement *p, const int *irq_cpu, unsigned n, int *cpu);

#endif
