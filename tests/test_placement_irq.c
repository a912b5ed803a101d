/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/interrupts as machines show it: names by the drivers' habits, and lines that are another's. The interrupt of
 * number n runs on the processor n % 100, so that an answer says which line was taken.
 */
#include "lib/placement.h"

#include "tests/fake_tree.h"

static char table[1 << 20];
static unsigned columns;
static int cpus[8];
static const int none[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

static void begin(unsigned n)
{
	size_t used = 0;

	columns = n;
	for (unsigned i = 0; i < n; i++)
		used += (size_t)snprintf(table + used, sizeof(table) - used, "%10s%u", "CPU", i);
	snprintf(table + used, sizeof(table) - used, "\n");
}

static void add(unsigned irq, const char *controller, const char *name)
{
	size_t used = strlen(table);
	char path[64], cpu[16];

	used += (size_t)snprintf(table + used, sizeof(table) - used, "%4u: ", irq);
	for (unsigned i = 0; i < columns; i++)
		used += (size_t)snprintf(table + used, sizeof(table) - used, "%10u ", i % 7);
	snprintf(table + used, sizeof(table) - used, " %s      %s\n", controller, name);
	snprintf(path, sizeof(path), "/proc/irq/%u/effective_affinity_list", irq);
	snprintf(cpu, sizeof(cpu), "%u\n", irq % 100);
	tree_put(path, cpu);
}

static void device_has(const char *bus, unsigned irq)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/msi_irqs/%u", bus, irq);
	tree_put(path, "msix\n");
}

static void ask(const char *name, const char *driver, const char *bus)
{
	struct host_link link = {0};

	snprintf(link.name, sizeof(link.name), "%s", name);
	snprintf(link.driver, sizeof(link.driver), "%s", driver);
	snprintf(link.bus, sizeof(link.bus), "%s", bus);
	tree_put("/proc/interrupts", table);
	placement_irq_cpus(tree, &link, 8, cpus);
}

/* The lines of a device with so many queues, from interrupt first on. before and after stand around the number. */
static void add_queues(unsigned first, unsigned n, const char *before, const char *after)
{
	char name[96];

	for (unsigned q = 0; q < n; q++) {
		snprintf(name, sizeof(name), "%s%u%s", before, q, after);
		add(first + q, "PCI-MSI 524288-edge", name);
	}
}

static void expect_from(int first, int n)
{
	for (int q = 0; q < 8; q++)
		if (cpus[q] != (q < n ? first + q : -1))
			fail_msg("queue %d: processor %d", q, cpus[q]);
}

/* What stands around the number, and what else the driver asks interrupts for. */
static void habits(void **state)
{
	static const struct {
		const char *driver, *before, *after, *other;
	} habit[] = {
		{"ixgbe", "eth1-TxRx-", "", "eth1"},
		{"ice", "ice-eth1-TxRx-", "", "ice-0000:c1:00.0:misc"},
		{"i40e", "i40e-eth1-TxRx-", "", "i40e-0000:c1:00.0:fdir-TxRx-0"},
		{"iavf", "iavf-eth1-TxRx-", "", "iavf-0000:c1:00.0:mbx"},
		{"igb", "eth1-rx-", "", "eth1-tx-0"},
		{"bnxt_en", "eth1-TxRx-", "", "eth1-tx-1"},
		{"bnxt_en", "bnxt_en-eth1-TxRx-", "", "bnxt_en-eth1-tx-1"},
		{"mlx5_core", "mlx5_comp", "@pci:0000:c1:00.0", "mlx5_async0@pci:0000:c1:00.0"},
		{"ena", "eth1-Tx-Rx-", "", "ena-mgmnt@pci:0000:c1:00.0"},
		{"mana", "mana_q", "@pci:0000:c1:00.0", "mana_hwc@pci:0000:c1:00.0"},
		{"vmxnet3", "eth1-rxtx-", "", "eth1-event-4"},
		{"qede", "eth1-fp-", "", "eth1"},
		{"sfc", "eth1-", "", "eth1"},
		{"cxgb4", "eth1-Rx", "", "eth1-FWeventq"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(habit) / sizeof(habit[0]); i++) {
		begin(4);
		add(9, "IO-APIC   9-fasteoi", "acpi");
		add(199, "PCI-MSI 524287-edge", habit[i].other);
		add_queues(120, 4, habit[i].before, habit[i].after);
		add(198, "PCI-MSI 524289-edge", habit[i].other);
		ask("eth1", habit[i].driver, "0000:c1:00.0");
		expect_from(20, 4);
	}
}

/* virtio names its device by a number of its own: only the PCI device knows whose interrupts they are. */
static void virtio(void **state)
{
	(void)state;
	begin(2);
	for (unsigned device = 0; device < 2; device++) {
		char in[32], out[32];

		for (unsigned q = 0; q < 4; q++) {
			snprintf(in, sizeof(in), "virtio%u-input.%u", device, q);
			snprintf(out, sizeof(out), "virtio%u-output.%u", device, q);
			add(110 + device * 20 + 2 * q, "PCI-MSIX-0000:00:03.0   1-edge", in);
			add(111 + device * 20 + 2 * q, "PCI-MSIX-0000:00:03.0   2-edge", out);
		}
	}
	add(150, "PCI-MSIX-0000:00:03.0   0-edge", "virtio1-config");
	for (unsigned irq = 130; irq < 151; irq++)
		device_has("0000:00:04.0", irq);
	ask("eth1", "virtio_net", "0000:00:04.0");
	for (int q = 0; q < 4; q++)
		assert_int_equal(cpus[q], 30 + 2 * q);
	assert_int_equal(cpus[4], -1);
	ask("eth1", "virtio_net", "0000:00:05.0");
	assert_memory_equal(cpus, none, sizeof(none));
}

static void names_that_begin_alike(void **state)
{
	(void)state;
	begin(2);
	add_queues(130, 4, "eth10-TxRx-", "");
	add_queues(140, 4, "xeth1-TxRx-", "");
	add_queues(150, 4, "eth1-a-TxRx-", "");
	add_queues(170, 4, "ixgbe.eth1-TxRx-", "");
	add_queues(160, 4, "ice-eth1-TxRx-", ""); /* not by this driver, so another's name: "ice-eth1" */
	ask("eth1", "ixgbe", "");
	assert_memory_equal(cpus, none, sizeof(none));
	add_queues(120, 4, "eth1-TxRx-", "");
	ask("eth1", "ixgbe", "");
	expect_from(20, 4);
	ask("eth1-a", "ixgbe", "");
	expect_from(50, 4);
}

/* 12 queues: number 1 is not number 11, and those that nobody asked for are left out. */
static void numbers(void **state)
{
	(void)state;
	begin(2);
	for (unsigned q = 12; q-- > 0;) {
		char name[32];

		snprintf(name, sizeof(name), "eth1-TxRx-%u", q);
		add(120 + q, "PCI-MSI 524288-edge", name);
	}
	ask("eth1", "ixgbe", "");
	expect_from(20, 8);
}

/* The first vector is not a queue's. */
static void numbers_from_one(void **state)
{
	(void)state;
	begin(2);
	add(130, "PCI-MSI 524288-edge", "eth1-tx-0");
	for (unsigned q = 0; q < 4; q++) {
		char name[32];

		snprintf(name, sizeof(name), "eth1-rx-%u", q + 1);
		add(120 + q, "PCI-MSI 524288-edge", name);
	}
	ask("eth1", "tg3", "0000:c1:00.0");
	expect_from(20, 4);
}

/* One interrupt for everything. */
static void single(void **state)
{
	(void)state;
	begin(2);
	add(19, "IO-APIC  19-fasteoi", "ehci_hcd:usb1, eth1, eth10");
	ask("eth1", "e100", "");
	for (int q = 0; q < 8; q++)
		assert_int_equal(cpus[q], 19);
	ask("eth2", "e100", "");
	assert_memory_equal(cpus, none, sizeof(none));
}

/* The device's own list says that the lines are another's, who has the same name elsewhere. */
static void same_name_in_another_namespace(void **state)
{
	(void)state;
	begin(2);
	add_queues(120, 4, "eth1-TxRx-", "");
	add_queues(130, 4, "eth1-TxRx-", "");
	add_queues(140, 4, "eth1-TxRx-", "");
	for (unsigned irq = 130; irq < 134; irq++)
		device_has("0000:c1:00.0", irq);
	ask("eth1", "ixgbe", "0000:c1:00.0");
	expect_from(30, 4);
}

/* Renamed after it was brought up: the device's list is what is left. */
static void renamed(void **state)
{
	(void)state;
	begin(2);
	add_queues(120, 4, "eth0-TxRx-", "");
	for (unsigned irq = 120; irq < 124; irq++)
		device_has("0000:c1:00.0", irq);
	ask("lan", "ixgbe", "0000:c1:00.0");
	expect_from(20, 4);
}

static void virtual_link(void **state)
{
	struct host_link link = {.name = "eth1", .kind = "veth", .driver = "veth"};

	(void)state;
	begin(2);
	add_queues(120, 4, "eth1-TxRx-", "");
	tree_put("/proc/interrupts", table);
	placement_irq_cpus(tree, &link, 8, cpus);
	assert_memory_equal(cpus, none, sizeof(none));
}

static void many_processors(void **state)
{
	(void)state;
	begin(256);
	for (unsigned i = 0; i < 200; i++)
		add(300 + i, "PCI-MSI 524288-edge", "nvme0q1");
	add_queues(120, 8, "mlx5_comp", "@pci:0000:c1:00.0");
	add_queues(130, 8, "mlx5_comp", "@pci:0000:c1:00.1");
	ask("eth1", "mlx5_core", "0000:c1:00.0");
	expect_from(20, 8);
	ask("eth2", "mlx5_core", "0000:c1:00.1");
	expect_from(30, 8);
}

/* What the kernel says of an interrupt: where it goes, else where it may go; nothing is made of nothing. */
static void affinity(void **state)
{
	(void)state;
	begin(2);
	add_queues(120, 5, "eth1-TxRx-", "");
	tree_put("/proc/irq/121/effective_affinity_list", "\n");
	tree_put("/proc/irq/121/smp_affinity_list", "5-7\n");
	tree_put("/proc/irq/122/effective_affinity_list", "7,9\n");
	tree_put("/proc/irq/123/effective_affinity_list", "none\n");
	tree_put("/proc/irq/124/effective_affinity_list", "4096\n");
	ask("eth1", "ixgbe", "");
	assert_int_equal(cpus[0], 20);
	assert_int_equal(cpus[1], 5);
	assert_int_equal(cpus[2], 7);
	assert_int_equal(cpus[3], -1);
	assert_int_equal(cpus[4], -1);
}

static void garbage(void **state)
{
	static const char *const tables[] = {
		"",
		"\n",
		"CPU0\n",
		" 20",
		" 20:",
		" 20: 1 2",
		" eth1-TxRx-0\n",
		"eth1: 1 2 eth1-TxRx-0\n",
		"99999999999999999999: 1 2 PCI-MSI 1-edge eth1-TxRx-0\n",
		" 20 1 2 PCI-MSI 1-edge eth1-TxRx-0\n",
		"NMI: 1 2 eth1-TxRx-0\n",
		" 20: 1 PCI-MSI 1-edge eth1-TxRx-\n",
		" 20: 1 PCI-MSI 1-edge eth1-TxRx-99999\n",
		" 20: 1 PCI-MSI 1-edge eth1-TxRx-4294967296\n",
		" 20: 1 PCI-MSI 1-edge eth1TxRx\n",
		" 20: 1 PCI-MSI 1-edge -0\n",
		" 20: 1 PCI-MSI 1-edge TxRx-0\n",
		" 20: 1 PCI-MSI 1-edge @pci:\n",
		" 20: 1 PCI-MSI 1-edge eth1-tx-0\n",
	};

	(void)state;
	tree_put("/proc/irq/20/effective_affinity_list", "1\n");
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(table, sizeof(table), "%s", tables[i]);
		ask("eth1", "", "");
		if (memcmp(cpus, none, sizeof(none)) != 0)
			fail_msg("%s: processor %d", tables[i], cpus[0]);
	}
	/* And one that is none, to know that the others were read. */
	snprintf(table, sizeof(table), "%s", " 20: 1 PCI-MSI 1-edge eth1-TxRx-0\n");
	ask("eth1", "", "");
	assert_int_equal(cpus[0], 1);
}

/* Threads of a run: those of a queue are beside its interrupt, whichever direction has more queues. */
static void threads(void **state)
{
	struct host_link link = {.name = "eth1"}, other = {.name = "eth2"};
	int got[7] = {0};
	cpu_set_t set;

	(void)state;
	begin(2);
	add_queues(100, 2, "eth1-TxRx-", "");
	tree_put("/proc/interrupts", table);
	CPU_ZERO(&set);
	for (unsigned i = 0; i < 6; i++)
		CPU_SET(i, &set);
	/* Interrupts on 0 and 1 of six processors of which nothing is known. Queue 2 has none. */
	got[6] = -9;
	placement_of_threads(tree, &set, &link, 3, &link, 2, got);
	assert_memory_equal(got, ((const int[]){2, 3, -1, 4, 5, 0, -9}), sizeof(got));
	got[5] = -9;
	placement_of_threads(tree, &set, &link, 1, &link, 3, got);
	assert_memory_equal(got, ((const int[]){2, 3, 4, -1, 5, -9, -9}), sizeof(got));
	placement_of_threads(tree, &set, NULL, 1, NULL, 3, got);
	assert_memory_equal(got, none, 4 * sizeof(got[0]));
	placement_of_threads(tree, &set, &link, 0, &link, 0, got);
	/* Two links: the other has no interrupts. */
	got[3] = -9;
	placement_of_threads(tree, &set, &link, 2, &other, 1, got);
	assert_memory_equal(got, ((const int[]){2, 3, -1, -9}), 4 * sizeof(got[0]));
	placement_of_threads(tree, &set, NULL, 1, &link, 2, got);
	assert_memory_equal(got, ((const int[]){-1, 2, 3, -9}), 4 * sizeof(got[0]));
	link.name[3] = '2';
	placement_of_threads(tree, &set, &link, 4, &link, 0, got);
	assert_memory_equal(got, none, 4 * sizeof(got[0]));
}

static void no_proc(void **state)
{
	struct host_link link = {.name = "eth1"};

	(void)state;
	placement_irq_cpus(tree, &link, 8, cpus);
	assert_memory_equal(cpus, none, sizeof(none));
}

#define in_tree(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_tree(habits),
		in_tree(virtio),
		in_tree(names_that_begin_alike),
		in_tree(numbers),
		in_tree(numbers_from_one),
		in_tree(single),
		in_tree(same_name_in_another_namespace),
		in_tree(renamed),
		in_tree(virtual_link),
		in_tree(many_processors),
		in_tree(affinity),
		in_tree(garbage),
		in_tree(threads),
		in_tree(no_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
