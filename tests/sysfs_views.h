/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs_views: two network namespaces, each with a link va of the same index, and a mount namespace of our own in which
 * /sys shows `there` while the process is `here`, as after `nsenter --net`. The address of va ends in 0a here and in 0b
 * there. /mnt/here and /mnt/there show what /sys cannot. Needs root; all of it ends with the process.
 */
#ifndef SQUALL_TESTS_SYSFS_VIEWS_H
#define SQUALL_TESTS_SYSFS_VIEWS_H

#include "host_namespaces.h"

#include "lib/host.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct host views_host;
static const struct host_link *va;

static inline int views_mount(int ns, const char *path)
{
	int rc = setns(ns, CLONE_NEWNET) || (mkdir(path, 0700) && errno != EEXIST) ||
		 mount("sysfs", path, "sysfs", 0, NULL);

	return setns(here, CLONE_NEWNET) || rc ? -1 : 0;
}

static inline int views_make(void **state)
{
	struct err e;

	(void)state;
	if (namespaces_make() || unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/mnt", "tmpfs", 0, NULL))
		return -1;
	run(here, "ip link add va index 77 address 02:00:00:00:00:0a type veth peer name vb");
	run(there, "ip link add va index 77 address 02:00:00:00:00:0b type veth peer name vb");
	if (views_mount(here, "/mnt/here") || views_mount(there, "/mnt/there") || views_mount(there, "/sys") ||
	    host_load(&views_host, &e))
		return -1;
	va = host_link_by_name(&views_host, "va");
	return va ? 0 : -1;
}

static inline int views_free(void **state)
{
	(void)state;
	host_free(&views_host);
	return 0;
}

/* The first line of a file of a directory of va: "/mnt/here", "/mnt/there" or "/sys". */
static inline void view_read(const char *sys, const char *name, char *out, int size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/net/va/%s", sys, name);
	f = fopen(path, "re");
	if (!f || !fgets(out, size, f))
		fail_msg("%s cannot be read", path);
	fclose(f);
	out[strcspn(out, "\n")] = '\0';
}

/* Takes a capability away, or gives it back. */
static inline void capability(unsigned cap, bool have)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	assert_int_equal(syscall(SYS_capget, &head, data), 0);
	if (have)
		data[cap / 32].effective |= 1U << cap % 32;
	else
		data[cap / 32].effective &= ~(1U << cap % 32);
	assert_int_equal(syscall(SYS_capset, &head, data), 0);
}

#endif
