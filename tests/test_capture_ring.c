/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of the smallest size, read by the same thread or by another: what comes out is what went in, or was counted.
 */
#include "rx/capture_ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 65536U

static struct capture_ring ring;
static struct capture_budget budget;
static unsigned char data[8192];

static void begin(uint32_t snaplen, uint64_t limit)
{
	memset(&budget, 0, sizeof(budget));
	budget.limit = limit;
	assert_int_equal(capture_ring_init(&ring, SIZE, snaplen, &budget), 0);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
}

static void put(uint32_t len, uint32_t flags, uint64_t time)
{
	capture_frames(&ring, &(struct pio_frame){.data = data + len % 64, .len = len, .flags = flags}, 1, NULL, time,
		       0);
}

static void expect(uint32_t len, uint32_t kept, uint64_t time)
{
	const struct capture_record *rec = capture_ring_peek(&ring);

	assert_non_null(rec);
	assert_int_equal(rec->time_ns, time);
	assert_int_equal(rec->len, len);
	assert_int_equal(rec->kept, kept);
	assert_memory_equal(rec + 1, data + len % 64, kept);
	capture_ring_pop(&ring);
}

static uint64_t dropped(void)
{
	return atomic_load(&ring.dropped);
}

static void every_size_around_the_end(void **state)
{
	(void)state;
	begin(9000, 0);
	for (uint32_t n = 0; n < 5000; n++) {
		put(1 + n % 3001, 0, n);
		put(60, 0, n + 1);
		expect(1 + n % 3001, 1 + n % 3001, n);
		expect(60, 60, n + 1);
		assert_null(capture_ring_peek(&ring));
	}
	assert_int_equal(dropped(), 0);
	capture_ring_free(&ring);
}

static void a_full_ring_drops(void **state)
{
	uint64_t n = 0, read = 0;

	(void)state;
	begin(9000, 0);
	while (!dropped())
		put(1000, 0, n++);
	/* Records of 16 + 1008 bytes: 64 of them fill it to the last byte. */
	assert_int_equal(n, 65);
	expect(1000, 1000, read++);
	put(1000, 0, n++);
	assert_int_equal(dropped(), 1);
	put(1000, 0, n++);
	assert_int_equal(dropped(), 2);
	while (read < 64)
		expect(1000, 1000, read++);
	expect(1000, 1000, 65);
	assert_null(capture_ring_peek(&ring));
	capture_ring_free(&ring);
}

static void only_the_beginning(void **state)
{
	(void)state;
	begin(96, 0);
	put(1500, 0, 1);
	put(96, 0, 2);
	put(60, 0, 3);
	expect(1500, 96, 1);
	expect(96, 96, 2);
	expect(60, 60, 3);
	capture_ring_free(&ring);
}

static void so_many_and_no_more(void **state)
{
	(void)state;
	begin(9000, 3);
	for (uint64_t n = 0; n < 100; n++)
		put(100, 0, n);
	for (uint64_t n = 0; n < 3; n++)
		expect(100, 100, n);
	assert_null(capture_ring_peek(&ring));
	assert_int_equal(dropped(), 0);
	capture_ring_free(&ring);
}

/* Packets of several frames, cut off by the calls anywhere, are one record. */
static void pieces(void **state)
{
	const struct capture_record *rec;

	(void)state;
	begin(9000, 0);
	for (unsigned round = 0; round < 2000; round++) {
		put(3000, PIO_MORE, round);
		put(2000, PIO_MORE, round + 7); /* the first's time counts */
		put(11, 0, round + 8);
		rec = capture_ring_peek(&ring);
		assert_non_null(rec);
		assert_int_equal(rec->time_ns, round);
		assert_int_equal(rec->len, 5011);
		assert_int_equal(rec->kept, 5011);
		assert_memory_equal(rec + 1, data + 3000 % 64, 3000);
		assert_memory_equal((const unsigned char *)(rec + 1) + 3000, data + 2000 % 64, 2000);
		assert_memory_equal((const unsigned char *)(rec + 1) + 5000, data + 11, 11);
		capture_ring_pop(&ring);
	}
	/* One that meets a full ring in its middle is dropped whole, and counts once. */
	while (!dropped())
		put(3000, 0, 1);
	put(60, PIO_MORE, 2);
	put(3000, PIO_MORE, 2);
	put(60, 0, 2);
	assert_int_equal(dropped(), 2);
	while ((rec = capture_ring_peek(&ring))) {
		assert_int_equal(rec->len, 3000);
		capture_ring_pop(&ring);
	}
	put(60, 0, 3);
	expect(60, 60, 3);
	capture_ring_free(&ring);
}

static void times(void **state)
{
	const struct pio_frame f[2] = {{.data = data, .len = 60}, {.data = data + 60, .len = 60}};
	const uint64_t arrivals[2] = {100, 103};

	(void)state;
	begin(9000, 0);
	capture_frames(&ring, f, 2, arrivals, 7, 1000);
	assert_int_equal(capture_ring_peek(&ring)->time_ns, 1100);
	capture_ring_pop(&ring);
	assert_int_equal(capture_ring_peek(&ring)->time_ns, 1103);
	capture_ring_free(&ring);
}

#define COUNT 200000U

static void *write_many(void *arg)
{
	(void)arg;
	for (uint64_t n = 0; n < COUNT; n++)
		put(60 + (uint32_t)(n * 13 % 1400), 0, n);
	return NULL;
}

/* What comes out is in order and whole; what does not come out was counted. */
static void two_threads(void **state)
{
	uint64_t got = 0, last = 0;
	pthread_t writer;
	bool ended = false;

	(void)state;
	begin(9000, 0);
	assert_int_equal(pthread_create(&writer, NULL, write_many, NULL), 0);
	for (;;) {
		const struct capture_record *rec = capture_ring_peek(&ring);

		if (!rec && ended)
			break;
		if (!rec) {
			ended = got + dropped() == COUNT;
			sched_yield();
			continue;
		}
		assert_true(!got || rec->time_ns > last);
		last = rec->time_ns;
		assert_int_equal(rec->len, 60 + last * 13 % 1400);
		assert_memory_equal(rec + 1, data + rec->len % 64, rec->len);
		capture_ring_pop(&ring);
		got++;
	}
	pthread_join(writer, NULL);
	assert_int_equal(got + dropped(), COUNT);
	capture_ring_free(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_around_the_end),
		cmocka_unit_test(a_full_ring_drops),
		cmocka_unit_test(only_the_beginning),
		cmocka_unit_test(so_many_and_no_more),
		cmocka_unit_test(pieces),
		cmocka_unit_test(times),
		cmocka_unit_test(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
