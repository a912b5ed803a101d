/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of va, while /sys shows another va. No interface here has the private flag of mlx5, so its driver is
 * played; that such a card is faster for it is not tested. Needs root.
 */
#include "tests/restoring.h"

#include "tests/fake_flags.h"
#include "tests/sysfs_views.h"

#include "lib/clock.h"
#include "lib/pio/afxdp_tune.h"

static struct pio_caps caps;
static struct host_link card;
static struct afxdp_tune_ask ask;

static void write_value(const char *name, const char *value)
{
	run(here, "echo %s >/mnt/here/class/net/va/%s", value, name);
}

static bool value_is(const char *sys, const char *name, const char *want)
{
	char text[32];

	view_read(sys, name, text, sizeof(text));
	return strcmp(text, want) == 0;
}

static void expect_values(const char *sys, const char *defer, const char *flush)
{
	char text[2][32];

	view_read(sys, "napi_defer_hard_irqs", text[0], sizeof(text[0]));
	view_read(sys, "gro_flush_timeout", text[1], sizeof(text[1]));
	assert_string_equal(text[0], defer);
	assert_string_equal(text[1], flush);
}

/* For what another process is about to do. */
static void await_value(const char *name, const char *want)
{
	uint64_t deadline = clock_mono_ns() + WAIT_MS * NS_PER_MS;

	while (!value_is("/mnt/here", name, want))
		if (clock_mono_ns() > deadline)
			fail_msg("%s did not become %s", name, want);
}

static int each(void **state)
{
	static const char *const flags[] = {"rx_striding_rq", "xdp_tx_mpwqe", "skb_tx_mpwqe"};

	write_value("napi_defer_hard_irqs", "0");
	write_value("gro_flush_timeout", "0");
	fake_set("va", flags, 3, 7);
	memset(&caps, 0, sizeof(caps));
	card = *va;
	ask = (struct afxdp_tune_ask){.napi_defer = WHEN_ON};
	return setup(state);
}

static int views_and_fake(void **state)
{
	return fake_make() || views_make(state) ? -1 : 0;
}

static struct afxdp_tune *begin(void)
{
	struct afxdp_tune *t;
	char text[1600];

	if (afxdp_tune_begin(&t, &card, &ask, &caps, &err))
		fail_msg("%s", err_format(&err, text, sizeof(text)));
	return t;
}

/* The note of that key, or "". */
static const char *note_of(const char *key)
{
	for (unsigned i = 0; i < caps.n_notes; i++)
		if (strcmp(caps.notes[i].key, key) == 0)
			return caps.notes[i].text;
	return "";
}

static void expect_note(const char *key, const char *part)
{
	if (!strstr(note_of(key), part))
		fail_msg("the note \"%s\" does not say \"%s\"", note_of(key), part);
}

/* ---- NAPI deferral ---- */

static void set_and_restored(void **state)
{
	struct afxdp_tune *t = begin();

	(void)state;
	assert_non_null(t);
	expect_values("/mnt/here", "2", "200000");
	expect_values("/mnt/there", "0", "0");
	expect_note("xdp.napi", "napi_defer_hard_irqs 2, gro_flush_timeout 200000 ns");
	assert_int_equal(caps.n_notes, 1);
	assert_false(caps.restarts_link);
	afxdp_tune_end(t);
	expect_values("/mnt/here", "0", "0");
}

static void not_wanted(void **state)
{
	static const enum when_helpful when[] = {WHEN_HELPFUL, WHEN_OFF};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		ask = (struct afxdp_tune_ask){.napi_defer = when[i], .native = true, .receives = true};
		assert_null(begin());
		expect_values("/mnt/here", "0", "0");
	}
	assert_int_equal(caps.n_notes, 0);
	afxdp_tune_end(NULL);
}

static void begin_in_child(void)
{
	assert_non_null(begin());
}

/* Look, run again at once, look. */
static void killed(void **state)
{
	(void)state;
	pid_t pid = process_under_test(begin_in_child);

	expect_values("/mnt/here", "2", "200000");
	kill_and_reap(pid);
	await_value("napi_defer_hard_irqs", "0");
	expect_values("/mnt/here", "0", "0");
	kill_and_reap(process_under_test(begin_in_child));
	struct afxdp_tune *t = begin();

	assert_non_null(t);
	expect_note("xdp.napi", "both were 0");
	expect_values("/mnt/here", "2", "200000");
	afxdp_tune_end(t);
	expect_values("/mnt/here", "0", "0");
}

static void left_to_the_user(const char *defer, const char *flush)
{
	write_value("napi_defer_hard_irqs", defer);
	write_value("gro_flush_timeout", flush);
	caps.n_notes = 0;
	assert_null(begin());
	expect_values("/mnt/here", defer, flush);
	expect_note("xdp.napi", "left as it was set before");
	expect_note("xdp.napi", defer);
	expect_note("xdp.napi", flush);
}

static void set_by_the_user(void **state)
{
	(void)state;
	left_to_the_user("5", "50000");
	left_to_the_user("0", "20000");
	left_to_the_user("1", "0");
	left_to_the_user("2", "200000");
}

/* What the user sets during the run is not taken back. */
static void set_meanwhile(void **state)
{
	struct afxdp_tune *t = begin();

	(void)state;
	write_value("napi_defer_hard_irqs", "7");
	afxdp_tune_end(t);
	expect_values("/mnt/here", "7", "0");
}

static void two_processes(void **state)
{
	char who[32];
	pid_t pid = process_under_test(begin_in_child);

	(void)state;
	snprintf(who, sizeof(who), "process %d ", (int)pid);
	assert_null(begin());
	expect_note("xdp.napi", who);
	expect_values("/mnt/here", "2", "200000");
	kill_and_reap(pid);
	await_value("napi_defer_hard_irqs", "0");
	expect_values("/mnt/here", "0", "0");
}

/* Begins without a capability, to no effect. */
static int begin_without(unsigned which)
{
	struct afxdp_tune *t;
	int rc;

	capability(which, false);
	rc = afxdp_tune_begin(&t, &card, &ask, &caps, &err);
	capability(which, true);
	assert_null(t);
	expect_values("/mnt/here", "0", "0");
	return rc;
}

static void no_way_to_sysfs(void **state)
{
	(void)state;
	assert_int_equal(begin_without(CAP_SYS_ADMIN), 0);
	expect_note("xdp.napi", "not set");
	expect_note("xdp.napi", strerror(EPERM));
	expect_values("/mnt/there", "0", "0");
}

static void write_refused(void **state)
{
	struct afxdp_tune *t;

	(void)state;
	assert_int_equal(begin_without(CAP_NET_ADMIN), -EPERM);
	assert_int_equal(err.code, EXIT_RUN);
	assert_non_null(strstr(err.hint, "--napi-defer off"));
	/* And the interface is free again. */
	t = begin();
	assert_non_null(t);
	afxdp_tune_end(t);
}

/* ---- mlx5 ---- */

static void as_mlx5(unsigned tx_queues)
{
	snprintf(card.driver, sizeof(card.driver), "mlx5_core");
	ask = (struct afxdp_tune_ask){.napi_defer = WHEN_OFF, .sends = true, .zero_copy = true, .tx_queues = tx_queues};
}

static void flag_off_for_few(void **state)
{
	(void)state;
	as_mlx5(1);
	struct afxdp_tune *t = begin();

	assert_non_null(t);
	assert_int_equal(fake->on, 5);
	assert_true(caps.restarts_link);
	expect_note("xdp.mpwqe", "xdp_tx_mpwqe off until the end of the run (was on)");
	afxdp_tune_end(t);
	assert_int_equal(fake->on, 7);
}

static void flag_on_for_many(void **state)
{
	(void)state;
	as_mlx5(8);
	fake->on = 4;
	struct afxdp_tune *t = begin();

	assert_int_equal(fake->on, 6);
	/* Another flag that is changed meanwhile stays so. */
	fake->on = 3;
	afxdp_tune_end(t);
	assert_int_equal(fake->on, 1);
}

static void flag_already_so(void **state)
{
	(void)state;
	as_mlx5(8);
	assert_null(begin());
	assert_int_equal(fake->sets, 0);
	assert_int_equal(caps.n_notes, 0);
	assert_false(caps.restarts_link);
}

static void flag_after_a_kill(void **state)
{
	(void)state;
	as_mlx5(2);
	ask.napi_defer = WHEN_ON;
	pid_t pid = process_under_test(begin_in_child);

	assert_int_equal(fake->on, 5);
	expect_values("/mnt/here", "2", "200000");
	kill_and_reap(pid);
	struct afxdp_tune *t = begin();

	expect_note("xdp.napi", "both were 0");
	expect_note("xdp.mpwqe", "(was on)");
	afxdp_tune_end(t);
	assert_int_equal(fake->on, 7);
	expect_values("/mnt/here", "0", "0");
}

/* A driver takes its time: until all is restored, nobody takes what is there for the user's own. */
static void restored_slowly(void **state)
{
	char who[64];

	(void)state;
	as_mlx5(2);
	ask.napi_defer = WHEN_ON;
	pid_t pid = process_under_test(begin_in_child);

	fake->slow = true;
	kill_and_reap(pid);
	assert_null(begin());
	snprintf(who, sizeof(who), "the settings of process %d are in force", (int)pid);
	expect_note("xdp.napi", who);
	expect_note("xdp.mpwqe", who);
	expect_values("/mnt/here", "2", "200000");
	fake->slow = false;
	caps.n_notes = 0;
	struct afxdp_tune *t = begin();

	expect_note("xdp.napi", "both were 0");
	expect_note("xdp.mpwqe", "(was on)");
	afxdp_tune_end(t);
	assert_int_equal(fake->on, 7);
	expect_values("/mnt/here", "0", "0");
}

/* Nobody asked for it, so its refusal ends no run, and the other setting stays. */
static void flag_refused(void **state)
{
	(void)state;
	as_mlx5(1);
	ask.napi_defer = WHEN_ON;
	fake->refusal = EOPNOTSUPP;
	struct afxdp_tune *t = begin();

	expect_note("xdp.mpwqe", strerror(EOPNOTSUPP));
	assert_false(caps.restarts_link);
	expect_values("/mnt/here", "2", "200000");
	afxdp_tune_end(t);
	assert_int_equal(fake->on, 7);
	expect_values("/mnt/here", "0", "0");
	/* The driver of va itself has none. */
	fake_set(NULL, NULL, 0, 0);
	ask.napi_defer = WHEN_OFF;
	caps.n_notes = 0;
	assert_null(begin());
	expect_note("xdp.mpwqe", "no such flag");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, each, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(set_and_restored), TEST(not_wanted),       TEST(killed),          TEST(set_by_the_user),
		TEST(set_meanwhile),    TEST(two_processes),    TEST(no_way_to_sysfs), TEST(write_refused),
		TEST(flag_off_for_few), TEST(flag_on_for_many), TEST(flag_already_so), TEST(flag_after_a_kill),
		TEST(restored_slowly),  TEST(flag_refused),
	};

	return cmocka_run_group_tests_name("afxdp: settings", tests, views_and_fake, views_free);
}
