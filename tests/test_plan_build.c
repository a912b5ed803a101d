/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a plan, judged by a plain reading of the RFCs that shares nothing with the code under test. */
#include "gen/pace.h"
#include "gen/plan_build.h"
#include "lib/core/flow.h"
#include "lib/core/patch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct config base(const char *dst)
{
	struct config cfg = {.verb = VERB_SEND, .mode = MODE_UDP, .src_port = 1024, .dst_port = 9000, .flows = 1};

	cfg.payload_byte = 0x5a;
	cfg.ttl = 64;
	cfg.burst = 32;
	assert_int_equal(prefix_parse(dst, &cfg.dst_ip), 0);
	return cfg;
}

static struct gen_ends ends_for(const struct config *cfg)
{
	struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}};

	assert_int_equal(ip_parse(cfg->dst_ip.ip.family == 6 ? "fd00::1" : "10.9.9.1", &ends.src_ip), 0);
	return ends;
}

static struct tx_plan *build(const struct config *cfg)
{
	struct gen_ends ends = ends_for(cfg);
	struct tx_plan *plan = malloc(sizeof(*plan));
	struct err e;

	assert_non_null(plan);
	assert_int_equal(gen_plan_build(cfg, &ends, plan, &e), 0);
	return plan;
}

/* Flow n of the plan as it goes out. */
static void frame_of(const struct tx_plan *plan, uint64_t n, unsigned char *out)
{
	unsigned char entry[TX_ENTRY_MAX];

	memcpy(out, plan->frame, plan->max_len);
	tx_entry_at(plan, n, entry);
	tx_put(plan, entry, &plan->sizes[0], out, 0);
}

static unsigned be16(const unsigned char *p)
{
	return p[0] * 256U + p[1];
}

/* RFC 1071 section 4.1, word by word in network order. */
static unsigned long add_words(unsigned long sum, const unsigned char *p, size_t n)
{
	for (; n > 1; n -= 2, p += 2)
		sum += be16(p);
	if (n)
		sum += p[0] * 256U;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Every checksum of the frame is right and there, every length fits. */
static void judge(const unsigned char *f, uint32_t len, unsigned tags)
{
	const unsigned char *ip = f + 14 + 4 * (size_t)tags;
	size_t ip_len = len - 14 - 4 * (size_t)tags;
	bool v6 = ip[0] >> 4 == 6;
	size_t hlen = v6 ? 40 : 20;
	const unsigned char *udp = ip + hlen;
	size_t udp_len = ip_len - hlen;
	unsigned long sum = add_words(0, ip + (v6 ? 8 : 12), v6 ? 32 : 8);

	assert_int_equal(be16(ip - 2), v6 ? 0x86dd : 0x0800);
	if (v6) {
		assert_int_equal(be16(ip + 4), udp_len);
		assert_int_equal(ip[6], 17);
		assert_int_equal(ip[7], 64);
	} else {
		assert_int_equal(ip[0], 0x45);
		assert_int_equal(be16(ip + 2), ip_len);
		assert_int_equal(ip[8], 64);
		assert_int_equal(ip[9], 17);
		assert_int_equal(add_words(0, ip, 20), 0xffff);
	}
	assert_int_equal(be16(udp + 4), udp_len);
	assert_int_not_equal(be16(udp + 6), 0);
	sum = add_words(sum + 17 + udp_len, udp, udp_len);
	assert_int_equal(sum, 0xffff);
	for (size_t i = 8; i < udp_len; i++)
		assert_int_equal(udp[i], 0x5a);
}

static void checksums_are_right_for_every_flow(void **state)
{
	static const char *const dsts[] = {"10.9.9.9", "10.1.0.0/20", "fd00::9", "fd00::/112",
					   "2001:db8::ffff:ff00/120"};
	static const uint32_t sizes[] = {0, 71, 512, 1518, 9018};
	unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (unsigned d = 0; d < sizeof(dsts) / sizeof(dsts[0]); d++)
		for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (uint16_t vlan = 0; vlan <= 7; vlan += 7) {
				struct config cfg = base(dsts[d]);
				struct tx_plan *plan;

				cfg.flows = 3000;
				cfg.src_port = 64000; /* the walk passes 65535 */
				cfg.packet_size = sizes[s];
				cfg.vlan = vlan;
				cfg.vary_dst_port = s == 1;
				plan = build(&cfg);
				for (uint64_t n = 0; n < cfg.flows; n++) {
					frame_of(plan, n, frame);
					judge(frame, plan->max_len, vlan ? 1 : 0);
				}
				free(plan);
			}
}

/* 1 of 65,535 port values makes the sum come out 0: it must be sent as 0xffff (RFC 768). */
static void zero_checksum_is_sent_as_ones(void **state)
{
	unsigned char frame[TX_TEMPLATE_MAX];
	unsigned ones = 0;

	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct config cfg = base(v6 ? "fd00::9" : "10.9.9.9");
		struct tx_plan *plan;

		cfg.flows = 65535;
		plan = build(&cfg);
		for (uint64_t n = 0; n < cfg.flows; n++) {
			frame_of(plan, n, frame);
			assert_int_not_equal(be16(frame + plan->l4 + 6), 0);
			ones += be16(frame + plan->l4 + 6) == 0xffff;
		}
		free(plan);
	}
	assert_true(ones >= 1);
}

static int by_value(const void *a, const void *b)
{
	return memcmp(a, b, 12);
}

static void flows_are_distinct_and_exactly_as_many_as_asked(void **state)
{
	static const struct {
		const char *dst;
		uint64_t flows;
	} cases[] = {{"10.9.9.9", 1},
		     {"10.9.9.9", 254},
		     {"10.9.9.9", 65535},
		     {"10.0.0.0/16", 65536},
		     {"10.0.0.0/8", 1000000}};
	unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct config cfg = base(cases[c].dst);
		unsigned char(*seen)[12] = malloc(cases[c].flows * sizeof(*seen));
		struct tx_plan *plan;

		assert_non_null(seen);
		cfg.flows = cases[c].flows;
		plan = build(&cfg);
		for (uint64_t n = 0; n < cfg.flows; n++) {
			frame_of(plan, n, frame);
			memcpy(seen[n], frame + 26, 12);
		}
		qsort(seen, cfg.flows, sizeof(*seen), by_value);
		for (uint64_t n = 1; n < cfg.flows; n++)
			assert_int_not_equal(memcmp(seen[n - 1], seen[n], 12), 0);
		free(plan);
		free(seen);
	}
}

static void ports_start_where_asked_and_skip_zero(void **state)
{
	unsigned char frame[TX_TEMPLATE_MAX];
	struct config cfg = base("10.9.9.9");
	struct tx_plan *plan;

	(void)state;
	cfg.flows = 3;
	cfg.src_port = 65535;
	plan = build(&cfg);
	frame_of(plan, 0, frame);
	assert_int_equal(be16(frame + 34), 65535);
	frame_of(plan, 1, frame);
	assert_int_equal(be16(frame + 34), 1);
	free(plan);
	cfg.flows = 1;
	cfg.src_port = 0;
	plan = build(&cfg);
	frame_of(plan, 0, frame);
	assert_int_equal(be16(frame + 34), 0);
	free(plan);
}

static void prefixes_stand_for_their_usable_hosts(void **state)
{
	static const struct {
		const char *dst;
		unsigned hosts, first;
	} cases[] = {{"10.0.0.0/28", 14, 1},
		     {"10.0.0.0/30", 2, 1},
		     {"10.0.0.4/31", 2, 4},
		     {"10.0.0.7/32", 1, 7},
		     {"fd00::/124", 16, 0}};
	unsigned char frame[TX_TEMPLATE_MAX];

	(void)state;
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct config cfg = base(cases[c].dst);
		struct tx_plan *plan;
		size_t last_byte = cfg.dst_ip.ip.family == 6 ? 53 : 33;

		cfg.flows = 2 * cases[c].hosts + 1;
		plan = build(&cfg);
		for (unsigned n = 0; n < cfg.flows; n++) {
			frame_of(plan, n, frame);
			assert_int_equal(frame[last_byte], cases[c].first + n % cases[c].hosts);
		}
		free(plan);
	}
}

static void raw_frames_are_header_and_fill(void **state)
{
	struct config cfg = {
		.verb = VERB_SEND, .mode = MODE_RAW, .flows = 1, .ethertype = 0x88b5, .payload_byte = 0xa5, .vlan = 9};
	static const unsigned char head[18] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x81, 0x00, 0, 9, 0x88, 0xb5};
	struct tx_plan *plan = build(&cfg);

	(void)state;
	assert_int_equal(plan->max_len, 64);
	assert_memory_equal(plan->frame, head, sizeof(head));
	for (unsigned i = sizeof(head); i < plan->max_len; i++)
		assert_int_equal(plan->frame[i], 0xa5);
	assert_int_equal(plan->n_walks + plan->n_sums + plan->n_lengths, 0);
	free(plan);
}

static void check_says(const struct config *cfg, const char *object, const char *word)
{
	struct problems *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	gen_check(cfg, p);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->e[0].object, object);
	if (!strstr(p->e[0].cause, word))
		fail_msg("\"%s\" is not in \"%s\"", word, p->e[0].cause);
	free(p);
}

static void the_smallest_size_is_named(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	cfg.packet_size = 63;
	check_says(&cfg, "--packet-size", " 64 ");
	cfg.vlan = 5;
	cfg.packet_size = 67;
	check_says(&cfg, "--packet-size", " 68 ");
	cfg = base("fd00::1");
	cfg.packet_size = 65;
	check_says(&cfg, "--packet-size", " 66 ");
	cfg.vlan = 5;
	cfg.packet_size = 69;
	check_says(&cfg, "--packet-size", " 70 ");
	cfg.packet_size = 9019;
	check_says(&cfg, "--packet-size", "9018");
}

static void what_does_not_fit_together_is_refused(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	cfg.flows = 65536;
	check_says(&cfg, "--flows", "65535");
	cfg.flows = 0;
	check_says(&cfg, "--flows", "1");
	cfg.flows = 1;
	prefix_parse("fd00::1", &cfg.src_ip);
	check_says(&cfg, "--src-ip", "IPv6");
	cfg.src_ip.ip.family = 0;
	cfg.dst_ip.ip.family = 0;
	check_says(&cfg, "--dst-ip", "missing");
	cfg.mode = MODE_RAW;
	cfg.ethertype = 0x88b5;
	check_says(&cfg, "--dst-mac", "raw");
	cfg.dst_mac.b[5] = 9;
	cfg.ethertype = 0x5ff;
	check_says(&cfg, "--ethertype", "0x05ff");
	cfg.ethertype = 0x88b5;
	cfg.vary = (struct config_filters){.n = 1, .text = {"src-mac=02:00:00:00:00:00-02:ff:ff:ff:ff:ff"}};
	cfg.flows = 1UL << 41;
	check_says(&cfg, "--flows", "1099511627776"); /* the addresses that there are */
	cfg.flows = 1UL << 27;
	check_says(&cfg, "--flows", "67108864");
}

static double pps_of(struct config *cfg, uint64_t link_bps)
{
	struct gen_ends ends = ends_for(cfg);
	struct tx_plan *plan = malloc(sizeof(*plan));
	struct err e;
	double pps;

	ends.link_bps = link_bps;
	assert_non_null(plan);
	assert_int_equal(gen_plan_build(cfg, &ends, plan, &e), 0);
	pps = pace_pps(&plan->pace);
	free(plan);
	return pps;
}

static void assert_near(double got, double want)
{
	if (got < want * (1 - 1e-8) || got > want * (1 + 1e-8))
		fail_msg("%.9g is not %.9g", got, want);
}

static void rates_count_in_their_layer_and_the_slower_wins(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	assert_true(pps_of(&cfg, 0) < 0);
	cfg.packet_size = 512;
	assert_int_equal(units_parse_bps("42.56M", &cfg.bps), 0);
	assert_near(pps_of(&cfg, 0), 42.56e6 / ((512 + 20) * 8));
	assert_int_equal(units_parse_bps("40.96Mbpsl2", &cfg.bps), 0);
	assert_near(pps_of(&cfg, 0), 1e4);
	assert_int_equal(units_parse_bps("10G", &cfg.bps), 0);
	assert_int_equal(units_parse_pps("1234.5", &cfg.pps), 0);
	assert_near(pps_of(&cfg, 0), 1234.5);
	assert_int_equal(units_parse_pps("unlimited", &cfg.pps), 0);
	assert_int_equal(units_parse_bps("50%", &cfg.bps), 0);
	assert_near(pps_of(&cfg, 10000000000ULL), 5e9 / ((512 + 20) * 8));
}

static void a_percentage_needs_a_speed(void **state)
{
	struct config cfg = base("10.9.9.9");
	struct gen_ends ends = ends_for(&cfg);
	struct tx_plan *plan = malloc(sizeof(*plan));
	struct err e;

	(void)state;
	assert_non_null(plan);
	assert_int_equal(units_parse_pps("50%", &cfg.pps), 0);
	assert_int_equal(gen_plan_build(&cfg, &ends, plan, &e), -EINVAL);
	assert_int_equal(e.code, EXIT_USAGE);
	free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_are_right_for_every_flow),
		cmocka_unit_test(zero_checksum_is_sent_as_ones),
		cmocka_unit_test(flows_are_distinct_and_exactly_as_many_as_asked),
		cmocka_unit_test(ports_start_where_asked_and_skip_zero),
		cmocka_unit_test(prefixes_stand_for_their_usable_hosts),
		cmocka_unit_test(raw_frames_are_header_and_fill),
		cmocka_unit_test(the_smallest_size_is_named),
		cmocka_unit_test(what_does_not_fit_together_is_refused),
		cmocka_unit_test(rates_count_in_their_layer_and_the_slower_wins),
		cmocka_unit_test(a_percentage_needs_a_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
