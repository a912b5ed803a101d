/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/csum.h"
#include "lib/core/rand.h"
#include "lib/core/stamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct stamp any(uint64_t *seed)
{
	return (struct stamp){.run = (uint16_t)rand_next(seed),
			      .flow = (uint32_t)rand_next(seed) % STAMP_FLOWS,
			      .sequence = (uint32_t)rand_next(seed),
			      .time_ns = rand_next(seed) & 0xffffffffff};
}

static void what_is_written_is_read(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		struct stamp s = any(&seed), r;
		unsigned char p[STAMP_LEN + 2] = {0};
		uint32_t sequence;
		uint64_t place;

		p[STAMP_LEN] = 0x77;
		stamp_write(p, &s);
		assert_int_equal(p[STAMP_LEN], 0x77);
		assert_true(stamp_read(p, &r));
		assert_int_equal(r.run, s.run);
		assert_int_equal(r.flow, s.flow);
		assert_int_equal(r.sequence, s.sequence);
		assert_int_equal(r.time_ns, s.time_ns);
		assert_true(stamp_get_of(p, stamp_run(s.run), &place, &sequence));
		assert_int_equal(place, stamp_place(s.flow, s.time_ns));
		assert_int_equal(sequence, s.sequence);
		assert_false(stamp_get_of(p, stamp_run((uint16_t)(s.run + 1 + i % 65535)), &place, &sequence));
		p[i % STAMP_LEN] ^= (unsigned char)(1U << i % 8);
		assert_false(stamp_get_of(p, stamp_run(s.run), &place, &sequence));
	}
}

/* The layout is a promise: other programs may read it. */
static void fields_stand_where_they_are_said_to(void **state)
{
	const struct stamp s = {.run = 0x0102, .flow = 0x030405, .time_ns = 0xff060708090aULL, .sequence = 0x0b0c0d0e};
	static const unsigned char expected[14] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	unsigned char p[STAMP_LEN];

	(void)state;
	stamp_write(p, &s);
	assert_memory_equal(p, expected, sizeof(expected));
}

static void its_part_of_a_checksum_is_right(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		struct stamp s = any(&seed);
		unsigned char p[STAMP_LEN];
		uint64_t sum = stamp_write(p, &s);

		assert_int_equal(csum_fold(sum), csum_fold(csum_bytes(p, STAMP_LEN, STAMP_LEN)));
	}
}

/* Payloads that people send, and stamps that something changed, are none. */
static void look_alikes_are_no_stamps(void **state)
{
	unsigned char p[STAMP_LEN], q[STAMP_LEN];
	uint64_t seed = 3;
	unsigned passed = 0;
	struct stamp s, r;

	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		memset(p, (int)byte, sizeof(p));
		assert_false(stamp_read(p, &r));
		for (unsigned i = 0; i < sizeof(p); i++)
			p[i] = (unsigned char)(byte + i);
		assert_false(stamp_read(p, &r));
	}
	for (unsigned n = 0; n < 200; n++) {
		s = any(&seed);
		stamp_write(p, &s);
		for (unsigned bit = 0; bit < STAMP_LEN * 8; bit++) {
			memcpy(q, p, sizeof(q));
			q[bit / 8] ^= (unsigned char)(1U << bit % 8);
			assert_false(stamp_read(q, &r));
			for (unsigned other = 0; other < bit; other++) {
				q[other / 8] ^= (unsigned char)(1U << other % 8);
				passed += stamp_read(q, &r);
				q[other / 8] ^= (unsigned char)(1U << other % 8);
			}
		}
		/* Shifted by a byte, and its fields exchanged. */
		memmove(q, p + 1, STAMP_LEN - 1);
		assert_false(stamp_read(q, &r));
		memcpy(q, p, sizeof(q));
		memcpy(q + 2, p + 5, 3);
		memcpy(q + 5, p + 2, 3);
		assert_false(stamp_read(q, &r));
	}
	for (unsigned i = 0; i < 4000000; i++) {
		for (unsigned w = 0; w < 4; w++)
			core_put64(w < 2 ? p + 8 * w : q, rand_next(&seed));
		core_put16(p + 16, (uint16_t)rand_next(&seed));
		passed += stamp_read(p, &r);
	}
	/* Of 6 million, one in 2^32 may. */
	assert_true(passed <= 1);
}

static void times_go_round(void **state)
{
	const uint64_t wrap = 1ULL << 40;

	(void)state;
	assert_int_equal(stamp_elapsed(1000, 400), 600);
	assert_int_equal(stamp_elapsed(5 * wrap + 100, wrap - 50), 150);
	assert_int_equal(stamp_elapsed(3 * wrap - 50, 100), -150);
	assert_int_equal(stamp_elapsed(7 * wrap + 12, (12 - (1ULL << 38)) & (wrap - 1)), 1LL << 38);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(fields_stand_where_they_are_said_to),
		cmocka_unit_test(its_part_of_a_checksum_is_right),
		cmocka_unit_test(look_alikes_are_no_stamps),
		cmocka_unit_test(times_go_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
