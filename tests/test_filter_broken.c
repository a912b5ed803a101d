/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that are cut short or are no packets at all. */
#include "filters.h"
#include "packets.h"

static void broken_ip_is_not_matched(void **state)
{
	static const struct packet good[] = {{.family = 4}, {.family = 6}};
	unsigned char buf[PACKET_MAX];
	struct filter any;

	(void)state;
	filter_from(&any, "proto=udp src=0.0.0.0/0 src=::/0");
	for (unsigned i = 0; i < 2; i++) {
		uint32_t len = packet_build(&good[i], buf);

		assert_true(filter_matches(&any, buf, len));
		buf[14] ^= 0x10; /* version 5, or 7 */
		assert_false(filter_matches(&any, buf, len));
	}
	for (unsigned words = 0; words < 16; words++) {
		uint32_t len = packet_build(&good[0], buf);

		buf[14] = (unsigned char)(0x40 | words);
		/* 28 bytes of IP are there: 7 words */
		assert_int_equal(filter_matches(&any, buf, len), words >= 5 && words <= 7);
	}
	/* the EtherType says one family, the header the other */
	packet_build(&good[1], buf);
	packet_put16(buf + 12, 0x0800);
	assert_false(filter_matches(&any, buf, 62));
}

/* Where each condition begins to hold as a packet grows byte by byte; no byte beyond the end is read. */
static void truncation(void **state)
{
	static const struct {
		const char *text;
		struct packet d;
		uint32_t from;
	} cases[] = {
		{"dst-mac=02:00:00:00:00:02", {.family = 4}, 14},
		{"ethertype=0x0800", {.family = 4}, 14},
		{"proto=udp", {.family = 4}, 34},
		{"proto=udp", {.family = 4, .ihl = 15}, 74},
		{"proto=udp dst-port=80", {.family = 4, .dport = 80}, 38},
		{"proto=udp src-port=80", {.family = 4, .sport = 80, .ihl = 6}, 42},
		{"vlan=5", {.tag = {PACKET_TAG(5)}, .family = 4}, 18},
		{"vlan=5", {.tag = {PACKET_TAG(5), PACKET_TAG(6), PACKET_TAG(7)}, .family = 4}, 18},
		{"ethertype=0x0800", {.tag = {PACKET_TAG(5), PACKET_TAG(6)}, .family = 4}, 22},
		{"proto=udp dst-port=80", {.tag = {PACKET_TAG(5), PACKET_TAG(6)}, .family = 4, .dport = 80}, 46},
		{"src=fd00::/64", {.family = 6}, 54},
		{"proto=udp dst-port=80", {.family = 6, .dport = 80}, 58},
		{"src=fd00::/64",
		 {.family = 6, .ext = {{.first = true, .units = 1}, {.type = 44}, {.type = 51, .units = 4}}},
		 54 + 16 + 8 + 24},
		{"proto=udp dst-port=80",
		 {.family = 6, .ext = {{.type = 43, .units = 2}, {.type = 60}}, .dport = 80},
		 54 + 24 + 8 + 4},
	};
	struct filter keep = {.keep_management = true};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char buf[PACKET_MAX];
		uint32_t len = packet_build(&cases[i].d, buf);
		struct filter f;

		filter_from(&f, cases[i].text);
		for (uint32_t n = 0; n <= len; n++) {
			if (matches_exact(&f, buf, n) != (n >= cases[i].from))
				fail_msg("case %u (%s) with %u bytes", i, cases[i].text, n);
			matches_exact(&keep, buf, n);
		}
	}
}

/* Random bytes with the right types in front: nothing to expect but that nothing beyond the end is read. */
static void noise(void **state)
{
	unsigned char buf[128];
	uint32_t x = 12345;
	struct filter f;
	struct filter keep = {.keep_management = true};

	(void)state;
	filter_from(&f, "proto=udp proto=tcp src=0.0.0.0/1 src=8000::/1 dst-port=0-40000");
	for (unsigned round = 0; round < 20000; round++) {
		static const uint16_t types[] = {0x0800, 0x86dd, 0x8100, 0x88a8};
		uint32_t len;

		for (unsigned i = 0; i < sizeof(buf); i++) {
			x = x * 1664525U + 1013904223U;
			buf[i] = (unsigned char)(x >> 24);
		}
		len = buf[0] % sizeof(buf);
		packet_put16(buf + 12, types[buf[1] % 4]);
		packet_put16(buf + 16, types[buf[2] % 4]);
		if (buf[3] & 1)
			buf[14] = (unsigned char)(buf[1] % 4 == 1 ? 0x60 : 0x45);
		if (buf[3] & 2)
			buf[20] = (unsigned char[]){0, 43, 44, 51, 60, 6, 17, 58}[buf[4] % 8];
		matches_exact(&f, buf, len);
		matches_exact(&keep, buf, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_ip_is_not_matched),
		cmocka_unit_test(truncation),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
