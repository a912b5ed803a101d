/* SPDX-License-Identifier: Apache-2.0 */
/* Threads share a window: what each of them was told must fit together, and with what the window says in the end. */
static void meanwhile(void);
#define SEQWIN_MEANWHILE() meanwhile()

#include "lib/core/rand.h"
#include "lib/core/seqwin_end.h"
#include "loss_runs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t words[SEQWIN_WORDS_MAX];

#define SHARED_NUMBERS 400000U
#define SHARED_THREADS 3U

static struct {
	struct seqwin win;
	uint32_t mask;
	uint32_t jump; /* every so many numbers there is a gap of as many again */
	_Atomic unsigned ready;
	_Atomic uint64_t next;
	/* Without threads: */
	bool interrupts;
	unsigned depth;
	uint64_t seed, around, far;
	uint64_t seen[3];
	uint32_t longest;
	unsigned char told[SHARED_NUMBERS * 2]; /* how often a number was called new */
	unsigned char given[SHARED_NUMBERS * 2];
} together;

/* For numbers below n. */
static void together_begin(uint32_t n_words, uint64_t n)
{
	memset(&together, 0, offsetof(__typeof__(together), told));
	memset(together.told, 0, n);
	memset(together.given, 0, n);
	memset(words, 0, n_words * sizeof(words[0]));
	together.mask = n_words - 1;
}

struct sharer {
	pthread_t thread;
	uint64_t seen[3];
	uint32_t longest;
};

/* The numbers are dealt in small runs, some of them twice, some never, in an order that depends on the threads. */
static void *share(void *arg)
{
	struct sharer *s = arg;

	atomic_fetch_add(&together.ready, 1);
	while (atomic_load(&together.ready) < SHARED_THREADS)
		;
	for (;;) {
		uint64_t from = atomic_fetch_add(&together.next, 24);

		if (from >= SHARED_NUMBERS)
			return NULL;
		for (uint64_t i = from; i < from + 40 && i < SHARED_NUMBERS; i++) {
			uint64_t number = i + i / together.jump * together.jump;
			struct seqwin_seen seen;

			if (rand_mix(number) % 8 == 0)
				continue;
			seen = seqwin_add(&together.win, words, together.mask, (uint32_t)number, true);
			s->seen[seen.verdict]++;
			s->longest = seen.run_ended > s->longest ? seen.run_ended : s->longest;
			__atomic_fetch_add(&together.given[number], 1, __ATOMIC_RELAXED);
			if (seen.verdict == SEQWIN_NEW)
				__atomic_fetch_add(&together.told[number], 1, __ATOMIC_RELAXED);
		}
	}
}

/* All threads are done: what they were told fits together. */
static void shared_end(const uint64_t seen[3], uint32_t longest, uint64_t n)
{
	uint64_t highest = seqwin_highest(&together.win, words, together.mask);
	uint64_t given = 0, unique = 0;

	for (uint64_t i = 0; i < n; i++) {
		assert_true(together.told[i] <= 1);
		if (together.told[i])
			assert_true(SEQWIN_ZERO + i <= highest);
		unique += together.told[i];
		given += together.given[i];
	}
	assert_int_equal(together.told[highest - SEQWIN_ZERO], 1);
	assert_int_equal(seen[SEQWIN_NEW], unique);
	assert_int_equal(seen[SEQWIN_NEW] + seen[SEQWIN_DUPLICATE] + seen[SEQWIN_LATE], given);
	seqwin_finish(&together.win, words, together.mask, highest + 1, &longest);
	assert_int_equal(longest, longest_gap(together.told + (together.win.base - SEQWIN_ZERO),
					      highest + 1 - together.win.base));
}

static void check_shared(uint32_t n_words, uint32_t jump)
{
	struct sharer s[SHARED_THREADS];
	uint64_t sum[3] = {0};
	uint32_t longest = 0;

	together_begin(n_words, sizeof(together.told));
	together.jump = jump;
	for (unsigned i = 0; i < SHARED_THREADS; i++) {
		s[i] = (struct sharer){0};
		assert_int_equal(pthread_create(&s[i].thread, NULL, share, &s[i]), 0);
	}
	for (unsigned i = 0; i < SHARED_THREADS; i++) {
		pthread_join(s[i].thread, NULL);
		longest = s[i].longest > longest ? s[i].longest : longest;
		for (unsigned v = 0; v < 3; v++)
			sum[v] += s[i].seen[v];
	}
	shared_end(sum, longest, sizeof(together.told));
}

/* Small windows, so that threads meet in them, and leave each other behind. */
static void threads_share_a_window(void **state)
{
	static const uint32_t of[] = {1, 4, 16, 1024};
	static const uint32_t jumps[] = {1U << 30, 5000, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		for (size_t j = 0; j < sizeof(jumps) / sizeof(jumps[0]); j++)
			check_shared(of[i], jumps[j]);
}

/*
 * The same without threads: at each step that others could come between, some do, and others between theirs. So every
 * order of steps comes up, however seldom threads would find it.
 */
static __attribute__((noinline)) void interrupted_add(void)
{
	uint64_t r = rand_next(&together.seed);
	uint64_t number = together.around + r % together.far;
	struct seqwin_seen seen;

	together.around += r >> 32 & 1 ? 1 + (r >> 40) % (r >> 33 & 15 ? 3 : together.far) : 0;
	if (number >= 20000)
		return;
	seen = seqwin_add(&together.win, words, together.mask, (uint32_t)number, true);
	together.seen[seen.verdict]++;
	together.longest = seen.run_ended > together.longest ? seen.run_ended : together.longest;
	together.given[number]++;
	if (seen.verdict == SEQWIN_NEW)
		together.told[number]++;
}

static void meanwhile(void)
{
	if (!together.interrupts || together.depth > 2)
		return;
	together.depth++;
	while (rand_next(&together.seed) % 2)
		interrupted_add();
	together.depth--;
}

static void others_come_between(void **state)
{
	static const uint32_t of[] = {1, 2, 4, 16};

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		const uint32_t n_words = of[round % 4];
		const uint64_t n = 20000;

		together_begin(n_words, n);
		together.interrupts = true;
		together.seed = round;
		together.around = round % 3 ? 0 : 5000;
		together.far = SEQWIN_BLOCK * n_words * (1 + round % 5);
		for (unsigned i = 0; i < 60 && together.around + together.far < n; i++)
			interrupted_add();
		together.interrupts = false;
		shared_end(together.seen, together.longest, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_window),
		cmocka_unit_test(others_come_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
