/* SPDX-License-Identifier: Apache-2.0 */
#include "rx_loop.h"

#include "classify.h"
#include "lib/clock.h"

#define RX_BURST 64U
#define POLL_MS  20
/* Counters that the kernel keeps are read this often. */
#define SYNC_NS (100 * NS_PER_MS)
/* A kernel's ring hands a packet over a few ms after it came; after this much silence nothing is left in it. */
#define SETTLE_MS 10
/* After the stop the ring is emptied for no longer than this, since a flood would never let it run dry. */
#define STOP_NS (100 * NS_PER_MS)

/* Reserves up to max packets of the budget. */
static uint32_t budget_take(struct rx_shared *s, uint32_t max)
{
	uint64_t left = atomic_load_explicit(&s->budget, memory_order_relaxed);
	uint64_t n;

	if (left == RX_BUDGET_NONE)
		return max;
	do {
		n = left < max ? left : max;
	} while (!atomic_compare_exchange_weak_explicit(&s->budget, &left, left - n, memory_order_relaxed,
							memory_order_relaxed));
	return (uint32_t)n;
}

static void budget_return(struct rx_shared *s, uint32_t n)
{
	if (n && atomic_load_explicit(&s->budget, memory_order_relaxed) != RX_BUDGET_NONE)
		atomic_fetch_add_explicit(&s->budget, n, memory_order_relaxed);
}

/* Counts n frames; a packet of several frames counts once, by its first. Returns the packets. */
static uint32_t count(struct rx_worker *w, const struct pio_frame *f, uint32_t n)
{
	uint64_t by_class[CLASS_COUNT] = {0};
	uint32_t packets = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!w->in_chain) {
			struct classified c = classify(f[i].data, f[i].len);

			by_class[c.what]++;
			by_class[CLASS_tagged] += c.tagged;
			packets++;
		}
		w->in_chain = f[i].flags & PIO_MORE;
	}
#define CLASS_ADD(key, help) stats_add(&w->classes.key, by_class[CLASS_##key]);
	STATS_CLASS(CLASS_ADD)
#undef CLASS_ADD
	return packets;
}

static void note_time(struct rx_worker *w)
{
	uint64_t now = clock_wall_ns();

	if (!atomic_load_explicit(&w->first_ns, memory_order_relaxed))
		atomic_store_explicit(&w->first_ns, now, memory_order_relaxed);
	atomic_store_explicit(&w->last_ns, now, memory_order_relaxed);
}

/* One burst. Returns the frames taken, 0 when the ring is empty, -1 when the budget is used up. */
static int receive_burst(struct rx_worker *w)
{
	struct pio_frame frames[RX_BURST];
	uint32_t want = budget_take(w->shared, RX_BURST);
	uint32_t got;
	uint32_t packets;

	if (!want)
		return -1;
	got = pio_rx(w->queue, frames, want);
	packets = got ? count(w, frames, got) : 0;
	budget_return(w->shared, want - packets);
	if (!got)
		return 0;
	note_time(w);
	pio_put(w->queue, frames, got);
	return (int)got;
}

void rx_worker_run(struct rx_worker *w)
{
	uint64_t synced = clock_mono_ns();
	uint64_t give_up = UINT64_MAX;
	uint64_t settled = 0;

	for (;;) {
		/* Read before the ring: what arrived before the stop is still taken after it. */
		bool stop = atomic_load_explicit(w->shared->stop, memory_order_acquire);
		int got = receive_burst(w);
		uint64_t now = clock_mono_ns();

		if (got > 0 || give_up == UINT64_MAX)
			settled = now + SETTLE_MS * NS_PER_MS;
		if (stop && give_up == UINT64_MAX)
			give_up = now + STOP_NS;
		if (got < 0 || now >= settled || now >= give_up || pio_queue_error(w->queue, NULL))
			break;
		if (now - synced >= SYNC_NS) {
			pio_sync(w->queue);
			synced = now;
		}
		if (got == 0)
			pio_poll(w->queue, stop ? SETTLE_MS : POLL_MS);
	}
	pio_sync(w->queue);
	atomic_store_explicit(&w->done, true, memory_order_release);
}
