/* SPDX-License-Identifier: Apache-2.0 */
#include "placement.h"

#include "placement_internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* How well a line tells whose interrupt it is; the best kind that a device has is believed alone. */
enum kind {
	KIND_NONE,
	KIND_ONLY,   /* "eth1": it serves everything that has no line of its own */
	KIND_BARE,   /* "eth1-3" */
	KIND_DEVICE, /* "mlx5_comp3@pci:BUS", "virtio0-input.3": the device's, and a queue's */
	KIND_LINK,   /* "eth1-TxRx-3", "ice-eth1-TxRx-3" */
};

struct line {
	enum kind kind;
	unsigned number;
	unsigned irq;
};

#define LINES_MAX 1024

struct lines {
	unsigned n;
	struct line line[LINES_MAX];
};

/* "DRIVER-IFACE" or "IFACE". */
static bool names_link(const char *s, size_t len, const struct host_link *link)
{
	size_t driver = strlen(link->driver);

	if (driver && len > driver + 1 && strncmp(s, link->driver, driver) == 0 && s[driver] == '-') {
		s += driver + 1;
		len -= driver + 1;
	}
	return len == strlen(link->name) && memcmp(s, link->name, len) == 0;
}

/* Words that stand before the number of a queue which receives. */
static bool receives(const char *word, size_t len)
{
	static const char *const words[] = {"txrx", "rxtx", "rx", "input", "comp", "fp", "q"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && strncasecmp(word, words[i], len) == 0)
			return true;
	return false;
}

static size_t without_separator(const char *s, size_t len)
{
	return len && strchr("-.:_", s[len - 1]) ? len - 1 : len;
}

static size_t without_letters(const char *s, size_t len)
{
	while (len && isalpha((unsigned char)s[len - 1]))
		len--;
	return len;
}

/*
 * An interrupt's name is a prefix, a word and a number. of_device: the interrupt is one of the link's device, whatever
 * its name says.
 */
static enum kind read_name(const char *name, const struct host_link *link, bool of_device, unsigned *number)
{
	size_t end = strcspn(name, "@");
	size_t digits = end, word, prefix;

	*number = 0;
	if (names_link(name, end, link))
		return KIND_ONLY;
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == end || end - digits > 4)
		return KIND_NONE;
	*number = (unsigned)strtoul(name + digits, NULL, 10);
	word = without_separator(name, digits);
	if (word < digits && names_link(name, word, link))
		return KIND_BARE;
	prefix = without_letters(name, word);
	if (!receives(name + prefix, word - prefix))
		return KIND_NONE;
	prefix = without_separator(name, prefix);
	if (prefix > 3 && strncasecmp(name + prefix - 3, "-tx", 3) == 0) /* "Tx-Rx" */
		prefix -= 3;
	if (names_link(name, prefix, link))
		return KIND_LINK;
	return of_device || (strncmp(name + end, "@pci:", 5) == 0 && strcmp(name + end + 5, link->bus) == 0)
		       ? KIND_DEVICE
		       : KIND_NONE;
}

/* Whether the PCI device has that interrupt: 1, 0, or -1 when it does not tell. */
static int device_has(const char *root, const struct host_link *link, unsigned irq)
{
	char path[512];

	if (!link->bus[0])
		return -1;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/msi_irqs", root, link->bus);
	if (access(path, F_OK))
		return -1;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/msi_irqs/%u", root, link->bus, irq);
	return access(path, F_OK) == 0;
}

/*
 * " 38:  0  1453  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0": what stands after the counts, one for each
 * processor, is the controller and its number, then the names, with commas between them. (Documentation/filesystems/
 * proc.rst)
 */
static void read_line(char *text, const char *root, const struct host_link *link, struct lines *out)
{
	unsigned long irq;
	char *rest, *save, *word;
	int of_device;

	irq = strtoul(text, &rest, 10);
	if (rest == text || *rest != ':' || irq > INT32_MAX)
		return;
	of_device = device_has(root, link, (unsigned)irq);
	if (of_device == 0)
		return;
	for (word = strtok_r(rest + 1, " \t,\n", &save); word; word = strtok_r(NULL, " \t,\n", &save)) {
		struct line line = {.irq = (unsigned)irq};

		if (strspn(word, "0123456789") == strlen(word))
			continue;
		line.kind = read_name(word, link, of_device == 1, &line.number);
		if (line.kind != KIND_NONE && out->n < LINES_MAX)
			out->line[out->n++] = line;
	}
}

static void read_lines(const char *root, const struct host_link *link, struct lines *out)
{
	char path[512];
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	out->n = 0;
	snprintf(path, sizeof(path), "%s/proc/interrupts", root);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&text, &size, f) >= 0)
		read_line(text, root, link, out);
	free(text);
	fclose(f);
}

/* With effective_affinity the kernel says which of the processors that may take the interrupt does. */
static int cpu_of(const char *root, unsigned irq)
{
	static const char *const lists[] = {"effective_affinity_list", "smp_affinity_list"};
	char path[512];
	int cpu = -1;

	for (size_t i = 0; cpu < 0 && i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(path, sizeof(path), "%s/proc/irq/%u/%s", root, irq, lists[i]);
		cpu = placement_first_cpu(path);
	}
	return cpu;
}

void placement_irq_cpus(const char *root, const struct host_link *link, unsigned n, int *cpu)
{
	unsigned first = UINT_MAX;
	enum kind best = KIND_NONE;
	struct lines lines;

	for (unsigned i = 0; i < n; i++)
		cpu[i] = -1;
	/* A virtual link has no interrupts, but a link of another namespace may have its name. */
	if (link->kind[0])
		return;
	read_lines(root, link, &lines);
	for (unsigned i = 0; i < lines.n; i++)
		if (lines.line[i].kind > best)
			best = lines.line[i].kind;
	/* Some drivers number their vectors, and the first is not a queue's: "eth1-tx-0", "eth1-rx-1". */
	for (unsigned i = 0; i < lines.n; i++)
		if (lines.line[i].kind == best && lines.line[i].number < first)
			first = lines.line[i].number;
	for (unsigned i = 0; i < lines.n; i++) {
		const struct line *line = &lines.line[i];

		if (line->kind == best && line->number - first < n)
			cpu[line->number - first] = cpu_of(root, line->irq);
	}
	for (unsigned i = 1; best == KIND_ONLY && i < n; i++)
		cpu[i] = cpu[0];
}
