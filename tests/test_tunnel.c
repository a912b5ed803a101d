/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a tunnel: what it must have, what it may, and each at most once. */
#include "gen/tunnel.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct tunnel parsed(const char *text)
{
	struct tunnel t;
	struct err e;

	if (tunnel_parse(text, &t, &e))
		fail_msg("%s: %s", text, e.cause);
	return t;
}

static void what_is_read(void **state)
{
	static const unsigned char dst[4] = {192, 0, 2, 9}, src[4] = {192, 0, 2, 1};
	struct tunnel t = parsed("vxlan,dst=192.0.2.9");

	(void)state;
	assert_int_equal(t.kind, TUNNEL_VXLAN);
	assert_memory_equal(t.dst.b, dst, 4);
	assert_int_equal(t.src.family, 0);
	assert_int_equal(t.number, 0);
	t = parsed("geneve,vni=16777215,src=192.0.2.1,dst=192.0.2.9");
	assert_int_equal(t.kind, TUNNEL_GENEVE);
	assert_memory_equal(t.src.b, src, 4);
	assert_int_equal(t.number, 16777215);
	t = parsed("gre,dst=2001:db8::9");
	assert_int_equal(t.kind, TUNNEL_GRE);
	assert_int_equal(t.dst.family, 6);
	assert_false(t.has_key);
	t = parsed("gre,key=0,dst=2001:db8::9");
	assert_true(t.has_key);
	t = parsed("gre,key=0xffffffff,dst=2001:db8::9");
	assert_int_equal(t.number, 0xffffffff);
	assert_int_equal(parsed("").kind, 0);
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{"vxlan", "dst is missing"},
		{"VXLAN,dst=192.0.2.9", "it is vxlan"},
		{",dst=192.0.2.9", "it is vxlan"},
		{"vxlan,", "its options"},
		{"vxlan,dst=192.0.2.9,", "its options"},
		{"vxlan,,dst=192.0.2.9", "its options"},
		{"vxlan,dst=192.0.2.9,mtu=5", "its options"},
		{"vxlan,dst=192.0.2.9,key=5", "its options"},
		{"gre,dst=192.0.2.9,vni=5", "its options"},
		{"vxlan,dst=192.0.2.9,vni=5,vni=5", "twice"},
		{"vxlan,dst=192.0.2.9,dst=192.0.2.9", "twice"},
		{"gre,dst=192.0.2.9,key=1,key=2", "twice"},
		{"vxlan,dst=192.0.2.9,vni=16777216", "vni is 0 to"},
		{"vxlan,dst=192.0.2.9,vni=", "vni is 0 to"},
		{"vxlan,dst=192.0.2.9,vni=-1", "vni is 0 to"},
		{"vxlan,dst=192.0.2.9,vni=5x", "vni is 0 to"},
		{"gre,dst=192.0.2.9,key=4294967296", "key is 0 to"},
		{"gre,dst=192.0.2.9,key=99999999999999999999999", "key is 0 to"},
		{"vxlan,dst=", "dst is an"},
		{"vxlan,dst=host", "dst is an"},
		{"vxlan,dst=192.0.2.0/24", "dst is an"},
		{"vxlan,dst=192.0.2.9,src=2001:db8::1", "different families"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tunnel t;
		struct err e;

		if (tunnel_parse(bad[i].text, &t, &e) != -EINVAL || !strstr(e.cause, bad[i].word))
			fail_msg("%s is not refused as it should be", bad[i].text);
		assert_int_equal(e.code, EXIT_USAGE);
		assert_true(e.hint[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
