/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window is compared with a model that keeps every number that came, over millions of packets that are lost, doubled,
 * held back and that jump.
 */
#include "lib/core/rand.h"
#include "lib/core/seqwin_end.h"
#include "loss_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the model ---- */

#define MODEL_SPAN (1U << 21) /* numbers from its first on that it can hold */

struct model {
	uint64_t origin, base, highest; /* extended numbers */
	uint64_t top;                   /* the highest block that was in use */
	uint32_t words;
	bool begun;
	uint64_t unique;
	unsigned char came[MODEL_SPAN];
};

static struct model model;
static uint64_t words[SEQWIN_WORDS_MAX];

static void model_begin(uint32_t n_words, uint64_t origin)
{
	memset(&model, 0, sizeof(model));
	model.words = n_words;
	model.origin = origin;
}

static enum seqwin_verdict model_add(uint64_t number)
{
	uint64_t block = number / SEQWIN_BLOCK;
	uint64_t first;

	if (!model.begun) {
		model.base = number - SEQWIN_ZERO >= (uint64_t)model.words * SEQWIN_BLOCK ? number : SEQWIN_ZERO;
		model.top = model.base / SEQWIN_BLOCK + model.words - 1;
		model.begun = true;
	}
	if (block > model.top)
		model.top = block;
	first = model.top - model.words + 1;
	if (number < model.base || block < first)
		return SEQWIN_LATE;
	assert_true(number - model.origin < MODEL_SPAN);
	if (model.came[number - model.origin])
		return SEQWIN_DUPLICATE;
	model.came[number - model.origin] = 1;
	model.unique++;
	if (number > model.highest)
		model.highest = number;
	return SEQWIN_NEW;
}

static uint32_t model_overtaken(uint64_t number)
{
	uint64_t last = (number / SEQWIN_BLOCK + model.words) * SEQWIN_BLOCK;
	uint32_t n = 0;

	for (uint64_t i = number + 1; i <= model.highest && i < last; i++)
		n += model.came[i - model.origin];
	return n;
}

struct checked {
	struct seqwin win;
	uint32_t mask;
	uint32_t longest;
	bool shared;
};

/* As a receiver does it: what mostly comes by the short way. */
static bool add_next(struct checked *c, uint64_t number)
{
	uint64_t *word = &words[(uint32_t)number / SEQWIN_BLOCK & c->mask];

	return c->shared ? seqwin_add_next(&c->win, word, (uint32_t)number, true)
			 : seqwin_add_next(&c->win, word, (uint32_t)number, false);
}

static struct seqwin_seen add(struct checked *c, uint64_t number)
{
	const uint64_t highest = c->win.highest;

	if (add_next(c, number)) {
		assert_true(highest);
		assert_int_equal(c->win.highest, highest + 1);
		return (struct seqwin_seen){.verdict = SEQWIN_NEW, .number = highest + 1, .highest = highest};
	}
	struct seqwin_seen seen = c->shared ? seqwin_add(&c->win, words, c->mask, (uint32_t)number, true)
					    : seqwin_add(&c->win, words, c->mask, (uint32_t)number, false);

	c->longest = seen.run_ended > c->longest ? seen.run_ended : c->longest;
	return seen;
}

static void both(struct checked *c, uint64_t number)
{
	uint64_t highest = model.highest;
	bool begun = model.begun;
	enum seqwin_verdict verdict = model_add(number);
	struct seqwin_seen seen = add(c, number);

	assert_int_equal(seen.verdict, verdict);
	assert_int_equal(seen.number, number);
	assert_int_equal(seen.first, !begun);
	if (!begun || verdict != SEQWIN_NEW)
		return;
	assert_int_equal(seen.highest, highest);
	if (number < highest)
		assert_int_equal(seqwin_overtaken(words, c->mask, &seen, c->shared), model_overtaken(number));
}

static void both_end(struct checked *c, uint64_t beyond)
{
	const unsigned char *from = model.came + (model.base - model.origin);
	uint64_t n = model.highest + 1 - model.base;

	assert_int_equal(c->win.base, model.base);
	assert_int_equal(seqwin_highest(&c->win, words, c->mask), model.highest);
	seqwin_finish(&c->win, words, c->mask, model.highest + 1 + beyond, &c->longest);
	assert_int_equal(c->longest, longest_gap(from, n + beyond));
}

/* What an unkind path does to packets first, first + 1, ...: n of them. */
struct path {
	uint32_t loss, twice, hold, jump; /* chances in 1000; a jump in 100,000 */
	uint32_t far, leap;               /* how far held ones are behind, and what a jump passes over: up to */
};

static void through(struct checked *c, const struct path *p, uint64_t first, uint64_t n, uint64_t *seed)
{
	uint64_t held[16];
	uint64_t until[16];
	unsigned n_held = 0;

	both(c, first);
	for (uint64_t i = 1; i < n; i++) {
		uint64_t number = first + i;

		for (unsigned h = 0; h < n_held;) {
			if (until[h] > number) {
				h++;
				continue;
			}
			both(c, held[h]);
			n_held--;
			held[h] = held[n_held];
			until[h] = until[n_held];
		}
		if (rand_next(seed) % 100000 < p->jump)
			i += rand_next(seed) % p->leap;
		if (rand_next(seed) % 1000 < p->loss)
			continue;
		if (n_held < 16 && rand_next(seed) % 1000 < p->hold) {
			held[n_held] = number;
			until[n_held++] = number + 1 + rand_next(seed) % p->far;
			continue;
		}
		both(c, number);
		if (rand_next(seed) % 1000 < p->twice)
			both(c, number);
	}
}

static const struct path paths[] = {
	{0, 0, 0, 0, 1, 1},           {10, 5, 3, 0, 16, 1},
	{300, 100, 100, 10, 40, 300}, {500, 50, 200, 50, 400, 5000},
	{990, 100, 500, 0, 3000, 1},  {0, 0, 300, 20, 100, 200000},
};
static const uint32_t sizes[] = {1, 4, 16, 64};
/* From the first packet on, across the end of 32 bits, and joined in the middle. */
static const uint64_t firsts[] = {SEQWIN_ZERO, 2 * SEQWIN_ZERO - 20000, SEQWIN_ZERO + 777777, 2 * SEQWIN_ZERO - 1};

static void is_what_the_model_says(void **state)
{
	const bool shared = *state;
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			for (size_t f = 0; f < sizeof(firsts) / sizeof(firsts[0]); f++) {
				struct checked c = {.mask = sizes[s] - 1, .shared = shared};

				memset(words, 0, sizeof(words));
				model_begin(sizes[s], firsts[f] - (f ? 10000 : 0));
				through(&c, &paths[i], firsts[f], 60000, &seed);
				both_end(&c, s * 50);
			}
		}
	}
}

/* A sequence that jumps by half of what a number can tell is followed, at no greater cost than a window's. */
static void jumps_are_followed(void **state)
{
	struct checked c = {.mask = 15};
	uint64_t number = SEQWIN_ZERO;
	uint64_t unique = 0;

	(void)state;
	memset(words, 0, sizeof(words));
	for (unsigned i = 0; i < 1000; i++) {
		struct seqwin_seen seen = add(&c, number);

		assert_int_equal(seen.verdict, SEQWIN_NEW);
		assert_int_equal(seen.number, number);
		assert_int_equal(add(&c, number).verdict, SEQWIN_DUPLICATE);
		unique++;
		number += (1U << 31) - 1;
	}
	number -= (1U << 31) - 1;
	assert_int_equal(seqwin_highest(&c.win, words, c.mask), number);
	assert_int_equal(c.longest, SEQWIN_RUN_MAX); /* as far as it counts */
	assert_int_equal(add(&c, number - 15 * SEQWIN_BLOCK - 31).verdict, SEQWIN_LATE);
	assert_int_equal(add(&c, number - 14 * SEQWIN_BLOCK).verdict, SEQWIN_NEW);
}

int main(void)
{
	bool shared = true;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_the_model_says),
		{"is_what_the_model_says, shared", is_what_the_model_says, NULL, NULL, &shared},
		cmocka_unit_test(jumps_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
