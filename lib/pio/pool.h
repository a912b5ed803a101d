/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool: frame memory, and the stacks of free frames that queues own.
 *
 * A pool is one mapping cut into slots of a power-of-two size; addresses never move. At open each queue takes a range
 * of slots for itself (its cache): a last-in first-out stack, used by the queue's thread only and therefore not locked.
 * Last in, first out keeps the frames that are in use in the processor's cache.
 *
 * A frame always goes home to the cache it came from, whichever port sent it.
 */
#ifndef SQUALL_PIO_POOL_H
#define SQUALL_PIO_POOL_H

#include "frame.h"
#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Room around a received packet, so that tunnel headers and trailers can be added in place. */
#define PIO_RX_HEADROOM 128U
#define PIO_TAILROOM    32U
/*
 * Frame starts are staggered over cache lines, as many as the slot has room for: with all of them at the same offset of
 * a 2 KiB slot they fall into few cache sets, which measured 2-3 times slower.
 */
#define PIO_STAGGER_MIN   8U
#define PIO_STAGGER_MAX   32U
#define PIO_STAGGER_BYTES 64U

struct pio_cache;

struct pio_pool {
	unsigned char *base;
	void *map; /* what munmap takes */
	uint64_t map_size;
	uint64_t size;
	unsigned shift;     /* slot size is 1 << shift */
	uint32_t lines;     /* over how many cache lines frame starts are staggered; a power of two */
	uint32_t max_frame; /* the largest packet that fits a slot in every direction it is used for */
	uint32_t frames;
	uint32_t taken;          /* slots given to caches so far */
	struct pio_cache **home; /* by slot */
	_Atomic uint8_t *owner;  /* by slot, in a checked build; else NULL */
};

struct pio_cache {
	struct pio_pool *pool;
	uint32_t first; /* slots first .. first + count - 1 are home here */
	uint32_t count;
	uint32_t n;     /* free now */
	uint32_t start; /* offset of a frame in its slot before the stagger: 0, or PIO_RX_HEADROOM */
	uint32_t free[];
};

/* Frames that hold `max_frame` bytes (without FCS) and the room above. -EINVAL, -ENOMEM. */
int pio_pool_create(struct pio_pool **out, uint32_t frames, uint32_t max_frame, struct err *e);
void pio_pool_destroy(struct pio_pool *pool);

/* The same for a port alone, whose device does not see this memory: small frames may have smaller slots. */
int pio_pool_create_own(struct pio_pool **out, uint32_t frames, uint32_t max_frame, struct err *e);

/*
 * The same for a backend that knows better how its slots are used: 1 << shift bytes each, starts staggered over `lines`
 * cache lines (a power of two), for packets of up to max_frame bytes.
 */
int pio_pool_create_slots(struct pio_pool **out, uint32_t frames, unsigned shift, uint32_t lines, uint32_t max_frame,
			  struct err *e);

/* Takes `count` slots for one queue. -ENOSPC when the pool has not that many left. */
int pio_cache_create(struct pio_cache **out, struct pio_pool *pool, uint32_t count, bool rx, struct err *e);
void pio_cache_destroy(struct pio_cache *cache);

/* Who holds a frame: checked builds keep it per slot and abort, naming the frame, when a call does not fit. */
enum pio_owner { PIO_OWNER_POOL, PIO_OWNER_CALLER, PIO_OWNER_DEVICE };

#ifdef SQUALL_CHECKED
void pio_owner_change(struct pio_pool *pool, uint32_t id, enum pio_owner from, enum pio_owner to, const char *call);
#else
static inline void pio_owner_change(struct pio_pool *pool, uint32_t id, enum pio_owner from, enum pio_owner to,
				    const char *call)
{
	(void)pool;
	(void)id;
	(void)from;
	(void)to;
	(void)call;
}
#endif

/* Where a frame of the slot starts before anybody moves it. */
static inline unsigned char *pio_slot_start(const struct pio_cache *cache, uint32_t id)
{
	/* In this order the first sum is the same for all ids. */
	return cache->pool->base + cache->start + ((uint64_t)id << cache->pool->shift) +
	       (size_t)(id & (cache->pool->lines - 1)) * PIO_STAGGER_BYTES;
}

/* The slot of an address, or UINT32_MAX when [data, data + len) is not inside one slot. len 0 is outside. */
static inline uint32_t pio_slot_of(const struct pio_pool *pool, const unsigned char *data, uint32_t len)
{
	uint64_t at = (uint64_t)(data - pool->base);
	uint64_t room = (1ULL << pool->shift) - (at & ((1ULL << pool->shift) - 1));

	if (at >= pool->size || len - 1U >= room)
		return UINT32_MAX;
	return (uint32_t)(at >> pool->shift);
}

/* Gives a slot back to its home; own: the cache that it mostly is, or NULL. */
static inline void pio_slot_home(struct pio_pool *pool, struct pio_cache *own, uint32_t id)
{
	struct pio_cache *home = own && id - own->first < own->count ? own : pool->home[id];

	home->free[home->n++] = id;
}

/* For backends: the device has finished with a transmitted frame. */
static inline void pio_slot_done(struct pio_pool *pool, struct pio_cache *own, uint32_t id)
{
	pio_owner_change(pool, id, PIO_OWNER_DEVICE, PIO_OWNER_POOL, "completion");
	pio_slot_home(pool, own, id);
}

/*
 * For backends: takes up to n free frames of the queue's own cache: the last that were put back, in the order in which
 * they were. So a sender whose frames come back at once has the same ones in the same order, burst after burst.
 */
static inline unsigned pio_cache_get(struct pio_cache *cache, struct pio_frame *f, unsigned n)
{
	const struct pio_pool *pool = cache->pool;
	unsigned char *const start = pool->base + cache->start;
	const unsigned shift = pool->shift;
	const uint32_t mask = pool->lines - 1;
	const uint32_t *next;

	if (n > cache->n)
		n = cache->n;
	cache->n -= n;
	next = cache->free + cache->n;
/* The loop's own instructions would be a third of it. */
#pragma GCC unroll 4
	for (unsigned i = 0; i < n; i++) {
		uint64_t id = next[i];

		f[i].data = start + (id << shift) + (id & mask) * PIO_STAGGER_BYTES;
		f[i].len = 0;
		f[i].flags = 0;
	}
	return n;
}

/* For backends: takes back the last `unused` of n frames that pio_cache_get() has just given. */
static inline void pio_cache_return(struct pio_cache *cache, unsigned n, unsigned unused)
{
	uint32_t *given = cache->free + cache->n;

	memmove(given, given + n - unused, unused * sizeof(*given));
	cache->n += unused;
}

#endif
