/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What a slot holds besides the frame and the stagger. */
#define SLOT_ROOM      (PIO_RX_HEADROOM + PIO_TAILROOM)
#define SLOT_SHIFT_MAX 17U
/* The least that every device takes: AF_XDP wants 2 KiB. */
#define SLOT_SHIFT_ANY 11U
#define SLOT_SHIFT_OWN 10U

#define HUGE_BYTES (2ULL << 20)

static int no_memory_for(uint32_t frames, uint32_t bytes, struct err *e)
{
	err_set(e, -ENOMEM, EXIT_RUN, "cannot make a frame pool", NULL, "no memory for %u frames of %u bytes", frames,
		bytes);
	err_hint(e, "fewer --rx-frames or --queues, or room for their %llu MiB (ulimit -v, the limit of a container)",
		 ((unsigned long long)frames * bytes + (1U << 20) - 1) >> 20);
	return -ENOMEM;
}

static uint32_t slot_need(uint32_t max_frame, uint32_t lines)
{
	return max_frame + SLOT_ROOM + (lines - 1) * PIO_STAGGER_BYTES;
}

static int create(struct pio_pool **out, uint32_t frames, uint32_t max_frame, unsigned shift, struct err *e)
{
	uint32_t lines = PIO_STAGGER_MIN;

	*out = NULL;
	while (shift < SLOT_SHIFT_MAX && (1U << shift) < slot_need(max_frame, lines))
		shift++;
	while (lines < PIO_STAGGER_MAX && slot_need(max_frame, 2 * lines) <= 1U << shift)
		lines *= 2;
	if (!frames || (1U << shift) < slot_need(max_frame, lines))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot make a frame pool", NULL, "%u frames of %u bytes",
			       frames, max_frame);
	return pio_pool_create_slots(out, frames, shift, lines, (1U << shift) - slot_need(0, lines), e);
}

int pio_pool_create(struct pio_pool **out, uint32_t frames, uint32_t max_frame, struct err *e)
{
	return create(out, frames, max_frame, SLOT_SHIFT_ANY, e);
}

int pio_pool_create_own(struct pio_pool **out, uint32_t frames, uint32_t max_frame, struct err *e)
{
	return create(out, frames, max_frame, SLOT_SHIFT_OWN, e);
}

int pio_pool_create_slots(struct pio_pool **out, uint32_t frames, unsigned shift, uint32_t lines, uint32_t max_frame,
			  struct err *e)
{
	struct pio_pool *pool = calloc(1, sizeof(*pool));

	*out = NULL;
	if (!pool)
		goto no_memory;
	pool->base = MAP_FAILED;
	pool->shift = shift;
	pool->lines = lines;
	pool->max_frame = max_frame;
	pool->frames = frames;
	pool->size = (uint64_t)frames << shift;
	pool->home = calloc(frames, sizeof(*pool->home));
	/*
	 * Whole huge pages, aligned by hand since mmap does not promise it: the kernel then uses some. 512 small frames
	 * on pages of 4 KiB take as many translations as a processor has at hand.
	 */
	const uint64_t whole = (pool->size + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);

	pool->map_size = whole + HUGE_BYTES;
	pool->map = mmap(NULL, pool->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pool->home || pool->map == MAP_FAILED)
		goto no_memory;
	pool->base = (unsigned char *)(((uintptr_t)pool->map + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
	madvise(pool->base, whole, MADV_HUGEPAGE);
#ifndef SQUALL_CHECKED
	/*
	 * A child that only restores settings must not have it: pinned frames would be copied, half a second and
	 * another 256 MiB for as many. (A checked build is tested by children that do wrong with frames.)
	 */
	madvise(pool->map, pool->map_size, MADV_DONTFORK);
#else
	pool->owner = calloc(frames, sizeof(*pool->owner));
	if (!pool->owner)
		goto no_memory;
#endif
	*out = pool;
	return 0;

no_memory:
	pio_pool_destroy(pool);
	return no_memory_for(frames, 1U << shift, e);
}

void pio_pool_destroy(struct pio_pool *pool)
{
	if (!pool)
		return;
	if (pool->map && pool->map != MAP_FAILED)
		munmap(pool->map, pool->map_size);
	free(pool->home);
	free(pool->owner);
	free(pool);
}

int pio_cache_create(struct pio_cache **out, struct pio_pool *pool, uint32_t count, bool rx, struct err *e)
{
	struct pio_cache *cache;

	*out = NULL;
	if (count > pool->frames - pool->taken)
		return err_set(e, -ENOSPC, EXIT_RUN, "cannot take frames from the pool", NULL,
			       "%u wanted, %u of %u left", count, pool->frames - pool->taken, pool->frames);
	/* Own cache lines: the counters of two queues' stacks must not share one. */
	size_t size = (sizeof(*cache) + count * sizeof(cache->free[0]) + 127) / 128 * 128;

	cache = aligned_alloc(128, size);
	if (!cache)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot take frames from the pool", NULL, "no memory");
	memset(cache, 0, size);
	cache->pool = pool;
	cache->first = pool->taken;
	cache->count = count;
	cache->start = rx ? PIO_RX_HEADROOM : 0;
	for (uint32_t i = 0; i < count; i++) {
		cache->free[i] = cache->first + count - 1 - i;
		pool->home[cache->first + i] = cache;
	}
	cache->n = count;
	pool->taken += count;
	*out = cache;
	return 0;
}

void pio_cache_destroy(struct pio_cache *cache)
{
	free(cache);
}

#ifdef SQUALL_CHECKED
static const char *owner_name(unsigned owner)
{
	static const char *const names[] = {"the pool", "the caller", "the device"};

	return owner < sizeof(names) / sizeof(names[0]) ? names[owner] : "nobody";
}

/* A checked build exists to stop at the first wrong move; its message is the one exception to libraries being silent.
 */
void pio_owner_change(struct pio_pool *pool, uint32_t id, enum pio_owner from, enum pio_owner to, const char *call)
{
	if (id >= pool->frames) {
		fprintf(stderr, "squall: %s: the address is in no frame of the pool\n", call);
		abort();
	}
	uint8_t expected = (uint8_t)from;

	if (!atomic_compare_exchange_strong(&pool->owner[id], &expected, (uint8_t)to)) {
		fprintf(stderr, "squall: %s: frame %u is owned by %s, not by %s\n", call, id, owner_name(expected),
			owner_name(from));
		abort();
	}
}
#endif
