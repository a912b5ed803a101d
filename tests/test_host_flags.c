/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake_flags.h"

#include "lib/host.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

#define LO 1

static int sock;

static int setup(void **state)
{
	(void)state;
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fake_make() || sock < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	close(sock);
	return munmap(fake, sizeof(*fake));
}

static const char *const mlx5_names[] = {"rx_cqe_moder",   "tx_cqe_moder", "rx_cqe_compress",
					 "rx_striding_rq", "xdp_tx_mpwqe", "rx_no_csum_complete"};

static void expect(const char *flag, bool want)
{
	bool on = !want;

	assert_int_equal(host_flag_get(sock, LO, flag, &on), 0);
	assert_int_equal(on, want);
}

static void by_name(void **state)
{
	(void)state;
	/* Bits by the order of the names. */
	fake_set("lo", mlx5_names, 6, 0x12);
	expect("rx_cqe_moder", false);
	expect("tx_cqe_moder", true);
	expect("xdp_tx_mpwqe", true);
	expect("rx_no_csum_complete", false);
	assert_int_equal(host_flag_set(sock, LO, "xdp_tx_mpwqe", false), 0);
	assert_int_equal(fake->on, 0x02);
	assert_int_equal(host_flag_set(sock, LO, "rx_no_csum_complete", true), 0);
	assert_int_equal(fake->on, 0x22);
	assert_int_equal(fake->sets, 2);
	/* The driver is not asked for what is so already. */
	assert_int_equal(host_flag_set(sock, LO, "rx_no_csum_complete", true), 0);
	assert_int_equal(fake->sets, 2);
}

static void not_there(void **state)
{
	static const char *const one[] = {"xdp_tx_mpwqe_new"};
	bool on = true;

	(void)state;
	fake_set("lo", one, 1, 1);
	assert_int_equal(host_flag_get(sock, LO, "xdp_tx_mpwqe", &on), -ENOENT);
	assert_false(on);
	assert_int_equal(host_flag_set(sock, LO, "xdp_tx_mpwqe", false), -ENOENT);
	assert_int_equal(fake->on, 1);
	assert_int_equal(fake->sets, 0);
}

static void refused(void **state)
{
	(void)state;
	fake_set("lo", mlx5_names, 6, 0);
	fake->refusal = EOPNOTSUPP;
	assert_int_equal(host_flag_set(sock, LO, "xdp_tx_mpwqe", true), -EOPNOTSUPP);
	expect("xdp_tx_mpwqe", false);
}

/* A name of full length has no zero behind it; and no more flags are believed than there are bits. */
static void limits(void **state)
{
	static const char full[] = "abcdefghijklmnopqrstuvwxyz012345";
	const char *names[33];

	(void)state;
	_Static_assert(sizeof(full) - 1 == ETH_GSTRING_LEN, "no room for a zero");
	for (unsigned i = 0; i < 33; i++)
		names[i] = i == 31 ? full : "x";
	fake_set("lo", names, 32, 0);
	assert_int_equal(host_flag_set(sock, LO, full, true), 0);
	assert_int_equal(fake->on, 0x80000000U);
	expect(full, true);
	fake_set("lo", names, 33, 0);
	assert_int_equal(host_flag_set(sock, LO, full, true), -ENOENT);
}

/* The kernel itself: lo has no such flags, and nobody has this index. */
static void kernel(void **state)
{
	bool on;

	(void)state;
	fake_set(NULL, NULL, 0, 0);
	assert_int_equal(host_flag_get(sock, LO, "xdp_tx_mpwqe", &on), -ENOENT);
	assert_int_equal(host_flag_get(sock, 0x7ffffff, "xdp_tx_mpwqe", &on), -ENODEV);
	assert_int_equal(host_flag_set(sock, 0x7ffffff, "xdp_tx_mpwqe", true), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name), cmocka_unit_test(not_there), cmocka_unit_test(refused),
		cmocka_unit_test(limits),  cmocka_unit_test(kernel),
	};

	return cmocka_run_group_tests_name("host: flags", tests, setup, teardown);
}
