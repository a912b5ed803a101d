/* SPDX-License-Identifier: Apache-2.0 */
/* The veth pairs under the wires, and what the kernel says about them. */
#include "rig.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct host host;
static const char *const ends[RIG_WIRES][2] = {{"conf0a", "conf0b"}, {"conf1a", "conf1b"}};

static int run(const char *const argv[])
{
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EIO : 0;
}

static int make_veth(unsigned wire)
{
	const char *const add[] = {"ip",          "link", "add",         ends[wire][0], "numtxqueues", "4",
				   "numrxqueues", "4",    "type",        "veth",        "peer",        ends[wire][1],
				   "numtxqueues", "4",    "numrxqueues", "4",           NULL};
	int rc = run(add);

	for (unsigned end = 0; end < 2 && !rc; end++) {
		const char *const up[] = {"ip", "link", "set", ends[wire][end], "up", NULL};

		rc = run(up);
	}
	host_free(&host);
	return rc ? rc : host_load(&host, NULL);
}

/* Without this the kernel announces itself on every new link. */
static void silence_ipv6(void)
{
	FILE *f = fopen("/proc/sys/net/ipv6/conf/default/disable_ipv6", "we");

	if (f) {
		fputs("1\n", f);
		fclose(f);
	}
}

int rig_link_init(struct err *e)
{
	int rc = 0;

	if (unshare(CLONE_NEWNET))
		return err_set(e, -errno, EXIT_CAPABILITY, "cannot make the wires", NULL,
			       "no network namespace of one's own: %s", strerror(errno));
	silence_ipv6();
	for (unsigned i = 0; i < RIG_WIRES && !rc; i++)
		rc = make_veth(i);
	return rc ? err_set(e, rc, EXIT_RUN, "cannot make the wires", NULL, "ip link: %s", strerror(-rc)) : 0;
}

const struct host *rig_link_host(void)
{
	return &host;
}

const char *rig_link_name(unsigned wire, unsigned end)
{
	return ends[wire][end];
}

void rig_link_needed(void)
{
	if (rig_subject->kind != WIRE_VETH)
		rig_skip("a wire in memory has no link that could fail");
}

void rig_link_break(void)
{
	const char *const del[] = {"ip", "link", "del", ends[1][0], NULL};

	assert_int_equal(run(del), 0);
}

void rig_link_mend(void)
{
	assert_int_equal(make_veth(1), 0);
}

uint64_t rig_link_sent(unsigned wire)
{
	struct ifaddrs *all;
	uint64_t sent = UINT64_MAX;

	if (rig_subject->kind != WIRE_VETH)
		return 0;
	assert_int_equal(getifaddrs(&all), 0);
	for (struct ifaddrs *a = all; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_PACKET && strcmp(a->ifa_name, ends[wire][0]) == 0)
			sent = ((const struct rtnl_link_stats *)a->ifa_data)->tx_packets;
	freeifaddrs(all);
	assert_true(sent != UINT64_MAX);
	return sent;
}

void rig_link_peer(unsigned wire, bool up)
{
	const char *const set[] = {"ip", "link", "set", ends[wire][1], up ? "up" : "down", NULL};

	assert_int_equal(run(set), 0);
}

bool rig_link_slow(unsigned wire)
{
	const char *const add[] = {"tc",   "qdisc", "add",   "dev", ends[wire][0], "root", "tbf",
				   "rate", "1mbit", "burst", "2kb", "limit",       "2000", NULL};

	return run(add) == 0;
}

void rig_link_fast(unsigned wire)
{
	const char *const del[] = {"tc", "qdisc", "del", "dev", ends[wire][0], "root", NULL};

	assert_int_equal(run(del), 0);
}

void rig_link_address(unsigned wire, const char *address, unsigned char mac[6])
{
	const char *const add[] = {"ip", "addr", "add", address, "dev", ends[wire][1], NULL};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {0};

	strcpy(r.ifr_name, ends[wire][1]);
	assert_int_equal(ioctl(fd, SIOCGIFHWADDR, &r), 0);
	close(fd);
	memcpy(mac, r.ifr_hwaddr.sa_data, 6);
	assert_int_equal(run(add), 0);
}

void rig_link_no_address(unsigned wire)
{
	const char *const flush[] = {"ip", "addr", "flush", "dev", ends[wire][1], NULL};

	assert_int_equal(run(flush), 0);
}
