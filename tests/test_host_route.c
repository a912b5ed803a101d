/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host_messages.h"

#include "lib/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The recorded host, with VLAN sub-interfaces of va and what they need to be used. */
static struct messages messages;
static struct host host;

static int setup(void **state)
{
	(void)state;
	messages_recorded(&messages);
	messages_add_vlans(&messages);
	messages_add_addr(&messages, 20, "10.100.0.1", 24, RT_SCOPE_UNIVERSE, 0);
	messages_add_route(&messages, "10.100.0.0/24", NULL, 20, 0);
	messages_add_route(&messages, "100.100.0.0/16", "10.100.0.254", 20, 0);
	/* In force: the same way as the default route; not in force: the other one. */
	messages_add_route(&messages, "9.9.0.0/16", "10.0.0.254", 10, 10);
	messages_add_route(&messages, "9.9.0.0/16", "10.0.0.13", 10, 20);
	/* No router preference tells these two apart. */
	messages_add_route(&messages, "7.7.0.0/16", "10.0.0.21", 10, 5);
	messages_add_route(&messages, "7.7.0.0/16", "10.0.0.22", 10, 5);
	/* A link without any address of its own. */
	messages_add_route(&messages, "6.6.6.0/24", NULL, 14, 0);
	messages_add_route(&messages, "2001:db8:66::/64", NULL, 14, 0);
	messages_add_route(&messages, "2001:db8:77::/64", "fe80::77", 12, 0);
	messages_add_addr(&messages, 12, "fe80::b0b", 64, RT_SCOPE_LINK, IFA_F_PERMANENT);
	messages_add_addr(&messages, 12, "10.12.0.5", 24, RT_SCOPE_UNIVERSE, IFA_F_DEPRECATED);
	messages_add_addr(&messages, 12, "10.12.0.6", 24, RT_SCOPE_UNIVERSE, 0);
	messages_add_route(&messages, "10.12.0.0/24", NULL, 12, 0);
	messages_add_addr(&messages, 11, "2001:db8:b::1", 64, RT_SCOPE_UNIVERSE, 0);
	messages_add_route(&messages, "2001:db8:b::/64", NULL, 11, 256);
	return messages.len == 0 || host_parse(&host, messages.bytes, messages.len);
}

static int teardown(void **state)
{
	(void)state;
	host_free(&host);
	return 0;
}

static struct host_path path;
static struct err err;

static int route(const char *link, unsigned vlan, const char *dst, const char *src, bool have_dst_mac)
{
	struct host_target t = {
		.link = host_link_by_name(&host, link),
		.vlan = (uint16_t)vlan,
		.have_dst_mac = have_dst_mac,
	};

	assert_non_null(t.link);
	assert_int_equal(prefix_parse(dst, &t.dst), 0);
	if (src)
		assert_int_equal(ip_parse(src, &t.src), 0);
	err = (struct err){0};
	return host_route_to(&host, &t, &path, &err);
}

static void goes(const char *link, const char *dst, const char *next_hop, const char *src)
{
	char buf[IP_STRLEN];

	if (route(link, 0, dst, NULL, false)) {
		char text[2048];

		fail_msg("%s from %s: %s", dst, link, err_format(&err, text, sizeof(text)));
	}
	assert_int_equal(err.code, EXIT_DONE);
	assert_int_equal(path.l3_link, host_link_by_name(&host, link)->index);
	assert_string_equal(ip_format(&path.next_hop, buf), next_hop);
	assert_string_equal(ip_format(&path.src, buf), src);
}

/* Refused, naming the destination and every one of the words (in cause or hint). */
static void refused(const char *link, const char *dst, enum exit_code code, const char *cause, const char *hint)
{
	assert_true(route(link, 0, dst, NULL, false) < 0);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.object, dst));
	assert_non_null(strstr(err.object, link));
	if (!strstr(err.cause, cause) || !strstr(err.hint, hint))
		fail_msg("%s: cause '%s', hint '%s'", dst, err.cause, err.hint);
	assert_int_equal(path.have_mac, false);
}

static void connected(void **state)
{
	struct mac want = {{0x02, 0, 0, 0, 0x01, 0x02}};

	(void)state;
	goes("va", "10.0.0.2", "10.0.0.2", "10.0.0.1");
	assert_string_equal(path.how, "10.0.0.2 is connected");
	assert_true(path.have_mac && mac_equal(&path.dst_mac, &want));
	assert_int_equal(path.neigh_state, NUD_PERMANENT);
	goes("va", "10.2.0.5", "10.2.0.5", "10.2.0.1");
	goes("va", "10.9.0.2", "10.9.0.2", "10.9.0.1");
	goes("va", "169.254.1.1", "169.254.1.1", "169.254.7.7");
	goes("vb", "10.1.0.77", "10.1.0.77", "10.1.0.1");
	goes("va", "2001:db8:1::99", "2001:db8:1::99", "2001:db8:1::1");
	goes("va", "fe80::b", "fe80::b", "fe80::a");
	goes("pb", "10.12.0.9", "10.12.0.9", "10.12.0.6");
	/* RFC 6724 rule 8: the longest common prefix. */
	goes("vb", "2001:db8:b::9", "2001:db8:b::9", "2001:db8:b::1");
	goes("vb", "2001:db8:2::9", "2001:db8:2::9", "2001:db8:2::1");
}

static void neighbour_entries(void **state)
{
	static const struct {
		const char *dst;
		uint16_t nud;
		bool certain;
	} want[] = {
		{"10.0.0.2", NUD_PERMANENT, true}, {"10.0.0.5", NUD_NOARP, true},
		{"10.0.0.8", NUD_REACHABLE, true}, {"10.0.0.4", NUD_STALE, false},
		{"10.0.0.9", NUD_FAILED, false},   {"10.0.0.11", NUD_INCOMPLETE, false},
		{"10.0.0.99", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		goes("va", want[i].dst, want[i].dst, "10.0.0.1");
		assert_int_equal(path.neigh_state, want[i].nud);
		assert_int_equal(path.have_mac, want[i].certain);
		assert_int_equal(mac_is_zero(&path.dst_mac), !want[i].certain);
	}
}

static void gateways(void **state)
{
	(void)state;
	/* The default route of the link, though the other link's has the lower metric. */
	goes("va", "8.8.8.8", "10.0.0.254", "10.0.0.1");
	assert_string_equal(path.how, "gateway 10.0.0.254");
	goes("vb", "8.8.8.8", "10.1.0.254", "10.1.0.1");
	goes("va", "172.16.1.1", "10.0.0.253", "10.0.0.1");
	goes("va", "172.17.5.1", "10.0.0.252", "10.0.0.1");
	goes("va", "192.88.99.1", "10.0.0.8", "10.0.0.1");
	assert_true(path.have_mac);
	goes("va", "203.0.113.1", "10.0.0.5", "10.0.0.1");
	goes("va", "100.64.1.1", "10.2.0.9", "10.2.0.1");
	goes("va", "100.64.2.1", "10.0.0.9", "10.2.0.1");
	goes("va", "100.64.3.1", "100.64.9.9", "10.0.0.1");
	/* Neither other types of service nor tables that only a rule of its own leads to. */
	goes("va", "100.64.4.1", "10.0.0.254", "10.0.0.1");
	goes("va", "100.64.5.1", "10.0.0.254", "10.0.0.1");
}

static void gateways_ipv6(void **state)
{
	struct mac want = {{0x02, 0, 0, 0, 0x01, 0x55}};

	(void)state;
	goes("va", "2001:db8:9::1", "fe80::fe", "2001:db8:1::1");
	goes("va", "2001:db8:5::1", "fe80::5", "2001:db8:1::1");
	assert_true(path.have_mac && mac_equal(&path.dst_mac, &want));
	/* RFC 6724 rule 6: the same label, unique local to unique local. */
	goes("va", "fd00:2::1", "fe80::fe", "fd00:1::1");
	/* An IPv4 destination behind an IPv6 gateway. */
	goes("va", "100.64.0.1", "fe80::1", "10.0.0.1");
	assert_string_equal(path.how, "gateway fe80::1");
	/* A router does not forward from fe80::b0b, all that the link has. */
	refused("pb", "2001:db8:77::1", EXIT_USAGE, "no usable IPv6 source", "--src-ip");
}

static void prefixes(void **state)
{
	(void)state;
	goes("va", "8.0.0.0/8", "10.0.0.254", "10.0.0.1");
	goes("va", "172.17.5.0/24", "10.0.0.252", "10.0.0.1");
	goes("va", "172.20.0.0/14", "10.0.0.253", "10.0.0.1");
	goes("va", "192.88.99.0/24", "10.0.0.8", "10.0.0.1");
	goes("va", "9.0.0.0/8", "10.0.0.254", "10.0.0.1");
	goes("va", "2001:db8:5:8000::/49", "fe80::5", "2001:db8:1::1");
	refused("va", "10.0.0.0/24", EXIT_USAGE, "connected to va", "--dst-mac");
	refused("va", "10.0.0.4/31", EXIT_USAGE, "connected to va", "--dst-mac");
	refused("va", "2001:db8:1::/64", EXIT_USAGE, "connected to va", "--dst-mac");
	refused("va", "172.16.0.0/12", EXIT_USAGE, "172.17.5.0/24", "--dst-mac");
	refused("va", "192.88.0.0/16", EXIT_USAGE, "192.88.99.0/24", "--dst-mac");
	/* Through the default route, but with our own network inside. */
	refused("va", "10.1.0.0/16", EXIT_USAGE, "10.1.0.", "--dst-mac");
	assert_int_equal(route("va", 0, "10.0.0.0/24", NULL, true), 0);
	assert_int_equal(path.next_hop.family, 0);
}

static void other_links(void **state)
{
	(void)state;
	refused("va", "192.0.2.1", EXIT_USAGE, "192.0.2.0/24 leaves through vb", "-i vb, or --dst-mac");
	refused("va", "10.1.0.7", EXIT_USAGE, "10.1.0.0/24 leaves through vb", "-i vb, or --dst-mac");
	refused("va", "2001:db8:7::1", EXIT_USAGE, "leaves through vb", "-i vb, or --dst-mac");
	refused("va", "10.100.0.9", EXIT_USAGE, "leaves through va.100", "-i va --vlan 100, or --dst-mac");
	refused("vb", "172.16.1.1", EXIT_USAGE, "leaves through va", "-i va, or --dst-mac");
	refused("if0", "8.8.8.8", EXIT_USAGE, "leaves through", "--dst-mac");
	assert_int_equal(route("va", 0, "192.0.2.1", NULL, true), 0);
}

static void several_gateways(void **state)
{
	(void)state;
	refused("va", "198.51.100.1", EXIT_USAGE, "10.0.0.5 and 10.0.0.6", "--dst-mac");
	refused("va", "2001:db8:6::1", EXIT_USAGE, "fe80::5 and fe80::6", "--dst-mac");
	refused("va", "7.7.7.7", EXIT_USAGE, "10.0.0.21 and 10.0.0.22", "--dst-mac");
}

static void no_route(void **state)
{
	size_t n = host.n_routes;

	(void)state;
	refused("va", "203.0.114.9", EXIT_RUN, "no route: 203.0.114.0/24", "--dst-mac");
	refused("va", "2001:db8:8::1", EXIT_RUN, "no route: 2001:db8:8::/48", "--dst-mac");
	host.n_routes = 0;
	refused("va", "8.8.8.8", EXIT_RUN, "there is no route", "--dst-mac");
	refused("va", "2001:db8::1", EXIT_RUN, "there is no route", "--dst-mac");
	host.n_routes = n;
}

static void own_addresses(void **state)
{
	static const char *const own[] = {"10.0.0.1", "10.0.0.3",      "10.1.0.1", "127.0.0.1",     "127.8.8.8",
					  "::1",      "2001:db8:1::1", "fe80::a",  "2001:db8:2::1", "10.100.0.1"};

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		refused("va", own[i], EXIT_USAGE, "belongs to this host", "--dst-mac");
		assert_int_equal(route("va", 0, own[i], NULL, true), 0);
		assert_int_equal(path.next_hop.family, 0);
		assert_false(path.have_mac);
		assert_true(path.src.family);
	}
	refused("va", "10.0.0.255", EXIT_USAGE, "broadcast", "--dst-mac");
	refused("va", "255.255.255.255", EXIT_USAGE, "broadcast", "--dst-mac");
	refused("va", "0.0.0.0", EXIT_USAGE, "unspecified", "--dst-mac");
	refused("va", "::", EXIT_USAGE, "unspecified", "--dst-mac");
}

static void multicast(void **state)
{
	static const struct {
		const char *dst;
		struct mac mac;
		const char *src;
	} want[] = {
		{"239.129.2.3", {{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}}, "10.0.0.1"},
		{"224.0.0.251", {{0x01, 0x00, 0x5e, 0x00, 0x00, 0xfb}}, "169.254.7.7"},
		{"ff02::1:ff00:5", {{0x33, 0x33, 0xff, 0x00, 0x00, 0x05}}, "fe80::a"},
		{"ff0e::101", {{0x33, 0x33, 0x00, 0x00, 0x01, 0x01}}, "2001:db8:1::1"},
	};
	char buf[IP_STRLEN];

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(route("va", 0, want[i].dst, NULL, false), 0);
		assert_true(path.have_mac && mac_equal(&path.dst_mac, &want[i].mac));
		assert_int_equal(path.next_hop.family, 0);
		assert_string_equal(ip_format(&path.src, buf), want[i].src);
		assert_string_equal(path.how, "multicast mapping");
	}
	refused("va", "239.0.0.0/8", EXIT_USAGE, "multicast", "--dst-mac");
	refused("va", "192.0.0.0/2", EXIT_USAGE, "multicast", "--dst-mac");
	refused("va", "ff0e::/64", EXIT_USAGE, "multicast", "--dst-mac");
}

static void vlans(void **state)
{
	char buf[IP_STRLEN];

	(void)state;
	assert_int_equal(route("va", 100, "10.100.0.9", NULL, false), 0);
	assert_int_equal(path.l3_link, 20);
	assert_string_equal(ip_format(&path.src, buf), "10.100.0.1");
	assert_string_equal(path.how, "10.100.0.9 is connected");
	assert_int_equal(route("va", 100, "100.100.7.0/24", NULL, false), 0);
	assert_int_equal(path.l3_link, 20);
	assert_string_equal(ip_format(&path.next_hop, buf), "10.100.0.254");
	assert_string_equal(ip_format(&path.src, buf), "10.100.0.1");
	/* There is none for 200 on va (vb has one), and that of 300 is 802.1ad: the parent's addresses serve. */
	for (unsigned id = 200; id <= 300; id += 100) {
		assert_int_equal(route("va", id, "10.0.0.2", NULL, false), 0);
		assert_int_equal(path.l3_link, 10);
		assert_string_equal(ip_format(&path.src, buf), "10.0.0.1");
		assert_non_null(strstr(path.how, "untagged"));
	}
	/* The sub-interface exists, but this is on its parent. */
	assert_true(route("va", 100, "10.0.0.2", NULL, false) < 0);
	assert_non_null(strstr(err.hint, "-i va --vlan 0, or --dst-mac"));
}

static void sources(void **state)
{
	char buf[IP_STRLEN];
	size_t n;

	(void)state;
	assert_int_equal(route("va", 0, "10.0.0.2", "192.0.2.200", false), 0);
	assert_string_equal(ip_format(&path.src, buf), "192.0.2.200");
	assert_true(route("va", 0, "10.0.0.2", "2001:db8:1::1", false) < 0);
	assert_int_equal(err.code, EXIT_USAGE);
	refused("down0", "6.6.6.6", EXIT_USAGE, "no usable IPv4 source", "--src-ip");
	refused("down0", "2001:db8:66::6", EXIT_USAGE, "no usable IPv6 source", "--src-ip");
	assert_int_equal(route("down0", 0, "6.6.6.6", "6.6.6.1", false), 0);
	assert_true(route("down0", 0, "6.6.6.6", NULL, true) < 0);
	/* With the good ones gone, a deprecated address still serves, a tentative one does not. */
	n = host.n_addrs;
	for (size_t i = 0; i < n; i++)
		host.addrs[i].link +=
			strcmp(ip_format(&host.addrs[i].ip, buf), "2001:db8:1::1") == 0 || strcmp(buf, "fd00:1::1") == 0
				? 1000
				: 0;
	goes("va", "2001:db8:9::1", "fe80::fe", "2001:db8:1::dead");
	for (size_t i = 0; i < n; i++)
		host.addrs[i].link += host.addrs[i].deprecated ? 1000 : 0;
	refused("va", "2001:db8:9::1", EXIT_USAGE, "no usable IPv6 source", "--src-ip");
	for (size_t i = 0; i < n; i++)
		host.addrs[i].link %= 1000;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connected),
		cmocka_unit_test(neighbour_entries),
		cmocka_unit_test(gateways),
		cmocka_unit_test(gateways_ipv6),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(other_links),
		cmocka_unit_test(several_gateways),
		cmocka_unit_test(no_route),
		cmocka_unit_test(own_addresses),
		cmocka_unit_test(multicast),
		cmocka_unit_test(vlans),
		cmocka_unit_test(sources),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
