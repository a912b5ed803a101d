/* SPDX-License-Identifier: Apache-2.0 */
/* Transmit of the afpacket backend against the running kernel, whose own counters are the judge. Needs root. */
#include "tests/afpacket_live.h"

static const char *const mechanisms[] = {"afpacket:va,tx=ring", "afpacket:va,tx=linear", "afpacket:va,tx=sendmmsg"};
#define N_MECHANISMS (sizeof(mechanisms) / sizeof(mechanisms[0]))

static void nothing_in_flight(const struct tx_counts *c)
{
	assert_int_equal(c->queued, c->completed + c->dropped_driver + c->dropped_end + c->undecided);
}

static void counters_agree(const char *name, bool qdisc, uint32_t n)
{
	struct host_counters before = counters_of("va");
	struct pio_port *port = open_tx(name, TEST_LEN + 1, qdisc);

	send_all(port, 0, n, TEST_LEN + n % 2);
	struct tx_counts c = tx_counts_of(port);
	struct host_counters after = counters_of("va");

	assert_int_equal(c.queued, n);
	assert_int_equal(c.completed, n);
	assert_int_equal(c.completed, after.tx_packets - before.tx_packets);
	assert_int_equal(c.completed_bytes, after.tx_bytes - before.tx_bytes);
	assert_int_equal(c.completed_bytes, (uint64_t)n * (TEST_LEN + n % 2));
	nothing_in_flight(&c);
	pio_close(port);
}

/* 10,000 is several times round every ring. */
static void counters_are_the_kernels(void **state)
{
	static const uint32_t counts[] = {1, 10, 100, 10000};

	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++)
		for (unsigned i = 0; i < 4; i++)
			for (int qdisc = 0; qdisc < 2; qdisc++)
				counters_agree(mechanisms[m], qdisc, counts[i]);
}

/* What arrives is what was written, in order. */
static void content_and_order(void **state)
{
	static const uint32_t lens[] = {TEST_LEN, 256, 1514};
	const uint32_t n = 3000;

	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++) {
		for (unsigned l = 0; l < 3; l++) {
			struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &take_all);
			struct pio_port *tx = open_tx(mechanisms[m], lens[l], false);
			uint32_t seen = 0;

			send_all(tx, 0, n, lens[l]);
			while (seen < n && pio_poll(rx->rx[0], 1000) == 1) {
				struct pio_frame f[BURST];
				uint32_t got = pio_rx(rx->rx[0], f, BURST);

				for (uint32_t i = 0; i < got; i++)
					frame_check(f[i].data, f[i].len, lens[l], seen++);
				pio_put(rx->rx[0], f, got);
			}
			assert_int_equal(seen, n);
			assert_int_equal(rx_counts_of(rx).packets, n);
			assert_int_equal(rx_counts_of(rx).bytes, (uint64_t)n * lens[l]);
			pio_close(tx);
			pio_close(rx);
		}
	}
}

/* A dead link takes nothing, and what the ring holds goes out when it is back. */
static void link_down(void **state)
{
	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++) {
		for (int qdisc = 0; qdisc < 2; qdisc++) {
			struct pio_port *port = open_tx(mechanisms[m], TEST_LEN, qdisc);
			struct host_counters before = counters_of("va");

			run(there, "ip link set vb down");
			await_carrier("va", false);
			uint32_t took = send_frames(port, 0, 5000, TEST_LEN, 20 * NS_PER_MS);
			struct tx_counts c = tx_counts_of(port);

			assert_int_equal(c.queued, took);
			assert_int_equal(c.completed, 0);
			assert_int_equal(c.dropped_driver, 0);
			assert_true(c.busy > 0);
			assert_int_equal(counters_of("va").tx_packets, before.tx_packets);
			assert_int_equal(pio_queue_error(port->tx[0], NULL), 0);

			run(there, "ip link set vb up");
			await_carrier("va", true);
			pio_drain(port->tx[0], clock_mono_ns() + WAIT_NS);
			send_all(port, 0, 10, TEST_LEN);
			c = tx_counts_of(port);
			assert_int_equal(c.completed, took + 10);
			assert_int_equal(counters_of("va").tx_packets - before.tx_packets, took + 10);
			pio_close(port);
		}
	}
}

/* The drain ends at its deadline and says what it left behind. */
static void drain_gives_up(void **state)
{
	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++) {
		struct pio_port *port = open_tx(mechanisms[m], TEST_LEN, false);

		run(here, "ip link set va down");
		uint32_t took = send_frames(port, 0, 100, TEST_LEN, 5 * NS_PER_MS);
		uint64_t start = clock_mono_ns();

		pio_drain(port->tx[0], start + 20 * NS_PER_MS);
		assert_true(clock_mono_ns() - start < WAIT_NS);
		struct tx_counts c = tx_counts_of(port);

		assert_int_equal(c.completed, 0);
		assert_int_equal(c.dropped_end, took);
		nothing_in_flight(&c);
		pio_close(port);
		run(here, "ip link set va up");
		await_carrier("va", true);
	}
}

static void vanished_interface(void **state)
{
	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++) {
		for (int qdisc = 0; qdisc < 2; qdisc++) {
			char name[64];

			run(here, "set -e; ip link add vc type veth peer name vd; for d in vc vd; do ip link set $d "
				  "addrgenmode none arp off up; done");
			await_carrier("vc", true);
			snprintf(name, sizeof(name), "afpacket:vc%s", strchr(mechanisms[m], ','));
			struct pio_port *port = open_tx(name, TEST_LEN, qdisc);

			send_all(port, 0, 100, TEST_LEN);
			run(here, "ip link del vc");
			send_frames(port, 100, 100, TEST_LEN, 1000 * NS_PER_MS);
			assert_int_equal(pio_queue_error(port->tx[0], &err), -ENODEV);
			assert_int_equal(err.code, EXIT_RUN);
			assert_non_null(strstr(err.object, "afpacket:vc"));
			assert_int_equal(send_frames(port, 0, 1, TEST_LEN, 1000 * NS_PER_MS), 0);
			pio_drain(port->tx[0], clock_mono_ns() + WAIT_NS);
			struct tx_counts c = tx_counts_of(port);

			assert_int_equal(c.completed, 100);
			nothing_in_flight(&c);
			pio_close(port);
		}
	}
}

/*
 * 1518 bytes are room for a tag, but these have none: the kernel refuses them. The ones around them go out. (The linear
 * ring's packets are not held against the MTU by the socket, but by what is behind it.)
 */
static void refused_frames(void **state)
{
	static const char *const refusing[] = {"afpacket:va,tx=ring", "afpacket:va,tx=sendmmsg"};
	const uint32_t n = 300;

	(void)state;
	for (unsigned m = 0; m < 2; m++) {
		struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &take_all);
		struct pio_port *tx = open_tx(refusing[m], 1518, false);
		struct pio_queue *q = tx->tx[0];
		uint32_t sent = 0;
		uint32_t seen = 0;

		while (sent < n) {
			struct pio_frame f[BURST];
			uint32_t got = pio_get(q, f, n - sent < BURST ? n - sent : BURST);

			for (uint32_t i = 0; i < got; i++) {
				f[i].len = (sent + i) % 3 ? 1518 : 100;
				frame_fill(f[i].data, f[i].len, sent + i);
			}
			uint32_t done = pio_tx(q, f, got);

			pio_put(q, f + done, got - done);
			assert_int_not_equal(done, 0);
			sent += done;
		}
		pio_drain(q, clock_mono_ns() + WAIT_NS);
		struct tx_counts c = tx_counts_of(tx);

		assert_int_equal(c.completed, n / 3);
		assert_int_equal(c.completed_bytes, n / 3 * 100);
		assert_int_equal(c.dropped_driver, n - n / 3);
		nothing_in_flight(&c);
		while (seen < n && pio_poll(rx->rx[0], 1000) == 1) {
			struct pio_frame f[BURST];
			uint32_t got = pio_rx(rx->rx[0], f, BURST);

			for (uint32_t i = 0; i < got; i++, seen += 3)
				frame_check(f[i].data, f[i].len, 100, seen);
			pio_put(rx->rx[0], f, got);
		}
		assert_int_equal(seen, n);
		pio_close(tx);
		pio_close(rx);
	}
}

/* No receive hook at all: every line of /proc/net/packet has protocol 0. */
static void costs_receive_nothing(void **state)
{
	char line[256];
	unsigned sockets = 0;

	(void)state;
	for (unsigned m = 0; m < N_MECHANISMS; m++) {
		struct pio_port *port = open_tx(mechanisms[m], TEST_LEN, false);
		FILE *f = fopen("/proc/thread-self/net/packet", "re");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		while (fgets(line, sizeof(line), f)) {
			char *at = line;

			/* sk RefCnt Type Proto … */
			for (unsigned field = 0; field < 3; field++)
				at = strchr(at + strspn(at, " "), ' ');
			assert_int_equal(strtoul(at, NULL, 16), 0);
			sockets++;
		}
		fclose(f);
		pio_close(port);
	}
	assert_int_equal(sockets, N_MECHANISMS);
}

static void size_against_mtu(void **state)
{
	struct pio_port *port;

	(void)state;
	assert_int_equal(
		try_open(here, (struct pio_conf){.name = "afpacket:va", .tx_queues = 1, .max_frame = 1519}, &port),
		-EMSGSIZE);
	assert_null(port);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.cause, "1500"));
	assert_non_null(strstr(err.hint, "--packet-size 1518"));
	assert_non_null(strstr(err.hint, "ip link set va mtu 1505"));
	pio_close(open_tx("afpacket:va", 1518, false));
}

static void bad_options(void **state)
{
	static const char *const names[] = {"afpacket:va,tx=fast", "afpacket:va,", "afpacket:va,queues=2",
					    "afpacket:va,tx="};
	struct pio_port *port;

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pio_conf conf = {.name = names[i], .tx_queues = 1};

		assert_int_equal(try_open(here, conf, &port), -EINVAL);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.hint, "ring|linear|sendmmsg"));
	}
}

static void without_privilege(void **state)
{
	struct pio_port *port;

	(void)state;
	/* Another user's effective set is empty; the saved one comes back with root. */
	assert_int_equal(seteuid(65534), 0);
	struct host h;
	int rc = host_load(&h, &err);
	struct pio_conf conf = {.name = "afpacket:va", .host = &h, .tx_queues = 1};

	if (!rc)
		rc = pio_open(&conf, &port, &err);
	assert_int_equal(seteuid(0), 0);
	host_free(&h);
	assert_int_equal(rc, -EPERM);
	assert_int_equal(err.code, EXIT_CAPABILITY);
	assert_non_null(strstr(err.cause, "CAP_NET_RAW"));
	assert_non_null(strstr(err.hint, "setcap cap_net_raw,cap_net_admin+ep"));
}

/* The mechanism that measured best for the device and the size. */
static void mechanism_by_device(void **state)
{
	static const struct {
		const char *name;
		uint32_t max_frame;
		const char *mechanism;
	} cases[] = {
		{"afpacket:va", 60, "TPACKET_V2 ring, linear (veth"},
		{"afpacket:va", 256, "TPACKET_V2 ring, linear (veth"},
		{"afpacket:va", 257, "sendmmsg (veth"},
		{"afpacket:va", 0, "sendmmsg (veth"},
		{"afpacket:vi", 60, "TPACKET_V2 ring (ifb"},
		{"afpacket:vi", 1514, "TPACKET_V2 ring (ifb"},
	};

	(void)state;
	run(here, "ip link add vi type ifb && ip link set vi up");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pio_port *port = open_tx(cases[i].name, cases[i].max_frame, false);

		if (strncmp(port->caps.mechanism, cases[i].mechanism, strlen(cases[i].mechanism)) != 0)
			fail_msg("%s with %u bytes: %s", cases[i].name, cases[i].max_frame, port->caps.mechanism);
		assert_int_equal(port->caps.max_frame, cases[i].max_frame ? cases[i].max_frame : 1514);
		pio_close(port);
	}
	run(here, "ip link del vi");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_the_kernels),
		cmocka_unit_test(content_and_order),
		cmocka_unit_test(link_down),
		cmocka_unit_test(drain_gives_up),
		cmocka_unit_test(vanished_interface),
		cmocka_unit_test(refused_frames),
		cmocka_unit_test(costs_receive_nothing),
		cmocka_unit_test(size_against_mtu),
		cmocka_unit_test(bad_options),
		cmocka_unit_test(without_privilege),
		cmocka_unit_test(mechanism_by_device),
	};

	if (geteuid() != 0) {
		puts("skipped: packet sockets and network namespaces need root");
		return 0;
	}
	return cmocka_run_group_tests(tests, live_setup, NULL);
}
