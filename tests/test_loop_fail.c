/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the loop that fail on purpose. */
#include "loops.h"

#include <errno.h>

static void is_dead(struct pio_queue *q, const char *object, const char *what)
{
	struct err e = {0};

	assert_int_equal(pio_queue_error(q, &e), -EIO);
	assert_int_equal(e.code, EXIT_RUN);
	assert_string_equal(e.what, what);
	assert_string_equal(e.object, object);
	assert_non_null(strstr(e.cause, "after 70 packets"));
}

/* Each way in which the loop takes packets: in bursts that do not end where the queue does. */
static void a_sender(void **state)
{
	static const char *const devices[] = {"loop:queues=2,fail=1@70,sink", "loop:queues=2,fail=1@70",
					      "loop:queues=2,fail=1@70,delay=1ns"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pio_port *port = loop_open_ok(devices[i], 2, 1);
		struct pio_queue *q = port->tx[1];
		char object[64];
		struct pio_frame f[50];

		snprintf(object, sizeof(object), "%s queue 1", devices[i]);
		for (unsigned round = 0; round < 3; round++) {
			static const unsigned takes[] = {50, 20, 0};

			assert_int_equal(pio_get(q, f, 50), 50);
			for (unsigned k = 0; k < 50; k++)
				f[k].len = numbered_packet(f[k].data, 1024, k);
			assert_int_equal(pio_queue_error(q, NULL), 0);
			assert_int_equal(pio_tx(q, f, 50), takes[round]);
			pio_put(q, f + takes[round], 50 - takes[round]);
		}
		is_dead(q, object, "cannot send");
		assert_int_equal(atomic_load(&q->stats.tx.queued), 70);
		assert_int_equal(atomic_load(&q->stats.tx.completed), 70);
		assert_int_equal(atomic_load(&q->stats.tx.errors), 1);
		/* The other one lives. */
		for (unsigned k = 0; k < 100; k++)
			assert_true(send_one(port->tx[0], 1024, k));
		assert_int_equal(pio_queue_error(port->tx[0], NULL), 0);
		assert_int_equal(atomic_load(&port->tx[0]->stats.tx.errors), 0);
		pio_close(port);
	}
}

static void a_receiver(void **state)
{
	struct pio_port *port = loop_open_ok("loop:rx-fail=0@70", 1, 1);
	struct pio_queue *q = port->rx[0];
	struct pio_frame f[50];

	(void)state;
	for (unsigned k = 0; k < 100; k++)
		assert_true(send_one(port->tx[0], 1024, k));
	assert_int_equal(pio_rx(q, f, 50), 50);
	pio_put(q, f, 50);
	assert_int_equal(pio_rx(q, f, 50), 20);
	assert_int_equal(packet_number(f[19].data), 69);
	pio_put(q, f, 20);
	assert_int_equal(pio_queue_error(q, NULL), 0);
	assert_int_equal(pio_poll(q, 0), 1);
	assert_int_equal(pio_rx(q, f, 50), 0);
	assert_int_equal(pio_poll(q, 1000), -EIO);
	is_dead(q, "loop:rx-fail=0@70 queue 0", "cannot receive");
	assert_int_equal(atomic_load(&q->stats.rx.packets), 70);
	assert_int_equal(atomic_load(&q->stats.rx.errors), 1);
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_sender), cmocka_unit_test(a_receiver)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
