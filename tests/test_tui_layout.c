/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/layout.h"
#include "tui_run.h"

static struct tui_run r;

static void draw(unsigned rows, unsigned cols, enum view_page page)
{
	assert_int_equal(grid_resize(&r.grid, rows, cols), 0);
	r.view.page = page;
	layout_draw(&r.view, &r.grid);
}

/* 1,000,000 frames of 64 bytes a second are 1 M x 84 x 8 bit/s at L1 and 1 M x 64 x 8 at L2; 14,880,952 fill 10 G. */
static void a_second(unsigned queues)
{
	tui_begin(&r, true, true);
	for (int i = 0; i < 5; i++)
		tui_goes_on(&r, 200000, i < 4 ? 2976190 : 2976192, queues, 1e6);
}

static void the_usual_terminal(void **state)
{
	const struct grid *g = &r.grid;
	unsigned row;

	(void)state;
	a_second(2);
	draw(24, 80, PAGE_OVERVIEW);
	tui_words(g, 0, "squall send eth1 running 0:01 of 0:30, 0:29 left");
	assert_string_equal(tui_row(g, 1), " afxdp: native, copy");
	assert_string_equal(tui_row(g, 2), " because veth has no zero-copy");
	assert_string_equal(tui_row(g, 3), " XDP mode native");
	row = tui_find(g, 1, "now");
	tui_words(g, row - 1, "TX RX");
	tui_words(g, row, "now 1 Mpps 14.88 Mpps");
	tui_words(g, row + 1, "L1 672 Mbit/s 10 Gbit/s");
	tui_words(g, row + 2, "L2 512 Mbit/s 7.619 Gbit/s");
	tui_words(g, row + 3, "packets 1000000 14880952");
	tui_words(g, row + 4, "dropped 0 0");
	tui_words(g, row + 5, "bytes (L2) 64000000 952380928");
	tui_words(g, row + 6, "mean frame 64 B 64 B");
	tui_words(g, row + 7, "whole run 1 Mpps 14.88 Mpps");
	tui_words(g, row + 8, "asked for 1 Mpps, 100.00 % of it sent now");
	row = tui_find(g, row, "queue");
	tui_words(g, row + 1, "0 - 25 % 500 kpps 7.44 Mpps 0 500000");
	tui_words(g, row + 2, "1 1 25 % 500 kpps 7.44 Mpps 0 500000");
	tui_find(g, 23, "q stop  + - rate  1 overview");
}

static void a_small_terminal(void **state)
{
	const struct grid *g = &r.grid;

	(void)state;
	a_second(1);
	draw(10, 40, PAGE_OVERVIEW);
	tui_words(g, 0, "squall send eth1 0:01 of 0:30");
	tui_words(g, tui_find(g, 1, "now"), "now 1 Mpps 14.88 Mpps");
	tui_words(g, tui_find(g, 1, "L1"), "L1 672 Mbit/s 10 Gbit/s");
	tui_words(g, tui_find(g, 1, "L2"), "L2 512 Mbit/s 7.619 Gbit/s");
	tui_words(g, tui_find(g, 1, "packets"), "packets 1000000 14880952");
	tui_find(g, 1, "asked for");
	tui_find(g, 9, "q stop  + - rate  1-5 overview  ? help");
	draw(3, 20, PAGE_OVERVIEW);
	tui_words(g, 0, "tx 1 Mpps");
	tui_words(g, 1, "rx 14.88 Mpps");
	tui_words(g, 2, "terminal too small");
}

static void a_large_terminal(void **state)
{
	const struct grid *g = &r.grid;

	(void)state;
	a_second(40);
	draw(60, 200, PAGE_OVERVIEW);
	tui_find(g, 0, "now");
	/* the plan, beside the numbers and whole */
	for (unsigned i = 0; i < r.plan.n_facts; i++) {
		assert_non_null(strstr(tui_row(g, 1 + i) + 80, r.plan.facts[i].label));
		assert_non_null(strstr(tui_row(g, 1 + i) + 80, r.plan.facts[i].value));
	}
	tui_find(g, 0, "   26   26    25 % ");
	assert_false(tui_has(g, "   39   39    25 % "));
	draw(60, 200, PAGE_QUEUES);
	tui_words(g, tui_find(g, 0, "   39   39    25 % "), "39 39 25 % 25 kpps 372 kpps 0 25000 372020");
}

/* No size breaks it, and none leaves a cell without a character. */
static void every_size(void **state)
{
	(void)state;
	a_second(3);
	report_warn(&r.view.plan.warnings, "a warning that is rather long, so that it needs lines of its own");
	messages_add(&r.view.messages, "squall: warning: eth1: the link is down\n", 40);
	r.now.tx.dropped_driver = 5;
	tui_goes_on(&r, 1, 1, 3, 1e6);
	for (unsigned rows = 1; rows < 40; rows++)
		for (unsigned cols = 1; cols < 150; cols++)
			for (int page = 0; page < PAGE_COUNT; page++) {
				r.view.scroll = rows % 7;
				draw(rows, cols, (enum view_page)page);
				for (unsigned i = 0; i < rows * cols; i++)
					assert_int_not_equal(r.grid.cells[i].c, L'\0');
			}
	r.view.scroll = 0;
}

static void one_direction(void **state)
{
	(void)state;
	tui_begin(&r, false, true);
	for (int i = 0; i < 5; i++)
		tui_goes_on(&r, 0, 20, 1, NAN);
	draw(24, 80, PAGE_OVERVIEW);
	tui_words(&r.grid, tui_find(&r.grid, 1, "now"), "now 100 pps");
	tui_words(&r.grid, tui_find(&r.grid, 1, "now") - 1, "RX");
	assert_false(tui_has(&r.grid, "asked for"));
	assert_false(tui_has(&r.grid, "+ -"));
	assert_false(tui_has(&r.grid, "tx"));
	r.cfg.duration_ns = 0;
	draw(24, 80, PAGE_OVERVIEW);
	tui_words(&r.grid, 0, "squall recv eth1 running 0:01, until stopped");
}

static void what_was_lost_and_what_lags(void **state)
{
	const struct grid *g = &r.grid;
	unsigned row;

	(void)state;
	tui_begin(&r, true, true);
	r.now.tx.dropped_driver = 7;
	r.now.rx.dropped_ring = 5;
	r.now.rx.filtered = 3;
	for (int i = 0; i < 5; i++)
		tui_goes_on(&r, 100, 100, 1, 1000);
	r.view.rate_changes = 2;
	draw(24, 80, PAGE_OVERVIEW);
	row = tui_find(g, 1, "dropped");
	tui_words(g, row, "dropped 7 5");
	assert_int_equal(grid_at(g, row, r.grid.cols / 2)->style == STYLE_WARN ||
				 grid_at(g, row, 34)->style == STYLE_WARN,
			 true);
	row = tui_find(g, 1, "asked for");
	tui_words(g, row, "asked for 1 kpps, 50.00 % of it sent now, changed 2 times");
	assert_int_equal(grid_at(g, row, 13)->style, STYLE_WARN);
	tui_find(g, 1, " tx  7 dropped_driver: packets that the driver");
	tui_find(g, 1, " rx  5 dropped_ring: ");
	tui_find(g, 1, " rx  3 filtered: ");
	draw(24, 80, PAGE_COUNTERS);
	tui_find(g, 1, " tx  7 dropped_driver: ");
	tui_find(g, 1, " tx  500 completed: ");
	assert_false(tui_has(g, "dropped_end"));
	r.view.requested_pps = -1;
	draw(24, 80, PAGE_OVERVIEW);
	tui_words(g, tui_find(g, 1, "asked for"), "asked for no limit, changed 2 times");
}

static void what_was_measured(void **state)
{
	(void)state;
	tui_begin(&r, true, true);
	r.view.plan.measure = true;
	r.now.measure =
		(struct measure_counts){.stamped = 1000, .bytes = 60000, .unique = 997, .duplicate = 2, .late = 1};
	for (int i = 0; i < 5; i++)
		tui_goes_on(&r, 200, 200, 1, 1000);
	draw(24, 80, PAGE_OVERVIEW);
	tui_words(&r.grid, tui_find(&r.grid, 1, "measured"), "measured 1000 stamped, 2 duplicate, 1 late");
	draw(24, 80, PAGE_COUNTERS);
	tui_find(&r.grid, 1, " measured  997 unique: packets that came for the first time");
	tui_find(&r.grid, 1, " measured  2 duplicate: ");
	assert_false(tui_has(&r.grid, "reordered"));
}

static void a_count_and_the_end(void **state)
{
	(void)state;
	tui_begin(&r, true, false);
	tui_goes_on(&r, 250, 0, 1, 10);
	r.view.count = 1000;
	r.cfg.duration_ns = 0;
	draw(24, 100, PAGE_OVERVIEW);
	tui_words(&r.grid, 0, "squall send eth1 running 0:00, 25.0 % of 1000 packets");
	/* a share of ten a second would say nothing */
	tui_words(&r.grid, tui_find(&r.grid, 1, "asked for"), "asked for 10 pps");
	r.view.stopping = true;
	draw(24, 100, PAGE_OVERVIEW);
	tui_words(&r.grid, 0, "squall send eth1 stopping 0:00, 25.0 % of 1000 packets");
}

static void lists_scroll(void **state)
{
	(void)state;
	a_second(40);
	assert_int_equal(grid_resize(&r.grid, 12, 80), 0);
	r.view.page = PAGE_QUEUES;
	r.view.scroll = 0;
	/* a heading and 40 queues in 10 rows */
	assert_int_equal(layout_draw(&r.view, &r.grid), 31);
	tui_words(&r.grid, 1, "queue cpu busy tx rate rx rate drops tx packets");
	r.view.scroll = 31;
	assert_int_equal(layout_draw(&r.view, &r.grid), 31);
	assert_non_null(strstr(tui_row(&r.grid, 10), "   39   39 "));
	r.view.page = PAGE_HELP;
	r.view.scroll = 0;
	layout_draw(&r.view, &r.grid);
	tui_find(&r.grid, 1, "+        ten per cent faster");
}

static void long_texts_are_wrapped(void **state)
{
	(void)state;
	tui_begin(&r, true, false);
	report_fact_add(&r.view.plan, "x", "pattern", "%s", "one two three four five six seven eight nine ten");
	tui_goes_on(&r, 1, 0, 1, 10);
	draw(24, 40, PAGE_PLAN);
	/* 40 columns less a border on both sides, a label of 9 and 2 behind it: 27 */
	assert_string_equal(tui_row(&r.grid, tui_find(&r.grid, 1, "one two")),
			    " pattern    one two three four five six");
	tui_find(&r.grid, 1, "            seven eight nine ten");
}

static void the_graph(void **state)
{
	struct layout_area a = {.g = &r.grid, .row = 0, .rows = 2, .col = 0, .end = 6};
	struct history h = {.n = 5, .pps = {100, 50, 0, 1, 25}};

	(void)state;
	memset(&r.view, 0, sizeof(r.view));
	assert_int_equal(grid_resize(&r.grid, 2, 6), 0);
	layout_graph(&r.view, a, &h, STYLE_TX, 100);
	/* three steps a row: 25 of 100 is 1.5 of 6 steps, and little is not nothing */
	assert_string_equal(tui_row(&r.grid, 0), "     #");
	assert_string_equal(tui_row(&r.grid, 1), " :. ##");
	r.view.blocks = true;
	layout_graph(&r.view, a, &h, STYLE_TX, 100);
	assert_int_equal(grid_at(&r.grid, 0, 5)->c, 0x2588);
	assert_int_equal(grid_at(&r.grid, 0, 4)->c, L' ');
	assert_int_equal(grid_at(&r.grid, 1, 4)->c, 0x2588);
	assert_int_equal(grid_at(&r.grid, 1, 3)->c, L' ');
	assert_int_equal(grid_at(&r.grid, 1, 2)->c, 0x2581);
	assert_int_equal(grid_at(&r.grid, 1, 1)->c, 0x2584); /* 4 of 16 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual_terminal), cmocka_unit_test(a_small_terminal),
		cmocka_unit_test(a_large_terminal),   cmocka_unit_test(every_size),
		cmocka_unit_test(one_direction),      cmocka_unit_test(what_was_lost_and_what_lags),
		cmocka_unit_test(what_was_measured),  cmocka_unit_test(a_count_and_the_end),
		cmocka_unit_test(lists_scroll),       cmocka_unit_test(long_texts_are_wrapped),
		cmocka_unit_test(the_graph),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	grid_free(&r.grid);
	return rc;
}
