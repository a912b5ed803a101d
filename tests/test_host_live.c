/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against the running kernel: a veth pair between two network namespaces. va is here, with 10.77.0.1, fd77::1 and
 * fe80::a; vb is there, with 10.77.0.2 and .3, fd77::2, fe80::b and the MAC 02:00:00:00:00:0b. Needs root.
 */
#include "lib/err.h"
#include "lib/host.h"

#include "tests/host_namespaces.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

static int setup(void **state)
{
	(void)state;
	if (namespaces_make())
		return -1;
	run(here, "set -e; ip link set lo up; ip link add va address 02:00:00:00:00:0a numtxqueues 3 numrxqueues 2 "
		  "type veth peer name vb address 02:00:00:00:00:0b; ip link set va addrgenmode none");
	run(here, "set -e; ip link set vb addrgenmode none; ip link set vb netns /proc/%d/fd/%d", getpid(), there);
	run(there, "set -e; ip link set lo up; ip link set vb up; ip address add 10.77.0.2/24 dev vb; ip address add "
		   "10.77.0.3/24 dev vb; for a in fd77::2 fe80::b; do ip address add $a/64 dev vb nodad; done");
	run(here, "set -e; ip link set va up; ip address add 10.77.0.1/24 dev va; for a in fd77::1 fe80::a; do "
		  "ip address add $a/64 dev va nodad; done");
	run(here, "set -e; ip route add fd88::/64 via fe80::b dev va; ip route add 10.88.0.0/24 via 10.77.0.3; "
		  "ip route add 10.89.0.0/24 via inet6 fe80::b dev va");
	return 0;
}

static void forget(void)
{
	run(here, "ip neigh flush all nud all 2>/dev/null; ip -6 neigh flush all nud all 2>/dev/null; true");
	run(there, "ip link set vb address 02:00:00:00:00:0b");
}

static int each(void **state)
{
	(void)state;
	forget();
	return 0;
}

static struct host_path path;
static struct err err;

static void decide(const char *dst)
{
	struct host_target t = {0};
	struct host h;
	char text[1600];

	assert_int_equal(host_load(&h, &err), 0);
	t.link = host_link_by_name(&h, "va");
	assert_non_null(t.link);
	assert_int_equal(prefix_parse(dst, &t.dst), 0);
	err = (struct err){0};
	if (host_route_to(&h, &t, &path, &err))
		fail_msg("%s", err_format(&err, text, sizeof(text)));
	host_free(&h);
}

static void check_mac(uint8_t last)
{
	struct mac want = {{0x02, 0, 0, 0, 0, last}};
	char text[1600];

	if (err.code)
		fail_msg("%s", err_format(&err, text, sizeof(text)));
	assert_true(path.have_mac);
	assert_true(mac_equal(&path.dst_mac, &want));
}

static void resolves(const char *dst, uint8_t last)
{
	decide(dst);
	assert_false(path.have_mac);
	assert_int_equal(host_resolve(&path, 3000, NULL, &err), 0);
	check_mac(last);
}

static void unknown_neighbours(void **state)
{
	(void)state;
	resolves("10.77.0.2", 0x0b);
	resolves("fd77::2", 0x0b);
	resolves("fe80::b", 0x0b);
}

static void gateways(void **state)
{
	(void)state;
	resolves("fd88::1", 0x0b);
	forget();
	resolves("10.88.0.0/24", 0x0b);
	forget();
	resolves("10.89.0.9", 0x0b);
}

static void certain_entries_need_no_question(void **state)
{
	(void)state;
	run(here, "ip neigh replace 10.77.0.2 lladdr 02:00:00:00:00:77 nud permanent dev va");
	decide("10.77.0.2");
	check_mac(0x77);
	assert_int_equal(host_resolve(&path, 0, NULL, &err), 0);
	check_mac(0x77);
}

static void stays_silent(const char *dst)
{
	decide(dst);
	assert_false(path.have_mac);
	assert_int_equal(host_resolve(&path, 300, NULL, &err), -ETIMEDOUT);
	assert_false(path.have_mac);
	assert_true(mac_is_zero(&path.dst_mac));
	assert_int_equal(err.code, EXIT_RUN);
	assert_non_null(strstr(err.object, dst));
	assert_non_null(strstr(err.object, "va"));
	assert_non_null(strstr(err.hint, "--dst-mac"));
}

static void silence(void **state)
{
	(void)state;
	stays_silent("10.77.0.99");
	stays_silent("fd77::99");
	run(here, "ip neigh replace 10.77.0.98 lladdr 02:00:00:00:00:98 nud stale dev va");
	stays_silent("10.77.0.98");
}

static void comes_late(void **state)
{
	pid_t pid;

	(void)state;
	decide("10.77.0.44");
	pid = fork();
	if (pid == 0) {
		poll(NULL, 0, 500);
		_exit(setns(there, CLONE_NEWNET) || system("ip address add 10.77.0.44/24 dev vb"));
	}
	assert_true(pid > 0);
	assert_int_equal(host_resolve(&path, 4000, NULL, &err), 0);
	check_mac(0x0b);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	run(there, "ip address del 10.77.0.44/24 dev vb");
}

static void stale_entries_are_confirmed(void **state)
{
	static const char *const ip[] = {"10.77.0.2", "fd77::2", "fe80::b"};

	(void)state;
	for (size_t i = 0; i < sizeof(ip) / sizeof(ip[0]); i++) {
		run(here, "ip neigh replace %s lladdr 02:00:00:00:00:0b nud stale dev va", ip[i]);
		decide(ip[i]);
		assert_int_equal(path.neigh_state, NUD_STALE);
		assert_false(path.have_mac);
		assert_int_equal(host_resolve(&path, 3000, NULL, &err), 0);
		check_mac(0x0b);
		assert_int_equal(path.neigh_state, NUD_REACHABLE);
	}
}

static void stale_entries_of_a_changed_mac(void **state)
{
	static const char *const ip[] = {"10.77.0.2", "fd77::2"};

	(void)state;
	run(there, "ip link set vb address 02:00:00:00:00:cc");
	for (size_t i = 0; i < sizeof(ip) / sizeof(ip[0]); i++) {
		run(here, "ip neigh replace %s lladdr 02:00:00:00:00:0b nud stale dev va", ip[i]);
		decide(ip[i]);
		assert_int_equal(host_resolve(&path, 2000, NULL, &err), 0);
		check_mac(0xcc);
	}
}

static void zero_macs_are_never_used(void **state)
{
	(void)state;
	run(here, "ip neigh replace 10.77.0.50 lladdr 00:00:00:00:00:00 nud permanent dev va");
	stays_silent("10.77.0.50");
}

static void cancelled(void **state)
{
	volatile int cancel = 1;

	(void)state;
	decide("10.77.0.99");
	assert_int_equal(host_resolve(&path, 60000, &cancel, &err), -EINTR);
	assert_false(path.have_mac);
}

/* What a child without privileges finds: the last byte of the MAC, or 0. */
static int unprivileged(const char *dst, unsigned timeout_ms)
{
	int status = 0;
	pid_t pid;

	decide(dst);
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(host_resolve(&path, timeout_ms, NULL, &err) || !path.have_mac ? 0 : path.dst_mac.b[5]);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void without_privileges(void **state)
{
	(void)state;
	assert_int_equal(unprivileged("10.77.0.2", 3000), 0x0b);
	assert_int_equal(unprivileged("fd77::2", 3000), 0x0b);
	assert_int_equal(unprivileged("fe80::b", 3000), 0x0b);
	assert_int_equal(unprivileged("10.77.0.99", 300), 0);
	run(here, "ip neigh replace 10.77.0.2 lladdr 02:00:00:00:00:55 nud stale dev va");
	assert_int_equal(unprivileged("10.77.0.2", 3000), 0x55);
}

/* The source address and the gateway that `ip route get` tells for a socket bound to va. */
static void as_the_kernel_routes(void **state)
{
	static const char *const dst[] = {"10.77.0.2", "10.88.0.9", "10.89.0.9", "fd77::2",    "fd88::1",
					  "fe80::b",   "10.90.1.1", "10.90.2.2", "10.91.0.1",  "fd99::1",
					  "fdaa::1",   "10.92.0.1", "239.1.2.3", "224.0.0.251"};

	(void)state;
	run(here, "set -e; ip address add 10.78.0.1/24 dev va; ip address add 169.254.3.3/16 dev va scope link; "
		  "ip address add 2001:db8:7::1/64 dev va nodad; ip route add 10.90.0.0/16 via 10.78.0.9; "
		  "ip route add 10.90.2.0/24 via 10.77.0.7; ip route add 10.91.0.0/16 via 10.77.0.8 metric 20; "
		  "ip route add 10.91.0.0/16 via 10.78.0.8 metric 10; ip route add default via fe80::b dev va; "
		  "ip route add fdaa::/16 via fe80::c dev va; ip route add 10.92.0.0/16 via 10.77.0.9 src 10.78.0.1");
	for (size_t i = 0; i < sizeof(dst) / sizeof(dst[0]); i++) {
		char cmd[128];
		char line[512] = "";
		char ip[IP_STRLEN];
		char want[IP_STRLEN + 8];
		FILE *f;

		decide(dst[i]);
		snprintf(cmd, sizeof(cmd), "ip -o route get %s oif va", dst[i]);
		f = popen(cmd, "r");
		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		pclose(f);
		snprintf(want, sizeof(want), " src %s ", ip_format(&path.src, ip));
		if (!strstr(line, want))
			fail_msg("%s: source %s, the kernel says %s", dst[i], ip, line);
		if (strstr(line, " via ")) {
			assert_true(path.next_hop.family);
			snprintf(want, sizeof(want), " %s dev va", ip_format(&path.next_hop, ip));
			if (!strstr(line, want))
				fail_msg("%s: next hop %s, the kernel says %s", dst[i], ip, line);
		} else if (path.next_hop.family) {
			assert_string_equal(ip_format(&path.next_hop, ip), dst[i]);
		}
	}
}

static void loaded_facts(void **state)
{
	struct host h;
	const struct host_link *l;

	(void)state;
	assert_int_equal(host_load(&h, &err), 0);
	l = host_link_by_name(&h, "va");
	assert_non_null(l);
	assert_string_equal(l->kind, "veth");
	assert_string_equal(l->driver, "veth");
	assert_string_equal(l->bus, "");
	assert_true(l->up && l->carrier && l->ethernet);
	/* A veth says 10 Gbit/s, and uses the queues that it was made with. */
	assert_int_equal(l->speed_mbps, 10000);
	assert_int_equal(l->tx_queues, 3);
	assert_int_equal(l->rx_queues, 2);
	assert_int_equal(l->channels_tx, 3);
	assert_int_equal(l->channels_rx, 2);
	assert_false(l->channels_combined);
	assert_int_equal(l->rss_queues, 0);
	assert_int_equal(l->numa_node, -1);
	assert_true(host_link_by_name(&h, "lo")->loopback);
	assert_null(host_link_by_name(&h, "vb"));
	host_free(&h);
}

static void counters(void **state)
{
	struct host_counters c;
	int index = (int)if_nametoindex("va");
	unsigned long long rx[8] = {0};
	unsigned long long tx[8] = {0};
	char line[512];
	bool found = false;
	FILE *f;

	(void)state;
	resolves("10.77.0.2", 0x0b);
	/* Columns of /proc/net/dev: bytes, packets, errors, drop, … of each way. */
	f = fopen("/proc/thread-self/net/dev", "re");
	assert_non_null(f);
	assert_int_equal(host_link_counters(index, &c), 0);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, " va: %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", &rx[0], &rx[1],
			       &rx[2], &rx[3], &rx[4], &rx[5], &rx[6], &rx[7], &tx[0], &tx[1], &tx[2], &tx[3]) == 12;
	fclose(f);
	assert_true(found);
	assert_true(c.tx_packets > 0 && c.rx_packets > 0);
	assert_int_equal(c.rx_bytes, rx[0]);
	assert_int_equal(c.rx_packets, rx[1]);
	assert_int_equal(c.rx_errors, rx[2]);
	assert_int_equal(c.rx_dropped, rx[3]);
	assert_int_equal(c.tx_bytes, tx[0]);
	assert_int_equal(c.tx_packets, tx[1]);
	assert_int_equal(c.tx_errors, tx[2]);
	assert_int_equal(c.tx_dropped, tx[3]);
}

/* Runs last: the link is gone afterwards. */
static void link_state(void **state)
{
	struct host_counters c;
	int index = (int)if_nametoindex("va");
	struct host_link_state s;
	uint32_t changes;

	(void)state;
	decide("10.77.0.2");
	assert_int_equal(host_link_state(index, &s), 0);
	assert_true(s.up && s.carrier);
	changes = s.carrier_changes;
	run(there, "ip link set vb down; ip link set vb up");
	assert_int_equal(host_link_state(index, &s), 0);
	assert_true(s.up && s.carrier);
	assert_int_equal(s.carrier_changes, changes + 2);
	run(there, "ip link set vb down");
	assert_int_equal(host_link_state(index, &s), 0);
	assert_true(s.up && !s.carrier);
	assert_int_equal(s.carrier_changes, changes + 3);
	run(here, "ip link set va down");
	assert_int_equal(host_link_state(index, &s), 0);
	assert_true(!s.up && !s.carrier);
	run(here, "ip link del va");
	assert_int_equal(host_link_state(index, &s), -ENODEV);
	assert_int_equal(host_link_counters(index, &c), -ENODEV);
	assert_int_equal(host_resolve(&path, 3000, NULL, &err), -ENODEV);
	assert_non_null(strstr(err.object, "10.77.0.2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_facts),
		cmocka_unit_test_setup(unknown_neighbours, each),
		cmocka_unit_test_setup(gateways, each),
		cmocka_unit_test_setup(certain_entries_need_no_question, each),
		cmocka_unit_test_setup(silence, each),
		cmocka_unit_test_setup(comes_late, each),
		cmocka_unit_test_setup(stale_entries_are_confirmed, each),
		cmocka_unit_test_setup(stale_entries_of_a_changed_mac, each),
		cmocka_unit_test_setup(zero_macs_are_never_used, each),
		cmocka_unit_test_setup(cancelled, each),
		cmocka_unit_test_setup(without_privileges, each),
		cmocka_unit_test_setup(counters, each),
		cmocka_unit_test_setup(as_the_kernel_routes, each),
		cmocka_unit_test_setup(link_state, each),
	};

	if (geteuid() != 0) {
		puts("skipped: network namespaces need root");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
