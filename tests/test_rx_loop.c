/* SPDX-License-Identifier: Apache-2.0 */
/* The receive loop, by several threads over queues that always hold packets, and over one that is stopped. */
#include "rx/rx_loop.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES 128
#define QUEUES 4

/* A queue that receives ARP packets: for ever, or until it is stopped and then `after_stop` more. */
struct source {
	struct pio_queue q;
	struct pio_port port;
	unsigned burst; /* packets of one rx call at most */
	uint64_t given;
	bool stopped;
	uint64_t after_stop;
	unsigned empty_before; /* after the stop: empty calls before the rest shows */
};

static unsigned source_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	struct source *s = (struct source *)q;

	n = n < s->burst ? n : s->burst;
	if (s->stopped) {
		if (s->empty_before) {
			s->empty_before--;
			return 0;
		}
		n = s->after_stop < n ? (unsigned)s->after_stop : n;
		s->after_stop -= n;
	}
	n = pio_cache_get(q->cache, f, n);
	for (unsigned i = 0; i < n; i++) {
		memset(f[i].data, 0, 60);
		f[i].data[12] = 0x08;
		f[i].data[13] = 0x06;
		f[i].len = 60;
	}
	s->given += n;
	return n;
}

static int source_poll(struct pio_queue *q, int timeout_ms)
{
	(void)q;
	(void)timeout_ms;
	return 1;
}

static void source_sync(struct pio_queue *q)
{
	(void)q;
}

static void source_stop(struct pio_queue *q)
{
	((struct source *)q)->stopped = true;
}

static const struct pio_queue_ops source_ops = {
	.rx = source_rx, .poll = source_poll, .sync = source_sync, .stop = source_stop};

static struct source *source_new(unsigned burst)
{
	struct source *s = aligned_alloc(128, (sizeof(*s) + 127) / 128 * 128);

	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	s->burst = burst;
	s->q.ops = &source_ops;
	s->q.port = &s->port;
	assert_int_equal(pio_pool_create(&s->port.pool, FRAMES, 1514, NULL), 0);
	assert_int_equal(pio_cache_create(&s->q.cache, s->port.pool, FRAMES, true, NULL), 0);
	return s;
}

static void source_free(struct source *s)
{
	assert_int_equal(s->q.cache->n, FRAMES);
	pio_cache_destroy(s->q.cache);
	pio_pool_destroy(s->port.pool);
	free(s);
}

static void *run(void *arg)
{
	rx_worker_run(arg);
	return NULL;
}

static uint64_t counted(const struct rx_worker *w)
{
	struct class_counts c;

	class_counts_read(&w->classes, &c);
	return c.arp;
}

/* Exactly `limit` packets are taken in all, and every thread ends, whoever was faster. */
static void a_limit_is_met_exactly_by_any_number_of_queues(void **state)
{
	static const uint64_t limits[] = {1, 3, 40, 64, 1000, 100003};

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		for (unsigned n = 1; n <= QUEUES; n++) {
			static struct rx_worker w[QUEUES];
			struct source *s[QUEUES];
			pthread_t t[QUEUES];
			_Atomic bool stop = false;
			struct rx_shared shared = {.limit = limits[i], .stop = &stop};
			uint64_t given = 0;
			uint64_t seen = 0;

			memset(w, 0, sizeof(w));
			for (unsigned q = 0; q < n; q++) {
				s[q] = source_new(1 + 7 * q);
				w[q].queue = &s[q]->q;
				w[q].shared = &shared;
				assert_int_equal(pthread_create(&t[q], NULL, run, &w[q]), 0);
			}
			for (unsigned q = 0; q < n; q++) {
				pthread_join(t[q], NULL);
				given += s[q]->given;
				seen += counted(&w[q]);
				source_free(s[q]);
			}
			assert_int_equal(given, limits[i]);
			assert_int_equal(seen, limits[i]);
		}
}

/* What the ring held at the stop is taken, also when it shows only a little later; then the loop ends. */
static void what_came_before_the_stop_is_taken(void **state)
{
	static struct rx_worker w;
	struct source *s = source_new(16);
	_Atomic bool stop = true;
	struct rx_shared shared = {.stop = &stop};

	(void)state;
	memset(&w, 0, sizeof(w));
	s->after_stop = 1000;
	s->empty_before = 3;
	w.queue = &s->q;
	w.shared = &shared;
	rx_worker_run(&w);
	assert_true(s->stopped);
	assert_int_equal(s->after_stop, 0);
	assert_int_equal(counted(&w), 1000);
	source_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_met_exactly_by_any_number_of_queues),
		cmocka_unit_test(what_came_before_the_stop_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
