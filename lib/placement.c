/* SPDX-License-Identifier: Apache-2.0 */
#include "placement.h"

#include <sched.h>
#include <string.h>

/* What speaks against a processor; each weighs more than all above it together. */
enum {
	OTHER_CACHE = 1,
	SHARED_CORE = 2, /* with a thread that has its place, or with an interrupt */
	OTHER_NODE = 4,
	OTHERS_IRQ = 8, /* another queue's interrupt runs here, */
	ANY_IRQ = 16,   /* or at least some queue's */
	GIVEN = 32,     /* for each thread that has its place here */
};

/* What interrupts, and threads that have their place, leave. */
struct use {
	unsigned given[PLACEMENT_CPUS_MAX];
	bool irq[PLACEMENT_CPUS_MAX];
	bool core[PLACEMENT_CPUS_MAX]; /* something runs on this processor or on a sibling */
};

static bool same(int a, int b)
{
	return a >= 0 && a == b;
}

static void use_core(struct use *use, const struct placement *p, unsigned cpu)
{
	use->core[cpu] = true;
	for (unsigned i = 0; i < p->n_cpus; i++)
		if (same(p->cpu[i].core, p->cpu[cpu].core))
			use->core[i] = true;
}

static unsigned against(const struct placement *p, const struct use *use, unsigned irq_cpu, unsigned cpu)
{
	const struct placement_cpu *here = &p->cpu[cpu], *there = &p->cpu[irq_cpu];
	unsigned weight = use->given[cpu] * GIVEN;

	if (use->irq[cpu])
		weight += ANY_IRQ + (cpu != irq_cpu ? OTHERS_IRQ : 0U);
	if (here->node != there->node)
		weight += OTHER_NODE;
	if (use->core[cpu])
		weight += SHARED_CORE;
	if (!same(here->cache, there->cache))
		weight += OTHER_CACHE;
	return weight;
}

static int best(const struct placement *p, const struct use *use, unsigned irq_cpu)
{
	unsigned least = 0;
	int found = -1;

	for (unsigned i = 0; i < p->n_cpus; i++) {
		unsigned weight;

		if (!p->cpu[i].usable)
			continue;
		weight = against(p, use, irq_cpu, i);
		if (found < 0 || weight < least) {
			found = (int)i;
			least = weight;
		}
	}
	return found;
}

static bool known(const struct placement *p, int cpu)
{
	return cpu >= 0 && (unsigned)cpu < p->n_cpus;
}

void placement_choose(const struct placement *p, const int *irq_cpu, unsigned n, int *cpu)
{
	struct use use;

	memset(&use, 0, sizeof(use));
	for (unsigned i = 0; i < n; i++) {
		if (!known(p, irq_cpu[i]))
			continue;
		use.irq[irq_cpu[i]] = true;
		use_core(&use, p, (unsigned)irq_cpu[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		cpu[i] = known(p, irq_cpu[i]) ? best(p, &use, (unsigned)irq_cpu[i]) : -1;
		if (cpu[i] < 0)
			continue;
		use.given[cpu[i]]++;
		use_core(&use, p, (unsigned)cpu[i]);
	}
}

void placement_of_threads(const char *root, const cpu_set_t *allowed, const struct host_link *tx, unsigned n_tx,
			  const struct host_link *rx, unsigned n_rx, int *cpu)
{
	struct placement machine;
	bool any = false;

	for (unsigned i = 0; i < n_tx + n_rx; i++)
		cpu[i] = -1;
	if (tx != rx) {
		if (tx)
			placement_irq_cpus(root, tx, n_tx, cpu);
		if (rx)
			placement_irq_cpus(root, rx, n_rx, cpu + n_tx);
	} else if (tx &&
		   n_rx >= n_tx) { /* the longer of the two comes as it is needed, and the other is its beginning */
		placement_irq_cpus(root, rx, n_rx, cpu + n_tx);
		memcpy(cpu, cpu + n_tx, n_tx * sizeof(*cpu));
	} else if (tx) {
		placement_irq_cpus(root, tx, n_tx, cpu);
		memcpy(cpu + n_tx, cpu, n_rx * sizeof(*cpu));
	}
	for (unsigned i = 0; i < n_tx + n_rx; i++)
		any = any || cpu[i] >= 0;
	if (!any)
		return;
	placement_read(&machine, root, allowed);
	placement_choose(&machine, cpu, n_tx + n_rx, cpu);
}

void placement_stay(unsigned n, int *cpu)
{
	int at = sched_getcpu();
	cpu_set_t usable;

	if (at < 0 || sched_getaffinity(0, sizeof(usable), &usable) != 0 || !CPU_COUNT(&usable))
		return;
	for (unsigned i = 0; i < n; i++) {
		if (cpu[i] >= 0)
			continue;
		while (!CPU_ISSET((unsigned)at, &usable))
			at = (at + 1) % CPU_SETSIZE;
		cpu[i] = at;
		at = (at + 1) % CPU_SETSIZE;
	}
}
