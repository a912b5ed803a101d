/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that vary, in outer and inner headers, and payloads that change: the checksums follow. */
#include "frame_stacks.h"

static uint64_t bits_at(const unsigned char *frame, uint32_t end, unsigned bits, unsigned shift)
{
	uint64_t v = 0;

	for (unsigned i = bits; i > 0; i--) {
		unsigned bit = shift + i - 1; /* from the field's last byte backwards */

		v = v << 1 | (frame[end - 1 - bit / 8] >> bit % 8 & 1);
	}
	return v;
}

/*
 * A field by the header that it is in: the n-th of this name, and where in it the field ends. No destination port: it
 * names a tunnel.
 */
struct field {
	const char *header;
	unsigned n;
	uint32_t end;
	unsigned bits, shift;
};

static const struct field fields[] = {
	{"eth", 0, 6, 48, 0},    {"eth", 0, 12, 24, 0}, {"eth", 1, 6, 48, 0},   {"eth", 1, 12, 48, 0},
	{"vlan", 0, 4, 12, 0},   {"vlan", 0, 3, 3, 5},  {"svlan", 0, 4, 12, 0}, {"mpls", 0, 3, 20, 4},
	{"ip4", 0, 2, 6, 2},     {"ip4", 0, 6, 16, 0},  {"ip4", 0, 9, 8, 0},    {"ip4", 0, 16, 32, 0},
	{"ip4", 0, 20, 32, 0},   {"ip4", 1, 2, 2, 0},   {"ip4", 1, 9, 8, 0},    {"ip4", 1, 16, 17, 0},
	{"ip4", 1, 20, 32, 0},   {"ip6", 0, 2, 6, 6},   {"ip6", 0, 4, 20, 0},   {"ip6", 0, 24, 64, 0},
	{"ip6", 0, 40, 64, 0},   {"ip6", 1, 40, 13, 0}, {"udp", 0, 2, 16, 0},   {"udp", 1, 2, 16, 0},
	{"tcp", 0, 2, 16, 0},    {"tcp", 0, 8, 32, 0},  {"echo", 0, 6, 16, 0},  {"vxlan", 0, 7, 24, 0},
	{"geneve", 0, 7, 24, 0}, {"gre", 0, 8, 32, 0},
};

/* What flow n has in a field: odd values, so that every byte moves. */
static struct tx_walk walk_of(unsigned i)
{
	return (struct tx_walk){
		.base = 0x0123456789abcdefULL * (i + 1), .count = 1000 + i, .stride = 0x9d5f31ULL + i, .first = i};
}

static uint64_t walked(unsigned i, uint64_t n, unsigned bits)
{
	struct tx_walk w = walk_of(i);
	uint64_t v = w.base + (i + n) % w.count * w.stride;

	return bits < 64 ? v & ((1ULL << bits) - 1) : v;
}

/* Varies up to five fields that the stack has, from the k-th on; returns how many. */
static unsigned vary_some(struct made *m, unsigned k, unsigned *which, uint32_t *ends)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[(i * 7 + k) % (sizeof(fields) / sizeof(fields[0]))];
		unsigned number = (unsigned)(f - fields);
		struct tx_walk w = walk_of(number);
		uint32_t at = words_at(&m->words, f->header, f->n);

		if (at == UINT32_MAX || n == 5)
			continue;
		which[n] = number;
		ends[n++] = at + f->end;
		frame_vary(&m->frame, at + f->end, f->bits, f->shift, &w);
	}
	return n;
}

static void checksums_follow_fields_that_vary_outside_and_inside(void **state)
{
	static unsigned char frame[TX_TEMPLATE_MAX];
	unsigned seen[sizeof(fields) / sizeof(fields[0])] = {0};

	(void)state;
	for (size_t k = 0; k < 4 * STACKS; k++) {
		const char *stack = stacks[k % STACKS];
		struct made m = made_put(stack);
		const uint32_t sizes[] = {m.headers + 21, m.headers + 4, 1400};
		unsigned n_sizes = k / STACKS % 2 ? 3 : 1;
		unsigned which[8];
		uint32_t ends[8];
		unsigned n = vary_some(&m, (unsigned)k, which, ends);

		made_finish(&m, sizes, n_sizes, false);
		memcpy(frame, m.plan->frame, m.plan->max_len);
		for (uint64_t flow = 0; flow < 2500; flow++) {
			unsigned s = (unsigned)(flow % n_sizes);
			struct judged j = packet(&m, flow * flow, s, frame);

			check_read(&m, &j, stack, s);
			for (unsigned i = 0; i < n; i++) {
				const struct field *f = &fields[which[i]];

				assert_true(bits_at(frame, ends[i], f->bits, f->shift) ==
					    walked(which[i], flow * flow, f->bits));
				seen[which[i]]++;
			}
		}
		made_free(&m);
	}
	for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (!seen[i])
			fail_msg("%s %u, bits before byte %u: in no stack", fields[i].header, fields[i].n,
				 fields[i].end);
}

/* Every residue of the sum, so also the one whose complement is 0: RFC 768 sends that as ones, the others as it is. */
static void a_checksum_of_zero_is_ones_for_udp_alone(void **state)
{
	static const struct {
		const char *stack;
		unsigned zeros, ones;
	} cases[] = {{"eth ip4 udp", 0, 1},
		     {"eth ip6 udp", 0, 1},
		     {"eth ip4 udp- vxlan eth ip4 udp", 0, 1},
		     {"eth ip4 tcp", 1, 0},
		     {"eth ip6 echo", 1, 0},
		     {"eth ip4 echo", 1, 0},
		     {"eth ip4 udp-", 65536, 0},
		     {"eth ip6 udp- vxlan eth ip6 udp-", 65536, 0},
		     {"eth ip4 udp!", 0, 1},
		     {"eth ip6 udp!", 0, 1}};
	static unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (size_t k = 0; k < 2 * sizeof(cases) / sizeof(cases[0]); k++) {
		const char *stack = cases[k / 2].stack;
		const struct tx_walk w = {.count = 65536, .stride = 1};
		struct made m = made_put(stack);
		const uint32_t sizes[] = {m.headers + 3, m.headers + 10};
		unsigned zeros = 0, ones = 0;

		frame_vary(&m.frame,
			   m.headers - (strstr(stack, "tcp")    ? 12
					: strstr(stack, "echo") ? 2
								: 6),
			   16, 0, &w);
		made_finish(&m, sizes, 1 + k % 2, false);
		memcpy(frame, m.plan->frame, m.plan->max_len);
		for (uint64_t n = 0; n < 65536; n++) {
			struct judged j = packet(&m, n, 0, frame);

			check_read(&m, &j, stack, 0);
			zeros += j.check == 0;
			ones += j.check == 0xffff;
		}
		/* 65,536 values of a word hit each of 65,535 residues, one of them twice. */
		assert_in_range(zeros, cases[k / 2].zeros, cases[k / 2].zeros + (cases[k / 2].zeros == 1));
		assert_in_range(ones, cases[k / 2].ones, cases[k / 2].ones * 2);
		made_free(&m);
	}
}

static void what_is_written_into_the_payload_is_in_the_checksum(void **state)
{
	static const char *const with[] = {
		"eth ip4 udp", "eth ip6 tcp", "eth vlan ip6 echo", "eth ip4 udp-", "eth ip6 udp- vxlan eth ip4 udp",
		"eth ip4 udp!"};
	static unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (size_t k = 0; k < 2 * sizeof(with) / sizeof(with[0]); k++) {
		const struct tx_walk w = {.base = 0xfff0, .count = 77, .stride = 3};
		const unsigned n_sizes = k % 2 ? 3 : 1;
		struct made m = made_put(with[k / 2]);
		const uint32_t sizes[] = {m.headers + 18, m.headers + 19, 300};
		unsigned char *stamp = frame + m.headers;

		frame_vary(&m.frame, words_at(&m.words, "ip", 0) + 20, 16, 0, &w);
		made_finish(&m, sizes, n_sizes, true);
		memcpy(frame, m.plan->frame, m.plan->max_len);
		for (uint64_t n = 0; n < 3000; n++) {
			unsigned char entry[TX_ENTRY_MAX];
			const struct tx_size *size = &m.plan->sizes[n % n_sizes];
			struct judged j;

			for (unsigned i = 0; i < 18; i++)
				stamp[i] = (unsigned char)(n * (i + 3) * 0x9e3779b1ULL >> 13);
			tx_entry_at(m.plan, n, entry);
			tx_put(m.plan, entry, size, frame, csum_bytes(stamp, 18, 18));
			j = judge_frame(frame, size->len);
			if (strcmp(j.words, with[k / 2]) != 0)
				fail_msg("%s reads as %s", with[k / 2], j.words);
		}
		made_free(&m);
	}
}

/* Behind a header of an odd length all words lie the other way round in memory. */
static void headers_may_start_at_odd_offsets(void **state)
{
	static unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (unsigned six = 0; six < 2; six++) {
		const struct tx_walk w = {.base = 0xfffa, .count = 3000, .stride = 7};
		struct made m = made_put("eth");
		const uint32_t sizes[] = {100, 101};
		struct words inner;

		frame_put_bytes(&m.frame, "x", 1);
		words_put(&m.frame, six ? "ip6 udp" : "ip4 udp", &inner);
		m.headers = m.frame.at;
		frame_vary(&m.frame, inner.at[0] + 19, 24, 0, &w);
		frame_vary(&m.frame, inner.at[1] + 3, 16, 0, &w);
		made_finish(&m, sizes, 2, false);
		memcpy(frame, m.plan->frame, m.plan->max_len);
		for (uint64_t n = 0; n < 3000; n++) {
			struct judged j = packet(&m, n, n % 2, frame);

			j.words[0] = 0;
			judge_type(&j, six ? 0x86dd : 0x0800, frame + inner.at[0], sizes[n % 2] - inner.at[0]);
			check_read(&m, &j, six ? "ip6 udp" : "ip4 udp", n % 2);
		}
		made_free(&m);
	}
}

/* What lies side by side is written by one move. */
static void neighbours_are_one_part(void **state)
{
	const struct tx_walk w = {.count = 10, .stride = 1};
	struct made m = made_put("eth ip4 udp");
	uint32_t size = 60;

	(void)state;
	frame_vary(&m.frame, 38, 16, 0, &w);
	frame_vary(&m.frame, 30, 32, 0, &w);
	frame_vary(&m.frame, 36, 16, 0, &w);
	frame_vary(&m.frame, 34, 32, 0, &w);
	made_finish(&m, &size, 1, false);
	assert_int_equal(m.plan->n_parts, 1);
	assert_int_equal(m.plan->parts[0].at, 26);
	assert_int_equal(m.plan->parts[0].len, 12);
	assert_int_equal(m.plan->entry, 16);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_follow_fields_that_vary_outside_and_inside),
		cmocka_unit_test(a_checksum_of_zero_is_ones_for_udp_alone),
		cmocka_unit_test(what_is_written_into_the_payload_is_in_the_checksum),
		cmocka_unit_test(headers_may_start_at_odd_offsets),
		cmocka_unit_test(neighbours_are_one_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
