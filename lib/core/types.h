/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core: what touches a packet, written once for two compilers: gcc builds it into the workers, clang -target bpf into
 * the kernel engine. Pure functions and plain data: no libc, no allocation, no pointers in data, constant loop bounds.
 */
#ifndef SQUALL_CORE_TYPES_H
#define SQUALL_CORE_TYPES_H

#include <stdint.h>

#define CORE_INLINE static inline __attribute__((always_inline))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define core_be16(x) __builtin_bswap16((uint16_t)(x))
#define core_be32(x) __builtin_bswap32((uint32_t)(x))
#define core_be64(x) __builtin_bswap64((uint64_t)(x))
#else
#define core_be16(x) ((uint16_t)(x))
#define core_be32(x) ((uint32_t)(x))
#define core_be64(x) ((uint64_t)(x))
#endif

/* Unaligned stores and loads: packets are not aligned. The compilers make one move of each. */
struct core_u16 {
	uint16_t v;
} __attribute__((packed, may_alias));
struct core_u32 {
	uint32_t v;
} __attribute__((packed, may_alias));
struct core_u64 {
	uint64_t v;
} __attribute__((packed, may_alias));

CORE_INLINE void core_put16(unsigned char *p, uint16_t v)
{
	((struct core_u16 *)(void *)p)->v = v;
}

CORE_INLINE void core_put32(unsigned char *p, uint32_t v)
{
	((struct core_u32 *)(void *)p)->v = v;
}

CORE_INLINE void core_put64(unsigned char *p, uint64_t v)
{
	((struct core_u64 *)(void *)p)->v = v;
}

CORE_INLINE uint16_t core_get16(const unsigned char *p)
{
	return ((const struct core_u16 *)(const void *)p)->v;
}

CORE_INLINE uint32_t core_get32(const unsigned char *p)
{
	return ((const struct core_u32 *)(const void *)p)->v;
}

CORE_INLINE uint64_t core_get64(const unsigned char *p)
{
	return ((const struct core_u64 *)(const void *)p)->v;
}

#endif
