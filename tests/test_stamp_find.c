/* SPDX-License-Identifier: Apache-2.0 */
/* The stamp is found where the IP header says that the packet ends, whatever is around it. */
#include "packets.h"
#include "rx/stamp_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NONE 0U

static const struct {
	const char *name;
	struct packet p;
	bool none;
} cases[] = {
	{"the smallest", {.family = 4, .payload = 18}, false},
	{"one byte less", {.family = 4, .payload = 17}, true},
	{"IPv4 options", {.family = 4, .ihl = 9, .payload = 18}, false},
	{"IPv4 options, one byte less", {.family = 4, .ihl = 9, .payload = 17}, true},
	{"tagged", {.family = 4, .tag = {PACKET_TAG(100)}, .payload = 40}, false},
	{"two tags", {.family = 4, .tag = {PACKET_SERVICE_TAG(9), PACKET_TAG(100)}, .payload = 18}, false},
	{"three tags", {.family = 4, .tag = {PACKET_TAG(1), PACKET_TAG(2), PACKET_TAG(3)}, .payload = 18}, true},
	{"IPv6", {.family = 6, .payload = 18}, false},
	{"IPv6, one byte less", {.family = 6, .payload = 17}, true},
	{"IPv6, tagged", {.family = 6, .tag = {PACKET_TAG(5)}, .payload = 200}, false},
	{"IPv6, extension headers",
	 {.family = 6, .ext = {{.type = 60, .units = 1}, {.type = 43}}, .payload = 18},
	 false},
	{"TCP", {.family = 4, .proto = 6, .payload = 18}, false},
	{"TCP, one byte less", {.family = 4, .proto = 6, .payload = 17}, true},
	{"TCP over IPv6", {.family = 6, .proto = 6, .payload = 18}, false},
	{"echo", {.family = 4, .proto = 1, .icmp_type = 8, .payload = 18}, false},
	{"echo over IPv6", {.family = 6, .proto = 58, .icmp_type = 128, .payload = 18}, false},
	{"another protocol", {.family = 4, .proto = 200, .payload = 18}, false},
	{"not IP", {.family = 0, .type = 0x88b5, .payload = 100}, true},
	{"ARP", {.family = 0, .type = 0x0806, .payload = 46}, true},
};

static void it_is_where_the_packet_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char frame[PACKET_MAX];
		uint32_t len = packet_build(&cases[i].p, frame);
		uint32_t expected = cases[i].none ? NONE : len;

		/* As it is, padded, and with less than the headers in front of us. */
		for (uint32_t pad = 0; pad < 60; pad += 7) {
			uint32_t end = stamp_end(frame, len + pad);

			if (end != expected)
				fail_msg("%s, %u of padding: %u instead of %u", cases[i].name, pad, end, expected);
		}
		for (uint32_t cut = 0; cut < len; cut++) {
			unsigned char *exact = malloc(cut + 1); /* so that a read beyond is seen */
			uint32_t end;

			memcpy(exact, frame, cut);
			end = stamp_end(exact, cut);
			free(exact);
			assert_true(end == NONE || end == expected);
		}
	}
}

/* Behind labels nothing but the first half byte tells what the packet is. */
static void it_is_found_behind_labels(void **state)
{
	static const unsigned char labels[] = {0, 1, 0, 64, 0, 2, 1, 64};
	unsigned char plain[PACKET_MAX], frame[PACKET_MAX + 8];

	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		for (unsigned n = 1; n <= 2; n++) {
			uint32_t len = packet_build(&(struct packet){.family = family, .payload = 30}, plain);

			memcpy(frame, plain, 12);
			memcpy(frame + 12, "\x88\x47", 2);
			memcpy(frame + 14, labels + 8 - 4 * (size_t)n, 4 * (size_t)n);
			memcpy(frame + 14 + 4 * (size_t)n, plain + 14, len - 14);
			assert_int_equal(stamp_end(frame, len + 4 * n), len + 4 * n);
		}
	}
}

static void pieces_have_none(void **state)
{
	static const struct packet pieces[] = {
		{.family = 4, .more = true, .payload = 100},
		{.family = 4, .frag = 10, .payload = 100},
		{.family = 6, .ext = {{.type = 44, .frag = 0}}, .more = true, .payload = 100},
		{.family = 6, .ext = {{.type = 44, .frag = 10}}, .payload = 100},
	};
	unsigned char frame[PACKET_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		assert_int_equal(stamp_end(frame, packet_build(&pieces[i], frame)), STAMP_IN_FRAGMENTS);
}

/* Lengths that lie: beyond the frame is for the caller to see, in front of the header there is nothing. */
static void lengths_that_lie(void **state)
{
	unsigned char frame[PACKET_MAX];
	uint32_t len = packet_build(&(struct packet){.family = 4, .payload = 100}, frame);

	(void)state;
	packet_put16(frame + 16, 1500);
	assert_int_equal(stamp_end(frame, len), 14 + 1500);
	packet_put16(frame + 16, 20);
	assert_int_equal(stamp_end(frame, len), NONE);
	packet_put16(frame + 16, 0);
	assert_int_equal(stamp_end(frame, len), NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_where_the_packet_ends),
		cmocka_unit_test(it_is_found_behind_labels),
		cmocka_unit_test(pieces_have_none),
		cmocka_unit_test(lengths_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
