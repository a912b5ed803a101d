/* SPDX-License-Identifier: Apache-2.0 */
/* --vary beside the other options: what is refused, and how many flows there are. */
#include "gen/plan_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct config base(const char *dst)
{
	struct config cfg = {.verb = VERB_SEND, .mode = MODE_UDP, .src_port = 1024, .dst_port = 9000, .flows = 2};

	cfg.ttl = 64;
	cfg.burst = 32;
	cfg.seed = 1;
	snprintf(cfg.imix, sizeof(cfg.imix), "simple");
	assert_int_equal(prefix_parse(dst, &cfg.dst_ip), 0);
	return cfg;
}

/* As the option's reader cuts them at commas. */
static void ask(struct config *cfg, const char *text)
{
	char copy[512], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	cfg->vary.n = 0;
	for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
		snprintf(cfg->vary.text[cfg->vary.n++], sizeof(cfg->vary.text[0]), "%s", item);
}

static struct problems *check(const struct config *cfg)
{
	static struct problems p;

	p.n = 0;
	gen_check(cfg, &p);
	return &p;
}

static void fits(const struct config *cfg)
{
	struct problems *p = check(cfg);

	if (p->n)
		fail_msg("%s: %s", p->e[0].object, p->e[0].cause);
}

static void check_says(struct config *cfg, const char *vary, const char *word)
{
	struct problems *p;

	ask(cfg, vary);
	p = check(cfg);
	if (p->n != 1)
		fail_msg("%s: %u problems, the last: %s", vary, p->n, p->n ? p->e[p->n - 1].cause : "");
	assert_string_equal(p->e[0].object, "--vary");
	if (!strstr(p->e[0].cause, word))
		fail_msg("%s: \"%s\" is not in \"%s\"", vary, word, p->e[0].cause);
}

static void fields_that_are_not_there_are_refused(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	check_says(&cfg, "vlan=5-6", "--vlan");
	check_says(&cfg, "outer-vlan=5-6", "--outer-vlan");
	check_says(&cfg, "flow-label=5-6", "IPv4 has no");
	check_says(&cfg, "src-ip=fd00::1-fd00::2", "IPv6 while --dst-ip is IPv4");
	check_says(&cfg, "nosuch=1-2", "no such field");
	check_says(&cfg, "5-6", "no such field");
	cfg = base("fd00::9");
	check_says(&cfg, "ip-id=5-6", "IPv6 has no");
	check_says(&cfg, "dst-ip=10.0.0.1-10.0.0.2", "IPv4 while --dst-ip is IPv6");
	cfg.mode = MODE_ICMP_ECHO;
	check_says(&cfg, "dst-port=5-6", "echo");
	ask(&cfg, "src-port=5-6");
	fits(&cfg);
	cfg = (struct config){.verb = VERB_SEND, .mode = MODE_RAW, .flows = 2, .ethertype = 0x88b5};
	cfg.dst_mac.b[5] = 9;
	check_says(&cfg, "src-ip=10.0.0.1-10.0.0.2", "raw");
	check_says(&cfg, "dscp=1-2", "raw");
	check_says(&cfg, "dst-port=1-2", "raw");
	ask(&cfg, "src-mac=02:00:00:00:00:01-02:00:00:00:00:02");
	fits(&cfg);
}

static void with_one_flow_nothing_varies(void **state)
{
	struct config cfg = base("10.9.9.0/24");

	(void)state;
	cfg.flows = 1;
	check_says(&cfg, "dscp=1-2", "--flows");
	ask(&cfg, "size=64-128,dscp=46");
	fits(&cfg);
}

static void payload_fields_are_inside_the_smallest_frame(void **state)
{
	struct config cfg = base("10.9.9.9"); /* 64 bytes: 14 + 20 + 8 + 18 of payload + 4 */

	(void)state;
	ask(&cfg, "payload@16:2=1-2");
	fits(&cfg);
	check_says(&cfg, "payload@17:2=1-2", " 65");
	cfg.packet_size = 65;
	ask(&cfg, "payload@17:2=1-2");
	fits(&cfg);
	check_says(&cfg, "payload@18:2=1-2", " 66");
	cfg.packet_size = 0;
	check_says(&cfg, "size=70-80,payload@24:1=1-2", " 71");
	cfg.mode = MODE_IMIX;
	check_says(&cfg, "payload@18:1=1-2", " 65");
	snprintf(cfg.imix, sizeof(cfg.imix), "65:1,128:1");
	ask(&cfg, "payload@18:1=1-2");
	fits(&cfg);
	cfg = base("fd00::9"); /* 66 bytes, no payload */
	check_says(&cfg, "payload@0:8=1-2", " 74");
	cfg = base("10.9.9.9");
	cfg.stamp = true; /* all of the payload of 64 bytes */
	check_says(&cfg, "payload@0:4=1-2", " 64 bytes (FCS included) and a stamp at its end: it takes one of 68");
	cfg.packet_size = 68;
	ask(&cfg, "payload@0:4=1-2");
	fits(&cfg);
	cfg = base("fd00::9");
	cfg.stamp = true;
	check_says(&cfg, "size=83-90", "with these headers and a stamp is 84 ");
}

static void payload_fields_do_not_overlap(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	check_says(&cfg, "payload@0:4=1-2,payload@3:2=1-2", "over each other");
	check_says(&cfg, "payload@3:2=1-2,payload@0:4=1-2", "over each other");
	check_says(&cfg, "payload@0:8=1-2,payload@3:2=1-2", "over each other");
	ask(&cfg, "payload@0:4=1-2,payload@4:2=1-2");
	fits(&cfg);
	check_says(&cfg, "payload@0:4=1-2,payload@0:2=1-2", "over each other");
}

static void a_field_comes_once(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	check_says(&cfg, "src-port=1-3,dscp=1-2,src-port=5-7", "src-port comes twice");
	check_says(&cfg, "size=64-65,size=70", "size comes twice");
	ask(&cfg,
	    "src-port=1-3,dst-ip=10.0.0.1-10.0.0.2,payload@0:1=1,payload@1:1=1"); /* in place of what flows have */
	fits(&cfg);
}

static void sizes_have_one_source(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	cfg.packet_size = 100;
	check_says(&cfg, "size=64-128", "--packet-size");
	cfg.packet_size = 0;
	cfg.mode = MODE_IMIX;
	check_says(&cfg, "size=64-128", "imix");
	cfg.mode = MODE_UDP;
	check_says(&cfg, "size=64-9018", "2048");
	ask(&cfg, "size=64:9018:8");
	fits(&cfg);
	ask(&cfg, "size=64-2111");
	fits(&cfg);
	cfg.vlan = 5;
	check_says(&cfg, "size=64-128", " 68 ");
	check_says(&cfg, "size=128,65,70", "65 bytes cannot");
	cfg = base("fd00::1");
	check_says(&cfg, "size=dec:64-128", " 66 ");
}

static void sixteen_fields_are_the_most(void **state)
{
	struct config cfg = base("10.9.9.9"); /* four of its own */
	char text[512] = "dscp=1-2";

	(void)state;
	cfg.packet_size = 512;
	for (unsigned i = 1; i < TX_WALKS_MAX - 4; i++)
		sprintf(text + strlen(text), ",payload@%u:1=1-2", 2 * i);
	strcat(text, ",ttl=1-2");
	check_says(&cfg, text, "at most 16");
	*strrchr(text, ',') = '\0';
	ask(&cfg, text);
	fits(&cfg);
}

static void flows_are_counted_together_and_combined(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	ask(&cfg, "src-port=1-10,dst-port=1-4");
	assert_int_equal(gen_flows_possible(&cfg), 20); /* lcm(10, 4) */
	cfg.flow_walk = FLOW_WALK_CROSS;
	assert_int_equal(gen_flows_possible(&cfg), 40);
	ask(&cfg, "src-port=1-10,dst-port=1-4,size=64-128");
	assert_int_equal(gen_flows_possible(&cfg), 40);
	ask(&cfg, "payload@0:8=0-18446744073709551615,dscp=1-2");
	assert_int_equal(gen_flows_possible(&cfg), UINT64_MAX);
	cfg.vary.n = 0;
	assert_int_equal(prefix_parse("10.0.0.0/24", &cfg.dst_ip), 0);
	assert_int_equal(gen_flows_possible(&cfg), 254 * 65535);
	cfg.flow_walk = FLOW_WALK_STEP;
	assert_int_equal(gen_flows_possible(&cfg), 254 * 65535); /* 65535 = 3 * 5 * 17 * 257 and 254 = 2 * 127 */
	assert_int_equal(prefix_parse("10.0.0.0/28", &cfg.src_ip), 0);
	assert_int_equal(gen_flows_possible(&cfg), 127 * 14 * 65535); /* 14 = 2 * 7 */
}

/* What is advised when there are too few of them is enough. */
static void more_flows_are_had_as_advised(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	cfg.flows = 65536;
	assert_int_equal(check(&cfg)->n, 1);
	assert_string_equal(check(&cfg)->e[0].hint,
			    "--vary-dst-port with --flow-walk cross, or a larger --dst-ip or --src-ip prefix");
	cfg.vary_dst_port = true;
	assert_string_equal(check(&cfg)->e[0].hint, "--flow-walk cross, which has 4294836225 of them"); /* 65535^2 */
	cfg.flow_walk = FLOW_WALK_CROSS;
	fits(&cfg);
	cfg = base("10.9.9.9");
	cfg.mode = MODE_ICMP_ECHO;
	cfg.flows = 65536;
	assert_int_equal(strncmp(check(&cfg)->e[0].hint, "a larger --dst-ip", 17), 0);
	assert_int_equal(prefix_parse("10.9.9.0/31", &cfg.dst_ip), 0);
	fits(&cfg);
}

static void port_0_is_the_first_where_it_is_asked_for(void **state)
{
	struct config cfg = base("10.9.9.9");

	(void)state;
	cfg.src_port = 0;
	assert_int_equal(gen_flows_possible(&cfg), 65536);
	cfg.src_port = 65535;
	assert_int_equal(gen_flows_possible(&cfg), 65535);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_that_are_not_there_are_refused),
		cmocka_unit_test(with_one_flow_nothing_varies),
		cmocka_unit_test(payload_fields_are_inside_the_smallest_frame),
		cmocka_unit_test(payload_fields_do_not_overlap),
		cmocka_unit_test(a_field_comes_once),
		cmocka_unit_test(sizes_have_one_source),
		cmocka_unit_test(sixteen_fields_are_the_most),
		cmocka_unit_test(flows_are_counted_together_and_combined),
		cmocka_unit_test(more_flows_are_had_as_advised),
		cmocka_unit_test(port_0_is_the_first_where_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
