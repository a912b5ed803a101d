/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines are written down here as /sys shows such machines; where a thread belongs is argued beside each.
 */
#include "lib/placement.h"

#include "tests/fake_tree.h"

static struct placement machine;
static int chosen[64];

static void put_cpu(int cpu, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	tree_put(path, text);
}

/* A processor with a first-level cache of its own core, and the last level. */
static void put_whole(int cpu, const char *siblings, const char *cache, int node)
{
	char name[16];

	put_cpu(cpu, "topology/core_cpus_list", siblings);
	put_cpu(cpu, "cache/index0/level", "1\n");
	put_cpu(cpu, "cache/index0/shared_cpu_list", siblings);
	put_cpu(cpu, "cache/index1/level", "3\n");
	put_cpu(cpu, "cache/index1/shared_cpu_list", cache);
	snprintf(name, sizeof(name), "node%d/", node);
	put_cpu(cpu, name, "");
}

static void allow(const char *digits)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; *digits; digits++)
		CPU_SET((unsigned)(*digits <= '9' ? *digits - '0' : *digits - 'a' + 10), &set);
	placement_read(&machine, tree, &set);
}

#define choose(...) \
	do { \
		const int irq[] = {__VA_ARGS__}; \
		for (unsigned i = 0; i < 64; i++) \
			chosen[i] = -9; \
		placement_choose(&machine, irq, sizeof(irq) / sizeof(irq[0]), chosen); \
	} while (0)

#define expect(...) \
	do { \
		const int want[] = {__VA_ARGS__}; \
		for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) \
			if (chosen[i] != want[i]) \
				fail_msg("thread %u on processor %d, not on %d", i, chosen[i], want[i]); \
		assert_int_equal(chosen[sizeof(want) / sizeof(want[0])], -9); \
	} while (0)

/*
 * Two sockets, each a node with two caches of two cores of two threads. Core c has the processors c and c + 8; caches
 * hold the cores 0-1, 2-3 | 4-5, 6-7.
 */
static void put_two_sockets(void)
{
	static const char *const caches[] = {"0-1,8-9\n", "2-3,10-11\n", "4-5,12-13\n", "6-7,14-15\n"};
	char siblings[16];

	for (int cpu = 0; cpu < 16; cpu++) {
		int core = cpu % 8;

		snprintf(siblings, sizeof(siblings), "%d,%d\n", core, core + 8);
		put_whole(cpu, siblings, caches[core / 2], core / 4);
	}
}

static void reads_two_sockets(void **state)
{
	(void)state;
	put_two_sockets();
	allow("0123456789abcdef");
	assert_int_equal(machine.n_cpus, 16);
	for (int cpu = 0; cpu < 16; cpu++) {
		assert_true(machine.cpu[cpu].usable);
		for (int other = 0; other < 16; other++) {
			assert_int_equal(machine.cpu[cpu].core == machine.cpu[other].core, cpu % 8 == other % 8);
			assert_int_equal(machine.cpu[cpu].cache == machine.cpu[other].cache,
					 cpu % 8 / 2 == other % 8 / 2);
		}
		assert_int_equal(machine.cpu[cpu].node, cpu % 8 / 4);
	}
}

static void places_on_two_sockets(void **state)
{
	(void)state;
	put_two_sockets();
	allow("0123456789abcdef");
	/* Beside the interrupt, under its cache, on the other core. */
	choose(0);
	expect(1);
	choose(13);
	expect(4);
	/* No place at all for a queue without an interrupt. */
	choose(-1, 6, -1);
	expect(-1, 7, -1);
	/* Both cores of that cache take interrupts: the other cache of the node. */
	choose(0, 1);
	expect(2, 3);
	/* With all cores of the node taken, a sibling there is better than the other socket; first under its own cache.
	 */
	choose(0, 0, 0, 0);
	expect(1, 2, 3, 8);
	/* Each on its own socket. */
	choose(0, 4);
	expect(1, 5);
	/* The node is full but for the interrupts' own processors: the other socket, and whole cores of it first. */
	choose(0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect(1, 2, 3, 8, 9, 10, 11, 4, 5);
}

/* Every core of the node takes one of the interrupts: their siblings are all that is left of the node. */
static void siblings_when_all_cores_have_interrupts(void **state)
{
	(void)state;
	put_two_sockets();
	allow("0123456789abcdef");
	choose(0, 1, 2, 3);
	expect(8, 9, 10, 11);
}

static void one_core(void **state)
{
	(void)state;
	put_whole(0, "0\n", "0\n", 0);
	allow("0");
	assert_int_equal(machine.n_cpus, 1);
	choose(0);
	expect(0);
	choose(0, 0, -1);
	expect(0, 0, -1);
}

static void two_cores(void **state)
{
	(void)state;
	put_whole(0, "0\n", "0-1\n", 0);
	put_whole(1, "1\n", "0-1\n", 0);
	allow("01");
	choose(0);
	expect(1);
	choose(1);
	expect(0);
	/* Two interrupts on one core: one thread has to run there. */
	choose(0, 0);
	expect(1, 0);
	/* One interrupt on each: each thread stays with its own rather than with the other's. */
	choose(1, 0);
	expect(1, 0);
}

/* Two queues for each of four cores: two threads each, and each beside its own queue. */
static void more_queues_than_cores(void **state)
{
	char own[8];

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		snprintf(own, sizeof(own), "%d\n", cpu);
		put_whole(cpu, own, "0-3\n", 0);
	}
	allow("0123");
	choose(0, 1, 2, 3, 0, 1, 2, 3);
	expect(0, 1, 2, 3, 0, 1, 2, 3);
	/* The last two cores take none of the interrupts: they come first, and twice as well. */
	choose(0, 1, 0, 1, 0, 1);
	expect(2, 3, 0, 1, 2, 3);
}

/* The interrupt may run where the process may not: its place is still the measure, the process's limits hold. */
static void narrow_mask(void **state)
{
	(void)state;
	put_two_sockets();
	allow("37b");
	assert_int_equal(machine.n_cpus, 16);
	choose(0, 0, 0, 0);
	expect(3, 11, 7, 3);
	allow("6");
	choose(0);
	expect(6);
	allow("");
	choose(0);
	expect(-1);
}

/* Nothing is known but which processors there are: any other than the interrupt's. */
static void unknown_topology(void **state)
{
	(void)state;
	allow("0123");
	assert_int_equal(machine.n_cpus, 4);
	assert_int_equal(machine.cpu[3].core, -1);
	assert_int_equal(machine.cpu[3].cache, -1);
	assert_int_equal(machine.cpu[3].node, -1);
	choose(0, 0, 0, 0);
	expect(1, 2, 3, 0);
	/* An interrupt where no processor is known to be. */
	choose(4, 1000, 5000);
	expect(-1, -1, -1);
}

/* Half of the machine tells (the big cores of a hybrid one), half does not. */
static void hybrid(void **state)
{
	(void)state;
	put_whole(0, "0-1\n", "0-3\n", 0);
	put_whole(1, "0-1\n", "0-3\n", 0);
	put_whole(2, "2-3\n", "0-3\n", 0);
	put_whole(3, "2-3\n", "0-3\n", 0);
	/* These have no deeper cache than the second level, which two share. */
	for (int cpu = 4; cpu < 6; cpu++) {
		put_cpu(cpu, "topology/thread_siblings_list", cpu == 4 ? "4\n" : "5\n");
		put_cpu(cpu, "cache/index0/level", "2\n");
		put_cpu(cpu, "cache/index0/shared_cpu_list", "4-5\n");
		put_cpu(cpu, "cache/index1/level", "1\n");
		put_cpu(cpu, "cache/index1/shared_cpu_list", cpu == 4 ? "4\n" : "5\n");
		put_cpu(cpu, "node0/", "");
	}
	put_cpu(6, "node0/", "");
	allow("0123456");
	assert_int_equal(machine.cpu[4].core, 4);
	assert_int_equal(machine.cpu[4].cache, machine.cpu[5].cache);
	assert_int_not_equal(machine.cpu[4].cache, machine.cpu[0].cache);
	assert_int_equal(machine.cpu[6].cache, -1);
	choose(0, 0, 0, 0, 0);
	expect(2, 4, 5, 6, 1);
	choose(4);
	expect(5);
	choose(6);
	expect(0);
}

static void garbage(void **state)
{
	static const char *const bad[] = {"",      "\n",   "x\n",  "-1\n", "1024\n", "99999999999999999999\n",
					  "0x3\n", " 3\n", "3 4\n"};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_cpu(0, "topology/core_cpus_list", bad[i]);
		put_cpu(0, "cache/index0/level", "3\n");
		put_cpu(0, "cache/index0/shared_cpu_list", bad[i]);
		allow("01");
		assert_int_equal(machine.cpu[0].core, -1);
		assert_int_equal(machine.cpu[0].cache, -1);
	}
	/* The old name stands in for what the new one does not tell. */
	put_cpu(0, "topology/thread_siblings_list", "0,7");
	put_cpu(0, "cache/index0/level", "deep\n");
	put_cpu(0, "cache/index0/shared_cpu_list", "0-1\n");
	put_cpu(0, "nodes/", "");
	put_cpu(0, "node1x/", "");
	tree_put("/sys/devices/system/cpu/cpufreq/", "");
	tree_put("/sys/devices/system/cpu/cpu1024/", "");
	tree_put("/sys/devices/system/cpu/cpu1x/", "");
	allow("01");
	assert_int_equal(machine.n_cpus, 2);
	assert_int_equal(machine.cpu[0].core, 0);
	assert_int_equal(machine.cpu[0].cache, -1);
	assert_int_equal(machine.cpu[0].node, -1);
}

/* The machine that this runs on: at least where the kernel lets this thread run. */
static void this_machine(void **state)
{
	unsigned usable = 0;
	cpu_set_t own;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(own), &own), 0);
	placement_read(&machine, "", NULL);
	for (unsigned i = 0; i < machine.n_cpus; i++)
		usable += machine.cpu[i].usable;
	assert_int_equal(usable, CPU_COUNT(&own));
}

#define in_tree(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_tree(reads_two_sockets),
		in_tree(places_on_two_sockets),
		in_tree(siblings_when_all_cores_have_interrupts),
		in_tree(one_core),
		in_tree(two_cores),
		in_tree(more_queues_than_cores),
		in_tree(narrow_mask),
		in_tree(unknown_topology),
		in_tree(hybrid),
		in_tree(garbage),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
