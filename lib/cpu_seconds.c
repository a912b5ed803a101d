/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_seconds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

int cpu_seconds_parse(const char *line, long hz, struct cpu_seconds *out)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	double tick = 1.0 / (double)hz;

	/* The order of proc(5). */
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq,
		   &softirq, &steal) != 8) {
		*out = (struct cpu_seconds){NAN, NAN, NAN, NAN, NAN};
		return -EINVAL;
	}
	out->user = (double)(user + nice) * tick;
	out->system = (double)system * tick;
	out->irq = (double)irq * tick;
	out->softirq = (double)softirq * tick;
	out->steal = (double)steal * tick;
	return 0;
}

int cpu_seconds_read(struct cpu_seconds *out)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512] = "";
	int rc = f ? 0 : -errno;

	if (f && !fgets(line, sizeof(line), f))
		rc = -EIO;
	if (f)
		fclose(f);
	if (cpu_seconds_parse(line, sysconf(_SC_CLK_TCK), out) < 0 && !rc)
		rc = -EINVAL;
	return rc;
}

void cpu_seconds_sub(struct cpu_seconds *out, const struct cpu_seconds *now, const struct cpu_seconds *then)
{
#define CPU_SECONDS_SUB(key) out->key = now->key - then->key;
	CPU_SECONDS(CPU_SECONDS_SUB)
#undef CPU_SECONDS_SUB
}
