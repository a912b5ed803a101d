/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seqwin: which packets of a flow came, came twice, are missing: exact for what arrives within a window.
 *
 * A window is a ring of 64-bit words. A word is a block of 32 sequence numbers: the block's number, and a bit for each
 * of them that came. Block b lives in word b mod n, so a block that comes into use puts the one n blocks before it out
 * of use, and nothing has to be cleared when the sequence jumps. What arrives for a block that is out of use is late.
 *
 * Blocks go out of use in order, each once and for good: it is closed (no bit of it changes any more), then its missing
 * numbers are added to the run of losses that reached it. So the longest run of losses is exact, too.
 *
 * Several threads may share a window without a lock: each step is one compare-and-swap that a thread which was
 * overtaken does again, and a block that one thread has closed any other can take out of use. A bit is set only in a
 * block that is not closed, so a thread that was held up between looking and setting finds the packet late instead of
 * setting what was counted as lost. `shared` is a constant: without it the same steps are plain loads and stores.
 *
 * Sequence numbers are 32 bits in a packet; here they go on (extended): number 0 of a flow is SEQWIN_ZERO, so that what
 * came before the first packet that was seen has a number, too.
 */
#ifndef SQUALL_CORE_SEQWIN_H
#define SQUALL_CORE_SEQWIN_H

#include "types.h"

#include <stdbool.h>

#define SEQWIN_ZERO      (1ULL << 32)
#define SEQWIN_BLOCK     32U
#define SEQWIN_WORDS_MAX 4096U

/* A word: block 28 bits, unused 2, closed 1, in use 1, bits 32. 0: it never was in use. Block numbers wrap. */
#define SEQWIN_BLOCK_BITS 28U
#define SEQWIN_BLOCK_AT   36U
#define SEQWIN_IN_USE     (1ULL << 32)
#define SEQWIN_CLOSED     (1ULL << 33)

/* The state: first block in use 28 bits, numbers of it that lie before the base 5, valid 1, run of losses 30. */
#define SEQWIN_BEFORE_AT 31U
#define SEQWIN_VALID     (1ULL << 30)
#define SEQWIN_RUN_MAX   ((1U << 30) - 1)

/* All zero: nothing came. The words are the caller's: 2^k of them, in use by this window only. */
struct seqwin {
	uint64_t state;
	uint64_t
		highest; /* the greatest number that came, about: threads that share the window may each miss others' */
	uint64_t base; /* the first number that can be missed; SEQWIN_ZERO, or the first that came if the window did not
			  reach back to that. Good when all threads are done */
};

/* A test may say here what other threads do between a look and the swap that relies on it. */
#ifndef SEQWIN_MEANWHILE
#define SEQWIN_MEANWHILE() ((void)0)
#endif

enum seqwin_verdict { SEQWIN_NEW, SEQWIN_DUPLICATE, SEQWIN_LATE };

struct seqwin_seen {
	enum seqwin_verdict verdict;
	bool first;         /* of its flow */
	uint64_t number;    /* extended */
	uint64_t highest;   /* before it; below number: in order */
	uint32_t run_ended; /* the longest run of losses that became certain with it; 0: none */
};

CORE_INLINE uint64_t seqwin_load(const uint64_t *p, const bool shared)
{
#ifndef __bpf__
	if (shared)
		return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
	(void)shared;
#endif
	return *p;
}

CORE_INLINE void seqwin_store(uint64_t *p, uint64_t v, const bool shared)
{
#ifndef __bpf__
	if (shared) {
		__atomic_store_n(p, v, __ATOMIC_RELEASE);
		return;
	}
#else
	(void)shared;
#endif
	*p = v;
}

/* True: *p was `was` and is v now. */
CORE_INLINE bool seqwin_swap(uint64_t *p, uint64_t was, uint64_t v, const bool shared)
{
	if (shared) {
		SEQWIN_MEANWHILE();
		return __sync_val_compare_and_swap(p, was, v) == was;
	}
	*p = v;
	return true;
}

CORE_INLINE uint32_t seqwin_block_of(uint64_t number)
{
	return (uint32_t)(number / SEQWIN_BLOCK) & ((1U << SEQWIN_BLOCK_BITS) - 1);
}

/* How far block a is after block b; negative: before it. */
CORE_INLINE int32_t seqwin_distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << (32 - SEQWIN_BLOCK_BITS)) >> (32 - SEQWIN_BLOCK_BITS);
}

CORE_INLINE uint32_t seqwin_word_block(uint64_t word)
{
	return (uint32_t)(word >> SEQWIN_BLOCK_AT);
}

CORE_INLINE uint64_t seqwin_word(uint32_t block, uint32_t bits)
{
	return (uint64_t)(block & ((1U << SEQWIN_BLOCK_BITS) - 1)) << SEQWIN_BLOCK_AT | SEQWIN_IN_USE | bits;
}

CORE_INLINE uint64_t seqwin_state(uint32_t block, uint32_t before, uint64_t run)
{
	return (uint64_t)(block & ((1U << SEQWIN_BLOCK_BITS) - 1)) << SEQWIN_BLOCK_AT |
	       (uint64_t)before << SEQWIN_BEFORE_AT | SEQWIN_VALID | (run < SEQWIN_RUN_MAX ? run : SEQWIN_RUN_MAX);
}

CORE_INLINE uint32_t seqwin_state_block(uint64_t state)
{
	return (uint32_t)(state >> SEQWIN_BLOCK_AT);
}

CORE_INLINE uint32_t seqwin_state_before(uint64_t state)
{
	return (uint32_t)(state >> SEQWIN_BEFORE_AT) & (SEQWIN_BLOCK - 1);
}

CORE_INLINE uint32_t seqwin_state_run(uint64_t state)
{
	return (uint32_t)state & SEQWIN_RUN_MAX;
}

CORE_INLINE uint32_t seqwin_popcount(uint32_t v)
{
	v -= (v >> 1) & 0x55555555U;
	v = (v & 0x33333333U) + ((v >> 2) & 0x33333333U);
	return (((v + (v >> 4)) & 0x0f0f0f0fU) * 0x01010101U) >> 24;
}

/* Adds a block to a run of losses that reached it: *longest is raised, the run that reaches the next is returned. */
CORE_INLINE uint32_t seqwin_run_through(uint32_t run, uint32_t bits, uint32_t *longest)
{
	uint32_t missing = ~bits;
	uint32_t inner = 0;
	uint32_t head = bits ? (uint32_t)__builtin_ctz(bits) : SEQWIN_BLOCK;

	if (!missing)
		return 0;
	run = run + head < SEQWIN_RUN_MAX ? run + head : SEQWIN_RUN_MAX;
	if (run > *longest)
		*longest = run;
	if (!bits)
		return run;
	for (unsigned i = 0; i < SEQWIN_BLOCK && missing; i++) {
		missing &= missing << 1;
		inner++;
	}
	if (inner > *longest)
		*longest = inner;
	return (uint32_t)__builtin_clz(bits);
}

/*
 * Closes the word of `block` with no bit set, unless a newer block has it. first: the first block in use; what came
 * before it does not matter any more. False: something came meanwhile.
 */
CORE_INLINE bool seqwin_close_missing(uint64_t *word, uint32_t first, uint32_t block, const bool shared)
{
	uint64_t was = seqwin_load(word, shared);

	if (was && seqwin_distance(seqwin_word_block(was), first) >= 0) {
		if (seqwin_distance(seqwin_word_block(was), block) > 0)
			return true;
		if ((uint32_t)was)
			return false;
	}
	return seqwin_swap(word, was, seqwin_word(block, 0) | SEQWIN_CLOSED, shared);
}

/* Of the blocks from first on, how many in a row nothing came for, at most max. */
CORE_INLINE uint32_t seqwin_missing(const uint64_t *words, uint32_t mask, uint32_t first, uint32_t max,
				    const bool shared)
{
	for (uint32_t i = 0; i <= mask && i < max; i++) {
		uint64_t w = seqwin_load(&words[(first + i) & mask], shared);

		if (w && (uint32_t)w && seqwin_distance(seqwin_word_block(w), first + i) == 0)
			return i;
	}
	return max;
}

/*
 * One step towards `end`: takes the first block in use out of use, or several that nothing came for. False: another
 * thread was faster.
 */
CORE_INLINE bool seqwin_retire_step(struct seqwin *win, uint64_t *words, uint32_t mask, uint64_t state, uint32_t end,
				    uint32_t *longest, const bool shared)
{
	const uint32_t block = seqwin_state_block(state);
	const uint32_t before = seqwin_state_before(state);
	const uint32_t run = seqwin_state_run(state);
	uint64_t *word = &words[block & mask];
	uint64_t w = seqwin_load(word, shared);
	uint32_t candidate = 0;
	uint32_t missing;
	uint64_t left;

	if (w && (uint32_t)w && seqwin_word_block(w) == block) {
		if (!(w & SEQWIN_CLOSED) && !seqwin_swap(word, w, w | SEQWIN_CLOSED, shared))
			return false;
		left = seqwin_run_through(run, (uint32_t)w | ((1U << before) - 1), &candidate);
		missing = 1;
	} else {
		missing = seqwin_missing(words, mask, block, (uint32_t)seqwin_distance(end, block), shared);
		if (!missing)
			return false;
		/* Of a long stretch the last blocks have the words in the end. */
		for (uint32_t i = missing > mask + 1 ? missing - mask - 1 : 0; i < missing; i++)
			if (!seqwin_close_missing(&words[(block + i) & mask], block, block + i, shared))
				return false;
		left = (uint64_t)run + (uint64_t)missing * SEQWIN_BLOCK - before;
		candidate = left < SEQWIN_RUN_MAX ? (uint32_t)left : SEQWIN_RUN_MAX;
	}
	if (!seqwin_swap(&win->state, state, seqwin_state(block + missing, 0, left), shared))
		return false;
	if (candidate > *longest)
		*longest = candidate;
	return true;
}

/* Takes all blocks before `end` out of use. *longest is raised to the longest run of losses that they brought to light.
 */
CORE_INLINE void seqwin_retire(struct seqwin *win, uint64_t *words, uint32_t mask, uint32_t end, uint32_t *longest,
			       const bool shared)
{
	for (;;) {
		uint64_t state = seqwin_load(&win->state, shared);

		if (seqwin_distance(end, seqwin_state_block(state)) <= 0)
			return;
		seqwin_retire_step(win, words, mask, state, end, longest, shared);
	}
}

/* The first packet of a flow: where counting begins. Returns the state. */
CORE_INLINE uint64_t seqwin_begin(struct seqwin *win, uint32_t mask, uint32_t sequence, const bool shared)
{
	uint64_t number = SEQWIN_ZERO + sequence;
	uint64_t base = sequence / SEQWIN_BLOCK > mask ? number : SEQWIN_ZERO;
	uint64_t state = seqwin_state(seqwin_block_of(base), (uint32_t)base & (SEQWIN_BLOCK - 1), 0);

	if (!seqwin_swap(&win->state, 0, state, shared))
		return seqwin_load(&win->state, shared);
	seqwin_store(&win->base, base, shared);
	return state;
}

/* A packet with this sequence number came. */
CORE_INLINE struct seqwin_seen seqwin_add(struct seqwin *win, uint64_t *words, uint32_t mask, uint32_t sequence,
					  const bool shared)
{
	struct seqwin_seen seen = {.verdict = SEQWIN_LATE};
	uint64_t state = seqwin_load(&win->state, shared);
	uint64_t highest = seqwin_load(&win->highest, shared);
	const uint32_t bit = 1U << (sequence & (SEQWIN_BLOCK - 1));
	uint64_t *word;
	uint32_t block;
	int32_t at;

	if (__builtin_expect(!highest, 0)) {
		if (!state)
			state = seqwin_begin(win, mask, sequence, shared);
		/* Nothing wrapped yet: the block in the state is the whole of it. */
		highest = (uint64_t)seqwin_state_block(state) * SEQWIN_BLOCK - 1;
		seen.first = true;
	}
	seen.highest = highest;
	seen.number = highest + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)highest);
	block = seqwin_block_of(seen.number);
	word = &words[block & mask];
	at = seqwin_distance(block, seqwin_state_block(state));
	if (__builtin_expect(at > (int32_t)mask, 0))
		seqwin_retire(win, words, mask, block - mask, &seen.run_ended, shared);
	else if (__builtin_expect(
			 at < 0 || (at == 0 && (seen.number & (SEQWIN_BLOCK - 1)) < seqwin_state_before(state)), 0))
		return seen;
	for (;;) {
		uint64_t w = seqwin_load(word, shared);
		uint64_t v = w | bit;

		if (seqwin_word_block(w) != block || !w) {
			if (w && seqwin_distance(seqwin_word_block(w), block) > 0)
				return seen;
			v = seqwin_word(block, bit);
		} else if (w & bit) {
			seen.verdict = SEQWIN_DUPLICATE;
			return seen;
		} else if (w & SEQWIN_CLOSED) {
			return seen;
		}
		if (seqwin_swap(word, w, v, shared))
			break;
	}
	seen.verdict = SEQWIN_NEW;
	if (seen.number > seqwin_load(&win->highest, shared))
		seqwin_store(&win->highest, seen.number, shared);
	return seen;
}

/*
 * The same for a packet that is the next after the highest in the midst of a block, which is what mostly comes: new and
 * in order. word: of its block; something came before. False: it is none such, and nothing was done.
 */
CORE_INLINE bool seqwin_add_next(struct seqwin *win, uint64_t *word, uint32_t sequence, const bool shared)
{
	const uint64_t highest = seqwin_load(&win->highest, shared);
	const uint64_t number = highest + 1;
	const uint64_t bit = 1ULL << (sequence & (SEQWIN_BLOCK - 1));
	uint64_t w;

	if (bit == 1 || sequence != (uint32_t)number)
		return false;
	w = seqwin_load(word, shared);
	/* The word cannot be another block's if no other thread is faster, since the highest is in it. */
	if (!shared)
		*word = w | bit;
	/* Of this block, in use, not closed, and without this bit. */
	else if (((w ^ seqwin_word(seqwin_block_of(number), 0)) & (~0ULL << 32 | bit)) ||
		 !seqwin_swap(word, w, w | bit, shared))
		return false;
	if (!shared || number > seqwin_load(&win->highest, shared))
		seqwin_store(&win->highest, number, shared);
	return true;
}

/*
 * How many packets with a greater number had come before one that is new and behind the highest: the extent of its
 * reordering (RFC 4737 section 4.2 counts the arrivals since the first of them). Within the window.
 */
CORE_INLINE uint32_t seqwin_overtaken(const uint64_t *words, uint32_t mask, const struct seqwin_seen *seen,
				      const bool shared)
{
	const uint32_t first = seqwin_block_of(seen->number);
	const uint32_t above = ~1U << (seen->number & (SEQWIN_BLOCK - 1));
	uint32_t sum = 0;
	int32_t last = seqwin_distance(seqwin_block_of(seen->highest), first);

	for (uint32_t i = 0; i <= mask && (int32_t)i <= last; i++) {
		uint64_t w = seqwin_load(&words[(first + i) & mask], shared);

		if (seqwin_distance(seqwin_word_block(w), first + i) == 0)
			sum += seqwin_popcount((uint32_t)w & (i ? ~0U : above));
	}
	return sum;
}

#endif
