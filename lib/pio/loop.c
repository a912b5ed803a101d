/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include "flow_hash.h"
#include "lib/clock.h"
#include "loop_wire.h"

#include <errno.h>
#include <sys/prctl.h>

static unsigned loop_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

static void nothing_to_do(struct pio_queue *q)
{
	(void)q;
}

static inline void count_sent(struct stats_tx *s, unsigned n, uint64_t bytes)
{
	stats_add(&s->queued, n);
	stats_add(&s->completed, n);
	stats_add(&s->completed_bytes, bytes);
	stats_add(&s->batches, 1);
}

/*
 * Bookkeeping is the whole of a sender's cost here. A frame of the queue's own cache is checked by one comparison
 * against that cache's memory instead of two against the pool's and the cache's, and what the loop needs stays in
 * registers, for which it must be a function of its own without calls. Returns how many it took before the first that
 * is foreign or may not be sent.
 */
static __attribute__((noinline)) unsigned sink_own(struct pio_queue *q, const struct pio_frame *f, unsigned n,
						   uint64_t *bytes)
{
	struct pio_pool *pool = q->port->pool;
	struct pio_cache *own = q->cache;
	const unsigned shift = pool->shift;
	const unsigned char *memory = pool->base + ((uint64_t)own->first << shift);
	const uint64_t size = (uint64_t)own->count << shift;
	const uint64_t slot = 1ULL << shift;
	const uint32_t first = own->first;
	const uint32_t max_frame = q->port->caps.max_frame;
	uint32_t *free_id = own->free + own->n;
	uint64_t sum = 0;
	unsigned i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		uint64_t at = (uint64_t)(f[i].data - memory);
		/* Length and flags in one: a frame with any flag is for the caller to look at. */
		uint64_t len = (uint64_t)f[i].flags << 32 | f[i].len;

		if (at >= size || len - 1 >= max_frame || (at & (slot - 1)) + len > slot)
			break;
		sum += len;
		*free_id = first + (uint32_t)(at >> shift);
		pio_owner_change(pool, *free_id++, PIO_OWNER_DEVICE, PIO_OWNER_POOL, "completion");
	}
	own->n = (uint32_t)(free_id - own->free);
	*bytes += sum;
	return i;
}

static unsigned sink_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	uint64_t bytes = 0;
	unsigned i = 0;

	while ((i += sink_own(q, f + i, n - i, &bytes)) < n) {
		uint32_t id = loop_slot_to_send(q->port->pool, &f[i], q->port->caps.max_frame);

		if (id == UINT32_MAX)
			break;
		bytes += f[i++].len;
		pio_slot_done(q->port->pool, q->cache, id);
	}
	if (i)
		count_sent(&q->stats.tx, i, bytes);
	return i;
}

static inline __attribute__((always_inline)) unsigned plain_tx_to(struct loop_tx *tx, const struct pio_frame *f,
								  unsigned n, const bool spread)
{
	struct pio_pool *pool = tx->q.port->pool;
	const uint32_t max_frame = tx->q.port->caps.max_frame;
	const uint64_t now = clock_mono_ns();
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		uint32_t id = loop_slot_to_send(pool, &f[i], max_frame);
		struct loop_wire *w = tx->wires;

		if (id == UINT32_MAX)
			break;
		if (spread)
			w += flow_hash_pick(flow_hash(f[i].data, f[i].len), tx->n_wires);
		if (!loop_wire_room(w, 1)) {
			stats_add(&tx->q.stats.tx.ring_full, 1);
			break;
		}
		loop_wire_put(w, f[i].data, f[i].len, now);
		bytes += f[i].len;
		pio_slot_done(pool, tx->q.cache, id);
	}
	if (i) {
		loop_publish_all(tx);
		count_sent(&tx->q.stats.tx, i, bytes);
	}
	return i;
}

static unsigned plain_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct loop_tx *tx = (struct loop_tx *)q;

	return tx->n_wires == 1 ? plain_tx_to(tx, f, n, false) : plain_tx_to(tx, f, n, true);
}

static inline struct loop_slot *slot_at(const struct loop_wire *w, uint32_t head)
{
	return (void *)(w->slots + (size_t)(head & w->mask) * w->stride);
}

/* The oldest packet of a wire, or NULL. */
static inline struct loop_slot *first_slot(const struct loop_wire *w, uint32_t head, uint32_t tail)
{
	return head == tail ? NULL : slot_at(w, head);
}

struct taken {
	uint64_t bytes;
	uint64_t first_ns, last_ns;
};

/* Takes up to n due packets off one wire. */
static unsigned take(struct loop_rx *rx, struct loop_wire *w, struct pio_frame *f, uint64_t *arrivals_ns, unsigned n,
		     uint64_t until_ns, struct taken *t)
{
	const uint32_t from = atomic_load_explicit(&w->head, memory_order_relaxed);
	const uint32_t there = atomic_load_explicit(&w->tail, memory_order_acquire) - from;
	const unsigned frames = pio_cache_get(rx->q.cache, f, n < there ? n : there);
	struct pio_frame *next = f, *end = f + frames;
	const struct filter_compiled *const filter = rx->filter;
	/* Copies, since a store into a frame could, for all the compiler knows, change what they were read from. */
	const unsigned char *const slots = w->slots, *const slots_end = slots + ((size_t)w->mask + 1) * w->stride;
	const uint64_t stride = w->stride;
	const uint32_t plain_flags = filter->udp ? PIO_UDP4 : 0;
	const struct loop_slot *s = slot_at(w, from), *first = s, *last = s;
	uint32_t rejected = 0, left;
	uint64_t bytes = 0;
	unsigned got;

	while (next != end && s->due_ns <= until_ns) {
		const struct loop_slot *const this = s;
		const uint32_t len = s->len;
		const enum filter_verdict verdict = filter_compiled_matches(filter, s->data, len);

		s = (const void *)((const unsigned char *)s + stride);
		if ((const unsigned char *)s == slots_end)
			s = (const void *)slots;
		if (__builtin_expect(verdict == FILTER_NO, 0)) {
			rejected++;
			if (next == f)
				first = s;
			/* At most what is left there can still be taken. */
			left = atomic_load_explicit(&w->tail, memory_order_acquire) - from - rejected;
			end = f + left < end ? f + left : end;
			continue;
		}
		if (verdict == FILTER_YES_PLAIN)
			next->flags = plain_flags;
		/* A copy of fixed length needs no call. */
		if (len <= LOOP_COPY_MIN)
			memcpy(next->data, this->data, LOOP_COPY_MIN);
		else
			memcpy(next->data, this->data, len);
		next->len = len;
		bytes += len;
		if (arrivals_ns)
			*arrivals_ns++ = this->due_ns;
		last = this;
		next++;
	}
	got = (unsigned)(next - f);
	if (got < frames)
		pio_cache_return(rx->q.cache, frames, frames - got);
	if (got) {
		/* On one wire they are due in their order. */
		t->bytes += bytes;
		t->first_ns = first->due_ns < t->first_ns ? first->due_ns : t->first_ns;
		t->last_ns = last->due_ns > t->last_ns ? last->due_ns : t->last_ns;
	}
	if (rejected)
		stats_add(&rx->q.stats.rx.filtered, rejected);
	if (got + rejected)
		atomic_store_explicit(&w->head, from + got + rejected, memory_order_release);
	return got;
}

static unsigned loop_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	struct loop_rx *rx = (struct loop_rx *)q;
	struct taken t = {.first_ns = UINT64_MAX};
	uint64_t now = clock_mono_ns();
	uint64_t until = now < rx->stop_ns ? now : rx->stop_ns;
	unsigned at = rx->next;
	unsigned got = 0;

	for (unsigned i = 0; i < rx->n_wires && got < n; i++) {
		got += take(rx, &rx->wires[(size_t)at * rx->step], f + got,
			    q->arrivals_ns ? q->arrivals_ns + got : NULL, n - got, until, &t);
		at = at + 1 == rx->n_wires ? 0 : at + 1;
	}
	rx->next = at;
	if (got) {
		stats_add(&q->stats.rx.packets, got);
		stats_add(&q->stats.rx.bytes, t.bytes);
		stats_add(&q->stats.rx.batches, 1);
		pio_note_arrival(q, t.first_ns + rx->to_wall_ns, t.last_ns + rx->to_wall_ns);
	}
	return got;
}

/* When the first packet of any wire is due; UINT64_MAX: there is none. */
static uint64_t first_due(const struct loop_rx *rx)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < rx->n_wires; i++) {
		const struct loop_wire *w = &rx->wires[(size_t)i * rx->step];
		const struct loop_slot *s = first_slot(w, atomic_load_explicit(&w->head, memory_order_relaxed),
						       atomic_load_explicit(&w->tail, memory_order_acquire));

		if (s && s->due_ns < due && s->due_ns <= rx->stop_ns)
			due = s->due_ns;
	}
	return due;
}

/*
 * Nothing wakes a receiver, since a sender should not pay for it: it looks again after steps that grow while nothing
 * comes. The kernel lets a sleeper oversleep by the thread's timer slack, which is therefore made small for the time.
 * It wakes up late all the same, by 15 us on an idle machine: so near to a time that is known it spins.
 */
#define SPIN_NS       50000ULL
#define STEP_FIRST_NS 10000ULL
#define STEP_LAST_NS  200000ULL
#define SLACK_NS      1000UL

static int wait_for_packet(const struct loop_rx *rx, uint64_t deadline_ns)
{
	uint64_t step = STEP_FIRST_NS;

	for (;;) {
		uint64_t now = clock_mono_ns();
		uint64_t due = first_due(rx);
		uint64_t wake = now + step;

		if (due <= now)
			return 1;
		if (now >= deadline_ns)
			return 0;
		if (due - now <= SPIN_NS) {
			cpu_relax();
			continue;
		}
		if (due - SPIN_NS < wake)
			wake = due - SPIN_NS;
		if (deadline_ns < wake)
			wake = deadline_ns;
		struct timespec until = {.tv_sec = (time_t)(wake / NS_PER_S), .tv_nsec = (long)(wake % NS_PER_S)};
		int rc = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);

		if (rc)
			return -rc;
		step = step * 2 < STEP_LAST_NS ? step * 2 : STEP_LAST_NS;
	}
}

static int loop_poll(struct pio_queue *q, int timeout_ms)
{
	const struct loop_rx *rx = (const struct loop_rx *)q;
	uint64_t now = clock_mono_ns();
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : now + (unsigned)timeout_ms * NS_PER_MS;
	int slack;
	int rc;

	if (first_due(rx) <= now)
		return 1;
	slack = prctl(PR_GET_TIMERSLACK);
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	rc = wait_for_packet(rx, deadline);
	prctl(PR_SET_TIMERSLACK, slack > 0 ? (unsigned long)slack : 0UL);
	return rc;
}

/* What has arrived by now can still be received. */
static void loop_rx_stop(struct pio_queue *q)
{
	((struct loop_rx *)q)->stop_ns = clock_mono_ns();
}

const struct pio_queue_ops loop_sink_ops = {
	.get = loop_get, .tx = sink_tx, .kick = nothing_to_do, .sync = nothing_to_do};

const struct pio_queue_ops loop_plain_ops = {
	.get = loop_get, .tx = plain_tx, .kick = nothing_to_do, .sync = nothing_to_do};

const struct pio_queue_ops loop_rx_ops = {
	.rx = loop_rx, .poll = loop_poll, .sync = nothing_to_do, .stop = loop_rx_stop};
