/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of --vary, and what values it gives. */
#include "gen/vary.h"
#include "gen/vary_parse.h"
#include "lib/core/flow.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 7U

static struct vary parsed(const char *text)
{
	struct vary v;
	struct err e = {0};

	if (vary_parse(text, SEED, &v, &e))
		fail_msg("%s: %s", text, e.cause);
	return v;
}

/* The value of flow n. */
static uint64_t value_of(const struct vary *v, uint64_t n)
{
	static struct tx_plan plan;

	memcpy(plan.values, v->values, sizeof(v->values));
	return tx_walk_at(&plan, &v->walk, n);
}

static void gives(const char *text, enum vary_field field, unsigned n, const uint64_t *want)
{
	struct vary v = parsed(text);

	assert_int_equal(v.field, field);
	if (v.walk.count != n)
		fail_msg("%s: %" PRIu64 " values", text, v.walk.count);
	for (unsigned i = 0; i < 3 * n; i++)
		if (value_of(&v, i) != want[i % n])
			fail_msg("%s: value %u is %" PRIu64, text, i, value_of(&v, i));
}
#define VALUES(...) \
	(unsigned)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (uint64_t[]) \
	{ \
		__VA_ARGS__ \
	}

static void every_kind_of_range(void **state)
{
	(void)state;
	gives("vlan=5", VARY_VLAN, VALUES(5));
	gives("vlan=5-8", VARY_VLAN, VALUES(5, 6, 7, 8));
	gives("vlan=8-8", VARY_VLAN, VALUES(8));
	gives("vlan=10:20:5", VARY_VLAN, VALUES(10, 15, 20));
	gives("vlan=10:19:5", VARY_VLAN, VALUES(10, 15));
	gives("vlan=3,1,2", VARY_VLAN, VALUES(3, 1, 2));
	gives("vlan=dec:5-8", VARY_VLAN, VALUES(8, 7, 6, 5));
	gives("vlan=dec:10:19:5", VARY_VLAN, VALUES(15, 10));
	gives("vlan=dec:3,1,2", VARY_VLAN, VALUES(2, 1, 3));
	gives("vlan=dec:5", VARY_VLAN, VALUES(5));
	gives("vlan=0x10", VARY_VLAN, VALUES(16));
	gives("vlan=010", VARY_VLAN, VALUES(10)); /* no octal numbers */
}

static void every_field(void **state)
{
	(void)state;
	gives("src-mac=02:00:00:00:00:fe-02:00:00:00:01:00", VARY_SRC_MAC,
	      VALUES(0x0200000000fe, 0x0200000000ff, 0x020000000100));
	gives("dst-mac=02:00:00:00:00:01,01:00:5e:00:00:01", VARY_DST_MAC, VALUES(0x020000000001, 0x01005e000001));
	gives("outer-vlan=4093-4094", VARY_OUTER_VLAN, VALUES(4093, 4094));
	gives("dscp=0,63", VARY_DSCP, VALUES(0, 63));
	gives("ip-id=65534-65535", VARY_IP_ID, VALUES(65534, 65535));
	gives("flow-label=0:0xfffff:0xfffff", VARY_FLOW_LABEL, VALUES(0, 0xfffff));
	gives("ttl=1-2", VARY_TTL, VALUES(1, 2));
	gives("src-ip=10.0.0.254-10.0.1.1", VARY_SRC_IP, VALUES(0x0a0000fe, 0x0a0000ff, 0x0a000100, 0x0a000101));
	gives("dst-ip=10.0.0.0/30", VARY_DST_IP, VALUES(0x0a000001, 0x0a000002));
	gives("dst-ip=10.0.0.9,10.0.0.3", VARY_DST_IP, VALUES(0x0a000009, 0x0a000003));
	gives("src-port=0,65535", VARY_SRC_PORT, VALUES(0, 65535));
	gives("dst-port=9-10", VARY_DST_PORT, VALUES(9, 10));
	gives("payload@0:1=254-255", VARY_PAYLOAD, VALUES(254, 255));
	gives("payload@9000:8=0xffffffffffffffff", VARY_PAYLOAD, VALUES(UINT64_MAX));
	gives("size=64,9018", VARY_SIZE, VALUES(64, 9018));
}

static void ipv6_varies_in_its_lower_half(void **state)
{
	struct vary v = parsed("dst-ip=2001:db8:1:2:3:4:5:fffe-2001:db8:1:2:3:4:6:1");

	(void)state;
	assert_int_equal(v.family, 6);
	assert_int_equal(v.high, 0x20010db800010002);
	assert_int_equal(v.walk.count, 4);
	assert_int_equal(value_of(&v, 2), 0x0003000400060000);
	v = parsed("src-ip=fd00::/64");
	assert_int_equal(v.high, 0xfd00000000000000);
	assert_int_equal(v.walk.base, 0);
	v = parsed("src-ip=fd00::/127");
	assert_int_equal(v.walk.count, 2);
}

static void all_of_64_bits(void **state)
{
	struct vary v = parsed("payload@0:8=0-18446744073709551615");

	(void)state;
	assert_int_equal(v.walk.count, 0);
	assert_int_equal(value_of(&v, 5), 5);
	v = parsed("payload@0:8=dec:0-18446744073709551615");
	assert_int_equal(value_of(&v, 5), UINT64_MAX - 5);
}

/* Every value once before one comes again, in an order that the seed and the field decide. */
static void random_is_a_permutation(void **state)
{
	static const char *const texts[] = {"vlan=random:1-1000", "vlan=random:1:4000:4", "ttl=random:1-255",
					    "src-port=random:5-1004", "payload@0:2=random:1-1000"};
	struct vary v = parsed("vlan=random:1-1000"), other;
	unsigned same = 0;
	struct err e;

	(void)state;
	for (unsigned t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		unsigned char seen[8192] = {0};

		v = parsed(texts[t]);
		for (uint64_t i = 0; i < v.walk.count; i++) {
			uint64_t at = value_of(&v, i);

			assert_in_range(at, 1, 5000);
			assert_false(seen[at]);
			seen[at] = 1;
			assert_int_equal(value_of(&v, i + v.walk.count), at);
		}
	}
	v = parsed("vlan=random:1-1000");
	assert_int_equal(vary_parse("vlan=random:1-1000", SEED + 1, &other, &e), 0);
	for (unsigned i = 0; i < 1000; i++)
		same += value_of(&v, i) == value_of(&other, i);
	assert_in_range(same, 0, 20);
	/* Two fields of one kind do not go in step. */
	v = parsed("payload@0:2=random:1-1000");
	other = parsed("payload@2:2=random:1-1000");
	same = 0;
	for (unsigned i = 0; i < 1000; i++)
		same += value_of(&v, i) == value_of(&other, i);
	assert_in_range(same, 0, 20);
	v = parsed("vlan=random:1,2,3,4,5,6,7,8");
	assert_int_equal(v.n, 8);
	same = 0;
	for (unsigned i = 0; i < 8; i++)
		same |= 1U << value_of(&v, i);
	assert_int_equal(same, 0x1fe);
}

static void text_refused(const char *text, const char *word)
{
	struct vary v;
	struct err e = {0};

	if (vary_parse(text, SEED, &v, &e) != -EINVAL)
		fail_msg("\"%s\" is not refused", text);
	assert_int_equal(e.code, EXIT_USAGE);
	assert_int_equal(strncmp(e.object, text, sizeof(e.object) - 1), 0);
	if (!strstr(e.cause, word))
		fail_msg("%s: \"%s\" is not in \"%s\"", text, word, e.cause);
	assert_true(e.hint[0]);
}

static void what_is_no_field(void **state)
{
	static const char *const texts[] = {
		"",
		"vlan",
		"=5",
		"vlans=5",
		"vla=5",
		"VLAN=5",
		"vlan =5",
		"payload=5",
		"payload@=5",
		"payload@5=5",
		"payload@5:=5",
		"payload@:1=5",
		"payload@5:0=5",
		"payload@5:9=5",
		"payload@-1:1=5",
		"payload@9216:1=5",
		"payload@5:1x=5",
		"payload@99999999999999999999:1=5",
		"src-mac@1:1=5",
		"a-name-that-is-longer-than-any-field-has-and-than-the-buffer-that-it-is-read-into=5"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		text_refused(texts[i], "no such field");
}

static void what_is_no_range(void **state)
{
	static const char *const texts[] = {"vlan=",
					    "vlan=x",
					    "vlan=5x",
					    "vlan=-5",
					    "vlan=5-",
					    "vlan=5-6-7",
					    "vlan=0",
					    "vlan=4095",
					    "vlan=1-4095",
					    "vlan=1:5",
					    "vlan=1:5:0",
					    "vlan=5:1:1",
					    "vlan=1:5:x",
					    "vlan=1:5:1:1",
					    "vlan=1,",
					    "vlan=,1",
					    "vlan=1,,2",
					    "vlan=1,5-6",
					    "vlan=dec:",
					    "vlan=random:",
					    "vlan=dec:random:1-5",
					    "vlan= 5",
					    "vlan=0x",
					    "vlan=+5",
					    "vlan=10.0.0.0/24",
					    "vlan=99999999999999999999",
					    "dscp=64",
					    "ttl=0",
					    "ttl=256",
					    "ip-id=65536",
					    "flow-label=1048576",
					    "src-port=65536",
					    "payload@0:1=256",
					    "payload@0:8=18446744073709551616",
					    "size=63",
					    "size=9019",
					    "size=64:9019:1",
					    "src-mac=5",
					    "src-mac=02:00:00:00:00",
					    "src-mac=02:00:00:00:00:01:5",
					    "src-ip=5",
					    "src-ip=10.0.0.0/33",
					    "src-ip=10.0.0.1:10.0.0.9:2",
					    "src-ip=10.0.0.0/24,10.0.1.0/24",
					    "src-ip=::g"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		text_refused(texts[i], "is no range of");
}

static void the_reason_is_told_where_it_is_known(void **state)
{
	(void)state;
	text_refused("vlan=8-5", "dec: in front");
	text_refused("vlan=8:5:1", "dec: in front");
	text_refused("vlan=5:8:0", "a step is 1");
	text_refused("vlan=0-5", "its values are 1 to 4094");
	text_refused("src-port=0-65536", "its values are 0 to 65535");
	text_refused("size=64:9019:1", "its values are 64 to 9018");
	text_refused("payload@0:1=1,256", "its values are 0 to 255");
	text_refused("vlan=1,2,1", "twice");
	text_refused("src-ip=10.0.0.1-fd00::1", "one family");
	text_refused("src-ip=10.0.0.1,fd00::1", "one family");
	text_refused("dst-ip=2001:db8:0:1::1-2001:db8:0:2::1", "upper 64 bits");
	text_refused("dst-ip=2001:db8:0:1::1,2001:db8:0:2::1", "upper 64 bits");
	text_refused("src-mac=01:00:00:00:00:01", "multicast");
	text_refused("src-mac=02:ff:ff:ff:ff:ff-04:00:00:00:00:00", "multicast");
	text_refused("dst-mac=ff:ff:ff:ff:ff:fe-ff:ff:ff:ff:ff:ff", "every host");
}

static void a_list_holds_as_many_values_as_an_option_has_items(void **state)
{
	char text[600] = "vlan=1";
	struct vary v;
	struct err e;

	(void)state;
	for (unsigned i = 2; i <= VARY_VALUES_MAX; i++)
		sprintf(text + strlen(text), ",%u", i);
	assert_int_equal(vary_parse(text, SEED, &v, &e), 0);
	assert_int_equal(v.walk.count, VARY_VALUES_MAX);
	strcat(text, ",999");
	text_refused(text, "no range");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_range),
		cmocka_unit_test(every_field),
		cmocka_unit_test(ipv6_varies_in_its_lower_half),
		cmocka_unit_test(all_of_64_bits),
		cmocka_unit_test(random_is_a_permutation),
		cmocka_unit_test(what_is_no_field),
		cmocka_unit_test(what_is_no_range),
		cmocka_unit_test(the_reason_is_told_where_it_is_known),
		cmocka_unit_test(a_list_holds_as_many_values_as_an_option_has_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
