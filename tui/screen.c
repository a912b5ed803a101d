/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ncurses last: its macros have common names. */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

static bool has_text(const char *capability)
{
	const char *text = tigetstr(capability);

	return text && text != (char *)-1 && *text;
}

bool screen_can(char *why, size_t size)
{
	const char *name = getenv("TERM");
	int found = 0;
	bool can;

	if (!name || !*name) {
		snprintf(why, size, "TERM is not set");
		return false;
	}
	if (setupterm(name, STDOUT_FILENO, &found) != OK) {
		snprintf(why, size, "TERM=%s is not known here", name);
		return false;
	}
	can = has_text("cup") && has_text("clear");
	if (!can)
		snprintf(why, size, "a terminal of TERM=%s cannot place its cursor", name);
	del_curterm(cur_term);
	return can;
}

static void choose_colours(struct screen *s)
{
	const char *no = getenv("NO_COLOR");

	s->colours = has_colors() && (!no || !*no) && start_color() == OK;
	if (!s->colours)
		return;
	use_default_colors();
	init_pair(STYLE_WARN, COLOR_YELLOW, -1);
	init_pair(STYLE_TX, COLOR_GREEN, -1);
	init_pair(STYLE_RX, COLOR_CYAN, -1);
}

int screen_open(struct screen *s, unsigned rows, unsigned cols)
{
	int file = memfd_create("squall-screen", MFD_CLOEXEC);
	int rc = 0;

	*s = (struct screen){0};
	if (file >= 0 && fcntl(file, F_SETFL, O_APPEND) == 0)
		s->out = fdopen(file, "w");
	s->in = fopen("/dev/null", "re"); /* keys are read by keys.h */
	if (!s->out || !s->in) {
		rc = -errno;
		if (!s->out && file >= 0)
			close(file);
		goto out;
	}
	setlocale(LC_CTYPE, ""); /* what bytes the terminal takes for characters; numbers stay as they are */
	s->blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	s->curses = newterm(NULL, s->out, s->in);
	if (!s->curses) {
		rc = -ENOTTY;
		goto out;
	}
	typeahead(-1);
	curs_set(0);
	choose_colours(s);
	screen_resize(s, rows, cols);
out:
	if (rc)
		screen_close(s);
	return rc;
}

void screen_close(struct screen *s)
{
	if (s->curses)
		delscreen(s->curses);
	if (s->out)
		fclose(s->out);
	if (s->in)
		fclose(s->in);
	*s = (struct screen){0};
	setlocale(LC_CTYPE, "C");
}

/* For tputs(), which takes a function only. */
static struct {
	char bytes[256];
	size_t used;
} text;

static int add(int c)
{
	if (text.used < sizeof(text.bytes))
		text.bytes[text.used] = (char)c;
	text.used++;
	return c;
}

static void say(const char *capability)
{
	if (capability)
		tputs(capability, 1, add);
}

/* Scrolling is to concern the whole screen: a terminal keeps the lines that ncurses knew of when it began. */
static void whole_screen(const struct screen *s)
{
	if (change_scroll_region)
		say(tiparm(change_scroll_region, 0, (int)s->rows - 1));
}

size_t screen_leave_text(const struct screen *s, char *buf, size_t size)
{
	text.used = 0;
	say(exit_attribute_mode);
	say(orig_pair);
	whole_screen(s);
	if (cursor_address)
		say(tiparm(cursor_address, (int)s->rows - 1, 0));
	say(clr_eol);
	say(exit_ca_mode);
	say(cursor_normal);
	if (text.used > size || text.used > sizeof(text.bytes))
		return 0;
	memcpy(buf, text.bytes, text.used);
	return text.used;
}

void screen_resize(struct screen *s, unsigned rows, unsigned cols)
{
	s->rows = rows;
	s->cols = cols;
	resize_term((int)rows, (int)cols);
	text.used = 0;
	whole_screen(s);
	if (text.used <= sizeof(text.bytes) && write(fileno(s->out), text.bytes, text.used) < 0) /* into memory */
		return;
	clearok(curscr, TRUE);
}

static attr_t attributes(const struct screen *s, enum style style)
{
	static const attr_t plain[STYLE_COUNT] = {
		[STYLE_DIM] = A_DIM, [STYLE_VALUE] = A_BOLD, [STYLE_TITLE] = A_REVERSE, [STYLE_WARN] = A_BOLD};
	bool coloured = style == STYLE_WARN || style == STYLE_TX || style == STYLE_RX;

	return plain[style] | (s->colours && coloured ? (attr_t)COLOR_PAIR(style) : 0);
}

void screen_draw(struct screen *s, const struct grid *g)
{
	erase();
	for (unsigned row = 0; row < g->rows; row++) {
		for (unsigned col = 0; col < g->cols; col++) {
			const struct grid_cell *cell = grid_at(g, row, col);
			wchar_t c[2] = {cell->c, 0};
			cchar_t shown;

			if (!cell->c || (cell->c == L' ' && cell->style == STYLE_PLAIN))
				continue;
			setcchar(&shown, c, attributes(s, (enum style)cell->style), 0, NULL);
			mvadd_wch((int)row, (int)col, &shown);
		}
	}
	refresh();
	fflush(s->out);
}

bool screen_flush(struct screen *s, int fd)
{
	int file = fileno(s->out);
	char part[8192];
	ssize_t n, done;

	while ((n = pread(file, part, sizeof(part), s->sent)) > 0) {
		done = write(fd, part, (size_t)n);
		if (done <= 0)
			return false;
		s->sent += done;
	}
	if (s->sent && ftruncate(file, 0) == 0)
		s->sent = 0;
	return true;
}
