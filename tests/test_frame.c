/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of every header, alone and inside others, read by a reader of its own (frame_judge.h): every length and every
 * checksum, for one size and for several in one plan.
 */
#include "frame_stacks.h"
#include "lib/ether.h"

static unsigned sizes_from(uint32_t least, uint32_t *sizes)
{
	const uint32_t all[] = {1514, least, 9014, least + 1, least + 2, 127, least + 3, 256, 1513, 9216, 594};
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] >= least)
			sizes[n++] = all[i];
	return n;
}

static void every_stack_is_right_in_every_size_alone(void **state)
{
	static unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (size_t k = 0; k < STACKS; k++) {
		uint32_t sizes[TX_SIZES_MAX];
		struct made m = made_put(stacks[k]);
		unsigned n = sizes_from(m.headers, sizes);

		made_free(&m);
		for (unsigned s = 0; s < n; s++) {
			struct judged j;

			m = made_put(stacks[k]);
			made_finish(&m, &sizes[s], 1, false);
			assert_int_equal(m.plan->max_len, sizes[s]);
			memcpy(frame, m.plan->frame, m.plan->max_len);
			j = packet(&m, 0, 0, frame);
			check_read(&m, &j, stacks[k], 0);
			assert_memory_equal(frame, m.plan->frame, ETH_MACS_LEN);
			made_free(&m);
		}
	}
}

static void every_stack_is_right_in_many_sizes_of_one_plan(void **state)
{
	static unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (size_t k = 0; k < STACKS; k++) {
		uint32_t sizes[TX_SIZES_MAX];
		struct made m = made_put(stacks[k]);
		unsigned n = sizes_from(m.headers, sizes);

		made_finish(&m, sizes, n, false);
		assert_int_equal(m.plan->max_len, TX_TEMPLATE_MAX);
		memcpy(frame, m.plan->frame, m.plan->max_len);
		for (unsigned i = 0; i < 3 * n; i++) { /* each after several others */
			unsigned s = (i * 3 + i / n) % n;
			struct judged j = packet(&m, i, s, frame);

			assert_int_equal(m.plan->sizes[s].len, sizes[s]);
			check_read(&m, &j, stacks[k], s);
			assert_memory_equal(frame, m.plan->frame, ETH_MACS_LEN);
		}
		made_free(&m);
	}
}

static void offsets_of_layers_are_told(void **state)
{
	static const struct {
		const char *stack;
		uint32_t l3, l4;
	} cases[] = {
		{"eth ip4 udp", 14, 34},
		{"eth svlan vlan ip6 tcp", 22, 62},
		{"eth vlan mpls ip4 udp-", 18, 42},
		{"eth ip4 udp- vxlan eth ip6 echo", 14, 14 + 20 + 8 + 8 + 14 + 40},
		{"eth ip6 gre ip4 udp", 14, 14 + 40 + 8 + 20},
	};
	uint32_t size = 200;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m = made_put(cases[i].stack);

		made_finish(&m, &size, 1, false);
		assert_int_equal(m.plan->l3, cases[i].l3);
		assert_int_equal(m.plan->l4, cases[i].l4);
		made_free(&m);
	}
}

/* The values that frame_words.h asks for, where the RFCs have them. Lengths and checksums are 0 here: others' matter.
 */
static void headers_hold_what_was_asked(void **state)
{
	static const struct {
		const char *stack;
		unsigned n;
		unsigned char bytes[80];
	} cases[] = {
		{"eth svlan vlan mpls mpls", 30, {2,    0,    0,    0,    0,    9,    2,    0,    0,    0,
						  0,    1,    0x88, 0xa8, 0x7f, 0xff, 0x81, 0x00, 0xa1, 0x23,
						  0x88, 0x47, 0xab, 0xcd, 0xea, 63,   0xab, 0xcd, 0xeb, 63}},
		{"eth ip4 udp", 42, {2,    0,    0,   0, 0,    9,    2,    0,    0,    0,    0, 1, 0x08, 0x00,
				     0x45, 0xb9, 0,   0, 0xfe, 0xdc, 0x40, 0,    64,   17,   0, 0, 10,   77,
				     1,    2,    192, 0, 2,    255,  0xc0, 0x01, 0x23, 0x28, 0, 0, 0,    0}},
		{"eth ip6 tcp", 74, {2,    0,    0,    0, 0, 9, 2,    0,    0,    0,    0,    1,    0x86, 0xdd, 0x62,
				     0xea, 0xbc, 0xde, 0, 0, 6, 255,  0x20, 1,    0xd,  0xb8, 0xff, 0xff, 0,    0,
				     0,    0,    0,    0, 0, 0, 0,    1,    0xfd, 0,    0,    0,    0,    0,    0,
				     0,    0xab, 0,    0, 0, 0, 0,    0xff, 0xfe, 0xc0, 0x01, 0,    80,   0,    0,
				     0,    0,    0,    0, 0, 0, 0x50, 0x12, 0xfa, 0xf0, 0,    0,    0,    0}},
		{"eth ip4 echo", 42, {2,    0,    0,   0, 0,    9,    2,    0, 0,  0, 0,    1,    0x08, 0x00,
				      0x45, 0xb9, 0,   0, 0xfe, 0xdc, 0x40, 0, 64, 1, 0,    0,    10,   77,
				      1,    2,    192, 0, 2,    255,  8,    0, 0,  0, 0x12, 0x34, 0,    7}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m = made_put(cases[i].stack);

		assert_int_equal(m.headers, cases[i].n);
		assert_memory_equal(m.plan->frame, cases[i].bytes, cases[i].n);
		made_free(&m);
	}
}

/* Too large a value does not run into its neighbours. */
static void values_stay_in_their_fields(void **state)
{
	const struct frame_ip ip = {.dst.family = 6, .flow_label = 0xfff00001};
	struct made m = made_put("");

	(void)state;
	frame_put_mpls(&m.frame, 0xfff00001, 0xf8, false, 0);
	frame_put_ip(&m.frame, &ip);
	assert_memory_equal(m.plan->frame, "\x00\x00\x10\x00\x60\x00\x00\x01", 8);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stack_is_right_in_every_size_alone),
		cmocka_unit_test(every_stack_is_right_in_many_sizes_of_one_plan),
		cmocka_unit_test(offsets_of_layers_are_told),
		cmocka_unit_test(headers_hold_what_was_asked),
		cmocka_unit_test(values_stay_in_their_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
