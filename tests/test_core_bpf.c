/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One core, two compilers: the frames that gcc's and the kernel's build of lib/core write for a plan are compared, byte
 * for byte, with frames that core_reference.h builds from scratch.
 */
#include "core_reference.h"
#include "core_walk.skel.h"
#include "gen/frame.h"
#include "lib/core/patch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct layout layouts[] = {
	{.v6 = false, .tags = 0}, {.v6 = false, .tags = 1}, {.v6 = false, .tags = 2},
	{.v6 = true, .tags = 0},  {.v6 = true, .tags = 1},  {.v6 = true, .tags = 2},
};

#define MORE_SIZES 4U
static const uint32_t longer[MORE_SIZES] = {700, 0, 1401, 1}; /* than the case's own size */

#define ALL_64 0 /* count: 2^64 */

static const struct flows cases[] = {
	{.name = "one flow", .payload = 32, .n = 3},
	{.name = "1,000 ports", .payload = 18, .n = 1005, .vary = {{SPORT, TX_UP, 1024, 0, 1000, 1, 1, 0}}},
	{.name = "ports past 65535",
	 .payload = 19,
	 .n = 100,
	 .vary = {{SPORT, TX_UP, 1, 65500, 65535, 1, 1, 0}, {DPORT, TX_DOWN, 20, 65520, 65535, 3, 1, 0}}},
	{.name = "every address",
	 .payload = 8,
	 .n = 40,
	 .vary = {{SADDR, TX_UP, 0, 0xfffffff0, 1ULL << 32, 1, 1, 0}, {DADDR, TX_DOWN, 7, 5, 1ULL << 32, 1, 1, 0}}},
	{.name = "cross product",
	 .payload = 33,
	 .n = 250,
	 .vary = {{SPORT, TX_UP, 1024, 3, 7, 1, 1, 0},
		  {DADDR, TX_DOWN, 0xc0a80105, 0, 5, 1, 7, 0},
		  {SADDR, TX_RANDOM, 0x0a000001, 1, 3, 256, 35, 42},
		  {DSCP, TX_LIST, 4, 0, 2, 1, 105, 0}}},
	{.name = "random",
	 .payload = 64,
	 .n = 300,
	 .vary = {{SPORT, TX_RANDOM, 1024, 0, 64511, 1, 1, 1},
		  {DPORT, TX_RANDOM, 0, 65535, 65536, 1, 1, 0},
		  {DADDR, TX_RANDOM, 0x0a000000, 999999, 1000003, 5, 1, UINT64_MAX}}},
	{.name = "lists",
	 .payload = 101,
	 .n = 50,
	 .vary = {{DPORT, TX_LIST, 0, 2, 5, 1, 1, 0},
		  {SADDR, TX_LIST, 500, 0, 12, 1, 1, 0},
		  {VLAN, TX_LIST, 9, 1, 3, 1, 2, 0}}},
	{.name = "bits of one byte",
	 .payload = 18,
	 .n = 300,
	 .vary = {{DSCP, TX_UP, 0, 60, 64, 1, 1, 0},
		  {ECN, TX_DOWN, 3, 1, 4, 1, 64, 0},
		  {TTL, TX_UP, 250, 0, 256, 7, 1, 0}}},
	{.name = "tags",
	 .payload = 18,
	 .n = 300,
	 .vary = {{VLAN, TX_UP, 4090, 0, 4096, 1, 1, 0},
		  {PCP, TX_RANDOM, 0, 0, 8, 1, 1, 3},
		  {DEI, TX_UP, 0, 0, 2, 1, 2, 0},
		  {VLAN_2, TX_DOWN, 5, 0, 4096, 1, 1, 0}}},
	{.name = "flow labels",
	 .payload = 27,
	 .n = 300,
	 .vary = {{LABEL, TX_RANDOM, 0, 0, 1U << 20, 1, 1, 9},
		  {DSCP, TX_UP, 5, 0, 64, 5, 3, 0},
		  {ECN, TX_UP, 1, 0, 3, 1, 1, 0}}},
	{.name = "MACs",
	 .payload = 18,
	 .n = 100,
	 .vary = {{DST_MAC, TX_UP, 0x02fffffffff0, 0, 1ULL << 40, 0x10203, 1, 0},
		  {SRC_MAC, TX_DOWN, 0x020000000003, 0, 99, 2, 1, 0}}},
	{.name = "odd offsets of the payload",
	 .payload = 60,
	 .n = 300,
	 .vary = {{ODD_24, TX_UP, 0xfffff0, 0, 1U << 24, 1, 1, 0},
		  {ODD_BITS, TX_RANDOM, 0, 12345, ALL_64, 1, 1, 5},
		  {EVEN_BYTE, TX_DOWN, 3, 0, 256, 1, 1, 0}}},
	{.name = "far flows",
	 .payload = 50,
	 .start = UINT64_MAX - 40,
	 .n = 40,
	 .vary = {{SADDR, TX_UP, 0xffffffffffffff00, 3, ALL_64, 1, 1, 0},
		  {DADDR, TX_RANDOM, 0, 17, ALL_64, 1, 3, 77},
		  {SPORT, TX_UP, 1024, 64510, 64511, 1, 1U << 31, 0}}},
	/* As many walks as a plan has, and as costly to verify as there are. */
	{.name = "all at once",
	 .payload = 70,
	 .n = 200,
	 .vary = {{DST_MAC, TX_RANDOM, 0x020000000000, 0, 1000003, 1, 1, 1},
		  {SRC_MAC, TX_RANDOM, 0x020000000000, 5, 77, 3, 2, 0},
		  {VLAN, TX_RANDOM, 1, 0, 4094, 1, 1, 2},
		  {PCP, TX_RANDOM, 0, 0, 7, 1, 3, 0},
		  {DEI, TX_UP, 0, 0, 2, 1, 1, 0},
		  {VLAN_2, TX_RANDOM, 1, 0, 4093, 1, 1, 2},
		  {DSCP, TX_RANDOM, 0, 7, 63, 1, 1, 3},
		  {ECN, TX_RANDOM, 0, 1, 3, 1, 7, 3},
		  {LABEL, TX_RANDOM, 0, 1, 1000000, 1, 1, 3},
		  {SADDR, TX_RANDOM, 0, 0, UINT64_MAX, 1, 1, 4},
		  {DADDR, TX_RANDOM, 1, 0, 1000, 1, 1, 0},
		  {SPORT, TX_RANDOM, 1, 0, 65535, 1, 1, 5},
		  {DPORT, TX_LIST, 1, 0, 7, 1, 1, 0},
		  {ODD_24, TX_RANDOM, 0, 0, 3, 1, 1, 6},
		  {EVEN_BYTE, TX_RANDOM, 0, 0, 255, 1, 1, 6},
		  {ODD_BITS, TX_RANDOM, 0, 0, (1ULL << 63) + 1, 1, 1, 6}}},
	{.name = "checksum 0",
	 .payload = 18,
	 .n = 1,
	 .start = 5,
	 .zero = true,
	 .vary = {{SPORT, TX_UP, 1024, 0, 9, 1, 1, 0}}},
	{.name = "checksum 0, odd",
	 .payload = 1401,
	 .n = 1,
	 .zero = true,
	 .vary = {{DADDR, TX_UP, 0xffffffff, 0, 1, 1, 1, 0}}},
};

/* The plan for f, by the frame builder. word: what the template's payload holds after the mark. */
static void plan_make(const struct layout *l, const struct flows *f, uint16_t word, unsigned n_sizes,
		      struct tx_plan *plan)
{
	unsigned char template[TX_TEMPLATE_MAX];
	uint32_t sizes[MORE_SIZES];
	struct frame_ip ip = reference_ip(l);
	struct frame frame;
	struct mac dst, src;
	struct err e;

	reference_template(l, f, word, template);
	memcpy(dst.b, template, 6);
	memcpy(src.b, template + 6, 6);
	frame_begin(&frame, plan);
	frame_put_ethernet(&frame, &dst, &src);
	for (unsigned i = 0; i < l->tags; i++)
		frame_put_tag(&frame, l->tags - i == 2 ? 0x88a8 : 0x8100, reference_tci[i]);
	frame_put_type(&frame, l->v6 ? 0x86dd : 0x0800);
	frame_put_ip(&frame, &ip);
	frame_put_udp(&frame, REFERENCE_SPORT, REFERENCE_DPORT, FRAME_CHECK_ON);
	memcpy(plan->frame + frame.at, template + frame.at, sizeof(template) - frame.at);
	memset(plan->frame + frame.at, 0, MARK_LEN);
	memcpy(plan->values, reference_values, sizeof(plan->values));
	for (unsigned i = 0; i < VARY_MAX && f->vary[i].field; i++) {
		const struct vary *v = &f->vary[i];
		struct place at = reference_place(l, v->field);
		const struct tx_walk walk = {.base = v->base,
					     .first = v->first,
					     .count = v->count,
					     .stride = v->stride,
					     .every = v->every,
					     .seed = v->seed,
					     .order = (uint16_t)v->order};
		uint32_t end = (at.bit + at.bits + 7) / 8;

		if (at.bits)
			frame_vary(&frame, end, at.bits, end * 8 - at.bit - at.bits, &walk);
	}
	for (unsigned i = 0; i < n_sizes; i++)
		sizes[i] = reference_len(l, f) + (n_sizes == 1 ? 0 : longer[i]);
	if (frame_finish(&frame, sizes, n_sizes, true, &e))
		fail_msg("%s: %s", f->name, e.cause);
	plan->flows = UINT64_MAX;
}

struct writer {
	const struct tx_plan *plan;
	uint32_t mark_at;
	struct core_walk *skel; /* NULL: by this build */
};

static void write_here(const struct writer *w, uint64_t n, unsigned size, uint64_t mark, unsigned char *frame)
{
	unsigned char entry[TX_ENTRY_MAX];

	memcpy(frame + w->mark_at, &mark, MARK_LEN);
	tx_entry_at(w->plan, n, entry);
	tx_put(w->plan, entry, &w->plan->sizes[size], frame, csum_bytes(frame + w->mark_at, MARK_LEN, MARK_LEN));
}

static void write_in_kernel(const struct writer *w, uint64_t n, unsigned size, uint64_t mark, unsigned char *frame)
{
	static unsigned char out[TX_TEMPLATE_MAX];
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = frame,
		.data_size_in = w->plan->max_len,
		.data_out = out,
		.data_size_out = sizeof(out),
		.repeat = 1,
	};

	w->skel->bss->flow = n;
	w->skel->bss->size = size;
	w->skel->bss->mark = mark;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(w->skel->progs.core_walk), &opts), 0);
	assert_int_equal(opts.retval, XDP_TX);
	assert_int_equal(opts.data_size_out, w->plan->sizes[size].len);
	memcpy(frame, out, opts.data_size_out);
}

/* Every flow in every size, written over what the packet before left in the frame, as the send loop does. */
static void check_flows(const struct layout *l, const struct flows *f, const struct writer *w, uint16_t word)
{
	static unsigned char frame[TX_TEMPLATE_MAX];
	static unsigned char expected[TX_TEMPLATE_MAX];
	uint64_t mark = 0x0123456789abcdef;

	memcpy(frame, w->plan->frame, w->plan->max_len);
	for (uint64_t i = 0; i < f->n * w->plan->n_sizes; i++) {
		unsigned size = (unsigned)(i % w->plan->n_sizes);
		uint64_t n = f->start + i / w->plan->n_sizes;
		uint32_t len = reference_len(l, f) + (w->plan->n_sizes == 1 ? 0 : longer[size]);

		assert_int_equal(w->plan->sizes[size].len, len);
		if (w->skel)
			write_in_kernel(w, n, size, mark, frame);
		else
			write_here(w, n, size, mark, frame);
		reference_frame(l, f, n, &mark, word, len, expected);
		if (memcmp(frame, expected, len) != 0)
			print_error("%s, flow %llu, %u bytes, %u tags:\n", f->name, (unsigned long long)n, len,
				    l->tags);
		assert_memory_equal(frame, expected, len);
		if (f->zero && w->plan->n_sizes == 1)
			assert_memory_equal(frame + w->plan->l4 + 6, "\xff\xff", 2);
		mark = mark * 6364136223846793005ULL + 1442695040888963407ULL;
	}
}

static struct core_walk *load(const struct tx_plan *plan, uint32_t mark_at)
{
	struct core_walk *skel = core_walk__open();
	int rc;

	if (!skel)
		return NULL;
	skel->rodata_plan->plan = *plan;
	skel->rodata_mark->mark_at = mark_at;
	rc = core_walk__load(skel);
	if (!rc)
		return skel;
	core_walk__destroy(skel);
	errno = -rc;
	return NULL;
}

static void check_case(const struct layout *l, const struct flows *f, unsigned n_sizes, bool in_kernel)
{
	static struct tx_plan plan;
	struct writer w = {.plan = &plan, .mark_at = reference_len(l, f) - f->payload};
	uint16_t word = f->zero ? reference_word(l, f) : 0;

	plan_make(l, f, word, n_sizes, &plan);
	if (in_kernel) {
		w.skel = load(&plan, w.mark_at);
		if (!w.skel)
			fail_msg("%s: the program was not loaded: %s", f->name, strerror(errno));
	}
	check_flows(l, f, &w, word);
	core_walk__destroy(w.skel);
}

static void check_all(const struct layout *l, bool in_kernel)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_case(l, &cases[i], 1, in_kernel);
		check_case(l, &cases[i], MORE_SIZES, in_kernel);
	}
}

/* The same stamps, at even and odd places, and the same checksums over them. */
static void check_stamps(const struct layout *l)
{
	static const struct flows odd = {
		.name = "stamped, odd", .payload = 27, .n = 60, .vary = {{SPORT, TX_UP, 1024, 0, 1000, 1, 1, 0}}};
	static struct tx_plan plan;
	const struct flows *f[2] = {&cases[1], &odd};

	for (unsigned i = 0; i < 2; i++) {
		static unsigned char here[TX_TEMPLATE_MAX], there[TX_TEMPLATE_MAX];
		struct writer w = {.plan = &plan};

		plan_make(l, f[i], 0, 1, &plan);
		plan.stamped = 1;
		plan.run = 0xbeef;
		plan.sums[0].follows = TX_FOLLOWS_PAYLOAD;
		w.skel = load(&plan, 0);
		if (!w.skel)
			fail_msg("%s: the program was not loaded: %s", f[i]->name, strerror(errno));
		for (uint64_t n = 0; n < 60; n++) {
			const uint64_t time_ns = n * 0x123456789abULL;
			unsigned char entry[TX_ENTRY_MAX];
			struct stamp stamp;
			uint64_t extra;

			memcpy(here, plan.frame, plan.max_len);
			memcpy(there, plan.frame, plan.max_len);
			w.skel->bss->time_ns = time_ns;
			w.skel->bss->sequence = (uint32_t)n * 77;
			write_in_kernel(&w, n, 0, 0, there);
			extra = tx_put_stamp(here, plan.max_len, plan.l4, 0xbeef, stamp_place((uint32_t)n, time_ns),
					     (uint32_t)n * 77);
			tx_entry_at(&plan, n, entry);
			tx_put(&plan, entry, &plan.sizes[0], here, extra);
			assert_memory_equal(here, there, plan.max_len);
			assert_true(stamp_read(there + plan.max_len - STAMP_LEN, &stamp));
			assert_true(stamp.run == 0xbeef && stamp.flow == n && stamp.sequence == n * 77);
		}
		core_walk__destroy(w.skel);
	}
}

static void test_c(void **state)
{
	check_all(*state, false);
}

static void test_bpf(void **state)
{
	const char *required = getenv("SQUALL_REQUIRE");
	static struct tx_plan none;
	struct core_walk *skel;

	none.max_len = 60;
	libbpf_set_print(NULL); /* a build without afxdp has nothing of its own for that */
	skel = load(&none, 0);
	if (!skel) {
		int error = errno;

		if (required && strstr(required, "bpf"))
			fail_msg("BPF is required, and the program was not loaded: %s", strerror(error));
		print_message("the kernel's build was not compared: BPF needs root (%s)\n", strerror(error));
		skip();
	}
	core_walk__destroy(skel);
	check_all(*state, true);
	check_stamps(*state);
}

int main(void)
{
	struct CMUnitTest tests[2 * sizeof(layouts) / sizeof(layouts[0])];
	static const char *const names[] = {"C, IPv4",   "C, IPv4, tagged",   "C, IPv4, two tags",
					    "C, IPv6",   "C, IPv6, tagged",   "C, IPv6, two tags",
					    "BPF, IPv4", "BPF, IPv4, tagged", "BPF, IPv4, two tags",
					    "BPF, IPv6", "BPF, IPv6, tagged", "BPF, IPv6, two tags"};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i] = (struct CMUnitTest){names[i], i < 6 ? test_c : test_bpf, NULL, NULL,
					       (void *)(uintptr_t)&layouts[i % 6]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
