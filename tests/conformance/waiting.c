/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: poll, rings that are full, queues that are dead. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
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
	do
		rc = pio_poll(wire.rx->rx[0], 20000);
	while (rc == 0 && !wire.rx->caps.blocking_poll);
	pthread_join(thread, NULL);
	assert_int_equal(rc, 1);
	assert_true(clock_mono_ns() - start < 10 * NS_PER_S);
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

/* Sends until nothing is taken for `patience` ns; returns how many packets were taken. */
static uint32_t fill_up(uint64_t patience)
{
	struct pio_queue *tx = wire.tx->tx[0];
	uint64_t end = clock_mono_ns() + patience;
	uint32_t sent = 0;

	for (;;) {
		struct pio_frame f;
		unsigned done = 0;

		/* A device that copies refuses frames, one that does not has them all. */
		if (pio_get(tx, &f, 1)) {
			rig_fill(f.data, RIG_MIN_LEN, 1, sent);
			f.len = RIG_MIN_LEN;
			done = pio_tx(tx, &f, 1);
			if (!done)
				pio_put(tx, &f, 1);
		}
		sent += done;
		assert_true(sent < 1000000);
		if (done)
			end = clock_mono_ns() + patience;
		else if (clock_mono_ns() >= end)
			return sent;
	}
}

/*
 * Everything that was taken arrives once and is known as sent, but for what the device dropped. Received as it comes: a
 * trickle fills a kernel's ring by time and not by packets. in_order: not behind a queueing discipline, whose timer
 * sends from one processor while the sender's call does from another.
 */
static void recover(uint32_t sent, uint64_t link_before, bool in_order)
{
	bool *seen = calloc(sent + 1, sizeof(*seen));
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	struct pio_queue *tx = wire.tx->tx[0];
	struct pio_queue *rx = wire.rx->rx[0];
	uint32_t received = 0;
	uint32_t next = 0;
	struct tx_counts c;

	assert_non_null(seen);
	do {
		struct pio_frame f;

		pio_kick(tx);
		while (pio_rx(rx, &f, 1)) {
			uint16_t flow;
			uint32_t number = rig_check(f.data, f.len, &flow);

			assert_true(number < sent && !seen[number]);
			assert_true(!in_order || number >= next);
			seen[number] = true;
			next = number + 1;
			received++;
			pio_put(rx, &f, 1);
		}
		pio_poll(rx, 1);
		tx_counts_read(&tx->stats.tx, &c);
	} while (received < sent - c.dropped_driver && clock_mono_ns() < deadline);
	free(seen);
	pio_drain(tx, deadline);
	tx_counts_read(&tx->stats.tx, &c);
	assert_int_equal(c.queued, sent);
	assert_int_equal(c.completed + c.dropped_driver, sent);
	assert_int_equal(received, c.completed);
	assert_true(c.dropped_driver == 0 || !wire.tx->caps.offers_again);
	assert_int_equal(pio_queue_error(tx, NULL), 0);
	rig_link_sent_is(0, link_before, c.completed);
	rig_receive_none(rx);
}

/* Short, with no error; and all goes on when the receiver, or the link, of which `end` is down, takes packets again. */
static void fill_and_recover(unsigned end)
{
	uint64_t patience = rig_subject->kind == WIRE_INSIDE ? 5 * NS_PER_MS : 0; /* a rate holds the sender as well */
	struct tx_counts c;
	uint64_t before;
	uint32_t sent;

	open_wire(0);
	before = rig_link_sent(0);
	if (rig_subject->kind == WIRE_VETH)
		rig_link_set(0, end, false);
	sent = fill_up(patience);
	assert_true(sent > 0 || rig_subject->kind == WIRE_VETH);
	assert_int_equal(pio_queue_error(wire.tx->tx[0], NULL), 0);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_true(c.ring_full + c.busy > 0);
	assert_int_equal(c.queued, sent);
	if (rig_subject->kind == WIRE_VETH) {
		/* Nothing can have left. */
		assert_int_equal(c.completed + c.dropped_driver, 0);
		assert_int_equal(rig_link_sent(0), before);
		rig_link_set(0, end, true);
	}
	recover(sent, before, true);
	rig_close(&wire);
}

static void full_ring_is_not_an_error(void **state)
{
	bool holds;

	(void)state;
	open_wire(0);
	holds = wire.tx->caps.offers_again;
	rig_close(&wire);
	fill_and_recover(RIG_SENDER);
	if (holds && rig_subject->kind == WIRE_VETH)
		fill_and_recover(RIG_PEER);
}

/* A link that takes packets, but not as fast as they come. */
static void full_queueing_discipline_is_not_an_error(void **state)
{
	const struct rig_spec spec = {.n_tx = 1, .n_rx = 1, .qdisc = true};
	const struct pio_backend *backend;
	const char *device;
	struct tx_counts c;
	struct pio_conf conf;
	struct pio_port *port;
	char name[64];
	uint64_t before;
	uint32_t sent;
	struct err e;

	(void)state;
	rig_link_needed();
	conf = rig_conf(&spec, 0, 0, name);
	pio_name_split(name, NULL, &backend, &device);
	if (backend->no_qdisc) {
		assert_int_equal(pio_open(&conf, &port, &e), -EOPNOTSUPP);
		assert_int_equal(e.code, EXIT_CAPABILITY);
		assert_true(e.cause[0] && e.hint[0]);
		return;
	}
	if (!rig_link_slow(0))
		rig_skip("no token bucket filter here");
	rig_open(&wire, 0, &spec);
	before = rig_link_sent(0);
	sent = fill_up(0);
	assert_true(sent > 0);
	assert_int_equal(pio_queue_error(wire.tx->tx[0], NULL), 0);
	tx_counts_read(&wire.tx->tx[0]->stats.tx, &c);
	assert_true(c.ring_full + c.busy > 0);
	assert_int_equal(c.queued, sent);
	assert_int_equal(c.dropped_driver, 0);
	recover(sent, before, false);
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
	rig_link_needed();
	open_wire(1);
	assert_int_equal(pio_queue_error(wire.tx->tx[0], &e), 0);
	assert_int_equal(pio_queue_error(wire.rx->rx[0], &e), 0);
	rig_link_break();
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
	rig_link_mend();
}

int conform_waiting(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_ends_in_time),
		cmocka_unit_test(poll_wakes_when_a_packet_comes),
		cmocka_unit_test(poll_is_ended_by_a_signal),
		cmocka_unit_test(full_ring_is_not_an_error),
		cmocka_unit_test(full_queueing_discipline_is_not_an_error),
		cmocka_unit_test(dead_queue_says_so),
	};

	return RIG_RUN("waiting", tests);
}
