/* SPDX-License-Identifier: Apache-2.0 */
/* The ring between who reads a capture ahead and who sends it: every byte, in order, in a bounded room. */
#include "gen/replay_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LARGEST 1514U

static struct replay_ring ring;
static struct replay_ring_at place;
static unsigned char bytes[LARGEST + 256];

static uint32_t len_of(uint64_t k)
{
	return (uint32_t)(14 + k * 7919 % (LARGEST - 13));
}

static bool put(uint64_t k)
{
	const struct capture_frame f = {.data = bytes + k % 256, .len = len_of(k), .at_ns = k * 3};

	return replay_ring_put(&ring, &f);
}

static void take(uint64_t k)
{
	const struct replay_record *record = replay_ring_next(&ring, &place);
	const unsigned char *data = (const unsigned char *)(record + 1);

	assert_int_equal(record->len, len_of(k));
	assert_int_equal(record->at_ns, k * 3);
	assert_memory_equal(data, bytes + k % 256, record->len);
	/* As one block is copied. */
	assert_true(data + CAPTURE_SLACK <= ring.data + ring.size && data + record->len <= ring.data + ring.size);
	replay_ring_step(&ring, &place, record);
}

static void begin(size_t size)
{
	replay_ring_free(&ring);
	assert_int_equal(replay_ring_init(&ring, size), 0);
	memset(&place, 0, sizeof(place));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 31);
}

/* As many as go in, and out again: rings of many sizes, so that ends fall everywhere. */
static void in_order_over_the_end(void **state)
{
	(void)state;
	for (size_t size = 4096; size < 8192; size += 16) {
		uint64_t in = 0, out = 0;

		begin(size);
		while (out < 400) {
			while (put(in))
				in++;
			assert_true(in > out);
			assert_int_equal(replay_ring_ready(&ring, &place), in - out);
			for (uint64_t n = 1 + in % 5; n && out < in; n--)
				take(out++);
			replay_ring_release(&ring, &place);
		}
	}
}

/* What has been taken is there until it is let go. */
static void room_comes_with_the_release(void **state)
{
	uint64_t in = 0;

	(void)state;
	begin(4096);
	while (put(in))
		in++;
	for (uint64_t out = 0; out < in; out++)
		take(out);
	assert_int_equal(replay_ring_ready(&ring, &place), 0);
	assert_false(put(in));
	replay_ring_release(&ring, &place);
	assert_int_equal(replay_ring_room(&ring), ring.size);
	assert_true(put(in));
	assert_int_equal(replay_ring_ready(&ring, &place), 1);
	take(in);
}

static int done(void **state)
{
	(void)state;
	replay_ring_free(&ring);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_over_the_end),
		cmocka_unit_test(room_comes_with_the_release),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
