/* SPDX-License-Identifier: Apache-2.0 */
/* Frames go home, through whichever queue and in whatever company they are given back. */
#include "lib/core/rand.h"
#include "lib/pio/pio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define QUEUES 3U
#define EACH   200U

static struct pio_port *port_with_queues(void)
{
	const struct filter all = {.all = true};
	struct pio_conf conf = {.name = "loop:queues=3", .tx_queues = QUEUES, .rx_queues = QUEUES, .filter = &all};
	struct pio_port *port;
	struct err e;

	if (pio_open(&conf, &port, &e))
		fail_msg("%s", e.cause);
	return port;
}

static int by_address(const void *a, const void *b)
{
	const struct pio_frame *x = a, *y = b;

	return x->data < y->data ? -1 : x->data > y->data;
}

/* All that are free, in the order of their addresses. Returns their number. */
static unsigned all_free(struct pio_queue *q, struct pio_frame *f, unsigned max)
{
	unsigned n = pio_get(q, f, max);

	assert_true(n < max);
	qsort(f, n, sizeof(*f), by_address);
	return n;
}

static void every_frame_goes_home(void **state)
{
	enum { MAX = 4096 };
	static struct pio_frame all[QUEUES][MAX], some[QUEUES * EACH], held[EACH], again[MAX];
	struct pio_port *port = port_with_queues();
	unsigned n[QUEUES];
	uint64_t seed = 1;

	(void)state;
	for (unsigned q = 0; q < QUEUES; q++) {
		n[q] = all_free(port->tx[q], all[q], MAX);
		assert_true(n[q] >= EACH);
		pio_put(port->tx[q], all[q], n[q]);
	}
	for (unsigned round = 0; round < 300; round++) {
		const unsigned through = round % QUEUES;
		/* So that there is room for others' frames. */
		const unsigned n_held = pio_get(port->tx[through], held, round / 2 % EACH);
		unsigned taken = 0;

		/* Of one queue or of several, in any order, moved within their room. */
		for (unsigned q = 0; q < QUEUES; q++)
			if (round % 7 != q)
				taken += pio_get(port->tx[q], some + taken, (unsigned)(rand_next(&seed) % EACH));
		for (unsigned i = 1; i < taken; i++) {
			const unsigned other = (unsigned)(rand_next(&seed) % (i + 1));
			const struct pio_frame f = some[i];

			some[i] = some[other];
			some[other] = f;
			some[i].data += rand_next(&seed) % 60;
		}
		pio_put(port->tx[through], some, taken);
		pio_put(port->tx[through], held, n_held);
		for (unsigned q = 0; q < QUEUES; q++) {
			assert_int_equal(all_free(port->tx[q], again, MAX), n[q]);
			for (unsigned i = 0; i < n[q]; i++)
				assert_ptr_equal(again[i].data, all[q][i].data);
			pio_put(port->tx[(q + round) % QUEUES], again, n[q]);
		}
	}
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_frame_goes_home)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
