/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One core, two compilers: the frames that gcc's and the kernel's build of lib/core write for a plan are compared, byte
 * for byte, with frames that this file builds from scratch: its own walk, its own byte order, its own checksum.
 */
#include "core_walk.skel.h"
#include "lib/core/patch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MARK_LEN 8U

/* A range of values, as the options give it: flow n takes base + (first + n) mod count. */
struct range {
	uint32_t base;
	uint32_t first;
	uint64_t count;
};

struct flows {
	const char *name;
	struct range saddr, daddr, sport, dport;
	unsigned payload;  /* bytes, at least MARK_LEN */
	unsigned filler;   /* the payload's other bytes */
	uint64_t start, n; /* which flows to look at */
	bool zero_check;   /* choose the payload so that the checksum of the first of them comes out 0 */
};

static const struct flows flows[] = {
	{"one flow", {0x0a4d0001, 0, 1}, {0x0a4d0002, 0, 1}, {1024, 0, 1}, {9000, 0, 1}, 18, 0x5a, 0, 3, false},
	{"1,000 ports",
	 {0x0a4d0001, 0, 1},
	 {0x0a4d0002, 0, 1},
	 {1024, 0, 1000},
	 {9000, 0, 1},
	 18,
	 0x5a,
	 0,
	 1000,
	 false},
	{"ports past 65535",
	 {0x0a4d0001, 0, 1},
	 {0x0a4d0002, 0, 1},
	 {1, 65500, 65535},
	 {1, 65520, 65535},
	 19,
	 0xff,
	 0,
	 100,
	 false},
	{"14 hosts", {0x0a4d0001, 0, 1}, {0x0a4d0011, 0, 14}, {0, 7, 65536}, {9000, 0, 1}, 64, 0, 0, 100, false},
	{"every address",
	 {0, 0xfffffff0, 1ULL << 32},
	 {0, 5, 1ULL << 32},
	 {65535, 0, 1},
	 {65535, 0, 1},
	 8,
	 0xff,
	 0,
	 40,
	 false},
	{"far flows",
	 {0xffffff00, 3, 251},
	 {0xc0000200, 0, 256},
	 {1024, 0, 64511},
	 {53, 0, 7},
	 101,
	 0xa5,
	 0xfffffff0ULL,
	 40,
	 false},
	{"checksum 0", {0x0a4d0001, 0, 9}, {0x0a4d0002, 0, 1}, {1024, 0, 9}, {9000, 0, 1}, 18, 0, 5, 1, true},
	{"checksum 0, large",
	 {0xffffffff, 0, 1},
	 {0xfffffffe, 0, 1},
	 {65535, 0, 1},
	 {65535, 0, 1},
	 1400,
	 0xff,
	 0,
	 1,
	 true},
};

struct layout {
	bool v6;
	bool tagged;
	unsigned l3;
	struct core_walk *skel;
	int load_error;
};

static struct layout layouts[] = {
	{.l3 = 14},
	{.l3 = 18, .tagged = true},
	{.l3 = 14, .v6 = true},
	{.l3 = 18, .tagged = true, .v6 = true},
};

static unsigned char *put(unsigned char *p, uint64_t value, unsigned bytes)
{
	while (bytes--)
		*p++ = (unsigned char)(value >> (8 * bytes));
	return p;
}

/* RFC 1071 section 1, as the text says it: big-endian 16-bit words, end-around carry. */
static unsigned ones_add(unsigned sum, const unsigned char *p, unsigned len)
{
	for (unsigned i = 0; i < len; i++) {
		sum += i % 2 ? p[i] : (unsigned)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static uint32_t walk(const struct range *r, uint64_t n)
{
	uint64_t step = ((uint64_t)r->first + n) % r->count;

	return (uint32_t)(r->base + step);
}

struct values {
	uint32_t saddr, daddr;
	uint16_t sport, dport;
	uint64_t mark;
	uint16_t word; /* after the mark, to steer the checksum */
};

struct sums {
	unsigned l3; /* over the IPv4 header */
	unsigned l4; /* over pseudo-header, UDP header, payload */
};

/* A frame from nothing, checksums 0. Returns its length. */
static unsigned frame_build(const struct layout *l, const struct flows *f, const struct values *v, unsigned char *frame,
			    struct sums *sums)
{
	unsigned udp_len = UDP_HLEN + f->payload;
	unsigned char *addrs;
	unsigned char *l3;
	unsigned char *udp;
	unsigned char *p = frame;

	p = put(p, 0x02aabbccdd02, 6);
	p = put(p, 0x02aabbccdd01, 6);
	if (l->tagged)
		p = put(p, 0x8100a123, 4);
	p = put(p, l->v6 ? 0x86dd : 0x0800, 2);
	l3 = p;
	if (l->v6) {
		p = put(p, 0x60000000, 4);
		p = put(p, (uint64_t)udp_len << 16 | 17 << 8 | 64, 4);
		addrs = p;
		p = put(put(p, 0xfd77a5a5ffff0001, 8), v->saddr, 8);
		p = put(put(p, 0xfd77ffffffff0002, 8), v->daddr, 8);
	} else {
		p = put(p, (uint64_t)0x4500 << 16 | (20 + udp_len), 4);
		p = put(p, 0, 4);
		p = put(p, 64 << 24 | 17 << 16, 4);
		addrs = p;
		p = put(put(p, v->saddr, 4), v->daddr, 4);
	}
	udp = p;
	p = put(put(put(put(p, v->sport, 2), v->dport, 2), udp_len, 2), 0, 2);
	memset(p, (int)f->filler, f->payload);
	put(p, v->mark, MARK_LEN);
	if (f->zero_check)
		put(p + MARK_LEN, v->word, 2);
	sums->l3 = ones_add(0, l3, 20);
	sums->l4 = ones_add(ones_add(udp_len + 17, addrs, (unsigned)(udp - addrs)), udp, udp_len);
	return (unsigned)(udp - frame) + udp_len;
}

/* What flow n must look like on the wire. */
static unsigned frame_expect(const struct layout *l, const struct flows *f, uint64_t n, uint64_t mark, uint16_t word,
			     unsigned char *frame)
{
	struct values v = {
		.saddr = walk(&f->saddr, n),
		.daddr = walk(&f->daddr, n),
		.sport = (uint16_t)walk(&f->sport, n),
		.dport = (uint16_t)walk(&f->dport, n),
		.mark = mark,
		.word = word,
	};
	struct sums sums;
	unsigned len = frame_build(l, f, &v, frame, &sums);
	unsigned check = 0xffff - sums.l4;

	if (!l->v6)
		put(frame + l->l3 + 10, 0xffff - sums.l3, 2);
	put(frame + len - f->payload - 2, check ? check : 0xffff, 2);
	return len;
}

static struct tx_walk plan_walk(const struct range *r)
{
	return (struct tx_walk){.base = r->base, .first = r->first, .count = r->count};
}

/* The plan for all of f's flows; word is what the template's payload holds after the mark. */
static void plan_build(const struct layout *l, const struct flows *f, uint16_t word, struct tx_plan *plan)
{
	struct values none = {.word = word};
	struct sums sums;

	memset(plan, 0, sizeof(*plan));
	plan->len = frame_build(l, f, &none, plan->frame, &sums);
	plan->family = l->v6 ? TX_UDP6 : TX_UDP4;
	plan->l3 = l->l3;
	plan->l4 = l->l3 + (l->v6 ? IP6_HLEN : IP4_HLEN);
	plan->flows = UINT64_MAX;
	plan->saddr = plan_walk(&f->saddr);
	plan->daddr = plan_walk(&f->daddr);
	plan->sport = plan_walk(&f->sport);
	plan->dport = plan_walk(&f->dport);
	plan->l3_sum = core_be16(sums.l3);
	plan->l4_sum = core_be16(sums.l4);
}

typedef void write_frame(struct layout *l, const struct tx_plan *plan, uint64_t n, uint64_t mark, unsigned char *frame);

static void by_c(struct layout *l, const struct tx_plan *plan, uint64_t n, uint64_t mark, unsigned char *frame)
{
	unsigned char *payload = frame + plan->l4 + UDP_HLEN;
	struct tx_flow flow;
	uint64_t extra;

	put(payload, mark, MARK_LEN);
	extra = csum_bytes(payload, MARK_LEN, MARK_LEN);
	tx_flow_at(plan, n, &flow);
	if (l->v6)
		tx_patch_udp6(frame + plan->l3, &flow, extra);
	else
		tx_patch_udp4(frame + plan->l3, &flow, extra);
}

static void by_bpf(struct layout *l, const struct tx_plan *plan, uint64_t n, uint64_t mark, unsigned char *frame)
{
	static unsigned char out[TX_TEMPLATE_MAX];
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = frame,
		.data_size_in = plan->len,
		.data_out = out,
		.data_size_out = sizeof(out),
		.repeat = 1,
	};
	uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(l->skel->maps.plans), &zero, plan, BPF_ANY), 0);
	l->skel->bss->flow = n;
	put((unsigned char *)&l->skel->bss->mark, mark, MARK_LEN);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(l->skel->progs.core_walk), &opts), 0);
	assert_int_equal(opts.retval, XDP_TX);
	assert_int_equal(opts.data_size_out, plan->len);
	memcpy(frame, out, plan->len);
}

/* Every flow of every set, written over what the flow before left in the frame, as the send loop does. */
static void check_all(struct layout *l, write_frame *write)
{
	static struct tx_plan plan;
	static unsigned char frame[TX_TEMPLATE_MAX];
	static unsigned char expected[TX_TEMPLATE_MAX];

	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		const struct flows *f = &flows[i];
		uint64_t mark = f->zero_check ? 0x0123456789abcdef : 0;
		uint16_t word = 0;

		if (f->zero_check) { /* adding the checksum itself to the sum makes it 0xffff, whose complement is 0 */
			unsigned len = frame_expect(l, f, f->start, mark, 0, expected);
			unsigned char *check = expected + len - f->payload - 2;

			word = (uint16_t)(check[0] << 8 | check[1]);
		}
		plan_build(l, f, word, &plan);
		memcpy(frame, plan.frame, plan.len);
		for (uint64_t n = f->start; n < f->start + f->n; n++) {
			unsigned len = frame_expect(l, f, n, mark, word, expected);

			assert_int_equal(len, plan.len);
			write(l, &plan, n, mark, frame);
			if (memcmp(frame, expected, len) != 0)
				print_error("%s, flow %llu:\n", f->name, (unsigned long long)n);
			assert_memory_equal(frame, expected, len);
			if (f->zero_check) {
				assert_int_equal(frame[plan.l4 + UDP_CHECK], 0xff);
				assert_int_equal(frame[plan.l4 + UDP_CHECK + 1], 0xff);
			}
			mark = mark * 6364136223846793005ULL + 1442695040888963407ULL;
		}
	}
}

static void test_c(void **state)
{
	check_all(*state, by_c);
}

static void test_bpf(void **state)
{
	struct layout *l = *state;
	const char *required = getenv("SQUALL_REQUIRE");

	if (!l->skel) {
		if (required && strstr(required, "bpf"))
			fail_msg("BPF is required, and the program was not loaded: %s", strerror(l->load_error));
		print_message("the kernel's build was not compared: BPF needs root (%s)\n", strerror(l->load_error));
		skip();
	}
	check_all(l, by_bpf);
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int load(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct layout *l = &layouts[i];

		l->skel = core_walk__open();
		if (!l->skel) {
			l->load_error = errno;
			continue;
		}
		l->skel->rodata->family = l->v6 ? TX_UDP6 : TX_UDP4;
		l->skel->rodata->l3 = l->l3;
		l->load_error = -core_walk__load(l->skel);
		if (l->load_error) {
			core_walk__destroy(l->skel);
			l->skel = NULL;
		}
	}
	return 0;
}

static int unload(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		core_walk__destroy(layouts[i].skel);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"C, IPv4", test_c, NULL, NULL, &layouts[0]},
		{"C, IPv4, tagged", test_c, NULL, NULL, &layouts[1]},
		{"C, IPv6", test_c, NULL, NULL, &layouts[2]},
		{"C, IPv6, tagged", test_c, NULL, NULL, &layouts[3]},
		{"BPF, IPv4", test_bpf, NULL, NULL, &layouts[0]},
		{"BPF, IPv4, tagged", test_bpf, NULL, NULL, &layouts[1]},
		{"BPF, IPv6", test_bpf, NULL, NULL, &layouts[2]},
		{"BPF, IPv6, tagged", test_bpf, NULL, NULL, &layouts[3]},
	};

	libbpf_set_print(quiet);
	return cmocka_run_group_tests(tests, load, unload);
}
