/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel keeps the interface: who gets which packet, the port or the host's own sockets. */
#include "rig.h"

#include "tests/filters.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUES  4U
#define PAYLOAD 32U

static struct rig_wire wire;
static int host_fds[2];
static unsigned n_host_fds;

static void finish_header(unsigned char *ip)
{
	uint32_t sum = 0;

	packet_put16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	packet_put16(ip + 10, ~(sum + (sum >> 16)) & 0xffff);
}

/* A UDP packet to the host, filled with `fill`. Returns its length. */
static uint32_t to_host(const unsigned char mac[6], uint16_t port, unsigned char fill, unsigned char *packet)
{
	uint32_t len = packet_build(&(struct packet){.family = 4,
						     .dst_mac = (const char *)mac,
						     .src = "192.0.2.2",
						     .dst = "192.0.2.1",
						     .sport = 9,
						     .dport = port,
						     .payload = PAYLOAD},
				    packet);

	finish_header(packet + 14);
	memset(packet + len - PAYLOAD, fill, PAYLOAD);
	return len;
}

static int host_socket(uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct timeval patience = {.tv_sec = 5};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	host_fds[n_host_fds++] = fd;
	return fd;
}

static int close_host_sockets(void **state)
{
	(void)state;
	while (n_host_fds)
		close(host_fds[--n_host_fds]);
	return 0;
}

static void host_gets(int fd, unsigned char fill)
{
	unsigned char got[2 * PAYLOAD];

	assert_int_equal(recv(fd, got, sizeof(got), 0), PAYLOAD);
	for (unsigned i = 0; i < PAYLOAD; i++)
		assert_int_equal(got[i], fill);
}

static void host_gets_no_more(int fd)
{
	unsigned char got[2 * PAYLOAD];

	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), -1);
}

/* A packet is received by the port: true, or else by the host. */
static bool either_gets(int fd, unsigned char fill, struct pio_frame *f)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	unsigned char got;

	while (clock_mono_ns() < deadline) {
		if (pio_rx(wire.rx->rx[0], f, 1))
			return true;
		if (!wire.rx->caps.rx_copies && recv(fd, &got, 1, MSG_DONTWAIT | MSG_PEEK) == 1) {
			host_gets(fd, fill);
			return false;
		}
	}
	fail_msg("neither the port nor the host has packet %u", fill);
	return false;
}

static void no_link_is_not_kept(void)
{
	rig_open(&wire, 1, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	assert_false(wire.rx->caps.kernel_keeps);
	rig_close(&wire);
}

/* What the port does not take reaches the host's own sockets; what it takes does when these are copies. */
static void the_kernel_keeps_the_interface(void **state)
{
	unsigned char packet[PACKET_MAX];
	unsigned char mac[6];
	struct filter filter;
	struct pio_frame f;
	uint32_t len;
	int taken;
	int left;

	(void)state;
	if (rig_subject->kind != WIRE_VETH) {
		no_link_is_not_kept();
		return;
	}
	rig_link_address(1, "192.0.2.1/24", mac);
	taken = host_socket(9000);
	left = host_socket(9001);
	filter_from(&filter, "proto=udp dst-port=9000");
	rig_open(&wire, 1, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .filter = &filter});
	assert_true(wire.rx->caps.kernel_keeps);
	for (unsigned char round = 0; round < 3; round++) {
		len = to_host(mac, 9001, 'a' + round, packet);
		rig_send_packet(wire.tx->tx[0], packet, len);
		len = to_host(mac, 9000, 'A' + round, packet);
		rig_send_packet(wire.tx->tx[0], packet, len);
		f = rig_receive_one(wire.rx->rx[0]);
		assert_int_equal(f.len, len);
		assert_memory_equal(f.data, packet, len);
		pio_put(wire.rx->rx[0], &f, 1);
		host_gets(left, 'a' + round);
		if (wire.rx->caps.rx_copies)
			host_gets(taken, 'A' + round);
	}
	rig_receive_none(wire.rx->rx[0]);
	host_gets_no_more(taken);
	host_gets_no_more(left);
	rig_close(&wire);
	rig_link_no_address(1);
}

/* A port that stopped, and one that is closed, leaves everything to the host. */
static void the_kernel_gets_the_interface_back(void **state)
{
	unsigned char packet[PACKET_MAX];
	unsigned char mac[6];
	uint32_t len;
	int fd;

	(void)state;
	rig_link_needed();
	rig_link_address(1, "192.0.2.1/24", mac);
	fd = host_socket(9000);
	rig_open(&wire, 1, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	pio_stop(wire.rx->rx[0]);
	len = to_host(mac, 9000, 's', packet);
	rig_send_packet(wire.tx->tx[0], packet, len);
	host_gets(fd, 's');
	rig_receive_none(wire.rx->rx[0]);
	rig_close_port(wire.rx);
	len = to_host(mac, 9000, 'c', packet);
	rig_send_packet(wire.tx->tx[0], packet, len);
	host_gets(fd, 'c');
	host_gets_no_more(fd);
	rig_close_port(wire.tx);
	rig_link_no_address(1);
}

/* Of four queues of the device one is read: what comes in on the others is the host's, and everything is somebody's. */
static void queues_that_nobody_reads_are_the_hosts(void **state)
{
	const unsigned each = 8;
	unsigned char packet[PACKET_MAX];
	unsigned char mac[6];
	unsigned taken = 0;
	int fd;

	(void)state;
	rig_link_needed();
	rig_link_address(1, "192.0.2.1/24", mac);
	fd = host_socket(9000);
	rig_open(&wire, 1, &(struct rig_spec){.n_tx = QUEUES, .n_rx = 1});
	for (unsigned i = 0; i < each * QUEUES; i++) {
		uint32_t len = to_host(mac, 9000, (unsigned char)i, packet);
		struct pio_frame f;

		rig_send_packet(wire.tx->tx[i % QUEUES], packet, len);
		if (either_gets(fd, (unsigned char)i, &f)) {
			assert_int_equal(f.len, len);
			assert_memory_equal(f.data, packet, len);
			pio_put(wire.rx->rx[0], &f, 1);
			taken++;
			if (wire.rx->caps.rx_copies)
				host_gets(fd, (unsigned char)i);
		}
	}
	assert_int_equal(wire.rx->rx[0]->stats.rx.packets, taken);
	if (rig_subject->spread == SPREAD_BY_FLOW)
		assert_int_equal(taken, each * QUEUES);
	else if (rig_subject->spread == SPREAD_BY_SENDER)
		assert_int_equal(taken, each);
	rig_receive_none(wire.rx->rx[0]);
	host_gets_no_more(fd);
	rig_close(&wire);
	rig_link_no_address(1);
}

int conform_keeping(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_kernel_keeps_the_interface, close_host_sockets),
		cmocka_unit_test_teardown(the_kernel_gets_the_interface_back, close_host_sockets),
		cmocka_unit_test_teardown(queues_that_nobody_reads_are_the_hosts, close_host_sockets),
	};

	return RIG_RUN("keeping", tests);
}
