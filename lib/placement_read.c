/* SPDX-License-Identifier: Apache-2.0 */
#include "placement.h"

#include "placement_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_DIR "%s/sys/devices/system/cpu"

int placement_first_cpu(const char *path)
{
	char line[64] = "";
	unsigned long cpu;
	char *end;
	FILE *f = fopen(path, "re");

	if (!f)
		return -1;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	if (!isdigit((unsigned char)line[0]))
		return -1;
	cpu = strtoul(line, &end, 10);
	return strchr("-,\n", *end) && cpu < PLACEMENT_CPUS_MAX ? (int)cpu : -1;
}

/* The number in a name like "cpu12"; -1: it is not one. */
static int numbered(const char *name, const char *word)
{
	size_t len = strlen(word);
	unsigned long n;
	char *end;

	if (strncmp(name, word, len) != 0 || !isdigit((unsigned char)name[len]))
		return -1;
	n = strtoul(name + len, &end, 10);
	return *end || n >= PLACEMENT_CPUS_MAX ? -1 : (int)n;
}

/* Named by the first of the sibling threads. Kernels before 5.3 know the list by its old name only. */
static int core_of(const char *root, int cpu)
{
	static const char *const lists[] = {"core_cpus_list", "thread_siblings_list"};
	char path[512];
	int core = -1;

	for (size_t i = 0; core < 0 && i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(path, sizeof(path), CPUS_DIR "/cpu%d/topology/%s", root, cpu, lists[i]);
		core = placement_first_cpu(path);
	}
	return core;
}

static int cache_level(const char *root, int cpu, int index)
{
	char path[512];
	int level = -1;
	FILE *f;

	snprintf(path, sizeof(path), CPUS_DIR "/cpu%d/cache/index%d/level", root, cpu, index);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &level) != 1)
		level = -1;
	fclose(f);
	return level;
}

/* The deepest cache, named by the first processor under it: no two caches, of whatever level, have the same first. */
static int cache_of(const char *root, int cpu)
{
	int deepest = -1, cache = -1;
	char path[512];

	for (int i = 0; i < 16; i++) {
		int level = cache_level(root, cpu, i);

		if (level <= deepest)
			continue;
		deepest = level;
		snprintf(path, sizeof(path), CPUS_DIR "/cpu%d/cache/index%d/shared_cpu_list", root, cpu, i);
		cache = placement_first_cpu(path);
	}
	return cache;
}

/* The kernel puts a link named "nodeN" among a processor's files. */
static int node_of(const char *root, int cpu)
{
	const struct dirent *entry;
	char path[512];
	int node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), CPUS_DIR "/cpu%d", root, cpu);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (node < 0 && (entry = readdir(dir)))
		node = numbered(entry->d_name, "node");
	closedir(dir);
	return node;
}

void placement_read(struct placement *p, const char *root, const cpu_set_t *allowed)
{
	const struct dirent *entry;
	char path[512];
	cpu_set_t own;
	DIR *dir;

	memset(p, 0, sizeof(*p));
	CPU_ZERO(&own);
	if (!allowed && sched_getaffinity(0, sizeof(own), &own))
		CPU_ZERO(&own);
	for (unsigned i = 0; i < PLACEMENT_CPUS_MAX; i++) {
		p->cpu[i] = (struct placement_cpu){
			.usable = CPU_ISSET(i, allowed ? allowed : &own), .core = -1, .cache = -1, .node = -1};
		if (p->cpu[i].usable)
			p->n_cpus = i + 1;
	}
	snprintf(path, sizeof(path), CPUS_DIR, root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int cpu = numbered(entry->d_name, "cpu");

		if (cpu < 0)
			continue;
		p->cpu[cpu].core = core_of(root, cpu);
		p->cpu[cpu].cache = cache_of(root, cpu);
		p->cpu[cpu].node = node_of(root, cpu);
		if ((unsigned)cpu >= p->n_cpus)
			p->n_cpus = (unsigned)cpu + 1;
	}
	if (dir)
		closedir(dir);
}
