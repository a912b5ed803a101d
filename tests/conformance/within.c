/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that cross the queues of one port, and received ones that go back where they came from. */
#include "rig.h"

#define FRAMES 64U
#define ROUNDS 400U /* many times the frames of any queue */

static struct rig_wire wire;

/* From whichever queue; the frame is the caller's. */
static struct pio_frame receive_any(struct pio_port *port)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	struct pio_frame f;

	for (unsigned i = 0; !pio_rx(port->rx[i % port->n_rx], &f, 1); i++) {
		if (clock_mono_ns() > deadline)
			fail_msg("nothing received");
		pio_poll(port->rx[i % port->n_rx], 0);
	}
	return f;
}

static void assert_is(const struct pio_frame *f, uint32_t len, uint32_t number)
{
	uint16_t flow;

	assert_int_equal(f->len, len);
	assert_false(f->flags & PIO_MORE);
	assert_int_equal(rig_check(f->data, f->len, &flow), number);
}

static void received_frames_can_be_sent_back(void **state)
{
	const struct rig_spec spec = {.n_tx = 2, .n_rx = 2, .tx_frames = FRAMES, .rx_frames = FRAMES, .duplex = true};
	struct pio_port *port;
	unsigned before[2];

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &spec);
	port = wire.rx;
	for (unsigned i = 0; i < 2; i++)
		before[i] = rig_gettable(port->tx[i]);
	for (uint32_t number = 0; number < ROUNDS; number++) {
		uint32_t len = RIG_MIN_LEN + number;
		struct pio_frame f;

		rig_send_numbers(wire.tx->tx[number % 2], number, 1, len);
		f = receive_any(port);
		assert_is(&f, len, number);
		rig_fill(f.data, len, 2, number + 1);
		rig_send(port->tx[number / 2 % 2], &f, 1);
		f = receive_any(wire.tx);
		assert_is(&f, len, number + 1);
		pio_put(wire.tx->rx[0], &f, 1);
	}
	for (unsigned i = 0; i < 2; i++) {
		pio_drain(port->tx[i], clock_mono_ns() + RIG_WAIT_NS);
		assert_int_equal(rig_gettable(port->tx[i]), before[i]);
	}
	rig_close(&wire);
}

static void get_some(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;

	for (unsigned got = 0; (got += pio_get(q, f + got, n - got)) < n; pio_kick(q))
		if (clock_mono_ns() > deadline)
			fail_msg("%u of %u frames", got, n);
}

/* Frames of queue 0 sent on queue 1, between some of its own, as packets of `parts` frames of `part` bytes each. */
static void send_across(unsigned parts, uint32_t part)
{
	struct pio_port *port = wire.tx;
	unsigned before[2];
	struct tx_counts c;

	for (unsigned i = 0; i < 2; i++)
		before[i] = rig_gettable(port->tx[i]);
	for (uint32_t number = 0; number < ROUNDS; number += 2) {
		unsigned char packet[RIG_PACKET_MAX];
		struct pio_frame f[RIG_BURST];

		for (unsigned k = 0; k < 2; k++) {
			rig_fill(packet, parts * part, 1, number + k);
			get_some(port->tx[k], f + k * parts, parts);
			for (unsigned i = 0; i < parts; i++) {
				memcpy(f[k * parts + i].data, packet + i * part, part);
				f[k * parts + i].len = part;
				f[k * parts + i].flags = i + 1 < parts ? PIO_MORE : 0;
			}
		}
		rig_send(port->tx[1], f, 2 * parts);
		for (unsigned k = 0; k < 2 && rig_subject->kind != WIRE_SINK; k++) {
			unsigned from = rig_subject->spread == SPREAD_BY_SENDER ? 1 : 0;
			struct rig_packet p = rig_receive_packet(wire.rx->rx[from]);

			assert_int_equal(p.number, number + k);
			assert_int_equal(p.len, parts * part);
		}
	}
	pio_drain(port->tx[1], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&port->tx[1]->stats.tx, &c);
	assert_int_equal(c.completed, c.queued);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rig_gettable(port->tx[i]), before[i]);
}

/* Queue 1 has no frame left, should it need one: what it then refuses is still the caller's, and can be sent later. */
static void send_across_without_a_frame(uint32_t len)
{
	struct pio_port *port = wire.tx;
	struct pio_frame all[16 * FRAMES];
	unsigned before = rig_gettable(port->tx[0]);
	unsigned n = rig_gettable(port->tx[1]);
	struct pio_frame f[2];
	struct tx_counts c;
	unsigned done;

	assert_true(n <= sizeof(all) / sizeof(all[0]));
	get_some(port->tx[1], all, n);
	get_some(port->tx[0], f, 2);
	for (unsigned i = 0; i < 2; i++) {
		f[i].len = len;
		rig_fill(f[i].data, len, 1, i);
	}
	done = pio_tx(port->tx[1], f, 2);
	assert_int_equal(pio_queue_error(port->tx[1], NULL), 0);
	pio_put(port->tx[1], all, n);
	rig_send(port->tx[1], f + done, 2 - done);
	for (uint32_t number = 0; number < 2 && rig_subject->kind != WIRE_SINK; number++) {
		unsigned to = rig_subject->spread == SPREAD_BY_SENDER ? 1 : 0;

		assert_int_equal(rig_receive_packet(wire.rx->rx[to]).number, number);
	}
	pio_drain(port->tx[1], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&port->tx[1]->stats.tx, &c);
	assert_int_equal(c.queued, 2);
	assert_int_equal(c.completed, 2);
	assert_int_equal(rig_gettable(port->tx[0]), before);
	assert_int_equal(rig_gettable(port->tx[1]), n);
}

static void frames_cross_the_queues_of_a_port(void **state)
{
	struct rig_spec spec = {.n_tx = 2, .n_rx = 1, .tx_frames = FRAMES, .rx_frames = FRAMES};

	(void)state;
	if (rig_subject->spread == SPREAD_BY_SENDER)
		spec.n_rx = 2;
	rig_open(&wire, 0, &spec);
	send_across_without_a_frame(700);
	send_across(1, 700);
	rig_close(&wire);
	if (rig_subject->kind != WIRE_VETH || !rig_can_large())
		return;
	rig_link_mtu(0, RIG_LARGE_MTU);
	spec.max_frame = RIG_LARGE_LEN;
	rig_open(&wire, 0, &spec);
	send_across_without_a_frame(RIG_LARGE_LEN);
	send_across(1, RIG_LARGE_LEN);
	if (wire.tx->caps.tx_chains) {
		rig_close(&wire);
		rig_open(&wire, 0, &spec);
		send_across(3, 2900);
	}
	rig_close(&wire);
	rig_link_mtu(0, 1500);
}

int conform_within(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(received_frames_can_be_sent_back),
		cmocka_unit_test(frames_cross_the_queues_of_a_port),
	};

	return RIG_RUN("within a port", tests);
}
