/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp: the last 18 bytes of a packet's payload, by which a receiver knows it again. Big-endian:
 *
 *      0  run        2   the number of the run that sent it
 *      2  flow       3   the number of the packet's flow in its run, from 0
 *      5  time       5   when it was sent, in ns: the low 40 bits of the sender's clock
 *     10  sequence   4   the number of the packet in its flow, from 0: the low 32 bits
 *     14  check      4   a mix of the rest
 *
 * The check is the upper half of a 64-bit product: few instructions for both compilers. It tells stamps from bytes that
 * happen to stand there (one in 2^32 passes), and guards against nothing else: the packet's checksums do that.
 */
#ifndef SQUALL_CORE_STAMP_H
#define SQUALL_CORE_STAMP_H

#include "csum.h"

#include <stdbool.h>

#define STAMP_LEN       18U
#define STAMP_FLOWS     (1U << 24)
#define STAMP_TIME_BITS 40U

struct stamp {
	uint16_t run;
	uint32_t flow; /* below STAMP_FLOWS */
	uint32_t sequence;
	uint64_t time_ns; /* of what is written the low 40 bits count */
};

/* flow and time as they stand in a stamp */
CORE_INLINE uint64_t stamp_place(uint32_t flow, uint64_t time_ns)
{
	return (uint64_t)flow << STAMP_TIME_BITS | (time_ns & ((1ULL << STAMP_TIME_BITS) - 1));
}

/* The multipliers are odd and without a pattern. All zeros are no stamp. */
CORE_INLINE uint32_t stamp_mix(uint64_t place, uint64_t run_high, uint32_t sequence)
{
	uint64_t mix = (place + 0x6a09e667f3bcc909ULL) * 0xd6e8feb86659fd93ULL;

	mix ^= mix >> 32;
	mix += run_high;
	mix += sequence;
	return (uint32_t)((mix * 0x9fb21c651e98df25ULL) >> 32);
}

CORE_INLINE uint32_t stamp_check(uint16_t run, uint64_t place, uint32_t sequence)
{
	return stamp_mix(place, (uint64_t)run << 32, sequence);
}

/* Writes a stamp at p. place: stamp_place(). Returns its part of a checksum, as from an even offset, for csum_add(). */
CORE_INLINE uint64_t stamp_put(unsigned char *p, uint16_t run, uint64_t place, uint32_t sequence)
{
	uint64_t head = core_be64(place);
	uint64_t tail = core_be64((uint64_t)sequence << 32 | stamp_check(run, place, sequence));

	core_put16(p, core_be16(run));
	core_put64(p + 2, head);
	core_put64(p + 10, tail);
	return csum_add(csum_add(head, tail), core_be16(run));
}

CORE_INLINE uint64_t stamp_write(unsigned char *p, const struct stamp *s)
{
	return stamp_put(p, s->run, stamp_place(s->flow, s->time_ns), s->sequence);
}

/* place: as stamp_place() has it. False: these 18 bytes are no stamp, and what was written is not to be used. */
CORE_INLINE bool stamp_get(const unsigned char *p, uint16_t *run, uint64_t *place, uint32_t *sequence)
{
	uint64_t tail = core_be64(core_get64(p + 10));

	/* Not as 16 bits, which processors swap slowly. */
	*run = (uint16_t)(core_be32(core_get32(p)) >> 16);
	*place = core_be64(core_get64(p + 2));
	*sequence = (uint32_t)(tail >> 32);
	return (uint32_t)tail == stamp_check(*run, *place, *sequence);
}

/* A run, made ready for looking at many stamps. */
struct stamp_run {
	uint64_t high; /* its number where stamp_mix() takes it */
	uint16_t bytes;
};

CORE_INLINE struct stamp_run stamp_run(uint16_t run)
{
	return (struct stamp_run){.high = (uint64_t)run << 32, .bytes = core_be16(run)};
}

/* As stamp_get(), but any other run's stamp is none. */
CORE_INLINE bool stamp_get_of(const unsigned char *p, struct stamp_run run, uint64_t *place, uint32_t *sequence)
{
	uint64_t tail = core_be64(core_get64(p + 10));

	*place = core_be64(core_get64(p + 2));
	*sequence = (uint32_t)(tail >> 32);
	return core_get16(p) == run.bytes && (uint32_t)tail == stamp_mix(*place, run.high, *sequence);
}

CORE_INLINE bool stamp_read(const unsigned char *p, struct stamp *s)
{
	uint64_t place;
	bool is = stamp_get(p, &s->run, &place, &s->sequence);

	s->flow = (uint32_t)(place >> STAMP_TIME_BITS);
	s->time_ns = place & ((1ULL << STAMP_TIME_BITS) - 1);
	return is;
}

/* How long after the time of a stamp now_ns is, by the same clock: right for as much as 2^39 ns (9 minutes), before or
 * after. */
CORE_INLINE int64_t stamp_elapsed(uint64_t now_ns, uint64_t time_ns)
{
	return (int64_t)((now_ns - time_ns) << (64 - STAMP_TIME_BITS)) >> (64 - STAMP_TIME_BITS);
}

#endif
