/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_cases.h"
#include "lib/core/rand.h"

static bool decides(const struct filter *f, const unsigned char *data, uint32_t len)
{
	return matches_exact(f, data, len);
}

static void everything(void **state)
{
	struct filter f = {.all = true};

	(void)state;
	assert_int_equal(filter_check(&f, NULL), 0);
	assert_true(filter_matches(&f, (const unsigned char *)"", 1));
	memset(&f, 0, sizeof(f));
	assert_false(filter_matches(&f, (const unsigned char *)"", 1));
}

/* Any conditions, some alternatives of others, on packets of which about half meet each. */
static void compiled_ones_mean_the_same(void **state)
{
	static const char *const conditions[] = {
		"dst-mac=02:00:00:00:00:02",
		"dst-mac=02:00:00:00:00:03",
		"vlan=7",
		"ethertype=0x0800",
		"ethertype=0x86dd",
		"proto=udp",
		"proto=tcp",
		"src=10.0.0.0/8",
		"src=10.1.2.3/32",
		"src=0.0.0.0/0",
		"src=fd00::/8",
		"dst=10.0.0.2/31",
		"dst=255.0.0.0/8",
		"dst=10.0.0.3/32",
		"src-port=1000-1003",
		"src-port=65535",
		"src-port=0",
		"dst-port=9000",
		"dst-port=9001-65535",
	};
	const unsigned n = sizeof(conditions) / sizeof(conditions[0]);
	static const uint32_t addresses[] = {0x0a000002, 0x0a000003, 0x0a010203, 0x0b000000, 0xff000001, 0};
	static const uint16_t ports[] = {0, 999, 1000, 1003, 1004, 9000, 9001, 65535};
	uint64_t seed = 1;
	unsigned met = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		unsigned char p[PACKET_MAX];
		uint64_t x = rand_next(&seed), y = rand_next(&seed);
		uint32_t len =
			packet_build(&(struct packet){.family = 4, .dport = 9000, .payload = (unsigned)(x >> 60)}, p);
		struct filter f = {0};

		for (unsigned i = 0; i < 1 + (y >> 62) * 2; i++)
			assert_int_equal(filter_add_text(&f, conditions[rand_next(&seed) % n], NULL), 0);
		p[5] = (unsigned char)(2 + (x & 1));
		p[23] = x & 2 ? 17 : 6;
		core_put32(p + 26, core_be32(addresses[(x >> 8) % 6]));
		core_put32(p + 30, core_be32(addresses[(x >> 16) % 6]));
		packet_put16(p + 34, ports[(x >> 24) % 8]);
		packet_put16(p + 36, ports[(x >> 32) % 8]);
		met += matches_exact(&f, p, x & 4 ? len : 34 + (uint32_t)(x >> 40) % 8);
	}
	assert_in_range(met, 10000, 190000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {FILTER_CASES, cmocka_unit_test(everything),
					   cmocka_unit_test(compiled_ones_mean_the_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
