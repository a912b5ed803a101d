/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host_messages.h"

#include "lib/err.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct messages messages;
static struct host host;

static int setup(void **state)
{
	(void)state;
	messages_recorded(&messages);
	messages_add_vlans(&messages);
	return host_parse(&host, messages.bytes, messages.len);
}

static int teardown(void **state)
{
	(void)state;
	host_free(&host);
	return 0;
}

static void usable_links(void **state)
{
	static const struct {
		const char *name;
		const char *hint;
	} not_usable[] = {
		{"nosuch0", "squall devices"},  {"lo", "Ethernet"}, {"va.100", "-i va --vlan 100"}, {"va.q", "-i va"},
		{"vb.200", "-i vb --vlan 200"},
	};
	struct err err;
	struct host_link *l;

	(void)state;
	for (size_t i = 0; i < sizeof(not_usable) / sizeof(not_usable[0]); i++) {
		err = (struct err){0};
		assert_null(host_usable_link(&host, not_usable[i].name, &err));
		assert_int_equal(err.code, EXIT_USAGE);
		assert_string_equal(err.object, not_usable[i].name);
		assert_non_null(strstr(err.hint, not_usable[i].hint));
	}
	/* --vlan sends 802.1Q tags: no way out for an 802.1ad sub-interface. */
	assert_null(host_usable_link(&host, "va.q", &err));
	assert_string_equal(err.hint, "-i va");
	assert_ptr_equal(host_usable_link(&host, "va", &err), host_link_by_name(&host, "va"));
	assert_non_null(host_usable_link(&host, "down0", &err));
	l = &host.links[host_link_by_name(&host, "if0") - host.links];
	assert_ptr_equal(host_usable_link(&host, "if0", &err), l);
	l->ethernet = false;
	assert_null(host_usable_link(&host, "if0", &err));
	l->ethernet = true;
}

static void default_routes(void **state)
{
	static struct messages m;
	struct host h = {0};

	(void)state;
	assert_true(host_is_default_route(&host, 10));
	assert_true(host_is_default_route(&host, 11));
	assert_false(host_is_default_route(&host, 12));
	assert_false(host_is_default_route(&host, 20));
	/* Through a VLAN on a VLAN of link 10. */
	messages_add_vlan(&m, 20, "va.100", 10, 100, 0x8100);
	messages_add_vlan(&m, 21, "va.100.5", 20, 5, 0x8100);
	messages_add_route(&m, "::/0", "fe80::1", 21, 1024);
	messages_add_route(&m, "10.0.0.0/8", "10.0.0.1", 30, 0);
	assert_int_equal(host_parse(&h, m.bytes, m.len), 0);
	assert_true(host_is_default_route(&h, 10));
	assert_true(host_is_default_route(&h, 20));
	assert_true(host_is_default_route(&h, 21));
	assert_false(host_is_default_route(&h, 30));
	host_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usable_links),
		cmocka_unit_test(default_routes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
