/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/link_wait.h"

#include "lib/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS NS_PER_MS

static struct link_wait wait;
static uint32_t changes;

/* A look at so many ms of a clock that began somewhere. */
static enum link_verdict look(unsigned ms, bool carrier)
{
	const struct host_link_state link = {.up = true, .carrier = carrier, .carrier_changes = changes};

	return link_wait_look(&wait, 77 * NS_PER_S + ms * MS, &link);
}

static void begin(unsigned steady_ms, unsigned limit_ms)
{
	changes = 5;
	link_wait_begin(&wait, 77 * NS_PER_S, NULL, steady_ms * MS, limit_ms * MS);
}

static void present(void **state)
{
	(void)state;
	begin(0, 5000);
	assert_int_equal(look(0, true), LINK_READY);
	assert_false(wait.missed);
}

static void comes(void **state)
{
	(void)state;
	begin(0, 5000);
	assert_int_equal(look(0, false), LINK_NOT_YET);
	assert_true(wait.missed);
	assert_int_equal(look(4999, false), LINK_NOT_YET);
	assert_int_equal(look(4999, true), LINK_READY);
}

/* At the limit a carrier still counts, and none does not. */
static void late(void **state)
{
	(void)state;
	begin(0, 5000);
	assert_int_equal(look(5000, true), LINK_READY);
	begin(0, 5000);
	assert_int_equal(look(5000, false), LINK_LATE);
	begin(0, 0);
	assert_int_equal(look(0, false), LINK_LATE);
}

static void steady(void **state)
{
	(void)state;
	begin(500, 20000);
	assert_int_equal(look(0, true), LINK_NOT_YET);
	assert_int_equal(look(499, true), LINK_NOT_YET);
	assert_int_equal(look(500, true), LINK_READY);
	assert_false(wait.missed);
}

/* The carrier goes after a while, and is away for a while. */
static void bounces(void **state)
{
	(void)state;
	begin(500, 20000);
	assert_int_equal(look(0, true), LINK_NOT_YET);
	changes += 1;
	assert_int_equal(look(450, false), LINK_NOT_YET);
	assert_true(wait.missed);
	assert_int_equal(look(501, false), LINK_NOT_YET);
	changes += 1;
	assert_int_equal(look(10000, true), LINK_NOT_YET);
	assert_int_equal(look(10499, true), LINK_NOT_YET);
	assert_int_equal(look(10500, true), LINK_READY);
}

/* Away and back between two looks. */
static void bounces_unseen(void **state)
{
	(void)state;
	begin(500, 20000);
	assert_int_equal(look(0, true), LINK_NOT_YET);
	assert_int_equal(look(400, true), LINK_NOT_YET);
	changes += 2;
	assert_int_equal(look(500, true), LINK_NOT_YET);
	assert_true(wait.missed);
	assert_int_equal(look(999, true), LINK_NOT_YET);
	assert_int_equal(look(1000, true), LINK_READY);
	/* A counter that turns over is a change like any. */
	begin(500, 20000);
	changes = UINT32_MAX;
	assert_int_equal(look(0, true), LINK_NOT_YET);
	changes = 1;
	assert_int_equal(look(500, true), LINK_NOT_YET);
}

/* Away and back before the first look: what an earlier one saw tells. */
static void bounced_before(void **state)
{
	const struct host_link_state before = {.up = true, .carrier = true, .carrier_changes = 5};

	(void)state;
	changes = 5;
	link_wait_begin(&wait, 77 * NS_PER_S, &before, 500 * MS, 20 * NS_PER_S);
	assert_int_equal(look(100, true), LINK_NOT_YET);
	assert_false(wait.missed);
	assert_int_equal(look(500, true), LINK_READY);
	changes = 7;
	link_wait_begin(&wait, 77 * NS_PER_S, &before, 500 * MS, 20 * NS_PER_S);
	assert_int_equal(look(100, true), LINK_NOT_YET);
	assert_true(wait.missed);
	assert_int_equal(look(599, true), LINK_NOT_YET);
	assert_int_equal(look(600, true), LINK_READY);
}

/* What flutters is never ready, and the wait has its end all the same. */
static void flutters(void **state)
{
	unsigned ms;

	(void)state;
	begin(500, 20000);
	for (ms = 0; ms < 20000; ms += 50) {
		changes += 2;
		assert_int_equal(look(ms, true), LINK_NOT_YET);
	}
	assert_int_equal(look(ms, true), LINK_LATE);
}

static void set_down(void **state)
{
	const struct host_link_state down = {.carrier_changes = 6};

	(void)state;
	begin(500, 20000);
	assert_int_equal(link_wait_look(&wait, 77 * NS_PER_S, &down), LINK_DOWN);
	begin(0, 5000);
	assert_int_equal(look(0, false), LINK_NOT_YET);
	assert_int_equal(link_wait_look(&wait, 78 * NS_PER_S, &down), LINK_DOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(present),        cmocka_unit_test(comes),    cmocka_unit_test(late),
		cmocka_unit_test(steady),         cmocka_unit_test(bounces),  cmocka_unit_test(bounces_unseen),
		cmocka_unit_test(bounced_before), cmocka_unit_test(flutters), cmocka_unit_test(set_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
