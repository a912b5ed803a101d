/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of several frames: sent whole or refused, received whole or not at all. */
#include "rig.h"

#define PART     100U
#define LONGEST  40U /* frames of a packet that are tried */
#define AT_LEAST 16U /* what a device that takes chains takes, when each frame is one piece */
#define PAGE     4096U

static struct rig_wire wire;

/* A wire that carries large packets, where there are links. */
static void open_large(void)
{
	const struct rig_spec spec = {
		.n_tx = 1, .n_rx = 1, .tx_frames = 128, .rx_frames = 256, .max_frame = RIG_LARGE_LEN};

	rig_large_needed();
	if (rig_subject->kind == WIRE_VETH)
		rig_link_mtu(0, RIG_LARGE_MTU);
	rig_open(&wire, 0, &spec);
}

static void close_large(void)
{
	rig_close(&wire);
	if (rig_subject->kind == WIRE_VETH)
		rig_link_mtu(0, 1500);
}

static uint64_t completed(void)
{
	struct tx_counts c;

	pio_drain(wire.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, c.completed);
	return c.completed;
}

static void arrives(uint32_t len, uint32_t number)
{
	struct rig_packet p;

	if (rig_subject->kind == WIRE_SINK)
		return;
	p = rig_receive_packet(wire.rx->rx[0]);
	assert_int_equal(p.len, len);
	assert_int_equal(p.number, number);
	assert_true(p.frames == 1 || wire.rx->caps.rx_chains);
}

/* Cuts a packet of n * part bytes into n frames. */
static void fill_chain(struct pio_frame *f, unsigned n, uint32_t part, uint32_t number)
{
	unsigned char packet[RIG_PACKET_MAX];

	rig_fill(packet, n * part, 1, number);
	for (unsigned i = 0; i < n; i++) {
		memcpy(f[i].data, packet + i * part, part);
		f[i].len = part;
		f[i].flags = i + 1 < n ? PIO_MORE : 0;
	}
}

/* Between two other packets: all go, or the prefix ends before it. */
static void chains_are_sent_or_refused(void **state)
{
	const uint32_t part = 400;
	struct pio_frame f[5];
	unsigned taken;

	(void)state;
	for (unsigned large = 0; large < 2 && (!large || rig_can_large()); large++) {
		if (large)
			open_large();
		else
			rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
		taken = wire.tx->caps.tx_chains ? 5 : 1;
		assert_int_equal(pio_get(wire.tx->tx[0], f, 5), 5);
		fill_chain(f, 1, RIG_MIN_LEN, 0);
		fill_chain(f + 1, 3, part, 1);
		fill_chain(f + 4, 1, RIG_MIN_LEN, 2);
		if (wire.tx->caps.tx_chains) {
			rig_send(wire.tx->tx[0], f, 5);
		} else {
			assert_int_equal(pio_tx(wire.tx->tx[0], f, 5), 1);
			assert_int_equal(pio_tx(wire.tx->tx[0], f + 1, 4), 0);
			pio_put(wire.tx->tx[0], f + 1, 4);
		}
		arrives(RIG_MIN_LEN, 0);
		if (taken == 5) {
			arrives(3 * part, 1);
			arrives(RIG_MIN_LEN, 2);
		}
		assert_int_equal(completed(), taken == 5 ? 3 : 1);
		if (rig_subject->kind != WIRE_SINK)
			rig_receive_none(wire.rx->rx[0]);
		if (large)
			close_large();
		else
			rig_close(&wire);
	}
}

/* The beginning of a packet is not taken: its end may never come. */
static void half_a_packet_is_not_taken(void **state)
{
	struct pio_queue *tx;
	struct pio_frame f[4];

	(void)state;
	open_large();
	tx = wire.tx->tx[0];
	assert_int_equal(pio_get(tx, f, 4), 4);
	fill_chain(f, 1, RIG_MIN_LEN, 0);
	fill_chain(f + 1, 3, RIG_MIN_LEN, 1);
	assert_int_equal(pio_tx(tx, f, 3), 1);
	assert_int_equal(pio_tx(tx, f + 1, 2), 0);
	assert_int_equal(pio_queue_error(tx, NULL), 0);
	arrives(RIG_MIN_LEN, 0);
	if (wire.tx->caps.tx_chains) {
		rig_send(tx, f + 1, 3);
		arrives(3 * RIG_MIN_LEN, 1);
	} else {
		pio_put(tx, f + 1, 3);
	}
	assert_int_equal(completed(), wire.tx->caps.tx_chains ? 2 : 1);
	close_large();
}

/*
 * One frame more each time, until it is refused: what is taken arrives, and what is refused remains the caller's. With
 * `across` every frame lies across a page's end. Returns how many frames were taken.
 */
static unsigned longest_chain(bool across)
{
	struct pio_queue *tx = wire.tx->tx[0];
	const uint64_t slot = 1ULL << wire.tx->pool->shift;
	struct tx_counts before;
	struct tx_counts after;
	unsigned longest = 0;

	for (unsigned n = 1; n <= LONGEST; n++) {
		struct pio_frame f[LONGEST];
		struct pio_frame own[LONGEST];
		unsigned done;

		while (pio_get(tx, f, n) < n)
			fail_msg("no %u frames", n);
		memcpy(own, f, sizeof(own));
		for (unsigned i = 0; i < n && across; i++) {
			uint64_t at = (uint64_t)(f[i].data - wire.tx->pool->base);

			f[i].data = wire.tx->pool->base + (at & ~(slot - 1)) + PAGE - PART / 2;
		}
		fill_chain(f, n, PART, n);
		tx_counts_read(&tx->stats.tx, &before);
		done = pio_tx(tx, f, n);
		tx_counts_read(&tx->stats.tx, &after);
		assert_int_equal(after.queued - before.queued, done == n);
		assert_true(done == n || (!done && n > 1));
		assert_true(longest == n - 1 || !done);
		assert_int_equal(pio_queue_error(tx, NULL), 0);
		pio_put(tx, f, n - done);
		if (!done)
			continue;
		longest = n;
		arrives(n * PART, n);
		while (pio_kick(tx), tx_counts_read(&tx->stats.tx, &after), after.completed < after.queued)
			assert_int_equal(after.dropped_driver, 0);
		assert_int_equal(after.completed_bytes - before.completed_bytes, n * PART);
	}
	return longest;
}

static void what_is_too_long_is_refused(void **state)
{
	unsigned all;
	unsigned longest;

	(void)state;
	open_large();
	all = rig_gettable(wire.tx->tx[0]);
	longest = longest_chain(false);
	assert_true(wire.tx->caps.tx_chains ? longest >= AT_LEAST : longest == 1);
	if (wire.tx->pool->shift > 12) {
		unsigned across = longest_chain(true);

		assert_true(wire.tx->caps.tx_chains ? across >= AT_LEAST / 2 : across == 1);
	}
	completed();
	assert_int_equal(rig_gettable(wire.tx->tx[0]), all);
	close_large();
}

/* A receiver whose frames are smaller than what the link carries gives whole packets, or none. */
static void receive_in_small_frames(uint32_t frame, uint32_t len)
{
	const struct rig_spec spec = {.n_tx = 1, .n_rx = 1, .max_frame = len, .rx_frames = 256};
	unsigned char packet[RIG_PACKET_MAX];
	struct pio_pool *pool;
	struct pio_conf conf;
	struct rig_packet p;
	char names[2][64];

	assert_int_equal(pio_pool_create(&pool, 256, frame, NULL), 0);
	conf = rig_conf(&spec, 0, 1, names[1]);
	conf.max_frame = frame;
	conf.pool = pool;
	wire.rx = rig_open_port(&conf);
	conf = rig_conf(&spec, 0, 0, names[0]);
	wire.tx = rig_open_port(&conf);
	for (uint32_t number = 0; number < 600; number += 2) {
		rig_fill(packet, len, 1, number);
		rig_send_packet(wire.tx->tx[0], packet, len);
		rig_fill(packet, RIG_MIN_LEN, 1, number + 1);
		rig_send_packet(wire.tx->tx[0], packet, RIG_MIN_LEN);
		p = rig_receive_packet(wire.rx->rx[0]);
		if (p.number == number) {
			assert_int_equal(p.len, len);
			assert_true(p.frames == 1 || wire.rx->caps.rx_chains);
			p = rig_receive_packet(wire.rx->rx[0]);
		} else {
			assert_false(wire.rx->caps.rx_chains);
		}
		assert_int_equal(p.number, number + 1);
		assert_int_equal(p.len, RIG_MIN_LEN);
		assert_int_equal(p.frames, 1);
	}
	rig_receive_none(wire.rx->rx[0]);
	rig_close(&wire);
	pio_pool_destroy(pool);
}

static void chains_are_received_or_not(void **state)
{
	(void)state;
	if (rig_subject->kind != WIRE_VETH)
		rig_skip("the two ends are one port: nothing longer than its frames can arrive");
	receive_in_small_frames(200, 1514);
	rig_link_mtu(0, 1760);
	receive_in_small_frames(1600, 1774);
	if (!rig_can_large())
		return;
	rig_link_mtu(0, RIG_LARGE_MTU);
	receive_in_small_frames(200, RIG_LARGE_LEN);
	receive_in_small_frames(1514, RIG_LARGE_LEN);
	receive_in_small_frames(2500, RIG_LARGE_LEN);
	rig_link_mtu(0, 1500);
}

int conform_chains(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_sent_or_refused),
		cmocka_unit_test(half_a_packet_is_not_taken),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(chains_are_received_or_not),
	};

	return RIG_RUN("chains", tests);
}
