/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_seconds: what all processors of the machine did, in seconds, from /proc/stat. For the whole machine because
 * much of a packet's cost is paid in the kernel's softirq, which no process is charged for.
 *
 * Thread-safe. What the kernel does not tell is NAN, and so is every difference with it.
 */
#ifndef SQUALL_CPU_SECONDS_H
#define SQUALL_CPU_SECONDS_H

/* X(key) */
#define CPU_SECONDS(X) X(user) X(system) X(irq) X(softirq) X(steal)

#define CPU_SECONDS_FIELD(key) double key;
struct cpu_seconds {
	CPU_SECONDS(CPU_SECONDS_FIELD)
};
#undef CPU_SECONDS_FIELD

/* Since the machine started; user includes niced work and guests. On -errno all of *out is NAN. */
int cpu_seconds_read(struct cpu_seconds *out);

/* The "cpu " line of /proc/stat in ticks of 1/hz s. -EINVAL, and all of *out NAN, for any other line. */
int cpu_seconds_parse(const char *line, long hz, struct cpu_seconds *out);

void cpu_seconds_sub(struct cpu_seconds *out, const struct cpu_seconds *now, const struct cpu_seconds *then);

#endif
