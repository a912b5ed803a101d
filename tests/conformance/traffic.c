/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives: all of it, as it was sent, in order, on the right queue. */
#include "rig.h"

#include <stdlib.h>

#define FLOWS  64U
#define QUEUES 4U

static struct rig_wire wire;

static void open_wire(uint32_t n_tx, uint32_t n_rx)
{
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = n_tx, .n_rx = n_rx});
}

struct arrivals {
	uint32_t n;
	uint32_t next[FLOWS * QUEUES];  /* by flow: the number that comes next */
	uint32_t queue[FLOWS * QUEUES]; /* by flow: the receive queue, plus 1 */
	uint32_t by_queue[QUEUES];
	uint32_t len; /* of all; 0: not looked at */
	uint64_t bytes;
};

static void note(void *arg, struct pio_queue *q, const struct pio_frame *f)
{
	struct arrivals *a = arg;
	uint16_t flow;
	uint32_t number = rig_check(f->data, f->len, &flow);

	assert_true(flow < FLOWS * QUEUES);
	assert_int_equal(number, a->next[flow]);
	a->next[flow]++;
	assert_true(!a->queue[flow] || a->queue[flow] == q->index + 1);
	a->queue[flow] = q->index + 1;
	a->by_queue[q->index]++;
	assert_true(!a->len || f->len == a->len);
	a->bytes += f->len;
	a->n++;
}

static void every_size_arrives_whole_and_in_order(void **state)
{
	unsigned char packet[PACKET_MAX];
	struct arrivals a = {0};

	(void)state;
	open_wire(1, 1);
	for (uint32_t len = RIG_MIN_LEN; len <= wire.tx->caps.max_frame; len++) {
		rig_fill(packet, len, 3, len - RIG_MIN_LEN);
		rig_send_packet(wire.tx->tx[0], packet, len);
		a.len = len;
		/* one by one, then in heaps */
		if (len < 300 || len % 100 == 0 || len == wire.tx->caps.max_frame) {
			a.len = len < 300 ? len : 0;
			rig_receive(wire.rx, len + 1 - RIG_MIN_LEN - a.n, note, &a);
		}
	}
	assert_int_equal(a.n, wire.tx->caps.max_frame - RIG_MIN_LEN + 1);
	rig_close(&wire);
}

/* Many times more packets than any queue has frames. */
static void nothing_is_lost_over_many_rounds(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	struct arrivals a = {.len = RIG_MIN_LEN};
	struct rx_counts c;

	(void)state;
	open_wire(1, 1);
	for (uint32_t number = 0; number < 20000; number++) {
		rig_fill(packet, RIG_MIN_LEN, (uint16_t)(number % FLOWS), number / FLOWS);
		rig_send_packet(wire.tx->tx[0], packet, RIG_MIN_LEN);
		if (number % 200 == 199)
			rig_receive(wire.rx, 200, note, &a);
	}
	pio_sync(wire.rx->rx[0]);
	rx_counts_read(&wire.rx->rx[0]->stats.rx, &c);
	assert_int_equal(c.packets, 20000);
	assert_int_equal(c.bytes, a.bytes);
	assert_int_equal(c.dropped_ring + c.dropped_buffer + c.filtered, 0);
	assert_in_range(c.batches, 1, c.packets);
	rig_close(&wire);
}

/* The device's own queues get what the device gives them; shared ones get flows. */
static void a_flow_stays_on_its_queue(void **state)
{
	const enum rig_spread spread = rig_subject->spread;
	unsigned n_tx = spread == SPREAD_BY_FLOW ? 1 : QUEUES;
	unsigned char packet[RIG_MIN_LEN];
	struct arrivals a = {0};
	unsigned used = 0;

	(void)state;
	open_wire(n_tx, QUEUES);
	assert_int_equal(wire.rx->backend->rx_by_device, spread != SPREAD_BY_FLOW);
	for (uint32_t number = 0; number < 8; number++)
		for (uint16_t flow = 0; flow < FLOWS; flow++) {
			rig_fill(packet, RIG_MIN_LEN, flow, number);
			rig_send_packet(wire.tx->tx[flow % n_tx], packet, RIG_MIN_LEN);
			if (number % 2 && flow == FLOWS - 1)
				rig_receive(wire.rx, 2 * FLOWS, note, &a);
		}
	for (uint16_t flow = 0; flow < FLOWS; flow++) {
		assert_int_equal(a.next[flow], 8);
		assert_true(spread != SPREAD_BY_SENDER || a.queue[flow] == flow % n_tx + 1);
	}
	for (unsigned i = 0; i < QUEUES; i++)
		used += a.by_queue[i] > 0;
	assert_true(used > 1 || spread == SPREAD_UNSAID);
	rig_close(&wire);
}

static void every_transmit_queue_sends(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	struct arrivals a = {0};

	(void)state;
	open_wire(QUEUES, rig_subject->spread == SPREAD_BY_FLOW ? 1 : QUEUES);
	for (uint32_t number = 0; number < 8; number++)
		for (unsigned q = 0; q < QUEUES; q++)
			for (unsigned i = 0; i < 8; i++) {
				uint16_t flow = (uint16_t)(q * FLOWS + i);

				rig_fill(packet, RIG_MIN_LEN, flow, number);
				rig_send_packet(wire.tx->tx[q], packet, RIG_MIN_LEN);
			}
	rig_receive(wire.rx, 8 * QUEUES * 8, note, &a);
	for (unsigned q = 0; q < QUEUES; q++)
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(a.next[q * FLOWS + i], 8);
	rig_close(&wire);
}

/* Tags and their priority bits are in the data, as on the wire; nothing is cut off or added. */
static void tags_arrive_as_they_were_sent(void **state)
{
	static const struct packet cases[] = {
		{.family = 4, .payload = 30, .tag = {PACKET_TAG(0xe064)}},
		{.family = 6, .payload = 30, .tag = {PACKET_TAG(0x1fff)}},
		{.family = 4, .payload = 30, .tag = {PACKET_SERVICE_TAG(0x3064), PACKET_TAG(0x4002)}},
		{.family = 4, .payload = 30, .tag = {PACKET_TAG(5), PACKET_TAG(6), PACKET_TAG(7)}},
		{.family = 4, .payload = 30, .tag = {PACKET_TAG(0)}},
		{.type = 0x88b5, .payload = 46, .tag = {PACKET_SERVICE_TAG(9)}},
		{.type = 0x0100, .payload = 256},
	};

	(void)state;
	open_wire(1, 1);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char packet[PACKET_MAX];
		uint32_t len = packet_build(&cases[i], packet);
		struct pio_frame f;

		rig_send_packet(wire.tx->tx[0], packet, len);
		f = rig_receive_one(wire.rx->rx[0]);
		assert_int_equal(f.len, len);
		assert_memory_equal(f.data, packet, len);
		pio_put(wire.rx->rx[0], &f, 1);
	}
	rig_close(&wire);
}

/* Small and largest ones by turns. */
static uint32_t varied_len(unsigned i)
{
	return i % 2 ? wire.tx->caps.max_frame - i : RIG_MIN_LEN + i;
}

/* A received frame is a loan: neither what arrives later nor what is written around it may show in another. */
static void room_around_received_frames_is_theirs(void **state)
{
	struct pio_frame f[RIG_BURST];
	unsigned char packet[PACKET_MAX];
	const struct pio_caps *caps;
	struct pio_queue *q;

	(void)state;
	open_wire(1, 1);
	q = wire.rx->rx[0];
	caps = &wire.rx->caps;
	for (unsigned half = 0; half < 2; half++) {
		for (unsigned i = half * RIG_BURST / 2; i < (half + 1) * RIG_BURST / 2; i++) {
			rig_fill(packet, varied_len(i), 1, i);
			rig_send_packet(wire.tx->tx[0], packet, varied_len(i));
		}
		for (unsigned i = half * RIG_BURST / 2; i < (half + 1) * RIG_BURST / 2; i++) {
			f[i] = rig_receive_one(q);
			assert_int_equal(f[i].len, varied_len(i));
			memset(f[i].data - caps->headroom, 0xee, caps->headroom);
			memset(f[i].data + f[i].len, 0xee, caps->tailroom);
		}
	}
	for (unsigned i = 0; i < RIG_BURST; i++) {
		unsigned char *room = f[i].data - caps->headroom;
		unsigned char *end = f[i].data + f[i].len;
		uint16_t flow;

		assert_int_equal(rig_check(f[i].data, f[i].len, &flow), i);
		for (unsigned k = 0; k < caps->headroom; k++)
			assert_int_equal(room[k], 0xee);
		for (unsigned k = 0; k < caps->tailroom; k++)
			assert_int_equal(end[k], 0xee);
		assert_int_not_equal(pio_slot_of(wire.rx->pool, room, caps->headroom + f[i].len + caps->tailroom),
				     UINT32_MAX);
	}
	pio_put(q, f, RIG_BURST);
	rig_close(&wire);
}

/* What was asked for is what there is. */
static void frame_sizes_can_be_chosen(void **state)
{
	static const uint32_t sizes[] = {60, 100, 1000, 1514};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char packet[PACKET_MAX];
		struct pio_frame f;

		rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .max_frame = sizes[i]});
		assert_int_equal(wire.tx->caps.max_frame, sizes[i]);
		rig_fill(packet, sizes[i], 1, 0);
		rig_send_packet(wire.tx->tx[0], packet, sizes[i]);
		if (rig_subject->kind != WIRE_SINK) {
			uint16_t flow;

			f = rig_receive_one(wire.rx->rx[0]);
			assert_int_equal(f.len, sizes[i]);
			rig_check(f.data, f.len, &flow);
			pio_put(wire.rx->rx[0], &f, 1);
		}
		assert_int_equal(pio_get(wire.tx->tx[0], &f, 1), 1);
		f.len = sizes[i] + 1;
		assert_int_equal(pio_tx(wire.tx->tx[0], &f, 1), 0);
		pio_put(wire.tx->tx[0], &f, 1);
		rig_close(&wire);
	}
}

int conform_traffic(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_arrives_whole_and_in_order),
		cmocka_unit_test(nothing_is_lost_over_many_rounds),
		cmocka_unit_test(a_flow_stays_on_its_queue),
		cmocka_unit_test(every_transmit_queue_sends),
		cmocka_unit_test(tags_arrive_as_they_were_sent),
		cmocka_unit_test(room_around_received_frames_is_theirs),
		cmocka_unit_test(frame_sizes_can_be_chosen),
	};

	return RIG_RUN("traffic", tests);
}
