/* SPDX-License-Identifier: Apache-2.0 */
/* What each receive mode takes, by packets that must and must not match (facts of the modes: docs/options.md). */
#include "rx/rx_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEN 64U

/* IPv4 from 10.0.<s> to 10.0.<d> or the like in IPv6, protocol and ports given. */
static void ip_packet(unsigned char *p, bool v6, uint8_t s, uint8_t d, uint8_t proto, uint16_t sport, uint16_t dport)
{
	unsigned char *ip = p + 14;
	unsigned char *l4 = ip + (v6 ? 40 : 20);

	memset(p, 0, 128);
	p[12] = v6 ? 0x86 : 0x08;
	p[13] = v6 ? 0xdd : 0x00;
	if (v6) {
		ip[0] = 0x60;
		ip[6] = proto;
		ip[8] = ip[24] = 0xfd;
		ip[23] = s;
		ip[39] = d;
	} else {
		ip[0] = 0x45;
		ip[3] = LEN - 14;
		ip[9] = proto;
		ip[12] = ip[16] = 10;
		ip[15] = s;
		ip[19] = d;
	}
	l4[0] = (unsigned char)(sport >> 8);
	l4[1] = (unsigned char)sport;
	l4[2] = (unsigned char)(dport >> 8);
	l4[3] = (unsigned char)dport;
}

static struct filter build(const struct config *cfg, const struct host *h, const struct host_link *link)
{
	struct problems *p = calloc(1, sizeof(*p));
	struct ip own;
	struct filter f;
	struct err e;

	assert_non_null(p);
	rx_filter_check(cfg, p);
	assert_int_equal(p->n, 0);
	free(p);
	assert_int_equal(ip_parse("10.0.0.1", &own), 0);
	assert_int_equal(rx_filter_build(cfg, h, link, &own, &f, &e), 0);
	return f;
}

static bool takes(const struct filter *f, bool v6, uint8_t s, uint8_t d, uint8_t proto, uint16_t sport, uint16_t dport)
{
	unsigned char p[128];

	ip_packet(p, v6, s, d, proto, sport, dport);
	return filter_matches(f, p, v6 ? LEN + 20 : LEN);
}

static void default_is_udp_to_port_9000(void **state)
{
	struct config cfg = {.verb = VERB_RECV};
	struct filter f = build(&cfg, NULL, NULL);

	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		assert_true(takes(&f, v6, 2, 1, 17, 1024, 9000));
		assert_false(takes(&f, v6, 2, 1, 17, 9000, 9001));
		assert_false(takes(&f, v6, 2, 1, 6, 1024, 9000));
	}
}

static void port_modes_take_their_ports(void **state)
{
	struct config cfg = {.verb = VERB_RECV, .rx_mode = RX_MODE_UDP_PORT, .rx_ports = {.n = 2, .port = {53, 4789}}};
	struct filter f = build(&cfg, NULL, NULL);

	(void)state;
	assert_true(takes(&f, false, 2, 1, 17, 1, 53));
	assert_true(takes(&f, true, 2, 1, 17, 1, 4789));
	assert_false(takes(&f, false, 2, 1, 17, 53, 54));
	assert_false(takes(&f, false, 2, 1, 6, 1, 53));
	cfg.rx_mode = RX_MODE_TCP_PORT;
	f = build(&cfg, NULL, NULL);
	assert_true(takes(&f, false, 2, 1, 6, 1, 53));
	assert_false(takes(&f, false, 2, 1, 17, 1, 53));
}

static void generated_flow_is_what_comes_back(void **state)
{
	struct config cfg = {.verb = VERB_SEND, .rx_mode = RX_MODE_GENERATED_FLOW};
	struct filter f;

	(void)state;
	assert_int_equal(prefix_parse("10.0.0.2/31", &cfg.dst_ip), 0);
	f = build(&cfg, NULL, NULL);
	assert_true(takes(&f, false, 2, 1, 17, 9000, 1024));
	assert_true(takes(&f, false, 3, 1, 6, 9000, 1024));
	assert_false(takes(&f, false, 4, 1, 17, 9000, 1024));
	assert_false(takes(&f, false, 2, 9, 17, 9000, 1024));
}

static void cidr_is_by_source(void **state)
{
	struct config cfg = {.verb = VERB_RECV, .rx_mode = RX_MODE_CIDR};
	struct filter f;

	(void)state;
	assert_int_equal(prefix_parse("10.0.0.128/25", &cfg.rx_cidr), 0);
	f = build(&cfg, NULL, NULL);
	assert_true(takes(&f, false, 200, 1, 1, 0, 0));
	assert_false(takes(&f, false, 100, 200, 1, 0, 0));
}

/* The host's own addresses, those of VLAN interfaces on the link too, keep SSH and DNS. */
static void keep_management_leaves_the_host_reachable(void **state)
{
	struct config cfg = {.verb = VERB_RECV, .rx_mode = RX_MODE_KEEP_MANAGEMENT};
	struct host_link links[] = {
		{.index = 2, .name = "eth0"}, {.index = 3, .name = "eth0.7", .parent = 2}, {.index = 4}};
	struct host_addr addrs[] = {{.link = 2}, {.link = 3}, {.link = 4}};
	struct host h = {.links = links, .n_links = 3, .addrs = addrs, .n_addrs = 3};
	struct filter f;

	(void)state;
	ip_parse("10.0.0.1", &addrs[0].ip);
	ip_parse("10.0.0.7", &addrs[1].ip);
	ip_parse("10.0.0.8", &addrs[2].ip);
	f = build(&cfg, &h, &links[0]);
	assert_false(takes(&f, false, 9, 1, 6, 5000, 22));
	assert_false(takes(&f, false, 9, 7, 6, 5000, 22));
	assert_true(takes(&f, false, 9, 8, 6, 5000, 22));
	assert_false(takes(&f, false, 9, 1, 17, 53, 5000));
	assert_true(takes(&f, false, 9, 1, 17, 5000, 9000));
	assert_false(takes(&f, true, 9, 1, 58, 0x8700, 0)); /* neighbour solicitation */
}

static void explicit_filters_are_taken_as_written(void **state)
{
	struct config cfg = {.verb = VERB_RECV, .filters = {.n = 3, .text = {"proto=udp", "dst-port=7", "dst-port=9"}}};
	struct filter f = build(&cfg, NULL, NULL);

	(void)state;
	assert_true(takes(&f, false, 2, 1, 17, 1, 7));
	assert_true(takes(&f, true, 2, 1, 17, 1, 9));
	assert_false(takes(&f, false, 2, 1, 17, 1, 8));
}

static void says(const struct config *cfg, const char *object, const char *word)
{
	struct problems *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	rx_filter_check(cfg, p);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->e[0].object, object);
	if (!strstr(p->e[0].cause, word))
		fail_msg("\"%s\" is not in \"%s\"", word, p->e[0].cause);
	free(p);
}

static void what_is_missing_or_dangerous_is_refused(void **state)
{
	struct config cfg = {.verb = VERB_RECV, .rx_mode = RX_MODE_UDP_PORT};

	(void)state;
	says(&cfg, "--rx-port", "missing");
	cfg.rx_mode = RX_MODE_CIDR;
	says(&cfg, "--rx-cidr", "missing");
	prefix_parse("0.0.0.0/0", &cfg.rx_cidr);
	says(&cfg, "--rx-cidr", "--allow-match-all");
	cfg.rx_mode = RX_MODE_ALL;
	says(&cfg, "--rx-mode", "--allow-match-all");
	cfg = (struct config){.verb = VERB_SEND, .rx_mode = RX_MODE_GENERATED_FLOW};
	says(&cfg, "--rx-mode", "--dst-ip");
	cfg.verb = VERB_RECV;
	prefix_parse("10.0.0.2", &cfg.dst_ip);
	says(&cfg, "--src-ip", "missing");
	cfg = (struct config){.verb = VERB_RECV, .filters = {.n = 1, .text = {"dst-port=7"}}};
	says(&cfg, "--filter", "proto");
	cfg = (struct config){.verb = VERB_RECV, .filters = {.n = 1, .text = {"colour=red"}}};
	says(&cfg, "--filter", "colour");
	cfg = (struct config){
		.verb = VERB_RECV, .rx_mode = RX_MODE_KEEP_MANAGEMENT, .filters = {.n = 1, .text = {"vlan=7"}}};
	says(&cfg, "--filter", "--rx-mode");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_is_udp_to_port_9000),
		cmocka_unit_test(port_modes_take_their_ports),
		cmocka_unit_test(generated_flow_is_what_comes_back),
		cmocka_unit_test(cidr_is_by_source),
		cmocka_unit_test(keep_management_leaves_the_host_reachable),
		cmocka_unit_test(explicit_filters_are_taken_as_written),
		cmocka_unit_test(what_is_missing_or_dangerous_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
