/* SPDX-License-Identifier: Apache-2.0 */
#include "dashboard.h"

#include "held.h"
#include "keys.h"
#include "layout.h"
#include "screen.h"
#include "terminal.h"
#include "view.h"

#include <unistd.h>

static struct {
	bool open; /* there is a terminal to show it on */
	bool away; /* it is not ours for now */
	struct view view;
	struct grid grid;
	struct screen screen;
	struct held held;
	struct keys keys;
	uint64_t sampled_ns; /* when the last sample was asked for; 0: not yet */
} d = {.held = {.file = -1}};

static void release_stderr(void)
{
	held_end(&d.held);
}

bool dashboard_open(char *why, size_t size)
{
	if (!terminal_open(why, size))
		return false;
	if (!screen_can(why, size)) {
		terminal_close();
		return false;
	}
	terminal_on_leave(release_stderr);
	d.open = true;
	return true;
}

static void take_message(void *arg, const char *text, size_t len)
{
	(void)arg;
	messages_add(&d.view.messages, text, len);
}

static void leave_screen(void)
{
	held_look(&d.held, take_message, NULL);
	terminal_leave();
	screen_close(&d.screen);
}

void dashboard_leave(void)
{
	terminal_leave();
}

void dashboard_close(void)
{
	if (!d.open)
		return;
	leave_screen();
	d.open = false;
	terminal_close();
	grid_free(&d.grid);
}

static void know_how_to_leave(void)
{
	char text[TERMINAL_LEAVE_MAX];

	terminal_set_leave(text, screen_leave_text(&d.screen, text, sizeof(text)));
}

/* Takes the terminal. When that fails the run goes on without: its end is told in text in any case. */
static bool enter_screen(void)
{
	unsigned rows, cols;

	terminal_size(&rows, &cols);
	if (grid_resize(&d.grid, rows, cols) || terminal_enter())
		return false;
	if (screen_open(&d.screen, d.grid.rows, d.grid.cols)) {
		terminal_leave();
		return false;
	}
	know_how_to_leave();
	held_begin(&d.held, !terminal_has_stderr());
	d.view.blocks = d.screen.blocks;
	return true;
}

static void follow_size(void)
{
	unsigned rows, cols;

	terminal_size(&rows, &cols);
	rows = rows < GRID_ROWS_MAX ? rows : GRID_ROWS_MAX;
	cols = cols < GRID_COLS_MAX ? cols : GRID_COLS_MAX;
	if ((rows == d.grid.rows && cols == d.grid.cols) || grid_resize(&d.grid, rows, cols))
		return;
	screen_resize(&d.screen, rows, cols);
	know_how_to_leave();
}

static void paint(void)
{
	unsigned furthest;

	if (!screen_flush(&d.screen, terminal_fd())) /* it has not taken the last one yet */
		return;
	follow_size();
	held_look(&d.held, take_message, NULL);
	furthest = layout_draw(&d.view, &d.grid);
	if (d.view.scroll > furthest) {
		d.view.scroll = furthest;
		layout_draw(&d.view, &d.grid);
	}
	screen_draw(&d.screen, &d.grid);
	screen_flush(&d.screen, terminal_fd());
}

/* Whether the screen is there to be painted on: it comes and goes with the foreground. */
static bool on_screen(void)
{
	if (terminal_stop_if_asked()) {
		screen_close(&d.screen);
		d.away = true;
	}
	if (d.screen.curses && (terminal_was_stopped() || !terminal_is_ours())) {
		leave_screen();
		d.away = true;
	}
	if (!d.screen.curses && terminal_is_ours()) {
		if (!enter_screen()) {
			dashboard_close();
			return false;
		}
		d.away = false;
	}
	return d.screen.curses != NULL;
}

static bool read_keys(struct report_wish *wish)
{
	bool changed = false;
	char bytes[64];
	ssize_t n;

	while ((n = read(terminal_fd(), bytes, sizeof(bytes))) > 0)
		changed |= keys_take(&d.keys, bytes, (size_t)n, &d.view, wish);
	return changed;
}

static void dashboard_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	report_text_ops.begin(r, plan, wall_ns);
	if (plan)
		view_begin(&d.view, r->cfg, plan);
	else
		dashboard_close();
}

/* The first sample is due a while after the start: a run that is over by then needs no screen. */
static bool dashboard_poll(struct report *r, uint64_t now_ns, struct report_wish *wish)
{
	bool due;

	(void)r;
	if (!d.open)
		return false;
	if (!d.sampled_ns)
		d.sampled_ns = now_ns;
	due = now_ns - d.sampled_ns >= VIEW_SAMPLE_NS;
	if (due) /* a late look does not make the next ones come faster */
		d.sampled_ns = now_ns - d.sampled_ns < 2 * VIEW_SAMPLE_NS ? d.sampled_ns + VIEW_SAMPLE_NS : now_ns;
	if (!due && !d.screen.curses && !d.away)
		return false;
	if (on_screen() && read_keys(wish) && !due)
		paint();
	return due;
}

static void dashboard_live(struct report *r, const struct report_live *live)
{
	(void)r;
	if (!d.open)
		return;
	view_sample(&d.view, live);
	if (d.screen.curses)
		paint();
}

/* The screen has it. */
static void dashboard_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	(void)r;
	(void)prev;
	(void)now;
}

static void dashboard_end(struct report *r, const struct report_end *end, const struct err *e,
			  const struct problems *all)
{
	dashboard_close();
	r->n_intervals = 0; /* that were written */
	report_text_ops.end(r, end, e, all);
}

const struct report_ops dashboard_ops = {
	.begin = dashboard_begin,
	.interval = dashboard_interval,
	.end = dashboard_end,
	.poll = dashboard_poll,
	.live = dashboard_live,
	.document = report_text_document,
};
