/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#define ESCAPE      '\033'
#define SCROLL_PAGE 10 /* lines */

static bool turn_to(struct view *v, enum view_page page)
{
	bool other = v->page != page || v->scroll;

	v->page = page;
	v->scroll = 0;
	return other;
}

static bool scroll(struct view *v, int lines)
{
	unsigned before = v->scroll;

	/* How far down there is something is the layout's to know: who draws holds it to that. */
	if (lines < 0 && v->scroll < (unsigned)-lines)
		v->scroll = 0;
	else
		v->scroll += (unsigned)lines;
	return v->scroll != before;
}

static bool plain(char c, struct view *v, struct report_wish *wish)
{
	switch (c) {
	case 'q':
	case 'Q':
		wish->stop = true;
		return false;
	case '+':
	case '=':
		wish->rate_steps++;
		return false;
	case '-':
	case '_':
		wish->rate_steps--;
		return false;
	case '\t':
		return turn_to(v, (v->page + 1) % PAGE_COUNT);
	case '?':
	case 'h':
		return turn_to(v, v->page == PAGE_HELP ? PAGE_OVERVIEW : PAGE_HELP);
	case 'j':
		return scroll(v, 1);
	case 'k':
		return scroll(v, -1);
	case ' ':
		return scroll(v, SCROLL_PAGE);
	default:
		if (c >= '1' && c < '1' + PAGE_COUNT)
			return turn_to(v, (enum view_page)(c - '1'));
		return false;
	}
}

/* The last byte of a sequence (ECMA-48, and what terminals made of it). */
static bool sequence(const struct keys *k, char last, struct view *v)
{
	switch (last) {
	case 'A':
		return scroll(v, -1);
	case 'B':
		return scroll(v, 1);
	case 'C':
		return turn_to(v, (v->page + 1) % PAGE_COUNT);
	case 'D':
	case 'Z': /* Tab with Shift */
		return turn_to(v, (v->page + PAGE_COUNT - 1) % PAGE_COUNT);
	case 'H':
		return turn_to(v, v->page);
	case '~':
		return k->first == 5 ? scroll(v, -SCROLL_PAGE) : k->first == 6 && scroll(v, SCROLL_PAGE);
	default:
		return false;
	}
}

bool keys_take(struct keys *k, const char *bytes, size_t n, struct view *v, struct report_wish *wish)
{
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		char c = bytes[i];

		switch (k->state) {
		case KEYS_PLAIN:
			if (c == ESCAPE)
				k->state = KEYS_ESCAPE;
			else
				changed |= plain(c, v, wish);
			break;
		case KEYS_ESCAPE:
			k->state = c == '[' || c == 'O' ? KEYS_SEQUENCE : c == ESCAPE ? KEYS_ESCAPE : KEYS_PLAIN;
			k->first = 0;
			k->more = false;
			break;
		case KEYS_SEQUENCE:
			if (c >= '0' && c <= '9' && !k->more) {
				k->first = k->first < 1000 ? k->first * 10 + (unsigned)(c - '0') : k->first;
			} else if (c >= 0x40 && c <= 0x7e) {
				changed |= sequence(k, c, v);
				k->state = KEYS_PLAIN;
			} else {
				k->more = true;
			}
			break;
		}
	}
	if (n && k->state == KEYS_ESCAPE) {
		k->state = KEYS_PLAIN;
		changed |= turn_to(v, PAGE_OVERVIEW);
	}
	return changed;
}
