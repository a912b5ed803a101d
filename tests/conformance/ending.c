/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: what drain, stop and the arrival times say is what happened. */
#include "rig.h"

#define PACKETS 500U   /* what any wire holds */
#define FLOOD   20000U /* of full size: more than a kernel's ring of few frames holds */
#define BACKLOG 100U   /* ms: for what is still in the kernel's backlog, or late on purpose */
#define PAUSE   60U    /* ms: an arrival time may be off by less */

static struct rig_wire wire;

static void count(void *arg, struct pio_queue *q, const struct pio_frame *f)
{
	uint32_t *by_queue = arg;
	uint16_t flow;

	rig_check(f->data, f->len, &flow);
	by_queue[q->index]++;
}

/* Takes all there is; the numbers are below `end` and rise. */
static uint32_t receive_all(uint32_t from, uint32_t end)
{
	struct pio_queue *rx = wire.rx->rx[0];
	struct pio_frame f[RIG_BURST];
	uint32_t received = 0;
	unsigned n;

	while ((n = pio_rx(rx, f, RIG_BURST))) {
		for (unsigned i = 0; i < n; i++) {
			uint16_t flow;
			uint32_t number = rig_check(f[i].data, f[i].len, &flow);

			assert_true(number >= from && number < end);
			from = number + 1;
		}
		pio_put(rx, f, n);
		received += n;
	}
	return received;
}

/* On a link that works everything is known: by the queue, by the kernel's own counter, and at the other end. */
static void drain_knows_of_every_packet(void **state)
{
	struct tx_counts c;
	uint64_t before;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	before = rig_link_sent(0);
	rig_send_numbers(wire.tx->tx[0], 0, PACKETS, RIG_MIN_LEN + 7);
	pio_drain(wire.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, PACKETS);
	assert_int_equal(c.completed, PACKETS);
	assert_int_equal(c.completed_bytes, PACKETS * (RIG_MIN_LEN + 7));
	assert_int_equal(c.dropped_driver + c.dropped_end + c.undecided, 0);
	rig_link_sent_is(0, before, PACKETS);
	if (rig_subject->kind != WIRE_SINK) {
		uint32_t got = 0;

		rig_receive(wire.rx, PACKETS, count, &got);
		assert_int_equal(receive_all(0, 0), 0);
	}
	rig_close(&wire);
}

/* A drain whose time is over says what it knows, and no more. */
static void drain_without_time_claims_nothing(void **state)
{
	uint32_t arrived = 0;
	struct tx_counts c;

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	rig_send_numbers(wire.tx->tx[0], 0, PACKETS, RIG_MIN_LEN);
	pio_drain(wire.tx->tx[0], 0);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	rig_wait_ms(BACKLOG);
	arrived = receive_all(0, PACKETS);
	assert_int_equal(c.queued, PACKETS);
	assert_int_equal(c.queued, c.completed + c.dropped_driver + c.dropped_end + c.undecided);
	assert_in_range(arrived, c.completed, c.completed + c.undecided);
	rig_close(&wire);
}

/* A link that takes nothing, as that end of it is down: drain gives up in time, and what it takes back never leaves. */
static void drain_without_link(unsigned end)
{
	struct pio_frame f[RIG_BURST];
	struct tx_counts c;
	uint64_t before;
	uint64_t took;
	unsigned taken;
	unsigned n;

	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1});
	before = rig_link_sent(0);
	rig_link_set(0, end, false);
	n = pio_get(wire.tx->tx[0], f, RIG_BURST);
	for (unsigned i = 0; i < n; i++) {
		rig_fill(f[i].data, RIG_MIN_LEN, 1, i);
		f[i].len = RIG_MIN_LEN;
	}
	taken = pio_tx(wire.tx->tx[0], f, n);
	pio_put(wire.tx->tx[0], f + taken, n - taken);
	took = clock_mono_ns();
	pio_drain(wire.tx->tx[0], took + 20 * NS_PER_MS);
	took = clock_mono_ns() - took;
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, taken);
	assert_int_equal(c.completed, 0);
	assert_true(c.dropped_driver == 0 || !wire.tx->caps.offers_again);
	assert_int_equal(c.dropped_driver + c.dropped_end + c.undecided, taken);
	assert_true(wire.tx->caps.zero_copy || c.undecided == 0); /* the kernel begins with none without a carrier */
	assert_int_equal(rig_link_sent(0), before);
	assert_in_range(took, c.dropped_driver < taken ? 20 * NS_PER_MS : 0, RIG_WAIT_NS);
	rig_link_set(0, end, true);
	pio_kick(wire.tx->tx[0]);
	rig_wait_ms(2 * PIO_SETTLE_MS);
	assert_in_range(rig_link_sent(0) - before, 0, c.undecided);
	rig_close(&wire);
}

static void drain_tells_what_is_left(void **state)
{
	(void)state;
	rig_link_needed();
	drain_without_link(RIG_PEER);
	drain_without_link(RIG_SENDER);
}

static uint64_t lost(const struct rx_counts *c)
{
	return c->dropped_ring + c->dropped_buffer + c->filtered;
}

/* What was sent before is there or counted; of what is sent after nothing comes, however long one waits. */
static void stop_closes_the_books(void **state)
{
	uint32_t sent = rig_subject->kind == WIRE_VETH ? FLOOD : PACKETS;
	uint32_t late = sent;
	uint32_t received = 0;
	struct pio_queue *rx;
	struct pio_frame f;
	struct tx_counts left;
	struct rx_counts c;
	uint64_t stopped;

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .rx_frames = 256});
	rx = wire.rx->rx[0];
	rig_send_numbers(wire.tx->tx[0], 0, sent, wire.tx->caps.max_frame);
	rig_wait_ms(BACKLOG);
	pio_kick(wire.tx->tx[0]);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &left);
	assert_true(left.dropped_driver == 0 || !wire.tx->caps.offers_again);
	f = rig_receive_one(rx);
	pio_put(rx, &f, 1);
	pio_stop(rx);
	stopped = clock_mono_ns();
	do {
		rig_send_numbers(wire.tx->tx[0], late++, 1, RIG_MIN_LEN);
		assert_true(pio_poll(rx, 1) >= 0);
		rig_wait_ms(1);
	} while (clock_mono_ns() - stopped < PIO_SETTLE_MS * NS_PER_MS);
	received = 1 + receive_all(1, sent);
	pio_sync(rx);
	rx_counts_read(&rx->stats.rx, &c);
	assert_int_equal(c.packets, received);
	assert_int_equal(received + lost(&c), sent - left.dropped_driver);
	assert_true(lost(&c) > 0 || rig_subject->kind != WIRE_VETH);
	for (unsigned i = 0; i < 2 * PIO_SETTLE_MS; i++) {
		rig_send_numbers(wire.tx->tx[0], late++, 1, RIG_MIN_LEN);
		assert_int_equal(pio_poll(rx, 1), 0);
		assert_int_equal(pio_rx(rx, &f, 1), 0);
	}
	pio_sync(rx);
	rx_counts_read(&rx->stats.rx, &c);
	assert_int_equal(received + lost(&c), sent - left.dropped_driver);
	assert_int_equal(pio_queue_error(rx, NULL), 0);
	rig_close(&wire);
}

/* To both receive queues, where the wire spreads. */
static void send_flows(uint32_t number)
{
	unsigned char packet[RIG_MIN_LEN];

	for (uint16_t flow = 0; flow < 64; flow++) {
		rig_fill(packet, RIG_MIN_LEN, flow, number);
		rig_send_packet(wire.tx->tx[rig_subject->spread == SPREAD_BY_FLOW ? 0 : flow % 2], packet, RIG_MIN_LEN);
	}
}

/* The other queues go on, and get nothing that was the stopped one's. */
static void stop_is_of_one_queue(void **state)
{
	uint32_t before[2] = {0};
	uint32_t after[2] = {0};

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 2, .n_rx = 2});
	send_flows(0);
	rig_receive(wire.rx, 64, count, before);
	assert_true(before[0] && (before[1] || rig_subject->spread == SPREAD_UNSAID));
	pio_stop(wire.rx->rx[0]);
	send_flows(1);
	rig_receive(wire.rx, before[1], count, after);
	rig_wait_ms(PIO_SETTLE_MS);
	for (unsigned i = 0; i < 2; i++) {
		struct pio_frame f;

		assert_int_equal(pio_rx(wire.rx->rx[i], &f, 1), 0);
	}
	assert_int_equal(after[0], 0);
	rig_close(&wire);
}

/* Of two bursts, both received long after the second: when they came; a port that does not know says when it took them.
 */
static void check_arrival_times(bool ask)
{
	uint64_t wall[3];
	uint64_t first;
	uint64_t last;
	uint32_t got = 0;
	struct pio_queue *rx;

	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .times = ask});
	rx = wire.rx->rx[0];
	if (ask) /* none of the subjects is a port that cannot */
		assert_true(wire.rx->caps.arrivals && wire.rx->caps.arrivals_by);
	assert_true(rx->first_ns == 0 && rx->last_ns == 0);
	rig_wait_ms(PAUSE);
	for (unsigned burst = 0; burst < 2; burst++) {
		wall[burst] = clock_wall_ns();
		rig_send_numbers(wire.tx->tx[0], burst * 20, 20, RIG_MIN_LEN);
		rig_wait_ms(PAUSE);
	}
	wall[2] = clock_wall_ns();
	assert_true(rx->first_ns == 0 && rx->last_ns == 0);
	rig_receive(wire.rx, 40, count, &got);
	first = rx->first_ns;
	last = rx->last_ns;
	if (wire.rx->caps.arrivals) {
		assert_in_range(first, wall[0], wall[1]);
		assert_in_range(last, wall[1], wall[2]);
	} else {
		assert_in_range(first, wall[2], clock_wall_ns());
		assert_in_range(last, first, clock_wall_ns());
	}
	rig_send_numbers(wire.tx->tx[0], 40, 1, RIG_MIN_LEN);
	rig_receive(wire.rx, 1, count, &got);
	assert_true(rx->first_ns == first && rx->last_ns > last && rx->last_ns <= clock_wall_ns());
	rig_close(&wire);
}

static void arrival_times_are_those_of_the_wire(void **state)
{
	(void)state;
	rig_needs_receiver();
	check_arrival_times(false);
	check_arrival_times(true);
}

static uint64_t clock_of_arrivals(void)
{
	return wire.rx->caps.arrivals == PIO_CLOCK_WALL ? clock_wall_ns() : clock_mono_ns();
}

static uint64_t lost_so_far(struct pio_queue *rx)
{
	struct rx_counts c;

	pio_sync(rx);
	rx_counts_read(&rx->stats.rx, &c);
	return lost(&c);
}

/*
 * Three bursts, all received long after the last: each packet has the time of its own, and not that of one that was in
 * its frame before. There are few frames, so that they come round.
 */
static void each_packet_has_a_time(void **state)
{
	enum { ROUNDS = 6, BURSTS = 3, EACH = 20 };

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .rx_frames = 256, .times = true});
	struct pio_queue *rx = wire.rx->rx[0];
	uint64_t in_all = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t sent[BURSTS + 1]; /* and when the last one was long over */
		uint64_t arrivals[RIG_BURST];
		const uint64_t were_lost = lost_so_far(rx);
		uint64_t before = 0;
		unsigned came = 0;

		for (unsigned burst = 0; burst < BURSTS; burst++) {
			sent[burst] = clock_of_arrivals();
			rig_send_numbers(wire.tx->tx[0], burst * EACH, EACH, RIG_MIN_LEN);
			rig_wait_ms(PAUSE);
		}
		sent[BURSTS] = clock_of_arrivals();
		rx->arrivals_ns = arrivals;
		while (came < BURSTS * EACH) {
			struct pio_frame f[RIG_BURST];
			unsigned n = pio_rx(rx, f, RIG_BURST);

			for (unsigned i = 0; i < n; i++) {
				uint16_t flow;
				const uint32_t number = rig_check(f[i].data, f[i].len, &flow);
				const uint64_t *window = &sent[number / EACH];

				assert_in_range(arrivals[i], window[0], window[1]);
				assert_true(arrivals[i] >= before);
				before = arrivals[i];
				assert_int_equal(f[i].flags & PIO_MORE, 0);
			}
			pio_put(rx, f, n);
			came += n;
			if (!n && pio_poll(rx, 500) == 0)
				break;
		}
		/* A sender that is slow fills a kernel's ring with few packets. */
		assert_int_equal(came + lost_so_far(rx) - were_lost, BURSTS * EACH);
		in_all += came;
		rx->arrivals_ns = NULL;
		rig_receive_none(rx); /* and the frames are the device's again */
	}
	assert_true(in_all > ROUNDS * BURSTS * EACH / 2);
	rig_close(&wire);
}

int conform_ending(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drain_knows_of_every_packet), cmocka_unit_test(drain_without_time_claims_nothing),
		cmocka_unit_test(drain_tells_what_is_left),    cmocka_unit_test(stop_closes_the_books),
		cmocka_unit_test(stop_is_of_one_queue),        cmocka_unit_test(arrival_times_are_those_of_the_wire),
		cmocka_unit_test(each_packet_has_a_time),
	};

	return RIG_RUN("ending", tests);
}
