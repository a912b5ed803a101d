/* SPDX-License-Identifier: Apache-2.0 */
#include "filters.h"

#include <errno.h>

static void text_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "there is no condition \"\""},
		{"mac=02:00:00:00:00:01", "there is no condition \"mac\""},
		{"=5", "there is no condition \"\""},
		{"vlan", "\"vlan\" needs a value"},
		{"vlan=", "\"\" is not a VLAN id"},
		{"vlan=4096", "\"4096\" is not a VLAN id"},
		{"vlan=1 ", "\"1 \" is not a VLAN id"},
		{"vlan=-1", "\"-1\" is not a VLAN id"},
		{"vlan=+1", "\"+1\" is not a VLAN id"},
		{"vlan=0x10", "\"0x10\" is not a VLAN id"},
		{"dst-mac=02:00:00:00:00", "\"02:00:00:00:00\" is not a MAC address"},
		{"ethertype=0x10000", "\"0x10000\" is not an EtherType"},
		{"ethertype=0x", "\"0x\" is not an EtherType"},
		{"ethertype=806h", "\"806h\" is not an EtherType"},
		{"ethertype=0x05ff", "0x0600 or more"},
		{"proto=upd", "\"upd\" is not udp, tcp"},
		{"proto=256", "\"256\" is not udp, tcp"},
		{"src=10.0.0.0/33", "\"10.0.0.0/33\" is not an IP address or prefix"},
		{"dst=example.org", "\"example.org\" is not an IP address or prefix"},
		{"src-port=65536", "\"65536\" is not a port"},
		{"dst-port=1-", "\"1-\" is not a port"},
		{"dst-port=-1", "\"-1\" is not a port"},
		{"dst-port=1-2-3", "\"1-2-3\" is not a port"},
		{"dst-port=9010-9000", "runs backwards"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter f = {0};
		struct err e = {0};

		assert_int_equal(filter_add_text(&f, cases[i].text, &e), -EINVAL);
		if (!strstr(e.cause, cases[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, e.cause, cases[i].says);
		assert_int_equal(e.code, EXIT_USAGE);
		assert_int_equal(f.n, 0);
	}
}

static void text_is_understood(void **state)
{
	char buf[256];
	struct filter f;

	(void)state;
	filter_from(&f, "proto=UDP dst-port=9000");
	assert_string_equal(filter_describe(&f, buf, sizeof(buf)), "udp, dst-port 9000");
	filter_from(&f, "DST-PORT=9000-9010 proto=udp proto=33 dst-port=7 vlan=5 src=10.1.2.3/8 dst=fd00::1 "
			"src=fd00::/64 dst-mac=0200.0000.0001 ethertype=0x86DD");
	assert_string_equal(filter_describe(&f, buf, sizeof(buf)),
			    "udp or dccp, src 10.0.0.0/8 or fd00::/64, dst fd00::1, dst-port 9000-9010 or 7, "
			    "dst-mac 02:00:00:00:00:01, vlan 5, ethertype 0x86dd");
	filter_describe(&f, buf, 10);
	assert_int_equal(strlen(buf), 9);
	filter_from(&f, "proto=99");
	assert_string_equal(filter_describe(&f, buf, sizeof(buf)), "protocol 99");
	f = (struct filter){.all = true};
	assert_string_equal(filter_describe(&f, buf, sizeof(buf)), "everything");
}

static void check_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "no condition"},
		{"dst-port=9000", "a port needs a protocol"},
		{"src-port=9000 dst=10.0.0.1", "a port needs a protocol"},
		{"proto=icmp dst-port=9000", "protocol 1 has no ports"},
		{"proto=udp proto=58 src-port=9000", "protocol 58 has no ports"},
		{"ethertype=0x0806 proto=udp", "no packet can match"},
		{"ethertype=0x0800 src=fd00::/64", "no packet can match"},
		{"src=10.0.0.0/8 dst=fd00::/64", "no packet can match"},
	};
	struct filter f;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[128];
		char *save = NULL;

		memset(&f, 0, sizeof(f));
		snprintf(buf, sizeof(buf), "%s", cases[i].text);
		for (char *t = strtok_r(buf, " ", &save); t; t = strtok_r(NULL, " ", &save))
			assert_int_equal(filter_add_text(&f, t, &e), 0);
		assert_int_equal(filter_check(&f, &e), -EINVAL);
		assert_int_equal(e.code, EXIT_USAGE);
		if (!strstr(e.cause, cases[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, e.cause, cases[i].says);
	}
	f = (struct filter){.all = true, .keep_management = true};
	assert_int_equal(filter_check(&f, &e), -EINVAL);
	f = (struct filter){.all = true};
	assert_int_equal(filter_add_text(&f, "vlan=5", &e), -EINVAL);
	f = (struct filter){.all = true, .n = 1, .match = {{.kind = FILTER_VLAN}}};
	assert_int_equal(filter_check(&f, &e), -EINVAL);
	f = (struct filter){.n = 1, .match = {{.kind = FILTER_VLAN, .vlan = 5000}}};
	assert_int_equal(filter_check(&f, &e), -EINVAL);
	f = (struct filter){.n = 1, .match = {{.kind = FILTER_KINDS}}};
	assert_int_equal(filter_check(&f, &e), -EINVAL);
	memset(&f, 0, sizeof(f));
	for (unsigned i = 0; i < FILTER_MATCHES_MAX; i++)
		assert_int_equal(filter_add_text(&f, "vlan=5", &e), 0);
	assert_int_equal(filter_add_text(&f, "vlan=5", &e), -ENOSPC);
	assert_int_equal(filter_check(&f, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_refused),
		cmocka_unit_test(text_is_understood),
		cmocka_unit_test(check_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
