/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_cases: what each kind of condition means, as packets that match and packets that do not. The test that
 * includes it says who is asked: decides() gets a whole packet.
 */
#ifndef SQUALL_TESTS_FILTER_CASES_H
#define SQUALL_TESTS_FILTER_CASES_H

#include "filters.h"
#include "packets.h"

static bool decides(const struct filter *f, const unsigned char *data, uint32_t len);

static bool matches(const char *text, struct packet d)
{
	unsigned char buf[PACKET_MAX];
	uint32_t len = packet_build(&d, buf);
	struct filter f;

	filter_from(&f, text);
	return decides(&f, buf, len);
}

#define YES(text, ...) \
	do { \
		if (!matches(text, (struct packet){__VA_ARGS__})) \
			fail_msg("%s should match %s", text, #__VA_ARGS__); \
	} while (0)
#define NO(text, ...) \
	do { \
		if (matches(text, (struct packet){__VA_ARGS__})) \
			fail_msg("%s should not match %s", text, #__VA_ARGS__); \
	} while (0)

static void dst_mac(void **state)
{
	(void)state;
	YES("dst-mac=02:00:00:00:00:02", .family = 4);
	YES("dst-mac=02:00:00:00:00:02", .type = 0x88b5);
	NO("dst-mac=02:00:00:00:00:01", .family = 4); /* that is the source */
	NO("dst-mac=02:00:00:00:00:03", .family = 6);
	NO("dst-mac=03:00:00:00:00:02", .family = 6);
	YES("dst-mac=02:00:00:00:00:03 dst-mac=02:00:00:00:00:02", .family = 4);
}

static void vlan(void **state)
{
	(void)state;
	YES("vlan=100", .tag = {PACKET_TAG(100)}, .family = 4);
	YES("vlan=100", .tag = {PACKET_TAG(0xe064)}, .family = 6); /* priority 7: not part of the id */
	YES("vlan=100", .tag = {PACKET_SERVICE_TAG(100), PACKET_TAG(7)}, .type = 0x88b5);
	YES("vlan=100", .tag = {PACKET_TAG(100), PACKET_TAG(7), PACKET_TAG(8)}, .family = 4);
	YES("vlan=0", .tag = {PACKET_TAG(0x2000)}, .family = 4);
	NO("vlan=100", .tag = {PACKET_SERVICE_TAG(7), PACKET_TAG(100)}, .family = 4); /* the outermost one counts */
	NO("vlan=100", .tag = {PACKET_TAG(101)}, .family = 4);
	NO("vlan=100", .tag = {{0x9100, 100}}, .family = 4);
	NO("vlan=0", .family = 4);
	NO("vlan=4095", .family = 4);
}

static void ethertype(void **state)
{
	(void)state;
	YES("ethertype=0x0806", .type = 0x0806);
	YES("ethertype=2054", .tag = {PACKET_TAG(1)}, .type = 0x0806);
	YES("ethertype=0x0806", .tag = {PACKET_SERVICE_TAG(1), PACKET_TAG(2)}, .type = 0x0806);
	YES("ethertype=0x0800", .tag = {PACKET_TAG(1), PACKET_TAG(2)}, .family = 4);
	YES("ethertype=0x86dd", .family = 6);
	NO("ethertype=0x0800", .family = 6);
	NO("ethertype=0x0806", .type = 0x0807);
	NO("ethertype=0x0806", .tag = {PACKET_TAG(1), PACKET_TAG(2), PACKET_TAG(3)}, .type = 0x0806);
	YES("ethertype=0x8100", .tag = {PACKET_TAG(1), PACKET_TAG(2), PACKET_TAG(3)}, .type = 0x0806);
	NO("ethertype=0x8100", .tag = {PACKET_TAG(1), PACKET_TAG(2)}, .type = 0x0806);
}

static void proto(void **state)
{
	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		YES("proto=udp", .family = family);
		YES("proto=17", .family = family, .tag = {PACKET_TAG(5)});
		YES("proto=udp", .family = family, .tag = {PACKET_SERVICE_TAG(5), PACKET_TAG(6)});
		NO("proto=udp", .family = family, .tag = {PACKET_TAG(5), PACKET_TAG(6), PACKET_TAG(7)});
		NO("proto=udp", .family = family, .proto = 6);
		YES("proto=udp proto=tcp", .family = family, .proto = 6);
		YES("proto=sctp", .family = family, .proto = 132);
		YES("proto=udp", .family = family, .no_l4 = 1);
	}
	YES("proto=icmp", .family = 4, .proto = 1);
	YES("proto=icmp6", .family = 6, .proto = 58);
	NO("proto=udp", .type = 0x0806, .payload = 46);
	YES("proto=udp", .family = 4, .ihl = 15);
}

static void prefixes(void **state)
{
	(void)state;
	YES("src=10.0.0.0/8", .family = 4, .src = "10.255.255.255");
	NO("src=10.0.0.0/8", .family = 4, .src = "11.0.0.0");
	NO("src=10.0.0.0/8", .family = 4, .src = "9.255.255.255");
	NO("dst=10.0.0.1/32", .family = 4); /* the source has it */
	YES("dst=10.0.0.2", .family = 4);
	NO("dst=10.0.0.2", .family = 4, .dst = "10.0.0.3");
	YES("dst=10.0.0.2/31", .family = 4, .dst = "10.0.0.3");
	NO("dst=10.0.0.2/31", .family = 4, .dst = "10.0.0.4");
	YES("src=192.168.16.0/21", .family = 4, .src = "192.168.23.255");
	NO("src=192.168.16.0/21", .family = 4, .src = "192.168.24.0");
	YES("src=0.0.0.0/0", .family = 4);
	NO("src=0.0.0.0/0", .family = 6);
	YES("src=::/0", .family = 6);
	NO("src=::/0", .family = 4);
	YES("src=fd00::/64", .family = 6, .src = "fd00::ffff:ffff:ffff:ffff");
	NO("src=fd00::/64", .family = 6, .src = "fd00:0:0:1::");
	YES("dst=fd00::/61", .family = 6, .dst = "fd00:0:0:7::1");
	NO("dst=fd00::/61", .family = 6, .dst = "fd00:0:0:8::1");
	YES("dst=fd00::2", .family = 6);
	NO("dst=fd00::2", .family = 6, .dst = "fd00::3");
	NO("dst=fd00::2", .family = 6, .dst = "fd01::2");
	YES("src=10.0.0.0/8 src=fd00::/16", .family = 6);
	YES("src=10.0.0.0/8 src=fd00::/16", .family = 4);
	/* an IPv6 address that begins with the bytes of the IPv4 prefix, and the other way round */
	NO("src=10.0.0.0/8", .family = 6, .src = "a00::1");
	NO("src=a00::/8", .family = 4);
	YES("src=10.0.0.0/8 dst=10.0.0.0/8", .family = 4, .tag = {PACKET_TAG(3), PACKET_TAG(4)}, .ihl = 8);
	NO("src=10.0.0.0/8 dst=11.0.0.0/8", .family = 4);
}

static void ports(void **state)
{
	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		YES("proto=udp dst-port=9000", .family = family, .sport = 1, .dport = 9000);
		NO("proto=udp dst-port=9000", .family = family, .sport = 9000, .dport = 1);
		NO("proto=udp dst-port=9000", .family = family, .sport = 1, .dport = 9001);
		YES("proto=udp src-port=9000", .family = family, .sport = 9000, .dport = 1);
		NO("proto=udp src-port=9000", .family = family, .sport = 1, .dport = 9000);
		NO("proto=udp dst-port=9000", .family = family, .proto = 6, .dport = 9000);
		YES("proto=tcp dst-port=0-65535", .family = family, .proto = 6);
		YES("proto=udp dst-port=9000-9010", .family = family, .dport = 9010);
		YES("proto=udp dst-port=9000-9010", .family = family, .dport = 9000);
		NO("proto=udp dst-port=9000-9010", .family = family, .dport = 9011);
		NO("proto=udp dst-port=9000-9010", .family = family, .dport = 8999);
		YES("proto=udp dst-port=53 dst-port=80", .family = family, .dport = 80);
		YES("proto=udp src-port=53 dst-port=80", .family = family, .sport = 53, .dport = 80);
		NO("proto=udp src-port=53 dst-port=80", .family = family, .sport = 53, .dport = 53);
		YES("proto=udp dst-port=80", .family = family, .tag = {PACKET_TAG(1)}, .dport = 80);
		YES("proto=udp dst-port=80", .family = family, .tag = {PACKET_SERVICE_TAG(1), PACKET_TAG(2)},
		    .dport = 80);
		NO("proto=udp dst-port=80", .family = family, .tag = {PACKET_TAG(1), PACKET_TAG(2), PACKET_TAG(3)},
		   .dport = 80);
		NO("proto=udp dst-port=0", .family = family, .no_l4 = 1);
		YES("dst-port=80 proto=udp", .family = family, .dport = 80);
		NO("dst-port=80 proto=udp", .family = family, .dport = 81);
		NO("proto=udp dst-port=80 vlan=2", .family = family, .tag = {PACKET_TAG(1)}, .dport = 80);
	}
	YES("proto=udp dst-port=80", .family = 4, .ihl = 6, .dport = 80);
	YES("proto=udp dst-port=80", .family = 4, .ihl = 15, .dport = 80);
}

static void fragments(void **state)
{
	(void)state;
	YES("proto=udp dst-port=80", .family = 4, .more = true, .dport = 80);
	NO("proto=udp dst-port=80", .family = 4, .frag = 1, .dport = 80);
	NO("proto=udp dst-port=80", .family = 4, .frag = 0x1000, .more = true, .dport = 80);
	NO("proto=udp dst-port=80", .family = 4, .frag = 0x1000, .dport = 80);
	YES("proto=udp dst=10.0.0.2", .family = 4, .frag = 1);
	YES("proto=udp dst-port=80", .family = 6, .ext = {{.type = 44}}, .dport = 80);
	YES("proto=udp dst-port=80", .family = 6, .ext = {{.type = 44}}, .more = true, .dport = 80);
	NO("proto=udp dst-port=80", .family = 6, .ext = {{.type = 44, .frag = 1}}, .dport = 80);
	YES("proto=udp dst=fd00::2", .family = 6, .ext = {{.type = 44, .frag = 1}});
	/* what follows the header of a later fragment is data: its first header is named, not walked */
	YES("proto=60", .family = 6, .ext = {{.type = 44, .frag = 8}, {.type = 60}});
	NO("proto=udp", .family = 6, .ext = {{.type = 44, .frag = 8}, {.type = 60}});
}

static void extension_headers(void **state)
{
	(void)state;
	static const struct packet_ext hop = {.type = 0, .first = true};

	YES("proto=udp dst-port=80", .family = 6, .ext = {hop}, .dport = 80);
	YES("proto=udp dst-port=80", .family = 6, .ext = {{.type = 43, .units = 2}}, .dport = 80);
	YES("proto=udp dst-port=80", .family = 6, .ext = {{.type = 60, .units = 31}}, .dport = 80);
	YES("proto=udp dst-port=80", .family = 6, .ext = {{.type = 51, .units = 4}}, .dport = 80);
	YES("proto=udp dst-port=80", .family = 6, .tag = {PACKET_TAG(1), PACKET_TAG(2)},
	    .ext = {hop, {.type = 60, .units = 1}, {.type = 43}, {.type = 44}, {.type = 51, .units = 1}, {.type = 60}},
	    .dport = 80);
	YES("proto=udp", .family = 6,
	    .ext = {hop,
		    {.type = 60},
		    {.type = 60},
		    {.type = 60},
		    {.type = 60},
		    {.type = 60},
		    {.type = 60},
		    {.type = 60}});
	NO("src=::/0", .family = 6, /* nine */
	   .ext = {hop,
		   {.type = 60},
		   {.type = 60},
		   {.type = 60},
		   {.type = 60},
		   {.type = 60},
		   {.type = 60},
		   {.type = 60},
		   {.type = 60}});
	NO("proto=udp", .family = 6, .ext = {{.type = 50}});
	YES("proto=50", .family = 6, .ext = {{.type = 50}});
	NO("proto=0", .family = 6, .ext = {hop}); /* walked over */
}

static void kinds_together(void **state)
{
	const char *all = "dst-mac=02:00:00:00:00:02 vlan=9 ethertype=0x0800 proto=udp src=10.0.0.1 dst=10.0.0.2 "
			  "src-port=1 dst-port=2";

	(void)state;
	YES(all, .tag = {PACKET_TAG(9)}, .family = 4, .sport = 1, .dport = 2);
	NO(all, .tag = {PACKET_TAG(9)}, .family = 4, .sport = 1, .dport = 3);
	NO(all, .tag = {PACKET_TAG(8)}, .family = 4, .sport = 1, .dport = 2);
	NO(all, .tag = {PACKET_TAG(9)}, .family = 4, .sport = 1, .dport = 2, .src = "10.0.0.3");
	NO(all, .tag = {PACKET_TAG(9)}, .family = 4, .sport = 1, .dport = 2, .dst_mac = "\2\0\0\0\0\3");
	NO(all, .tag = {PACKET_TAG(9)}, .family = 6, .sport = 1, .dport = 2);
}

static void keep_management(void **state)
{
	struct filter f = {.keep_management = true, .n_locals = 2};
	static const struct {
		struct packet d;
		bool taken;
	} cases[] = {
		{{.type = 0x0806, .payload = 46}, false},
		{{.tag = {PACKET_TAG(3)}, .type = 0x0806, .payload = 46}, false},
		{{.type = 0x0807, .payload = 46}, true},
		{{.family = 6, .proto = 58, .icmp_type = 132}, true},
		{{.family = 6, .proto = 58, .icmp_type = 133}, false},
		{{.family = 6, .proto = 58, .icmp_type = 135, .tag = {PACKET_TAG(1), PACKET_TAG(2)}}, false},
		{{.family = 6, .proto = 58, .icmp_type = 137, .ext = {{.first = true}}}, false},
		{{.family = 6, .proto = 58, .icmp_type = 138}, true},
		{{.family = 4, .proto = 58, .icmp_type = 135}, true},
		{{.family = 4, .proto = 6, .sport = 40000, .dport = 22, .dst = "192.0.2.7"}, false},
		{{.family = 4, .proto = 6, .sport = 22, .dport = 40000, .dst = "192.0.2.7"}, false},
		{{.family = 4, .proto = 6, .sport = 22, .dport = 40000, .src = "192.0.2.7"}, false},
		{{.family = 4, .proto = 6, .sport = 40000, .dport = 22, .src = "192.0.2.7"}, false},
		{{.family = 4, .proto = 6, .sport = 40000, .dport = 22}, true},
		{{.family = 4, .proto = 6, .sport = 23, .dport = 21, .dst = "192.0.2.7"}, true},
		{{.family = 4, .proto = 6, .sport = 1, .dport = 22, .dst = "192.0.2.7", .frag = 4}, true},
		{{.family = 4, .sport = 40000, .dport = 22, .dst = "192.0.2.7"}, true},
		{{.family = 6, .proto = 6, .dport = 22, .dst = "fd00::7", .tag = {PACKET_TAG(6)}}, false},
		{{.family = 6, .proto = 6, .dport = 22, .dst = "fd00::8"}, true},
		{{.family = 4, .sport = 53, .dport = 40000, .dst = "192.0.2.7"}, false},
		{{.family = 4, .proto = 6, .sport = 53, .dport = 40000, .dst = "192.0.2.7"}, false},
		{{.family = 4, .sport = 53, .dport = 40000, .src = "192.0.2.7"}, true},
		{{.family = 4, .sport = 40000, .dport = 53, .dst = "192.0.2.7"}, true},
		{{.family = 4, .proto = 132, .sport = 53, .dport = 22, .dst = "192.0.2.7"}, true},
	};
	unsigned char buf[PACKET_MAX];

	(void)state;
	assert_int_equal(ip_parse("192.0.2.7", &f.locals[0]) | ip_parse("fd00::7", &f.locals[1]), 0);
	assert_int_equal(filter_check(&f, NULL), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (decides(&f, buf, packet_build(&cases[i].d, buf)) != cases[i].taken)
			fail_msg("case %u", i);
}

#define FILTER_CASES \
	cmocka_unit_test(dst_mac), cmocka_unit_test(vlan), cmocka_unit_test(ethertype), cmocka_unit_test(proto), \
		cmocka_unit_test(prefixes), cmocka_unit_test(ports), cmocka_unit_test(fragments), \
		cmocka_unit_test(extension_headers), cmocka_unit_test(kinds_together), \
		cmocka_unit_test(keep_management)

#endif
