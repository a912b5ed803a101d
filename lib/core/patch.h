/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch: makes a frame that holds the template the packet of one flow and one size. Only the bytes that change are
 * touched.
 */
#ifndef SQUALL_CORE_PATCH_H
#define SQUALL_CORE_PATCH_H

#include "flow.h"
#include "stamp.h"

/* 1 to 16 bytes by moves that overlap, so that no length needs a loop. */
CORE_INLINE void tx_copy(unsigned char *to, const unsigned char *from, uint32_t len)
{
	if (len >= 8) {
		__builtin_memcpy(to, from, 8);
		__builtin_memcpy(to + len - 8, from + len - 8, 8);
	} else if (len >= 4) {
		__builtin_memcpy(to, from, 4);
		__builtin_memcpy(to + len - 4, from + len - 4, 4);
	} else if (len >= 2) {
		__builtin_memcpy(to, from, 2);
		__builtin_memcpy(to + len - 2, from + len - 2, 2);
	} else {
		*to = *from;
	}
}

/* What the flow puts in, but for checksums. */
CORE_INLINE void tx_put_flow(const struct tx_plan *plan, const unsigned char *entry, unsigned char *frame)
{
	for (uint32_t i = 0; i < TX_PARTS_MAX && i < plan->n_parts; i++) {
		tx_copy(frame + plan->parts[i].at, entry, plan->parts[i].len);
		entry += plan->parts[i].len;
	}
}

/* What the size puts in, but for checksums. A plan of one size has it in its template. */
CORE_INLINE void tx_put_lengths(const struct tx_plan *plan, const struct tx_size *size, unsigned char *frame)
{
	for (uint32_t i = 0; i < TX_LENGTHS_MAX && i < plan->n_lengths; i++)
		core_put16(frame + plan->lengths[i], size->length[i]);
}

/*
 * extra: the sum of what else was written into the payload (0: nothing), for the checksum that follows the payload. The
 * template is 0 there, and it begins at an even offset of the transport header.
 */
CORE_INLINE void tx_put_sums(const struct tx_plan *plan, const unsigned char *entry, const struct tx_size *size,
			     unsigned char *frame, uint64_t extra)
{
	for (uint32_t i = 0; i < TX_SUMS_MAX && i < plan->n_sums; i++) {
		const struct tx_sum *s = &plan->sums[i];
		uint16_t word = core_get16(entry + plan->entry_sums + 2 * i);

		if (s->follows) {
			uint64_t sum =
				csum_add(s->follows & TX_FOLLOWS_PAYLOAD ? extra : 0, (uint64_t)word + size->sum[i]);

			word = s->is_udp ? csum_finish_udp(sum) : csum_finish(sum);
		}
		core_put16(frame + s->at, word);
	}
}

/*
 * Writes a stamp into the end of a frame of len bytes. l4: the plan's; place: stamp_place(). Returns `extra` for
 * tx_put_sums().
 */
CORE_INLINE uint64_t tx_put_stamp(unsigned char *frame, uint32_t len, uint32_t l4, uint16_t run, uint64_t place,
				  uint32_t sequence)
{
	uint32_t at = len - STAMP_LEN;

	return csum_turn(stamp_put(frame + at, run, place, sequence), ((at - l4) & 1) * 8);
}

/* The whole of it, for one packet. */
CORE_INLINE void tx_put(const struct tx_plan *plan, const unsigned char *entry, const struct tx_size *size,
			unsigned char *frame, uint64_t extra)
{
	tx_put_flow(plan, entry, frame);
	if (plan->n_sizes > 1)
		tx_put_lengths(plan, size, frame);
	tx_put_sums(plan, entry, size, frame, extra);
}

#endif
