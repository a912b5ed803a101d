/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/csum.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* RFC 1071 section 3, its numerical example: 00 01 f2 03 f4 f5 f6 f7 sum to ddf2. */
static void rfc1071_example(void **state)
{
	static const unsigned char bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	uint64_t sum = csum_bytes(bytes, sizeof(bytes), sizeof(bytes));

	(void)state;
	assert_int_equal(ntohs(csum_fold(sum)), 0xddf2);
	assert_int_equal(ntohs(csum_finish(sum)), 0x220d);
}

/* RFC 1071 as it is written, over big-endian words. */
static unsigned reference(const unsigned char *p, unsigned len)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < len; i += 2)
		sum += (unsigned long)p[i] << 8 | (i + 1 < len ? p[i + 1] : 0);
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return (unsigned)sum;
}

/* Lengths odd and even, alignments odd and even, and a buffer that ends in bytes which must not count. */
static void lengths_and_alignments(void **state)
{
	unsigned char bytes[128];
	unsigned x = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		x = x * 1103515245 + 12345;
		bytes[i] = (unsigned char)(x >> 16);
	}
	for (unsigned at = 0; at < 8; at++)
		for (unsigned len = 0; len <= 100; len++)
			assert_int_equal(ntohs(csum_fold(csum_bytes(bytes + at, len, 100))),
					 reference(bytes + at, len));
}

/* The same bytes behind one more, which is 0. */
static void from_an_odd_place_on(void **state)
{
	unsigned char bytes[64] = {0};
	uint64_t sum;

	(void)state;
	for (unsigned len = 0; len < sizeof(bytes); len++) {
		bytes[len] = (unsigned char)(len * 37);
		sum = csum_bytes(bytes + 1, len, sizeof(bytes));
		assert_int_equal(ntohs(csum_fold(csum_turn(sum, 8))), reference(bytes, len + 1));
		assert_int_equal(ntohs(csum_fold(csum_turn(sum, 0))), reference(bytes + 1, len));
		/* Up to the largest sum: what is turned out above comes in below. */
		sum = UINT64_MAX - sum;
		assert_int_equal(csum_fold(csum_turn(sum, 8)), __builtin_bswap16(csum_fold(sum)));
	}
}

/* Carries at every step of the fold, up to the largest sum there is. */
static void folds_every_carry(void **state)
{
	static const uint64_t sums[] = {
		0,
		1,
		0xffff,
		0x10000,
		0x1ffff,
		0xffff0000,
		0xffffffff,
		0x100000000,
		0x1ffffffff,
		0xffff0000ffff,
		0xfffffffeffffffff,
		0xffffffff00000000,
		0xffffffff00000001,
		0xffffffffffff0000,
		0xffffffffffffffff,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		uint64_t left = sums[i] % 0xffff; /* the ones' complement sum is the remainder, but for 0 */

		if (left == 0 && sums[i] != 0)
			left = 0xffff;
		assert_int_equal(csum_fold(sums[i]), left);
		assert_int_equal(csum_finish(sums[i]), 0xffff - left);
	}
}

static void udp_never_sends_zero(void **state)
{
	(void)state;
	assert_int_equal(csum_finish(0xffff), 0);
	assert_int_equal(csum_finish_udp(0xffff), 0xffff);
	assert_int_equal(csum_finish_udp(0x1fffe), 0xffff);
	assert_int_equal(csum_finish_udp(0), 0xffff);
	assert_int_equal(csum_finish_udp(1), 0xfffe);
}

/* All sums that one half can be, with those of the other where carries and zeros are. */
static void a_sum_of_two_halves_is_the_same(void **state)
{
	static const uint16_t halves[] = {0, 1, 2, 0x7fff, 0x8000, 0xfffd, 0xfffe, 0xffff, 0x1234, 0xedcb};

	(void)state;
	for (uint32_t a = 0; a <= 0xffff; a++)
		for (unsigned i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
			uint64_t sum = (uint64_t)a + halves[i];

			assert_int_equal(csum_finish_pair((uint16_t)a, halves[i]), csum_finish(sum));
			assert_int_equal(csum_finish_pair_udp((uint16_t)a, halves[i]), csum_finish_udp(sum));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1071_example),      cmocka_unit_test(lengths_and_alignments),
		cmocka_unit_test(from_an_odd_place_on), cmocka_unit_test(folds_every_carry),
		cmocka_unit_test(udp_never_sends_zero), cmocka_unit_test(a_sum_of_two_halves_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
