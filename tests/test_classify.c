/* SPDX-License-Identifier: Apache-2.0 */
#include "rx/classify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* MACs, tags of the given types, the EtherType, then `fill` bytes of which byte `at` is `value`. Returns the length. */
static uint32_t packet(unsigned char *out, const uint16_t *tags, unsigned n_tags, uint16_t type, uint32_t fill,
		       uint32_t at, uint8_t value)
{
	uint32_t len = 12;

	memset(out, 0, 128);
	for (unsigned i = 0; i < n_tags; i++) {
		out[len++] = (unsigned char)(tags[i] >> 8);
		out[len++] = (unsigned char)tags[i];
		len += 2;
	}
	out[len++] = (unsigned char)(type >> 8);
	out[len++] = (unsigned char)type;
	out[len + at] = value;
	return len + fill;
}

static void every_class_behind_every_tagging(void **state)
{
	static const uint16_t tags[] = {0x8100, 0x88a8, 0x8100};
	static const struct {
		uint16_t type;
		uint32_t at;
		uint8_t proto;
		enum packet_class what;
	} cases[] = {
		{0x0800, 9, 17, CLASS_ipv4_udp},   {0x0800, 9, 6, CLASS_ipv4_tcp}, {0x0800, 9, 1, CLASS_ipv4_other},
		{0x86dd, 6, 17, CLASS_ipv6_udp},   {0x86dd, 6, 6, CLASS_ipv6_tcp}, {0x86dd, 6, 58, CLASS_ipv6_other},
		{0x86dd, 6, 44, CLASS_ipv6_other}, {0x0806, 0, 0, CLASS_arp},      {0x88b5, 9, 17, CLASS_other},
		{0x0040, 0, 0, CLASS_other},
	};
	unsigned char p[128];

	(void)state;
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		for (unsigned n = 0; n <= 3; n++) {
			uint32_t len = packet(p, tags, n, cases[c].type, 46, cases[c].at, cases[c].proto);
			struct classified got = classify(p, len);

			/* Behind a third tag nobody looks. */
			assert_int_equal(got.what, n == 3 ? CLASS_other : cases[c].what);
			assert_int_equal(got.tagged, n > 0);
		}
}

/* An exact-size heap block of every length: a sanitizer sees any read beyond it. */
static void short_packets_are_not_read_beyond_their_end(void **state)
{
	static const uint16_t tags[] = {0x8100, 0x8100, 0x8100};
	unsigned char p[128];

	(void)state;
	for (unsigned n = 0; n <= 3; n++) {
		uint32_t whole = packet(p, tags, n, 0x0800, 20, 9, 17);

		for (uint32_t len = 0; len <= whole; len++) {
			unsigned char *copy = malloc(len ? len : 1);
			bool proto_there = n < 3 && len >= 14 + 4 * n + 10;

			assert_non_null(copy);
			memcpy(copy, p, len);
			assert_int_equal(classify(copy, len).what == CLASS_ipv4_udp, proto_there);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_class_behind_every_tagging),
		cmocka_unit_test(short_packets_are_not_read_beyond_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
