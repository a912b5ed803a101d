/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that cross ports: received on wire 0, sent on wire 1, both on one pool, by a thread of their own. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>

#define PACKETS   6000U
#define IN_FLIGHT 100U
#define FRAMES    256U
#define POOL      16384U /* holds what any backend takes by default */
#define GROWTH    40U

static struct pio_pool *pool;
static struct rig_wire from, to;

struct forwarder {
	_Atomic bool stop;
	uint32_t forwarded;
	unsigned left; /* frames not given away at the end */
};

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

static void frames_cross_ports_and_find_home(void **state)
{
	struct rig_spec on_pool = {.n_tx = 1, .n_rx = 1, .tx_frames = FRAMES};
	struct forwarder w = {0};
	struct arrivals a = {0};
	struct tx_counts c;
	pthread_t thread;
	unsigned before[2];

	(void)state;
	rig_needs_receiver();
	assert_int_equal(pio_pool_create(&pool, POOL, 1600, NULL), 0);
	on_pool.pool = pool;
	rig_open(&from, 0, &on_pool);
	rig_open(&to, 1, &on_pool);
	before[0] = rig_gettable(from.tx->tx[0]);
	before[1] = rig_gettable(to.tx->tx[0]);
	assert_int_equal(pthread_create(&thread, NULL, forward, &w), 0);
	for (uint32_t number = 0; number < PACKETS; number++) {
		unsigned char packet[PACKET_MAX];

		rig_fill(packet, RIG_MIN_LEN + number % 100, 1, number);
		rig_send_packet(from.tx->tx[0], packet, RIG_MIN_LEN + number % 100);
		if (number % IN_FLIGHT == IN_FLIGHT - 1)
			rig_receive(to.rx, IN_FLIGHT / 5 * 4, note, &a);
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(a.n, PACKETS / 5 * 4);
	assert_int_equal(w.forwarded, a.n);
	assert_int_equal(w.left, 0);
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
		cmocka_unit_test(frames_cross_ports_and_find_home),
		cmocka_unit_test(put_brings_frames_home),
	};

	return cmocka_run_group_tests_name("forward", tests, NULL, NULL);
}
