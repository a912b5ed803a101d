/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A sysfs of this thread's network namespace that is mounted nowhere, and goes with its last descriptor. By the bare
 * system calls: the C library has had them only since 2.36.
 */
static int mount_own(void)
{
	int fs = (int)syscall(SYS_fsopen, "sysfs", FSOPEN_CLOEXEC);
	int mount;
	int rc;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		rc = -errno;
		close(fs);
		return rc;
	}
	mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
			     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	rc = mount < 0 ? -errno : mount;
	close(fs);
	return rc;
}

/* A file of one short line; an unreadable one is empty. */
static void read_line(int dir, const char *name, char *out, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static bool has_index(int dir, const struct host_link *l)
{
	char text[16];

	read_line(dir, "ifindex", text, sizeof(text));
	return strtol(text, NULL, 10) == l->index;
}

static bool has_address(int dir, const struct host_link *l)
{
	char is[32];
	char want[MAC_STRLEN];

	read_line(dir, "address", is, sizeof(is));
	return strcmp(is, mac_format(&l->mac, want)) == 0;
}

/* Whether /sys places it below the PCI function: "../../devices/pci0000:00/0000:00:03.0/virtio0/net/eth1". */
static bool has_bus(int sys, const char *path, const struct host_link *l)
{
	char where[512];
	char part[sizeof(l->bus) + 2];
	ssize_t n = readlinkat(sys, path, where, sizeof(where) - 1);

	where[n > 0 ? n : 0] = '\0';
	snprintf(part, sizeof(part), "/%s/", l->bus);
	return l->bus[0] && strstr(where, part);
}

int host_link_sysfs(const struct host_link *l)
{
	char path[sizeof("class/net/") + IF_NAMESIZE];
	int refused = 0;
	int sys = mount_own();
	int dir;

	if (sys < 0) {
		refused = sys;
		sys = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sys < 0)
			return refused;
	}
	snprintf(path, sizeof(path), "class/net/%s", l->name);
	dir = openat(sys, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && (!has_index(dir, l) || (refused && !(has_bus(sys, path, l) && has_address(dir, l))))) {
		close(dir);
		dir = -1;
	}
	close(sys);
	return dir >= 0 ? dir : refused ? refused : -ENODEV;
}
