/* SPDX-License-Identifier: Apache-2.0 */
/* Two senders and two receivers, each in a thread of its own: nothing is lost, and a thread sanitizer is content. */
#include "loops.h"

#include <pthread.h>

#define PACKETS 20000U
#define FLOWS   16U

static struct pio_port *port;
static _Atomic uint32_t received;
static _Atomic uint32_t disorder;

static void *sender(void *arg)
{
	struct pio_queue *q = arg;
	uint32_t sent = 0;

	while (sent < PACKETS) {
		struct pio_frame f[LOOP_BURST];
		unsigned n = pio_get(q, f, LOOP_BURST < PACKETS - sent ? LOOP_BURST : PACKETS - sent);
		unsigned done;

		for (unsigned i = 0; i < n; i++)
			f[i].len =
				numbered_packet(f[i].data, (uint16_t)(q->index * FLOWS + (sent + i) % FLOWS), sent + i);
		done = pio_tx(q, f, n);
		pio_put(q, f + done, n - done);
		sent += done;
		pio_kick(q);
	}
	pio_drain(q, clock_mono_ns() + NS_PER_S);
	return NULL;
}

static void *receiver(void *arg)
{
	struct pio_queue *q = arg;
	uint32_t next[2 * FLOWS] = {0};

	while (atomic_load(&received) < 2 * PACKETS) {
		struct pio_frame f[LOOP_BURST];
		unsigned n;

		if (pio_poll(q, 5) != 1)
			continue;
		n = pio_rx(q, f, LOOP_BURST);
		for (unsigned i = 0; i < n; i++) {
			uint32_t *at = &next[packet_flow(f[i].data) % (2 * FLOWS)];

			if (packet_number(f[i].data) < *at)
				atomic_fetch_add(&disorder, 1);
			*at = packet_number(f[i].data) + 1;
		}
		pio_put(q, f, n);
		atomic_fetch_add(&received, n);
	}
	return NULL;
}

static void run(const char *name)
{
	pthread_t threads[4];
	struct tx_counts sum = {0};

	port = loop_open_ok(name, 2, 2);
	atomic_store(&received, 0);
	atomic_store(&disorder, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, sender, port->tx[i]), 0);
		assert_int_equal(pthread_create(&threads[2 + i], NULL, receiver, port->rx[i]), 0);
	}
	/* A reader of live counters, as the ticker of a run is. */
	while (atomic_load(&received) < 2 * PACKETS) {
		for (unsigned i = 0; i < 2; i++) {
			struct tx_counts c;
			struct loop_counts did;

			tx_counts_read(&port->tx[i]->stats.tx, &c);
			loop_counts_read(&port->loop[i], &did);
			assert_true(c.queued <= PACKETS);
		}
		pio_queue_error(port->tx[0], NULL);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct tx_counts c;

		tx_counts_read(&port->tx[i]->stats.tx, &c);
		tx_counts_add(&sum, &c);
	}
	assert_int_equal(sum.completed, 2 * PACKETS);
	assert_int_equal(atomic_load(&received), 2 * PACKETS);
	pio_close(port);
}

static void plain(void **state)
{
	(void)state;
	run("loop:queues=2,ring=64");
	assert_int_equal(atomic_load(&disorder), 0);
}

static void shaped(void **state)
{
	(void)state;
	run("loop:queues=2,rate=2M,delay=20us");
	assert_int_equal(atomic_load(&disorder), 0);
}

static void reordered(void **state)
{
	(void)state;
	run("loop:queues=2,ring=64,reorder=1%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(shaped),
		cmocka_unit_test(reordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
