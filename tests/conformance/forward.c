/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that cross ports: received on wire 0, sent on wire 1, both on one pool, by a thread of their own. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>

#define PACKETS   6000U
#define IN_FLIGHT 100U
#define FRAMES    256U
#define RX_FRAMES 1024U
#define GROWTH    40U

static struct pio_pool *pool;
static struct rig_wire from, to;

static struct forwarder {
	pthread_t thread;
	bool runs;
	_Atomic bool stop;
	uint32_t forwarded;
	unsigned left; /* frames not given away at the end */
} forwarder;

/* Every other packet grows at its head, as under a tunnel header, and one in five is put back instead. */
static void *forward(void *arg)
{
	struct forwarder *w = arg;
	struct pio_queue *in = from.rx->rx[0];
	struct pio_queue *out = to.tx->tx[0];
	struct pio_frame f[RIG_BURST];

	while (!atomic_load(&w->stop)) {
		unsigned n = pio_rx(in, f, RIG_BURST);
		unsigned keep = 0;
		unsigned sent = 0;

		for (unsigned i = 0; i < n; i++) {
			uint16_t flow;
			uint32_t number = rig_check(f[i].data, f[i].len, &flow);

			if (number % 5 == 4) {
				pio_put(in, &f[i], 1);
				continue;
			}
			if (number % 2) {
				f[i].data -= GROWTH;
				f[i].len += GROWTH;
				rig_fill(f[i].data, f[i].len, flow, number);
			}
			f[keep++] = f[i];
		}
		while (sent < keep && !atomic_load(&w->stop)) {
			sent += pio_tx(out, f + sent, keep - sent);
			pio_kick(out);
		}
		w->forwarded += sent;
		w->left = keep - sent;
		if (!n)
			pio_poll(in, 1);
	}
	pio_drain(out, clock_mono_ns() + RIG_WAIT_NS);
	return NULL;
}

struct arrivals {
	uint32_t n;
	uint32_t highest;
};

static void note(void *arg, struct pio_queue *q, const struct pio_frame *f)
{
	struct arrivals *a = arg;
	uint16_t flow;
	uint32_t number = rig_check(f->data, f->len, &flow);

	(void)q;
	assert_true(number >= a->highest);
	assert_int_not_equal(number % 5, 4);
	assert_int_equal(f->len, RIG_MIN_LEN + number % 100 + (number % 2 ? GROWTH : 0));
	a->highest = number + 1;
	a->n++;
}

static void start_forwarder(void)
{
	forwarder = (struct forwarder){.runs = true};
	assert_int_equal(pthread_create(&forwarder.thread, NULL, forward, &forwarder), 0);
}

static void stop_forwarder(void)
{
	atomic_store(&forwarder.stop, true);
	pthread_join(forwarder.thread, NULL);
	forwarder.runs = false;
}

/* Before the ports are closed under it. */
static int stop_if_it_runs(void **state)
{
	(void)state;
	if (forwarder.runs)
		stop_forwarder();
	return 0;
}

/* From wire 0 on ports of one subject to wire 1 on ports of another. */
static void forward_between(const struct subject *in, const struct subject *out, uint32_t packets)
{
	struct rig_spec on_pool = {.n_tx = 1, .n_rx = 1, .tx_frames = FRAMES, .rx_frames = RX_FRAMES};
	struct arrivals a = {0};
	struct tx_counts c;
	unsigned before[2];

	assert_int_equal(pio_pool_create(&pool, 2 * (FRAMES + RX_FRAMES), 1600, NULL), 0);
	on_pool.pool = pool;
	on_pool.as = in;
	rig_open(&from, 0, &on_pool);
	on_pool.as = out;
	rig_open(&to, 1, &on_pool);
	before[0] = rig_gettable(from.tx->tx[0]);
	before[1] = rig_gettable(to.tx->tx[0]);
	start_forwarder();
	for (uint32_t number = 0; number < packets; number++) {
		unsigned char packet[PACKET_MAX];

		rig_fill(packet, RIG_MIN_LEN + number % 100, 1, number);
		rig_send_packet(from.tx->tx[0], packet, RIG_MIN_LEN + number % 100);
		if (number % IN_FLIGHT == IN_FLIGHT - 1)
			rig_receive(to.rx, IN_FLIGHT / 5 * 4, note, &a);
	}
	stop_forwarder();
	assert_int_equal(a.n, packets / 5 * 4);
	assert_int_equal(forwarder.forwarded, a.n);
	assert_int_equal(forwarder.left, 0);
	pio_drain(from.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	/* Sent frames are home: none strayed to the queue that sent them. */
	assert_int_equal(rig_gettable(from.tx->tx[0]), before[0]);
	assert_int_equal(rig_gettable(to.tx->tx[0]), before[1]);
	tx_counts_read(&to.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, a.n);
	assert_int_equal(c.completed, a.n);
	rig_close(&to);
	rig_close(&from);
	pio_pool_destroy(pool);
}

static void frames_cross_ports_and_find_home(void **state)
{
	(void)state;
	rig_needs_receiver();
	forward_between(rig_subject, rig_subject, PACKETS);
}

/* Ports of two backends on one pool, both ways. */
static void frames_cross_backends(void **state)
{
	static const struct subject others[] = {
		{"loop", WIRE_INSIDE, SPREAD_BY_FLOW, "loop:"},
		{"afpacket", WIRE_VETH, SPREAD_BY_FLOW, "afpacket:%s"},
	};

	(void)state;
	rig_link_needed();
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		forward_between(&others[i], rig_subject, PACKETS / 4);
		forward_between(rig_subject, &others[i], PACKETS / 4);
	}
}

/* The next packet, while the sender goes on with what it holds. */
static struct rig_packet arrival(struct pio_queue *rx, struct pio_queue *tx)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;

	while (pio_poll(rx, 1) == 0 && clock_mono_ns() < deadline)
		pio_kick(tx);
	return rig_receive_packet(rx);
}

/* While the link is down the sender holds what it was given: the frame itself, or a copy of its own. */
static void crossing_is_by_reference_where_it_says(void **state)
{
	struct rig_spec on_pool = {.n_tx = 1, .n_rx = 1, .tx_frames = 64, .rx_frames = 64};
	struct rig_packet p;
	struct pio_frame f;
	unsigned before;

	(void)state;
	rig_link_needed();
	assert_int_equal(pio_pool_create(&pool, 256, 1600, NULL), 0);
	on_pool.pool = pool;
	rig_open(&to, 1, &on_pool);
	rig_open(&from, 0, &on_pool);
	before = rig_gettable(to.tx->tx[0]);
	rig_send_numbers(from.tx->tx[0], 7, 1, 500);
	f = rig_receive_one(from.rx->rx[0]);
	rig_link_set(1, RIG_SENDER, false);
	if (pio_tx(to.tx->tx[0], &f, 1)) {
		pio_kick(to.tx->tx[0]);
		if (to.tx->caps.crosses_by_reference) {
			assert_int_equal(rig_gettable(to.tx->tx[0]), before);
			/* What is changed in place is what is sent. */
			rig_fill(f.data, 500, 1, 8);
		}
		rig_link_set(1, RIG_SENDER, true);
		p = arrival(to.rx->rx[0], to.tx->tx[0]);
		assert_int_equal(p.number, to.tx->caps.crosses_by_reference ? 8 : 7);
	} else {
		assert_false(to.tx->caps.crosses_by_reference);
		pio_put(from.rx->rx[0], &f, 1);
		rig_link_set(1, RIG_SENDER, true);
	}
	pio_drain(to.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	assert_int_equal(rig_gettable(to.tx->tx[0]), before);
	rig_close(&to);
	rig_close(&from);
	pio_pool_destroy(pool);
}

/* Large packets in several small frames, more often than there are frames. */
static void chains_cross_ports(void **state)
{
	struct rig_spec on_pool = {.n_tx = 1, .n_rx = 1, .tx_frames = 64, .rx_frames = 256};
	unsigned before;

	(void)state;
	rig_link_needed();
	rig_large_needed();
	rig_link_mtu(0, RIG_LARGE_MTU);
	rig_link_mtu(1, RIG_LARGE_MTU);
	assert_int_equal(pio_pool_create(&pool, 2 * (64 + 256), 1514, NULL), 0);
	on_pool.pool = pool;
	rig_open(&to, 1, &on_pool);
	/* The first sender makes them of one large frame each. */
	on_pool = (struct rig_spec){.n_tx = 1, .max_frame = RIG_LARGE_LEN};
	rig_open(&from, 0, &on_pool);
	struct pio_port *sender = from.tx;

	on_pool = (struct rig_spec){.n_rx = 1, .rx_frames = 256, .pool = pool};
	rig_open(&from, 0, &on_pool);
	before = rig_gettable(to.tx->tx[0]);
	for (uint32_t number = 0; number < 300 && to.tx->caps.tx_chains && from.rx->caps.rx_chains; number++) {
		struct pio_frame f[RIG_BURST];
		uint32_t len = RIG_LARGE_LEN - number * 7;
		struct rig_packet p;
		unsigned n = 0;

		rig_send_numbers(sender->tx[0], number, 1, len);
		do
			f[n] = rig_receive_one(from.rx->rx[0]);
		while (f[n++].flags & PIO_MORE);
		rig_send(to.tx->tx[0], f, n);
		p = rig_receive_packet(to.rx->rx[0]);
		assert_int_equal(p.number, number);
		assert_int_equal(p.len, len);
	}
	pio_drain(to.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	assert_int_equal(rig_gettable(to.tx->tx[0]), before);
	rig_close_port(sender);
	rig_close(&from);
	rig_close(&to);
	pio_pool_destroy(pool);
	rig_link_mtu(0, 1500);
	rig_link_mtu(1, 1500);
}

static void put_brings_frames_home(void **state)
{
	struct rig_spec on_pool = {.n_tx = 1, .n_rx = 1, .tx_frames = FRAMES, .rx_frames = FRAMES};
	unsigned before[2];

	(void)state;
	rig_needs_receiver();
	assert_int_equal(pio_pool_create(&pool, 4 * FRAMES, 1600, NULL), 0);
	on_pool.pool = pool;
	rig_open(&from, 0, &on_pool);
	rig_open(&to, 1, &on_pool);
	before[0] = rig_gettable(from.tx->tx[0]);
	before[1] = rig_gettable(to.tx->tx[0]);
	for (uint32_t number = 0; number < 3 * FRAMES; number++) {
		unsigned char packet[RIG_MIN_LEN];
		struct pio_frame f;

		rig_fill(packet, RIG_MIN_LEN, 1, number);
		rig_send_packet(from.tx->tx[0], packet, RIG_MIN_LEN);
		f = rig_receive_one(from.rx->rx[0]);
		pio_put(to.tx->tx[0], &f, 1); /* not the queue it came from */
	}
	assert_int_equal(rig_gettable(from.tx->tx[0]), before[0]);
	assert_int_equal(rig_gettable(to.tx->tx[0]), before[1]);
	rig_close(&to);
	rig_close(&from);
	pio_pool_destroy(pool);
}

int conform_forward(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(frames_cross_ports_and_find_home, stop_if_it_runs),
		cmocka_unit_test_teardown(frames_cross_backends, stop_if_it_runs),
		cmocka_unit_test(crossing_is_by_reference_where_it_says),
		cmocka_unit_test(chains_cross_ports),
		cmocka_unit_test(put_brings_frames_home),
	};

	return RIG_RUN("forward", tests);
}
