/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/keys.h"
#include "tui_run.h"

#include <locale.h>

static void seconds_of_the_last_minute(void **state)
{
	struct history h = {0};

	(void)state;
	history_add(&h, 900000000, 90);
	assert_int_equal(h.n, 0); /* not a second yet */
	history_add(&h, 1250000000, 125);
	assert_int_equal(h.n, 1);
	assert_true(fabs(h.pps[0] - 100) < 1e-9); /* over 1.25 s */
	history_add(&h, 2250000000, 325);
	assert_true(fabs(h.pps[0] - 200) < 1e-9 && fabs(h.pps[1] - 100) < 1e-9);
	/* nobody looked for 4 s, in which 40 came */
	history_add(&h, 6250000000, 365);
	assert_int_equal(h.n, 6);
	for (int i = 0; i < 4; i++)
		assert_true(fabs(h.pps[i] - 10) < 1e-9);
	assert_true(fabs(h.pps[4] - 200) < 1e-9);
	assert_true(fabs(history_top(&h, 4) - 10) < 1e-9);
	assert_true(fabs(history_top(&h, 60) - 200) < 1e-9);
	history_add(&h, 1000 * NS_PER_S, 365);
	assert_int_equal(h.n, HISTORY_SECONDS);
	assert_true(history_top(&h, HISTORY_SECONDS) < 1e-9);
}

static void lines_of_messages(void **state)
{
	static struct messages m;
	char line[32];

	(void)state;
	messages_add(&m, "squall: warning: a", 18);
	assert_int_equal(messages_kept(&m), 0);
	messages_add(&m, "bc\n\nplain\nrest", 14);
	assert_int_equal(messages_kept(&m), 2);
	assert_string_equal(messages_get(&m, 0), "warning: abc");
	assert_true(message_warns(messages_get(&m, 0)));
	assert_string_equal(messages_get(&m, 1), "plain");
	assert_false(message_warns(messages_get(&m, 1)));
	messages_add(&m, "\n", 1);
	for (int i = 3; i < MESSAGES_MAX + 5; i++)
		messages_add(&m, line, (size_t)snprintf(line, sizeof(line), "line %d\n", i));
	assert_int_equal(messages_kept(&m), MESSAGES_MAX);
	assert_string_equal(messages_get(&m, 0), "line 5");
	assert_string_equal(messages_get(&m, MESSAGES_MAX - 1), "line 68");
	for (int i = 0; i < 2 * MESSAGE_LEN; i++)
		messages_add(&m, "x", 1);
	messages_add(&m, "\n", 1);
	assert_int_equal(strlen(messages_get(&m, MESSAGES_MAX - 1)), MESSAGE_LEN - 1);
}

/* Rates are over one second, at the start over what there is of it. */
static void rates_of_the_last_second(void **state)
{
	static struct tui_run r;

	(void)state;
	tui_begin(&r, true, true);
	tui_goes_on(&r, 100, 50, 2, 500);
	assert_true(fabs(r.view.last.tx_rates.pps - 500) < 1e-9);
	assert_true(fabs(r.view.queue[1].rx_pps - 125) < 1e-9);
	assert_true(fabs(r.view.queue[1].busy - 0.25) < 1e-9);
	for (int i = 0; i < 3; i++)
		tui_goes_on(&r, 100, 0, 2, 500);
	assert_true(fabs(r.view.last.rx_rates.pps - 50 / 0.8) < 1e-9);
	tui_goes_on(&r, 100, 0, 2, 500);
	assert_true(fabs(r.view.last.rx_rates.pps - 50) < 1e-9);
	tui_goes_on(&r, 100, 0, 2, 500);
	assert_true(r.view.last.rx_rates.pps < 1e-9);
	assert_true(fabs(r.view.last.tx_rates.pps - 500) < 1e-9);
	assert_true(fabs(r.view.rx_run.pps - 50 / 1.2) < 1e-9);
	assert_true(fabs(r.view.tx.pps[0] - 500) < 1e-9);
	assert_string_equal(view_fact(&r.view, "xdp.mode"), "native");
	assert_null(view_fact(&r.view, "xdp"));
}

static bool press(struct keys *k, const char *bytes, struct view *v, struct report_wish *wish)
{
	return keys_take(k, bytes, strlen(bytes), v, wish);
}

static void what_keys_do(void **state)
{
	static struct view v;
	struct report_wish wish = {0};
	struct keys k = {0};

	(void)state;
	assert_false(press(&k, "+=+-", &v, &wish));
	assert_int_equal(wish.rate_steps, 2);
	assert_false(wish.stop);
	assert_true(press(&k, "3", &v, &wish));
	assert_int_equal(v.page, PAGE_COUNTERS);
	assert_true(press(&k, "\t", &v, &wish));
	assert_int_equal(v.page, PAGE_PLAN);
	assert_true(press(&k, "\033[C\033OD\033[D", &v, &wish)); /* right, left, left */
	assert_int_equal(v.page, PAGE_COUNTERS);
	assert_true(press(&k, "\033[B\033[6~j", &v, &wish));
	assert_int_equal(v.scroll, 12);
	assert_false(press(&k, "\033[", &v, &wish)); /* in two pieces */
	assert_true(press(&k, "5~", &v, &wish));
	assert_int_equal(v.scroll, 2);
	assert_true(press(&k, "\033[A\033[A\033[A", &v, &wish));
	assert_int_equal(v.scroll, 0);
	/* a sequence that is not known: none of its bytes is a key */
	assert_false(press(&k, "\033[1;5q\033[?3+4~\033[200~", &v, &wish));
	assert_false(wish.stop);
	assert_true(press(&k, "?", &v, &wish));
	assert_int_equal(v.page, PAGE_HELP);
	assert_true(press(&k, "\033", &v, &wish));
	assert_int_equal(v.page, PAGE_OVERVIEW);
	assert_false(press(&k, "0789xyz\r\n\x7f\xff", &v, &wish));
	assert_int_equal(wish.rate_steps, 2);
	press(&k, "q", &v, &wish);
	assert_true(wish.stop);
}

/* Text that the terminal must not take for something else, and characters of two columns. */
static void cells_of_text(void **state)
{
	struct grid g = {0};

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(grid_resize(&g, 2, 10), 0);
	assert_int_equal(grid_text(&g, 0, 1, 10, STYLE_PLAIN, "a\033[m\xff\xe4\xbd\xa0z"), 9);
	assert_string_equal(tui_row(&g, 0), " a?[m?*~z");
	assert_int_equal(grid_text(&g, 1, 9, 10, STYLE_PLAIN, "\xe4\xbd\xa0"), 9); /* half of it has no room */
	assert_string_equal(tui_row(&g, 1), "");
	grid_right(&g, 1, 4, STYLE_PLAIN, "123456");
	assert_string_equal(tui_row(&g, 1), "3456");
	grid_text(&g, 5, 0, 10, STYLE_PLAIN, "outside");
	assert_int_equal(grid_resize(&g, 100000, 100000), 0);
	assert_int_equal(g.rows, GRID_ROWS_MAX);
	assert_int_equal(g.cols, GRID_COLS_MAX);
	grid_free(&g);
	setlocale(LC_CTYPE, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_of_the_last_minute),
		cmocka_unit_test(lines_of_messages),
		cmocka_unit_test(rates_of_the_last_second),
		cmocka_unit_test(what_keys_do),
		cmocka_unit_test(cells_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
