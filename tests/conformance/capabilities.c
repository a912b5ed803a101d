/* SPDX-License-Identifier: Apache-2.0 */
/* What a port says that it can is what it does. */
#include "rig.h"

#include <sys/socket.h>
#include <unistd.h>

static struct rig_wire wire;

static void capabilities_are_possible(void **state)
{
	const struct pio_caps *caps;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 2, .n_rx = 2});
	caps = &wire.tx->caps;
	assert_true(caps->mechanism[0]);
	assert_true(caps->max_frame >= 1514);
	assert_true(caps->max_frame <= wire.tx->pool->max_frame);
	assert_true(wire.rx->caps.headroom >= 80);
	assert_true(wire.rx->caps.tailroom >= 32);
	assert_int_equal(wire.tx->n_tx, 2);
	assert_int_equal(wire.rx->n_rx, 2);
	assert_true(wire.tx->tx[1]->is_tx && !wire.rx->rx[1]->is_tx);
	assert_int_equal(wire.tx->tx[1]->index, 1);
	assert_int_equal(wire.rx->rx[1]->index, 1);
	assert_ptr_equal(wire.rx->rx[1]->port, wire.rx);
	assert_true(!wire.tx->ifindex == (rig_subject->kind != WIRE_VETH));
	rig_close(&wire);
}

/* A poll that sleeps takes its time and no processor; one that does not is back at once. */
static void poll_blocks_as_it_says(void **state)
{
	uint64_t cpu;
	uint64_t took;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	cpu = clock_read(CLOCK_THREAD_CPUTIME_ID);
	took = clock_mono_ns();
	assert_int_equal(pio_poll(wire.rx->rx[0], 50), 0);
	took = clock_mono_ns() - took;
	cpu = clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu;
	if (wire.rx->caps.blocking_poll)
		assert_in_range(took, 50 * NS_PER_MS, RIG_WAIT_NS);
	else
		assert_in_range(took, 0, 25 * NS_PER_MS);
	assert_in_range(cpu, 0, 20 * NS_PER_MS);
	rig_close(&wire);
}

/* A packet of three frames: sent whole, or refused from its first frame on. */
static void chains_are_sent_or_refused(void **state)
{
	const uint32_t part = 400;
	unsigned char packet[PACKET_MAX];
	struct pio_frame f[4];
	struct tx_counts c;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	rig_fill(packet, 3 * part, 1, 0);
	assert_int_equal(pio_get(wire.tx->tx[0], f, 4), 4);
	rig_fill(f[0].data, RIG_MIN_LEN, 2, 0);
	f[0].len = RIG_MIN_LEN;
	for (unsigned i = 0; i < 3; i++) {
		memcpy(f[i + 1].data, packet + i * part, part);
		f[i + 1].len = part;
		f[i + 1].flags = i < 2 ? PIO_MORE : 0;
	}
	if (wire.tx->caps.tx_chains) {
		rig_send(wire.tx->tx[0], f, 4);
	} else {
		assert_int_equal(pio_tx(wire.tx->tx[0], f, 4), 1);
		assert_int_equal(pio_tx(wire.tx->tx[0], f + 1, 3), 0);
		pio_put(wire.tx->tx[0], f + 1, 3);
	}
	pio_drain(wire.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.completed, wire.tx->caps.tx_chains ? 2 : 1);
	if (rig_subject->kind != WIRE_SINK) {
		for (unsigned i = 0; i < c.completed; i++) {
			struct pio_frame r = rig_receive_one(wire.rx->rx[0]);

			assert_int_equal(r.len, i ? 3 * part : RIG_MIN_LEN);
			assert_false(r.flags & PIO_MORE);
			if (i)
				assert_memory_equal(r.data, packet, 3 * part);
			pio_put(wire.rx->rx[0], &r, 1);
		}
		rig_wait_ms(PIO_SETTLE_MS);
		assert_int_equal(pio_rx(wire.rx->rx[0], f, 1), 0);
	}
	rig_close(&wire);
}

/* A receiver whose frames are smaller than what the link carries gives whole packets, or none. */
static void chains_are_received_or_not(void **state)
{
	const struct rig_spec spec = {.n_tx = 1, .n_rx = 1};
	unsigned char packet[PACKET_MAX];
	unsigned char got[2 * PACKET_MAX];
	char names[2][64];
	struct pio_conf conf;
	struct pio_frame f;
	struct err e;
	uint32_t len = 0;
	unsigned frames = 0;

	(void)state;
	if (rig_subject->kind != WIRE_VETH)
		rig_skip("the two ends are one port: nothing longer than its frames can arrive");
	conf = rig_conf(&spec, 0, 1, names[1]);
	conf.max_frame = 200;
	assert_int_equal(pio_pool_create(&conf.pool, 4096, 200, &e), 0);
	assert_int_equal(pio_open(&conf, &wire.rx, &e), 0);
	struct pio_pool *pool = conf.pool;

	conf = rig_conf(&spec, 0, 0, names[0]);
	assert_int_equal(pio_open(&conf, &wire.tx, &e), 0);
	rig_fill(packet, 1514, 1, 0);
	rig_send_packet(wire.tx->tx[0], packet, 1514);
	rig_fill(packet, RIG_MIN_LEN, 1, 1);
	rig_send_packet(wire.tx->tx[0], packet, RIG_MIN_LEN);
	if (wire.rx->caps.rx_chains) {
		uint16_t flow;

		do {
			f = rig_receive_one(wire.rx->rx[0]);
			assert_true(len + f.len <= sizeof(got));
			memcpy(got + len, f.data, f.len);
			len += f.len;
			frames++;
			pio_put(wire.rx->rx[0], &f, 1);
		} while (f.flags & PIO_MORE);
		assert_true(frames > 1);
		assert_int_equal(len, 1514);
		assert_int_equal(rig_check(got, len, &flow), 0);
	}
	f = rig_receive_one(wire.rx->rx[0]);
	assert_int_equal(f.len, RIG_MIN_LEN);
	assert_false(f.flags & PIO_MORE);
	assert_memory_equal(f.data, packet, RIG_MIN_LEN);
	pio_put(wire.rx->rx[0], &f, 1);
	rig_close(&wire);
	pio_pool_destroy(pool);
}

static void finish_header(unsigned char *ip)
{
	uint32_t sum = 0;

	packet_put16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	packet_put16(ip + 10, ~(sum + (sum >> 16)) & 0xffff);
}

/* What the port receives reaches the host's own sockets as well. */
static void the_kernel_keeps_the_interface(void **state)
{
	const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(9000)};
	const struct timeval patience = {.tv_sec = 5};
	unsigned char packet[PACKET_MAX];
	unsigned char got[64];
	unsigned char mac[6];
	struct pio_frame f;
	uint32_t len;
	int fd;

	(void)state;
	if (rig_subject->kind != WIRE_VETH) {
		rig_open(&wire, 1, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
		assert_false(wire.rx->caps.kernel_keeps);
		rig_close(&wire);
		return;
	}
	rig_link_address(1, "192.0.2.1/24", mac);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	rig_open(&wire, 1, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	len = packet_build(&(struct packet){.family = 4,
					    .dst_mac = (const char *)mac,
					    .src = "192.0.2.2",
					    .dst = "192.0.2.1",
					    .sport = 9,
					    .dport = 9000,
					    .payload = 32},
			   packet);
	finish_header(packet + 14);
	memset(packet + len - 32, 0x5a, 32);
	rig_send_packet(wire.tx->tx[0], packet, len);
	f = rig_receive_one(wire.rx->rx[0]);
	assert_int_equal(f.len, len);
	assert_memory_equal(f.data, packet, len);
	pio_put(wire.rx->rx[0], &f, 1);
	if (wire.rx->caps.rx_copies) {
		assert_int_equal(recv(fd, got, sizeof(got), 0), 32);
		assert_memory_equal(got, packet + len - 32, 32);
	}
	close(fd);
	rig_close(&wire);
	rig_link_no_address(1);
}

/* A device that copies has its copy when tx returns. */
static void what_is_copied_is_copied(void **state)
{
	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	for (uint32_t number = 0; number < 20 && !wire.tx->caps.zero_copy; number++) {
		struct pio_frame f;
		uint16_t flow;

		assert_int_equal(pio_get(wire.tx->tx[0], &f, 1), 1);
		rig_fill(f.data, 1000, 1, number);
		f.len = 1000;
		while (!pio_tx(wire.tx->tx[0], &f, 1))
			pio_kick(wire.tx->tx[0]);
		memset(f.data, 0xee, 1000);
		pio_kick(wire.tx->tx[0]);
		f = rig_receive_one(wire.rx->rx[0]);
		assert_int_equal(f.len, 1000);
		assert_int_equal(rig_check(f.data, f.len, &flow), number);
		pio_put(wire.rx->rx[0], &f, 1);
	}
	rig_close(&wire);
}

/* The shortest way of twenty packets: not shorter than the delay on purpose, and not much longer. */
static void delay_is_what_it_says(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	uint64_t shortest = UINT64_MAX;

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	rig_fill(packet, sizeof(packet), 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t took = clock_mono_ns();
		struct pio_frame f;

		rig_send_packet(wire.tx->tx[0], packet, sizeof(packet));
		while (!pio_rx(wire.rx->rx[0], &f, 1))
			assert_true(clock_mono_ns() - took < RIG_WAIT_NS);
		took = clock_mono_ns() - took;
		pio_put(wire.rx->rx[0], &f, 1);
		shortest = took < shortest ? took : shortest;
	}
	assert_in_range(shortest, wire.tx->caps.delay_ns, wire.tx->caps.delay_ns + 50 * NS_PER_MS);
	rig_close(&wire);
}

int conform_capabilities(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_possible),      cmocka_unit_test(poll_blocks_as_it_says),
		cmocka_unit_test(chains_are_sent_or_refused),     cmocka_unit_test(chains_are_received_or_not),
		cmocka_unit_test(what_is_copied_is_copied),       cmocka_unit_test(delay_is_what_it_says),
		cmocka_unit_test(the_kernel_keeps_the_interface),
	};

	return cmocka_run_group_tests_name("capabilities", tests, NULL, NULL);
}
