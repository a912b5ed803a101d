/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drivers can do with XDP: messages made by hand after Linux' include/uapi/linux/netdev.h, and the running kernel.
 */
#include "lib/host.h"

#include "tests/host_namespaces.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/utsname.h>

/* netdev.h: what an attribute's number is, and what the bits of features mean. */
enum { IFINDEX = 1, PAD = 2, XDP_FEATURES = 3, ZC_MAX_SEGS = 4, RX_METADATA = 5, XSK_FEATURES = 6, FUTURE = 77 };
enum { BASIC = 1, REDIRECT = 2, NDO_XMIT = 4, XSK_ZEROCOPY = 8, HW_OFFLOAD = 16, RX_SG = 32, NDO_XMIT_SG = 64 };

static _Alignas(struct nlmsghdr) char bytes[256];

static struct nlmsghdr *begin(void)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	memset(bytes, 0, sizeof(bytes));
	nlh = mnl_nlmsg_put_header(bytes);
	nlh->nlmsg_type = 0x1d; /* families are numbered as they register */
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = 1;
	genl->version = 1;
	mnl_attr_put_u32(nlh, IFINDEX, 7);
	return nlh;
}

static struct nlmsghdr *device(uint64_t features)
{
	struct nlmsghdr *nlh = begin();

	mnl_attr_put_u64(nlh, XDP_FEATURES, features);
	return nlh;
}

static struct host_xdp parsed(const struct nlmsghdr *nlh)
{
	struct host_xdp x;

	memset(&x, 0xff, sizeof(x));
	assert_int_equal(host_xdp_parse(nlh, nlh->nlmsg_len, &x), 0);
	return x;
}

static void check(const struct host_xdp *x, uint64_t features, uint32_t segments)
{
	assert_true(x->known);
	assert_int_equal(x->native, (features & BASIC) != 0);
	assert_int_equal(x->redirect, (features & REDIRECT) != 0);
	assert_int_equal(x->ndo_xmit, (features & NDO_XMIT) != 0);
	assert_int_equal(x->zero_copy, (features & XSK_ZEROCOPY) != 0);
	assert_int_equal(x->multi_buffer, (features & RX_SG) != 0);
	assert_int_equal(x->zc_segments, segments);
}

/* Every bit by itself, those that we do not know and those that Linux does not know yet among them. */
static void features(void **state)
{
	struct host_xdp x;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		x = parsed(device(UINT64_C(1) << bit));
		check(&x, UINT64_C(1) << bit, 0);
	}
	x = parsed(device(0));
	check(&x, 0, 0);
}

static void zero_copy_segments(void **state)
{
	struct nlmsghdr *nlh = device(BASIC | REDIRECT | XSK_ZEROCOPY | RX_SG);
	struct host_xdp x;

	(void)state;
	mnl_attr_put_u32(nlh, ZC_MAX_SEGS, 18);
	x = parsed(nlh);
	check(&x, BASIC | REDIRECT | XSK_ZEROCOPY | RX_SG, 18);
}

static void unknown_attributes(void **state)
{
	static const char longer[12] = {BASIC}; /* a newer kernel's wider field starts the same way (little-endian) */
	struct nlmsghdr *nlh = begin();
	struct host_xdp x;

	(void)state;
	mnl_attr_put(nlh, FUTURE, 5, "hello");
	mnl_attr_put(nlh, PAD, 0, NULL);
	mnl_attr_put(nlh, XDP_FEATURES, sizeof(longer), longer);
	mnl_attr_put_u64(nlh, RX_METADATA, 7);
	mnl_attr_put_u64(nlh, XSK_FEATURES, 3);
	x = parsed(nlh);
	check(&x, BASIC, 0);
}

static void no_features_told(void **state)
{
	static const struct host_xdp unknown;
	struct nlmsghdr *nlh = begin();
	struct host_xdp x;

	(void)state;
	mnl_attr_put_u32(nlh, ZC_MAX_SEGS, 18);
	x = parsed(nlh);
	assert_memory_equal(&x, &unknown, sizeof(x));
}

/* Wherever the bytes end, by what was received and by what the message itself says. */
static void cut_short(void **state)
{
	static _Alignas(struct nlmsghdr) char cut[sizeof(bytes)];
	struct nlmsghdr *nlh = device(BASIC);
	struct host_xdp x;

	(void)state;
	for (uint32_t len = 0; len < nlh->nlmsg_len; len++) {
		struct nlmsghdr *short_one = (void *)cut;

		assert_int_equal(host_xdp_parse(nlh, len, &x), -EBADMSG);
		memcpy(cut, bytes, sizeof(cut));
		short_one->nlmsg_len = len;
		/* Where an attribute ends, a message may; the features are not there then. */
		if (host_xdp_parse(cut, sizeof(cut), &x) == 0) {
			assert_false(x.known);
			assert_true(len == NLMSG_HDRLEN + GENL_HDRLEN || len == NLMSG_HDRLEN + GENL_HDRLEN + 8);
		}
	}
	nlh = begin();
	mnl_attr_put_u32(nlh, XDP_FEATURES, BASIC);
	assert_int_equal(host_xdp_parse(nlh, nlh->nlmsg_len, &x), -EBADMSG);
	nlh = device(BASIC);
	mnl_attr_put_u16(nlh, ZC_MAX_SEGS, 1);
	assert_int_equal(host_xdp_parse(nlh, nlh->nlmsg_len, &x), -EBADMSG);
}

/* The family came with 6.3. */
static bool kernel_tells(void)
{
	struct utsname u;
	unsigned major = 0;
	unsigned minor = 0;

	assert_int_equal(uname(&u), 0);
	assert_int_equal(sscanf(u.release, "%u.%u", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 3);
}

static struct host_xdp of(const char *name)
{
	struct host_xdp x;

	memset(&x, 0xff, sizeof(x));
	assert_int_equal(host_link_xdp((int)if_nametoindex(name), &x), 0);
	assert_int_equal(x.known, kernel_tells());
	return x;
}

/*
 * A veth says what drivers/net/veth.c sets: native with several buffers when it has a receive queue for every transmit
 * queue of its peer, else nothing; it takes what others redirect to it once its peer runs a program or GRO.
 */
static void of_this_kernel(void **state)
{
	struct host_xdp x;

	(void)state;
	if (geteuid() != 0) {
		puts("skipped: network namespaces need root");
		skip();
	}
	assert_int_equal(namespaces_make(), 0);
	run(here,
	    "set -e; ip link add va numtxqueues 1 numrxqueues 2 type veth peer name vb numtxqueues 3 numrxqueues 1; "
	    "ip link add if0 type ifb; for i in va vb if0 lo; do ip link set $i up; done");
	if (!kernel_tells()) {
		assert_false(of("va").native);
		return;
	}
	x = of("vb");
	check(&x, BASIC | REDIRECT | RX_SG, 0);
	x = of("va");
	check(&x, 0, 0);
	x = of("if0");
	check(&x, 0, 0);
	x = of("lo");
	check(&x, 0, 0);
	run(here, "ethtool -K va gro on");
	x = of("vb");
	check(&x, BASIC | REDIRECT | RX_SG | NDO_XMIT, 0);
	int index = (int)if_nametoindex("vb");

	run(here, "ip link del va");
	assert_int_equal(host_link_xdp(index, &x), -ENODEV);
	assert_false(x.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features),           cmocka_unit_test(zero_copy_segments),
		cmocka_unit_test(unknown_attributes), cmocka_unit_test(no_features_told),
		cmocka_unit_test(cut_short),          cmocka_unit_test(of_this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
