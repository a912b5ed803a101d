/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan sends is taken, every flow of it; what is one off is not. The frames are the plan's own. */
#include "gen/plan_build.h"
#include "lib/core/flow.h"
#include "lib/core/patch.h"
#include "lib/option.h"
#include "rx/sent_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tx_plan *plan;
static struct filter there, both;
static unsigned char frame[TX_TEMPLATE_MAX];

/* A plan from the words of a command line, and its filters. */
static void build(const char *line)
{
	static struct config cfg;
	static struct problems problems;
	struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}, .mtu = 1500};
	char words[512], *argv[64], *at = words;
	int argc = 1;
	struct err e;

	argv[0] = words;
	snprintf(words, sizeof(words), "pair %s", line);
	while ((argv[argc] = strsep(&at, " ")))
		argc++;
	problems.n = 0;
	option_parse(&cfg, argc, argv, &problems);
	gen_check(&cfg, &problems);
	if (problems.n)
		fail_msg("%s: %s %s", line, problems.e[0].object, problems.e[0].cause);
	ip_parse(cfg.dst_ip.ip.family == 6 ? "fd00::1" : "10.9.9.1", &ends.src_ip);
	ip_parse("10.1.1.1", &ends.outer_src);
	if (cfg.src_ip.ip.family)
		prefix_hosts(&cfg.src_ip, &ends.src_ip);
	if (gen_plan_build(&cfg, &ends, plan, &e) || sent_filter_build(plan, 1, false, &there, &e) ||
	    sent_filter_build(plan, 1, true, &both, &e))
		fail_msg("%s: %s", line, e.cause);
}

static void write_flow(uint64_t n)
{
	unsigned char entry[TX_ENTRY_MAX];

	memcpy(frame, plan->frame, plan->max_len);
	tx_entry_at(plan, n, entry);
	tx_put(plan, entry, &plan->sizes[0], frame, 0);
}

static void swap(unsigned a, unsigned b, unsigned len)
{
	unsigned char kept[16];

	memcpy(kept, frame + a, len);
	memcpy(frame + a, frame + b, len);
	memcpy(frame + b, kept, len);
}

/* As a reflector sends it back; ip: where an untagged frame has its first address. */
static void turn(unsigned ip, unsigned len, unsigned ports)
{
	swap(0, 6, 6);
	swap(ip, ip + len, len);
	if (ports)
		swap(ports, ports + 2, 2);
}

static bool taken(const struct filter *f)
{
	return filter_matches(f, frame, plan->max_len);
}

/* Every flow is taken there, and back by the filter for both ways only. ip 0: it is no IP packet. */
static void all_flows(unsigned ip, unsigned len, unsigned ports)
{
	for (uint64_t n = 0; n < plan->flows; n++) {
		write_flow(n);
		if (!taken(&there) || !taken(&both))
			fail_msg("flow %lu is not taken", (unsigned long)n);
		turn(ip, ip ? len : 0, ports);
		if (!taken(&both))
			fail_msg("flow %lu is not taken on its way back", (unsigned long)n);
		if (taken(&there))
			fail_msg("flow %lu is taken on its way back, too", (unsigned long)n);
	}
}

/* One bit of the frame of flow 0 changed. */
static bool taken_with(unsigned byte, unsigned mask)
{
	bool yes;

	write_flow(0);
	frame[byte] ^= (unsigned char)mask;
	yes = taken(&there);
	if (yes != taken(&both))
		fail_msg("byte %u: the filters do not agree", byte);
	return yes;
}

static void one_flow(void **state)
{
	(void)state;
	build("--dst-ip 10.9.9.2");
	all_flows(26, 4, 34);
	assert_int_equal(plan->flows, 1);
	for (unsigned byte = 26; byte < 38; byte++) /* addresses and ports */
		for (unsigned bit = 1; bit < 256; bit <<= 1)
			if (taken_with(byte, bit))
				fail_msg("byte %u with bit 0x%02x changed is taken", byte, bit);
	assert_false(taken_with(23, 1)); /* protocol */
	assert_true(taken_with(0, 4));   /* MAC: a bridge or a router may change it */
	assert_true(taken_with(22, 1));  /* TTL likewise */
}

static void ports_of_the_flows(void **state)
{
	(void)state;
	build("--dst-ip 10.9.9.2 --flows 1000"); /* ports 1024 (0x0400) to 2023 (0x07e7) */
	all_flows(26, 4, 34);
	assert_true(taken_with(34, 0x04 ^ 0x07));
	assert_false(taken_with(34, 0x04 ^ 0x03));
	assert_false(taken_with(34, 0x04 ^ 0x08));
	assert_false(taken_with(37, 1));
	/* The ports go on at 1 after 65535: any may come. */
	build("--dst-ip 10.9.9.2 --flows 10 --src-port 65530");
	all_flows(26, 4, 34);
	build("--dst-ip 10.9.9.2 --flows 7 --vary dst-port=53,9000,77,100,104 --flow-walk cross");
	all_flows(26, 4, 34);
	build("--dst-ip 10.9.9.2 --flows 9 --vary src-port=dec:492-500");
	all_flows(26, 4, 34);
	assert_false(taken_with(34, 0x80));
}

static void addresses_of_the_flows(void **state)
{
	(void)state;
	build("--dst-ip 10.9.8.0/23 --flows 510"); /* hosts 10.9.8.1 to 10.9.9.254 */
	all_flows(26, 4, 34);
	assert_false(taken_with(31, 4));                                             /* 10.13.8.1 */
	assert_false(taken_with(32, 2));                                             /* 10.9.10.1 */
	build("--src-ip 10.0.0.0/16 --dst-ip 10.9.9.9 --flows 3 --flow-walk cross"); /* 10.0.0.1 to .3 */
	all_flows(26, 4, 34);
	assert_false(taken_with(29, 4));
	build("--dst-ip 2001:db8::/64 --flows 100");
	all_flows(22, 16, 54);
	assert_false(taken_with(45, 1));
	build("--dst-ip 2001:db8::1 --src-ip fd00::/120 --flows 200");
	all_flows(22, 16, 54);
}

static void other_protocols(void **state)
{
	(void)state;
	build("--mode tcp-syn --dst-ip 10.9.9.2 --flows 5");
	all_flows(26, 4, 34);
	build("--mode icmp-echo --dst-ip 10.9.9.2 --flows 5");
	all_flows(26, 4, 0);
	build("--src-ip 192.0.2.7 --dst-ip 192.0.2.1 --tunnel vxlan,dst=10.9.9.2,src=10.1.1.1");
	all_flows(26, 4, 34);
	build("--mode raw --dst-mac 02:00:00:00:00:09 --no-stamp");
	all_flows(0, 0, 0);
	assert_false(taken_with(13, 1));
	assert_false(taken_with(5, 1));
	build("--dst-ip 10.9.9.2 --mpls 16"); /* an EtherType that the filter does not look behind */
	write_flow(0);
	assert_true(taken(&there));
	assert_false(taken_with(13, 1));
	/* MACs that vary are no condition. */
	build("--mode raw --dst-mac 02:00:00:00:00:09 --flows 3 --vary dst-mac=02:00:00:00:00:09-02:00:00:00:00:0b "
	      "--no-stamp");
	write_flow(2);
	assert_true(taken(&there));
}

/* Tags are no condition. */
static void tags(void **state)
{
	(void)state;
	build("--dst-ip 10.9.9.2 --vlan 5 --flows 2");
	write_flow(1);
	assert_true(taken(&there));
	frame[15] = 6;
	assert_true(taken(&there));
	memmove(frame + 12, frame + 16, plan->max_len - 16);
	assert_true(filter_matches(&there, frame, plan->max_len - 4));
}

static int make(void **state)
{
	(void)state;
	plan = malloc(sizeof(*plan));
	return plan ? 0 : -1;
}

static int unmake(void **state)
{
	(void)state;
	free(plan);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_flow),
		cmocka_unit_test(ports_of_the_flows),
		cmocka_unit_test(addresses_of_the_flows),
		cmocka_unit_test(other_protocols),
		cmocka_unit_test(tags),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
