/* SPDX-License-Identifier: Apache-2.0 */
/* seqwin_end: what a window tells in the end, when the threads that shared it are done. */
#ifndef SQUALL_CORE_SEQWIN_END_H
#define SQUALL_CORE_SEQWIN_END_H

#include "seqwin.h"

/* The greatest number that came, exactly; 0: none did. */
CORE_INLINE uint64_t seqwin_highest(const struct seqwin *win, const uint64_t *words, uint32_t mask)
{
	const uint64_t about = win->highest / SEQWIN_BLOCK;
	uint64_t most = 0;

	for (uint32_t i = 0; win->state && i <= mask; i++) {
		uint32_t bits = (uint32_t)words[i];
		uint64_t block;

		if (!bits)
			continue;
		block = about +
			(uint64_t)(int64_t)seqwin_distance(seqwin_word_block(words[i]), seqwin_block_of(win->highest));
		block = block * SEQWIN_BLOCK + 31 - (uint32_t)__builtin_clz(bits);
		most = block > most ? block : most;
	}
	return most;
}

/* Takes all before number `end` out of use, as missing where it did not come: the longest run of losses among it. */
CORE_INLINE void seqwin_finish(struct seqwin *win, uint64_t *words, uint32_t mask, uint64_t end, uint32_t *longest)
{
	const uint32_t block = seqwin_block_of(end);
	const uint32_t beyond = ~0U << (end & (SEQWIN_BLOCK - 1));
	const uint64_t *word = &words[block & mask];
	uint32_t bits = beyond;

	if (!win->state)
		return;
	seqwin_retire(win, words, mask, block, longest, false);
	if (seqwin_word_block(*word) == block)
		bits |= (uint32_t)*word;
	if (seqwin_state_block(win->state) == block)
		seqwin_run_through(seqwin_state_run(win->state), bits | ((1U << seqwin_state_before(win->state)) - 1),
				   longest);
}

#endif
