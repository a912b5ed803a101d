/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: poll, rings that are full, queues that are dead. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static struct rig_wire wire;

static void open_wire(unsigned index)
{
	rig_needs_receiver();
	rig_open(&wire, index, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
}

static void poll_ends_in_time(void **state)
{
	uint64_t start;
	uint64_t took;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	start = clock_mono_ns();
	assert_int_equal(pio_poll(wire.rx->rx[0], 0), 0);
	assert_int_equal(pio_poll(wire.rx->rx[0], 20), 0);
	took = clock_mono_ns() - start;
	assert_true(!wire.rx->caps.blocking_poll || took >= 20 * NS_PER_MS);
	assert_true(took < RIG_WAIT_NS);
	rig_close(&wire);
}

static void *send_one(void *arg)
{
	unsigned char *packet = arg;

	rig_send_packet(wire.tx->tx[0], packet, RIG_MIN_LEN);
	return NULL;
}

static void poll_wakes_when_a_packet_comes(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	uint64_t start = clock_mono_ns();
	pthread_t thread;
	struct pio_frame f;
	int rc;

	(void)state;
	open_wire(0);
	rig_fill(packet, sizeof(packet), 1, 0);
	assert_int_equal(pthread_create(&thread, NULL, send_one, packet), 0);
	while ((rc = pio_poll(wire.rx->rx[0], 20000)) == 0)
		assert_false(wire.rx->caps.blocking_poll);
	assert_int_equal(rc, 1);
	assert_true(clock_mono_ns() - start < 10 * NS_PER_S);
	pthread_join(thread, NULL);
	f = rig_receive_one(wire.rx->rx[0]);
	pio_put(wire.rx->rx[0], &f, 1);
	assert_int_equal(pio_poll(wire.rx->rx[0], 0), 0);
	rig_close(&wire);
}

struct nuisance {
	pthread_t victim;
	_Atomic bool stop;
};

static void ignore(int sig)
{
	(void)sig;
}

/* Again and again, since a signal just before the wait would not end it. */
static void *send_signals(void *arg)
{
	struct nuisance *n = arg;
	const struct timespec pause = {.tv_nsec = 2000000};

	while (!atomic_load(&n->stop)) {
		pthread_kill(n->victim, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void poll_is_ended_by_a_signal(void **state)
{
	struct sigaction act = {.sa_handler = ignore, .sa_flags = SA_RESTART};
	struct nuisance n = {.victim = pthread_self()};
	pthread_t thread;
	int rc = 0;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	if (wire.rx->caps.blocking_poll) {
		assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
		assert_int_equal(pthread_create(&thread, NULL, send_signals, &n), 0);
		rc = pio_poll(wire.rx->rx[0], 20000);
		atomic_store(&n.stop, true);
		pthread_join(thread, NULL);
		assert_int_equal(rc, -EINTR);
		assert_int_equal(pio_queue_error(wire.rx->rx[0], NULL), 0);
	}
	rig_close(&wire);
}

/* Short, with no error; and all goes on when the receiver has made room. */
static void full_ring_is_not_an_error(void **state)
{
	uint32_t sent = 0;
	uint32_t received = 0;
	struct tx_counts c;
	struct pio_frame f[RIG_BURST];

	(void)state;
	if (rig_subject->kind != WIRE_INSIDE)
		skip();
	open_wire(0);
	for (unsigned done = 1; done;) {
		assert_int_equal(pio_get(wire.tx->tx[0], f, 1), 1);
		rig_fill(f->data, RIG_MIN_LEN, 1, sent);
		f->len = RIG_MIN_LEN;
		done = pio_tx(wire.tx->tx[0], f, 1);
		/* a rate holds the sender as well */
		for (uint64_t end = clock_mono_ns() + 5 * NS_PER_MS; !done && clock_mono_ns() < end;)
			done = pio_tx(wire.tx->tx[0], f, 1);
		sent += done;
		assert_true(sent < 1000000);
	}
	assert_int_equal(pio_queue_error(wire.tx->tx[0], NULL), 0);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_true(c.ring_full > 0);
	assert_int_equal(c.queued, sent);
	while (received < sent) {
		struct pio_frame r = rig_receive_one(wire.rx->rx[0]);
		uint16_t flow;

		assert_int_equal(rig_check(r.data, r.len, &flow), received);
		pio_put(wire.rx->rx[0], &r, 1);
		received++;
	}
	rig_send(wire.tx->tx[0], f, 1);
	f[0] = rig_receive_one(wire.rx->rx[0]);
	pio_put(wire.rx->rx[0], f, 1);
	rig_close(&wire);
}

/* Both queues come to say so, and why; nothing hangs and nothing crashes. */
static void dead_queue_says_so(void **state)
{
	uint64_t deadline;
	struct pio_frame f;
	struct err e = {0};
	int rc = 0;

	(void)state;
	if (!rig_can_break())
		skip();
	open_wire(1);
	assert_int_equal(pio_queue_error(wire.tx->tx[0], &e), 0);
	assert_int_equal(pio_queue_error(wire.rx->rx[0], &e), 0);
	rig_break();
	deadline = clock_mono_ns() + RIG_WAIT_NS;
	while (!pio_queue_error(wire.tx->tx[0], NULL) && clock_mono_ns() < deadline) {
		if (pio_get(wire.tx->tx[0], &f, 1)) {
			rig_fill(f.data, RIG_MIN_LEN, 1, 0);
			f.len = RIG_MIN_LEN;
			if (!pio_tx(wire.tx->tx[0], &f, 1))
				pio_put(wire.tx->tx[0], &f, 1);
		}
		pio_kick(wire.tx->tx[0]);
	}
	assert_true(pio_queue_error(wire.tx->tx[0], &e) < 0);
	assert_true(e.code != EXIT_DONE && e.what[0] && e.cause[0] && e.object[0]);
	assert_int_equal(pio_get(wire.tx->tx[0], &f, 1), 1);
	f.len = RIG_MIN_LEN;
	assert_int_equal(pio_tx(wire.tx->tx[0], &f, 1), 0);
	pio_put(wire.tx->tx[0], &f, 1);
	pio_drain(wire.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	while (rc >= 0 && clock_mono_ns() < deadline) {
		if (pio_rx(wire.rx->rx[0], &f, 1))
			pio_put(wire.rx->rx[0], &f, 1);
		rc = pio_poll(wire.rx->rx[0], 10);
	}
	assert_true(rc < 0 && rc != -EINTR);
	assert_int_equal(pio_queue_error(wire.rx->rx[0], &e), rc);
	assert_int_equal(pio_rx(wire.rx->rx[0], &f, 1), 0);
	rig_close(&wire);
	rig_mend();
}

int conform_waiting(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_ends_in_time),         cmocka_unit_test(poll_wakes_when_a_packet_comes),
		cmocka_unit_test(poll_is_ended_by_a_signal), cmocka_unit_test(full_ring_is_not_an_error),
		cmocka_unit_test(dead_queue_says_so),
	};

	return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
