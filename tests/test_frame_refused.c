/* SPDX-License-Identifier: Apache-2.0 */
/* What no plan can hold, or what cannot stand where it is put: frame_finish() says it, and nothing is written beyond.
 */
#include "frame_words.h"

#include <errno.h>

static int finish(struct made *m, const uint32_t *sizes, unsigned n, struct err *e)
{
	int rc = frame_finish(&m->frame, sizes, n, false, e);

	made_free(m);
	return rc;
}

static void finish_is_refused(struct made *m, const uint32_t *sizes, unsigned n, const char *because)
{
	struct err e = {.code = EXIT_DONE};

	assert_int_equal(finish(m, sizes, n, &e), -EINVAL);
	assert_int_equal(e.code, EXIT_USAGE);
	if (!strstr(e.cause, because))
		fail_msg("\"%s\" is not in \"%s\"", because, e.cause);
}

static void stack_is_refused(const char *stack, const char *because)
{
	struct made m = made_put(stack);
	uint32_t size = 1514;

	finish_is_refused(&m, &size, 1, because);
}

static void stack_is_taken(const char *stack)
{
	struct made m = made_put(stack);
	uint32_t size = 1514;
	struct err e = {.code = EXIT_DONE};

	if (finish(&m, &size, 1, &e) != 0)
		fail_msg("%s: %s", stack, e.cause);
}

static void too_many_headers(void **state)
{
	(void)state;
	stack_is_taken("eth ip6 ip6 ip6 ip6 ip6 ip6 ip6 udp");
	stack_is_refused("eth ip6 ip6 ip6 ip6 ip6 ip6 ip6 ip6 udp", "more length fields");
	stack_is_taken("eth ip4 ip4 ip4 udp");
	stack_is_refused("eth ip4 ip4 ip4 ip4 udp", "more checksums");
}

static void only_the_innermost_transport_has_a_checksum(void **state)
{
	(void)state;
	stack_is_refused("eth ip4 udp vxlan eth ip4 udp", "only the innermost");
	stack_is_refused("eth ip4 udp vxlan eth ip4 udp-", "only the innermost");
	stack_is_refused("eth ip4 udp! vxlan eth ip6 tcp", "only the innermost");
	stack_is_refused("eth ip6 tcp udp-", "only the innermost");
	stack_is_refused("eth udp", "needs an IP header");
	stack_is_refused("eth mpls echo", "needs an IP header");
}

static void too_long(void **state)
{
	static const unsigned char bytes[TX_TEMPLATE_MAX];
	static const char *const over[] = {"ip4 udp", "ip6 tcp", "ip6 echo", "vlan ip4 udp-", "mpls", "vxlan", "eth"};

	(void)state;
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
		for (uint32_t room = 0; room < 4; room++) {
			uint32_t size = TX_TEMPLATE_MAX;
			struct made m = made_put("eth");

			frame_put_bytes(&m.frame, bytes, TX_TEMPLATE_MAX - m.frame.at - room);
			words_put(&m.frame, over[i], &m.words);
			if (!room || strcmp(over[i], "mpls") != 0)
				words_put(&m.frame, over[i], &m.words);
			words_put(&m.frame, "mpls", &m.words);
			finish_is_refused(&m, &size, 1, "longer than the largest frame");
		}
}

static void bytes_to_the_very_end_are_taken(void **state)
{
	static const unsigned char bytes[TX_TEMPLATE_MAX];
	uint32_t size = TX_TEMPLATE_MAX;
	struct made m = made_put("eth ip4 udp");

	(void)state;
	frame_put_bytes(&m.frame, bytes, TX_TEMPLATE_MAX - m.frame.at);
	assert_int_equal(finish(&m, &size, 1, NULL), 0);
	m = made_put("eth ip4 udp");
	frame_put_bytes(&m.frame, bytes, TX_TEMPLATE_MAX - m.frame.at + 1);
	finish_is_refused(&m, &size, 1, "longer than the largest frame");
}

static void sizes_that_cannot_be(void **state)
{
	uint32_t sizes[TX_SIZES_MAX + 1];
	const uint32_t small[] = {1514, 41};
	const uint32_t least[] = {42, 43};
	const uint32_t large = TX_TEMPLATE_MAX + 1;
	struct made m;

	(void)state;
	for (unsigned i = 0; i <= TX_SIZES_MAX; i++)
		sizes[i] = 60 + i;
	m = made_put("eth ip4 udp");
	assert_int_equal(finish(&m, sizes, TX_SIZES_MAX, NULL), 0);
	m = made_put("eth ip4 udp");
	finish_is_refused(&m, sizes, TX_SIZES_MAX + 1, "so many sizes");
	m = made_put("eth ip4 udp");
	finish_is_refused(&m, sizes, 0, "sizes");
	m = made_put("eth ip4 udp");
	finish_is_refused(&m, small, 2, "too small for the headers");
	m = made_put("eth ip4 udp");
	assert_int_equal(finish(&m, least, 2, NULL), 0);
	m = made_put("eth ip4 udp");
	finish_is_refused(&m, &large, 1, "more than the largest frame");
}

/* n fields of so many bits, the first of which ends at `end`, the others `apart` bytes on. */
static struct made vary(uint32_t end, unsigned bits, unsigned shift, unsigned n, uint32_t apart)
{
	const struct tx_walk w = {.count = 3, .stride = 1};
	struct made m = made_put("eth ip4 udp");

	for (unsigned i = 0; i < n; i++)
		frame_vary(&m.frame, end + i * apart, bits, shift, &w);
	return m;
}

static void fields_that_cannot_vary(void **state)
{
	static const struct {
		uint32_t end;
		unsigned bits, shift, n;
		uint32_t apart;
		const char *because; /* NULL: can */
	} cases[] = {
		{60, 8, 0, TX_WALKS_MAX, 0, NULL},
		{60, 8, 0, TX_WALKS_MAX + 1, 0, "more fields vary"},
		{50, 8, 0, TX_WALKS_MAX, 2, NULL},               /* each is a part */
		{50, 64, 0, 15, 8, NULL},                        /* 120 bytes and two checksums: an entry's 128 */
		{50, 64, 0, 16, 8, "so many bytes that vary"},   /* the parts alone fill an entry */
		{51, 64, 7, 15, 9, "so many bytes that vary"},   /* 135 bytes */
		{200, 8, 0, 1, 0, NULL},                         /* the last byte of the smallest frame */
		{201, 8, 0, 1, 0, "end of the smallest frame"},  /* the next one */
		{201, 12, 4, 1, 0, "end of the smallest frame"}, /* partly there */
		{TX_TEMPLATE_MAX + 1, 8, 0, 1, 0, "not in the frame"},
		{1, 9, 0, 1, 0, "not in the frame"},
		{1, 8, 1, 1, 0, "not in the frame"},
		{8, 64, 0, 1, 0, NULL},
		{8, 64, 1, 1, 0, "not in the frame"},
		{20, 0, 0, 1, 0, "not in the frame"},
		{20, 65, 0, 1, 0, "not in the frame"},
		{20, 8, 8, 1, 0, "not in the frame"},
		{16, 16, 0, 1, 0, NULL},                        /* up to the IPv4 length */
		{17, 8, 0, 1, 0, "on a length or a checksum"},  /* its first byte */
		{20, 24, 0, 1, 0, "on a length or a checksum"}, /* its last one, from behind */
		{20, 16, 0, 1, 0, NULL},
		{25, 2, 1, 1, 0, "on a length or a checksum"},  /* the IPv4 checksum */
		{40, 24, 0, 1, 0, "on a length or a checksum"}, /* the UDP length */
		{42, 1, 0, 1, 0, "on a length or a checksum"},  /* the UDP checksum */
	};
	const uint32_t sizes[] = {1514, 200, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m = vary(cases[i].end, cases[i].bits, cases[i].shift, cases[i].n, cases[i].apart);
		struct err e = {.code = EXIT_DONE};

		if (cases[i].because)
			finish_is_refused(&m, sizes, 3, cases[i].because);
		else if (finish(&m, sizes, 3, &e) != 0)
			fail_msg("%u bits before byte %u: %s", cases[i].bits, cases[i].end, e.cause);
	}
}

/* Without one, its place in the header is like any other. */
static void a_checksum_that_is_off_is_no_checksum(void **state)
{
	const struct tx_walk w = {.count = 3, .stride = 1};
	uint32_t size = 60;
	struct made m = made_put("eth ip4 udp-");

	(void)state;
	frame_vary(&m.frame, 42, 16, 0, &w);
	assert_int_equal(finish(&m, &size, 1, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_headers),
		cmocka_unit_test(only_the_innermost_transport_has_a_checksum),
		cmocka_unit_test(too_long),
		cmocka_unit_test(bytes_to_the_very_end_are_taken),
		cmocka_unit_test(sizes_that_cannot_be),
		cmocka_unit_test(fields_that_cannot_vary),
		cmocka_unit_test(a_checksum_that_is_off_is_no_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
