/* SPDX-License-Identifier: Apache-2.0 */
#include "rx_loop.h"

#include "classify.h"
#include "lib/clock.h"

#define RX_BURST REFLECT_BURST
#define POLL_MS  20
/* Counters that the kernel keeps are read this often. */
#define SYNC_NS (100 * NS_PER_MS)
/* In so much time, fewer looks than this tell nothing; of more, one in so many may find nothing. */
#define LOOKS_MIN       20U
#define LOOKS_PER_EMPTY 100U
/* After the stop nothing new comes in; what the ring holds is taken within this time. */
#define STOP_NS NS_PER_S
/* and by so many looks at least: a thread that is kept off its processor all that time shall not lose them. */
#define LOOKS_AT_END 512U

/* Reserves up to max packets of those that may still be taken. */
static uint32_t reserve(struct rx_shared *s, uint32_t max)
{
	uint64_t was = atomic_load_explicit(&s->reserved, memory_order_relaxed);
	uint64_t n;

	do {
		n = s->limit - was < max ? s->limit - was : max;
	} while (!atomic_compare_exchange_weak_explicit(&s->reserved, &was, was + n, memory_order_relaxed,
							memory_order_relaxed));
	return (uint32_t)n;
}

/* `got` of `reserved` packets were taken. */
static void settle(struct rx_shared *s, uint32_t reserved, uint32_t got)
{
	if (got)
		atomic_fetch_add_explicit(&s->taken, got, memory_order_relaxed);
	if (reserved - got)
		atomic_fetch_sub_explicit(&s->reserved, reserved - got, memory_order_relaxed);
}

static bool limit_reached(const struct rx_shared *s)
{
	return s->limit && atomic_load_explicit(&s->taken, memory_order_relaxed) >= s->limit;
}

/* Counts n frames; a packet of several frames counts once, by its first. Returns the packets. */
static uint32_t count(struct rx_worker *w, const struct pio_frame *f, uint32_t n)
{
	uint64_t by_class[CLASS_COUNT] = {0};
	uint32_t packets = 0;
	bool in_chain = w->in_chain;

	if (!in_chain && pio_all_udp4(f, n)) {
		stats_add(&w->classes.ipv4_udp, n);
		return n;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!in_chain) {
			struct classified c = classify(f[i].data, f[i].len);

			by_class[c.what]++;
			by_class[CLASS_tagged] += c.tagged;
			packets++;
		}
		in_chain = f[i].flags & PIO_MORE;
	}
	w->in_chain = in_chain;
#define CLASS_ADD(key, help) \
	if (by_class[CLASS_##key]) \
		stats_add(&w->classes.key, by_class[CLASS_##key]);
	STATS_CLASS(CLASS_ADD)
#undef CLASS_ADD
	return packets;
}

static void look_at(struct rx_worker *w, const struct pio_frame *f, uint32_t n)
{
	const uint64_t *arrivals = w->queue->arrivals_ns;

	if (w->measure && n)
		measure_frames(w->measure, f, n, arrivals, arrivals ? 0 : clock_mono_ns());
}

static void keep(struct rx_worker *w, const struct pio_frame *f, uint32_t n)
{
	const uint64_t *arrivals = w->queue->arrivals_ns;
	bool monotonic = arrivals && w->queue->port->caps.arrivals == PIO_CLOCK_MONOTONIC;

	if (w->capture && n)
		capture_frames(w->capture, f, n, arrivals, arrivals ? 0 : clock_wall_ns(), monotonic ? w->wall_add : 0);
}

/* The wall clock may be set: how far it is from the monotonic one is read anew with the counters. */
static void read_clocks(struct rx_worker *w)
{
	if (w->measure)
		measure_clocks(w->measure);
	if (w->capture)
		w->wall_add = clock_offset_ns(CLOCK_MONOTONIC, CLOCK_REALTIME);
}

/* Puts what is answered for --respond. Returns how many frames are left, at the array's beginning. */
static uint32_t take_requests(struct rx_worker *w, struct pio_frame *f, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool more = f[i].flags & PIO_MORE;

		if (!w->in_pieces && !more && responder_takes(w->responder, &f[i], w->answers))
			pio_put(w->queue, &f[i], 1);
		else
			f[left++] = f[i];
		w->in_pieces = more;
	}
	return left;
}

/* Also without frames, so that what was sent back comes home. */
static void give(struct rx_worker *w, struct pio_frame *f, uint32_t n)
{
	if (w->responder)
		n = take_requests(w, f, n);
	if (w->reflector)
		reflect_burst(w->reflector, w->queue, f, n);
	else
		pio_put(w->queue, f, n);
}

/* The rest of the last packet, which a limit of so many packets cut off. One frame at a time, so that no other begins.
 */
static void finish_packet(struct rx_worker *w)
{
	struct pio_frame frame;

	while (w->in_chain && pio_rx(w->queue, &frame, 1)) {
		count(w, &frame, 1);
		look_at(w, &frame, 1);
		keep(w, &frame, 1);
		give(w, &frame, 1);
	}
}

/* One burst. Returns the frames taken. */
static uint32_t receive_burst(struct rx_worker *w)
{
	struct pio_frame frames[RX_BURST];
	struct rx_shared *s = w->shared;
	/* None left for this queue while others may give some back: it asks again. */
	uint32_t want = s->limit ? reserve(s, RX_BURST) : RX_BURST;
	uint32_t got = pio_rx(w->queue, frames, want);
	uint32_t packets = count(w, frames, got);

	look_at(w, frames, got);
	keep(w, frames, got);
	give(w, frames, got);
	if (s->limit) {
		finish_packet(w);
		settle(s, want, packets);
	}
	return got;
}

/* Looks at the queue since the last sync. A thread that finds packets at (almost) every look never rests. */
struct looks {
	uint64_t all, empty;
};

static void close_window(struct rx_worker *w, struct looks *l)
{
	if (l->all > l->empty)
		w->windows++;
	if (l->all > LOOKS_MIN && l->empty * LOOKS_PER_EMPTY < l->all)
		w->full_windows++;
	*l = (struct looks){0};
}

void rx_worker_run(struct rx_worker *w)
{
	struct looks looks = {0};
	uint32_t looks_at_end = 0;
	uint64_t arrivals[RX_BURST];
	uint64_t synced = clock_mono_ns();
	uint64_t give_up = UINT64_MAX;
	uint64_t settled = UINT64_MAX;

	read_clocks(w);
	if ((w->measure || w->capture) && w->queue->port->caps.arrivals && !w->host_times)
		w->queue->arrivals_ns = arrivals;
	while (!limit_reached(w->shared) && !pio_queue_error(w->queue, NULL)) {
		bool stop = atomic_load_explicit(w->shared->stop, memory_order_acquire);
		uint64_t now = clock_mono_ns();
		uint32_t got;

		if (stop && give_up == UINT64_MAX) {
			pio_stop(w->queue);
			give_up = now + STOP_NS;
			settled = now + PIO_SETTLE_MS * NS_PER_MS;
		}
		got = receive_burst(w);
		looks.all++;
		looks.empty += !got;
		if (got && stop)
			settled = now + PIO_SETTLE_MS * NS_PER_MS;
		looks_at_end += stop;
		if (now >= settled || (now >= give_up && looks_at_end >= LOOKS_AT_END))
			break;
		if (now - synced >= SYNC_NS) {
			pio_sync(w->queue);
			if (!stop)
				close_window(w, &looks);
			read_clocks(w);
			synced = now;
		}
		if (!got)
			pio_poll(w->queue, stop ? 1 : POLL_MS);
	}
	if (w->reflector)
		reflect_end(w->reflector, w->queue);
	w->queue->arrivals_ns = NULL;
	pio_sync(w->queue);
	atomic_store_explicit(&w->done, true, memory_order_release);
}
