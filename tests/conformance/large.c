/* SPDX-License-Identifier: Apache-2.0 */
/* Packets larger than a page, where the link carries them: whole, or not at all. */
#include "rig.h"

static struct rig_wire wire;

static void open_wire(uint32_t tx_frames, uint32_t rx_frames)
{
	rig_needs_receiver();
	rig_large_needed();
	if (rig_subject->kind == WIRE_VETH)
		rig_link_mtu(0, RIG_LARGE_MTU);
	rig_open(&wire, 0,
		 &(struct rig_spec){.n_tx = 1,
				    .n_rx = 1,
				    .tx_frames = tx_frames,
				    .rx_frames = rx_frames,
				    .max_frame = RIG_LARGE_LEN});
}

static void close_wire(void)
{
	rig_close(&wire);
	if (rig_subject->kind == WIRE_VETH)
		rig_link_mtu(0, 1500);
}

/* The packet of that number, in one frame when the port has no chains. */
static void arrives(uint32_t number, uint32_t len)
{
	struct rig_packet p = rig_receive_packet(wire.rx->rx[0]);

	assert_int_equal(p.number, number);
	assert_int_equal(p.len, len);
	assert_true(p.frames == 1 || wire.rx->caps.rx_chains);
}

/* Each size one byte apart around everything that a buffer's end could be, and every so often between. */
static void every_large_size_arrives_whole(void **state)
{
	uint32_t lens[16];
	uint64_t bytes = 0;
	uint32_t n = 0;
	uint32_t arrived = 0;
	struct tx_counts t;
	struct rx_counts r;

	(void)state;
	open_wire(64, 256);
	for (uint32_t len = RIG_MIN_LEN; len <= RIG_LARGE_LEN;) {
		uint32_t in_page = len % 2048;
		bool close = in_page < 8 || in_page >= 1520 || len >= RIG_LARGE_LEN - 8;

		lens[n % 16] = len;
		rig_send_numbers(wire.tx->tx[0], n++, 1, len);
		bytes += len;
		len += close ? 1 : 37;
		for (; arrived < n && (n % 16 == 0 || len > RIG_LARGE_LEN); arrived++)
			arrives(arrived, lens[arrived % 16]);
	}
	pio_drain(wire.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &t);
	rx_counts_read(&wire.rx->rx[0]->stats.rx, &r);
	assert_int_equal(t.queued, n);
	assert_int_equal(t.completed, n);
	assert_int_equal(t.completed_bytes, bytes);
	assert_int_equal(r.packets, n);
	assert_int_equal(r.bytes, bytes);
	close_wire();
}

/* Through rings that hold few, so that packets lie across their ends; one large and one small by turns. */
static void large_ones_go_round_small_rings(void **state)
{
	(void)state;
	open_wire(5, 7);
	for (uint32_t number = 0; number < 500; number++) {
		uint32_t len = number % 2 ? RIG_MIN_LEN : RIG_LARGE_LEN - number;

		rig_send_numbers(wire.tx->tx[0], number, 1, len);
		arrives(number, len);
	}
	rig_receive_none(wire.rx->rx[0]);
	close_wire();
}

/* With frames for one packet and a half: what does not fit is lost whole, and counted as one packet. */
static void a_packet_is_lost_whole(void **state)
{
	const uint32_t sent = 40;
	struct pio_queue *rx;
	uint32_t received = 0;
	uint32_t next = 0;
	struct rx_counts c;
	struct pio_frame f;

	(void)state;
	open_wire(64, 5);
	rx = wire.rx->rx[0];
	if (rig_subject->kind == WIRE_VETH)
		rig_send_numbers(wire.tx->tx[0], 0, sent, RIG_LARGE_LEN);
	for (uint32_t i = 0; i < sent && rig_subject->kind == WIRE_INSIDE; i++) {
		rig_send_numbers(wire.tx->tx[0], i, 1, RIG_LARGE_LEN);
		arrives(i, RIG_LARGE_LEN);
		received++;
	}
	rig_wait_ms(2 * PIO_SETTLE_MS);
	while (pio_poll(rx, 0) == 1) {
		struct rig_packet p = rig_receive_packet(rx);

		assert_int_equal(p.len, RIG_LARGE_LEN);
		assert_true(p.number >= next && p.number < sent);
		next = p.number + 1;
		received++;
		if (!(received % 4))
			rig_wait_ms(2 * PIO_SETTLE_MS);
	}
	assert_int_equal(pio_rx(rx, &f, 1), 0);
	pio_sync(rx);
	rx_counts_read(&rx->stats.rx, &c);
	assert_int_equal(c.packets, received);
	assert_int_equal(received + c.dropped_buffer + c.dropped_ring + c.filtered, sent);
	close_wire();
}

/* More than the transmit ring holds while the link is down: short, and in the end everything arrives. */
static void a_ring_full_of_large_ones_is_sent_in_the_end(void **state)
{
	struct pio_queue *tx;
	struct tx_counts c;
	uint32_t sent = 0;

	(void)state;
	open_wire(512, 2048);
	tx = wire.tx->tx[0];
	if (rig_subject->kind == WIRE_VETH)
		rig_link_set(0, RIG_SENDER, false);
	for (unsigned done = 1; done && sent < 10000;) {
		struct pio_frame f;

		done = pio_get(tx, &f, 1);
		if (!done)
			break;
		f.len = RIG_LARGE_LEN - sent % 3000;
		rig_fill(f.data, f.len, 1, sent);
		done = pio_tx(tx, &f, 1);
		if (!done)
			pio_put(tx, &f, 1);
		sent += done;
	}
	assert_int_equal(pio_queue_error(tx, NULL), 0);
	if (rig_subject->kind == WIRE_VETH)
		rig_link_set(0, RIG_SENDER, true);
	pio_kick(tx);
	for (uint32_t number = 0; number < sent; number++)
		arrives(number, RIG_LARGE_LEN - number % 3000);
	pio_drain(tx, clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&tx->stats.tx, &c);
	assert_int_equal(c.queued, sent);
	assert_int_equal(c.completed, sent);
	rig_receive_none(wire.rx->rx[0]);
	close_wire();
}

int conform_large(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_large_size_arrives_whole),
		cmocka_unit_test(large_ones_go_round_small_rings),
		cmocka_unit_test(a_packet_is_lost_whole),
		cmocka_unit_test(a_ring_full_of_large_ones_is_sent_in_the_end),
	};

	return RIG_RUN("large", tests);
}
