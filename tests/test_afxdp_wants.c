/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of an interface are to be changed for AF_XDP. */
#include "lib/pio/afxdp_tune.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void napi_where_it_helps(void **state)
{
	struct host_link virtual = {0};
	struct host_link real = {.bus = "0000:c1:00.0"};
	struct afxdp_tune_ask a = {.native = true, .receives = true, .sends = true, .zero_copy = true};

	(void)state;
	assert_int_equal(WHEN_HELPFUL, 0);
	assert_true(afxdp_wants_napi(&real, &a));
	assert_false(afxdp_wants_napi(&virtual, &a));
	a.zero_copy = a.sends = false;
	assert_true(afxdp_wants_napi(&real, &a));
	a.native = false;
	assert_false(afxdp_wants_napi(&real, &a));
	a.native = true;
	a.receives = false;
	assert_false(afxdp_wants_napi(&real, &a));
	a = (struct afxdp_tune_ask){.napi_defer = WHEN_ON};
	assert_true(afxdp_wants_napi(&virtual, &a));
	a = (struct afxdp_tune_ask){.napi_defer = WHEN_OFF, .native = true, .receives = true};
	assert_false(afxdp_wants_napi(&real, &a));
}

static void mpwqe_by_queues(void **state)
{
	struct host_link mlx5 = {.driver = "mlx5_core"};
	struct host_link other = {.driver = "ice"};
	struct afxdp_tune_ask a = {.napi_defer = WHEN_OFF, .sends = true, .zero_copy = true};

	(void)state;
	for (a.tx_queues = 1; a.tx_queues <= 64; a.tx_queues++) {
		assert_int_equal(afxdp_wants_mpwqe(&mlx5, &a), a.tx_queues <= 4 ? AFXDP_FLAG_OFF : AFXDP_FLAG_ON);
		assert_int_equal(afxdp_wants_mpwqe(&other, &a), AFXDP_FLAG_AS_IT_IS);
	}
	a.zero_copy = false;
	assert_int_equal(afxdp_wants_mpwqe(&mlx5, &a), AFXDP_FLAG_AS_IT_IS);
	a.zero_copy = true;
	a.sends = false;
	assert_int_equal(afxdp_wants_mpwqe(&mlx5, &a), AFXDP_FLAG_AS_IT_IS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(napi_where_it_helps),
		cmocka_unit_test(mpwqe_by_queues),
	};

	return cmocka_run_group_tests_name("afxdp: wanted settings", tests, NULL, NULL);
}
