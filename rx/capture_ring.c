/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* So that a record begins wherever another ends, up to the end of the ring. */
#define ALIGN_UP(n) (((n) + 15U) & ~15ULL)

_Static_assert(sizeof(struct capture_record) == 16, "a record's head fits before the end of the ring");

int capture_ring_init(struct capture_ring *r, uint64_t size, uint32_t snaplen, struct capture_budget *budget)
{
	memset(r, 0, sizeof(*r));
	r->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->bytes == MAP_FAILED) {
		r->bytes = NULL;
		return -ENOMEM;
	}
	r->size = size;
	r->snaplen = snaplen;
	r->budget = budget;
	return 0;
}

void capture_ring_free(struct capture_ring *r)
{
	if (r->bytes)
		munmap(r->bytes, r->size);
	r->bytes = NULL;
}

static struct capture_record *at(const struct capture_ring *r, uint64_t where)
{
	return (struct capture_record *)(void *)(r->bytes + (where & (r->size - 1)));
}

/* From `from` on the ring has room for so many bytes. */
static bool has_room(struct capture_ring *r, uint64_t from, uint64_t bytes)
{
	if (from + bytes - r->head_seen <= r->size)
		return true;
	r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
	return from + bytes - r->head_seen <= r->size;
}

static void drop(struct capture_ring *r)
{
	atomic_store_explicit(&r->dropped, atomic_load_explicit(&r->dropped, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	r->passing = true;
}

/* One of the packets that all rings may take. */
static bool claim(struct capture_budget *b)
{
	uint64_t was = atomic_load_explicit(&b->taken, memory_order_relaxed);

	do {
		if (b->limit && was >= b->limit)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&b->taken, &was, was + 1, memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

static void begin_packet(struct capture_ring *r, uint64_t time_ns)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	r->passing = false;
	r->building = tail;
	if (!has_room(r, tail, sizeof(struct capture_record))) {
		drop(r);
		return;
	}
	*at(r, tail) = (struct capture_record){.time_ns = time_ns};
}

/*
 * Room for more bytes of the packet in one piece. Where the ring's end is in the way, the packet moves to the
 * beginning, and a record says so in its old place.
 */
static bool extend(struct capture_ring *r, uint32_t more)
{
	struct capture_record *rec = at(r, r->building);
	uint64_t need = sizeof(*rec) + ALIGN_UP((uint64_t)rec->kept + more);
	uint64_t to_end = r->size - (r->building & (r->size - 1));
	uint64_t begin = r->building + to_end;

	if (need <= to_end)
		return has_room(r, r->building, need);
	if (!has_room(r, begin, need))
		return false;
	memcpy(at(r, begin), rec, sizeof(*rec) + rec->kept);
	rec->kept = CAPTURE_SKIP;
	r->building = begin;
	return true;
}

static void add_piece(struct capture_ring *r, const struct pio_frame *f)
{
	struct capture_record *rec = at(r, r->building);
	uint32_t room = r->snaplen - rec->kept;
	uint32_t keep = f->len < room ? f->len : room;

	if (!extend(r, keep)) {
		drop(r);
		return;
	}
	rec = at(r, r->building);
	memcpy((unsigned char *)(rec + 1) + rec->kept, f->data, keep);
	rec->kept += keep;
	rec->len += f->len;
}

static void end_packet(struct capture_ring *r)
{
	const struct capture_record *rec = at(r, r->building);

	if (!r->passing && claim(r->budget))
		atomic_store_explicit(&r->tail, r->building + sizeof(*rec) + ALIGN_UP((uint64_t)rec->kept),
				      memory_order_release);
}

void capture_frames(struct capture_ring *r, const struct pio_frame *f, uint32_t n, const uint64_t *arrival_ns,
		    uint64_t now_ns, uint64_t to_wall_ns)
{
	const struct capture_budget *b = r->budget;

	if (!r->in_packet && b->limit && atomic_load_explicit(&b->taken, memory_order_relaxed) >= b->limit) {
		r->in_packet = n && f[n - 1].flags & PIO_MORE;
		r->passing = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!r->in_packet)
			begin_packet(r, (arrival_ns ? arrival_ns[i] : now_ns) + to_wall_ns);
		if (!r->passing)
			add_piece(r, &f[i]);
		r->in_packet = f[i].flags & PIO_MORE;
		if (!r->in_packet)
			end_packet(r);
	}
}

const struct capture_record *capture_ring_peek(struct capture_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	const struct capture_record *rec;

	if (head == atomic_load_explicit(&r->tail, memory_order_acquire))
		return NULL;
	rec = at(r, head);
	if (rec->kept != CAPTURE_SKIP)
		return rec;
	head += r->size - (head & (r->size - 1));
	atomic_store_explicit(&r->head, head, memory_order_release);
	return at(r, head); /* what made it skip stands there */
}

void capture_ring_pop(struct capture_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	const struct capture_record *rec = at(r, head);

	atomic_store_explicit(&r->head, head + sizeof(*rec) + ALIGN_UP((uint64_t)rec->kept), memory_order_release);
}
