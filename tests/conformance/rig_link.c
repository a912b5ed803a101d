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
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MTU 1500U

static struct host host;
static const char *const ends[RIG_WIRES][2] = {{"conf0a", "conf0b"}, {"conf1a", "conf1b"}};

/* What a test changed. */
static struct {
	bool down[2], large, slow, addressed, gone;
} changed[RIG_WIRES];

static int run(const char *const argv[])
{
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EIO : 0;
}

static int look(void)
{
	host_free(&host);
	return host_load(&host, NULL);
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
	return rc ? rc : look();
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

	changed[1].gone = true;
	assert_int_equal(run(del), 0);
}

void rig_link_mend(void)
{
	assert_int_equal(make_veth(1), 0);
	changed[1].gone = false;
}

static struct rtnl_link_stats stats_of(const char *name)
{
	struct rtnl_link_stats s = {0};
	struct ifaddrs *all;
	bool found = false;

	assert_int_equal(getifaddrs(&all), 0);
	for (struct ifaddrs *a = all; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_PACKET && strcmp(a->ifa_name, name) == 0) {
			s = *(const struct rtnl_link_stats *)a->ifa_data;
			found = true;
		}
	freeifaddrs(all);
	assert_true(found);
	return s;
}

struct rig_link_counts rig_link_counts(unsigned wire)
{
	struct rtnl_link_stats s = {0};

	if (rig_subject->kind == WIRE_VETH)
		s = stats_of(ends[wire][0]);
	return (struct rig_link_counts){.sent = s.tx_packets, .bytes = s.tx_bytes, .dropped = s.tx_dropped};
}

uint64_t rig_link_sent(unsigned wire)
{
	return rig_link_counts(wire).sent;
}

void rig_link_sent_is(unsigned wire, uint64_t before, uint64_t n)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;

	if (rig_subject->kind != WIRE_VETH)
		return;
	while (rig_link_sent(wire) - before < n && clock_mono_ns() < deadline)
		rig_wait_ms(1);
	assert_int_equal(rig_link_sent(wire) - before, n);
}

void rig_link_set(unsigned wire, unsigned end, bool up)
{
	const char *const set[] = {"ip", "link", "set", ends[wire][end], up ? "up" : "down", NULL};

	changed[wire].down[end] = !up;
	assert_int_equal(run(set), 0);
}

void rig_link_mtu(unsigned wire, unsigned mtu)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", mtu);
	changed[wire].large = mtu != MTU;
	for (unsigned end = 0; end < 2; end++) {
		const char *const set[] = {"ip", "link", "set", ends[wire][end], "mtu", text, NULL};

		assert_int_equal(run(set), 0);
	}
	assert_int_equal(look(), 0);
}

bool rig_kernel_before(unsigned major, unsigned minor)
{
	struct utsname u;
	unsigned at[2] = {0};

	assert_int_equal(uname(&u), 0);
	assert_int_equal(sscanf(u.release, "%u.%u", &at[0], &at[1]), 2);
	return at[0] < major || (at[0] == major && at[1] < minor);
}

bool rig_can_large(void)
{
	const struct rig_spec spec = {.n_rx = 1, .max_frame = RIG_LARGE_LEN};
	struct pio_port *port;
	struct pio_conf conf;
	char name[64];
	struct err e;
	int rc;

	if (rig_subject->kind != WIRE_VETH)
		return true;
	rig_link_mtu(0, RIG_LARGE_MTU);
	conf = rig_conf(&spec, 0, 1, name);
	rc = pio_open(&conf, &port, &e);
	rig_link_mtu(0, MTU);
	if (rc == 0) {
		pio_close(port);
		return true;
	}
	if (e.code != EXIT_CAPABILITY || !rig_kernel_before(6, 6))
		fail_msg("%s: %s: %s", name, e.what, e.cause);
	print_message("%s: no large packets: %s\n", rig_subject->name, e.cause);
	return false;
}

void rig_large_needed(void)
{
	if (!rig_can_large())
		rig_skip("large packets are needed");
}

bool rig_link_slow(unsigned wire)
{
	const char *const add[] = {"tc",   "qdisc", "add",   "dev", ends[wire][0], "root", "tbf",
				   "rate", "1mbit", "burst", "2kb", "limit",       "2000", NULL};

	changed[wire].slow = run(add) == 0;
	return changed[wire].slow;
}

void rig_link_fast(unsigned wire)
{
	const char *const del[] = {"tc", "qdisc", "del", "dev", ends[wire][0], "root", NULL};

	changed[wire].slow = false;
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
	changed[wire].addressed = true;
	assert_int_equal(run(add), 0);
}

void rig_link_no_address(unsigned wire)
{
	const char *const flush[] = {"ip", "addr", "flush", "dev", ends[wire][1], NULL};

	changed[wire].addressed = false;
	assert_int_equal(run(flush), 0);
}

void rig_link_restore(void)
{
	if (changed[1].gone)
		rig_link_mend();
	for (unsigned wire = 0; wire < RIG_WIRES; wire++) {
		if (changed[wire].slow)
			rig_link_fast(wire);
		if (changed[wire].addressed)
			rig_link_no_address(wire);
		if (changed[wire].large)
			rig_link_mtu(wire, MTU);
		for (unsigned end = 0; end < 2; end++)
			if (changed[wire].down[end])
				rig_link_set(wire, end, true);
	}
}
