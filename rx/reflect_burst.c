/* SPDX-License-Identifier: Apache-2.0 */
#include "reflect.h"

#include "lib/clock.h"

#include <string.h>

/* How long a full transmit ring is waited for. The receive ring takes in meanwhile what it has room for. */
#define RING_WAIT_NS NS_PER_MS
#define DRAIN_NS     NS_PER_S

/* What is to be sent, and what is to be put. A packet's frames stand together. */
struct sorted {
	struct pio_frame back[REFLECT_BURST + REFLECT_PIECES_MAX];
	struct pio_frame rest[REFLECT_BURST + REFLECT_PIECES_MAX];
	uint32_t n_back, n_rest;
	uint64_t fates[REFLECT_COUNT];
};

/* The packet of n frames as it will be sent, or why not. */
static enum reflect_fate turn(const struct reflector *r, const struct pio_frame *f, uint32_t n)
{
	const struct pio_caps *caps = &r->tx->port->caps;

	if (f->flags & PIO_SUPER || f->len > caps->max_frame || (n > 1 && !caps->tx_chains))
		return REFLECT_large;
	if (f->flags & PIO_CSUM_UNFINISHED) {
		if (n > 1)
			return REFLECT_large;
		reflect_finish_csum(f->data, f->len);
	}
	return reflect_turn(f->data, f->len, &r->own);
}

static void sort_packet(const struct reflector *r, struct sorted *s, const struct pio_frame *f, uint32_t n)
{
	enum reflect_fate fate = turn(r, f, n);

	s->fates[fate]++;
	if (fate == REFLECT_reflected) {
		memcpy(s->back + s->n_back, f, n * sizeof(*f));
		s->n_back += n;
	} else {
		memcpy(s->rest + s->n_rest, f, n * sizeof(*f));
		s->n_rest += n;
	}
}

/* Whole packets; what a burst cuts off is held until its rest comes. */
static void sort_all(struct reflector *r, struct sorted *s, const struct pio_frame *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bool more = frames[i].flags & PIO_MORE;

		if (r->skipping) {
			s->rest[s->n_rest++] = frames[i];
			r->skipping = more;
			continue;
		}
		r->held[r->n_held++] = frames[i];
		if (more && r->n_held < REFLECT_PIECES_MAX)
			continue;
		if (more) { /* of more pieces than any device sends */
			memcpy(s->rest + s->n_rest, r->held, sizeof(r->held));
			s->n_rest += REFLECT_PIECES_MAX;
			s->fates[REFLECT_large]++;
			r->skipping = true;
		} else {
			sort_packet(r, s, r->held, r->n_held);
		}
		r->n_held = 0;
	}
}

static uint32_t packets_in(const struct pio_frame *f, uint32_t n)
{
	uint32_t packets = 0;

	for (uint32_t i = 0; i < n; i++)
		packets += !(f[i].flags & PIO_MORE);
	return packets;
}

/* Returns how many frames were handed over. */
static uint32_t send_back(struct reflector *r, const struct pio_frame *f, uint32_t n)
{
	uint32_t sent = 0;
	uint64_t give_up = 0;

	while (sent < n) {
		uint32_t took = pio_tx(r->tx, f + sent, n - sent);

		sent += took;
		if (sent == n)
			break;
		pio_kick(r->tx);
		if (took)
			continue;
		if (pio_queue_error(r->tx, NULL))
			break;
		if (!give_up)
			give_up = clock_mono_ns() + RING_WAIT_NS;
		else if (clock_mono_ns() >= give_up)
			break;
		cpu_relax();
	}
	return sent;
}

void reflect_burst(struct reflector *r, struct pio_queue *rx, const struct pio_frame *frames, uint32_t n)
{
	struct sorted s; /* its arrays are not worth clearing */
	uint32_t sent;

	if (!n) {
		pio_kick(r->tx); /* what has been sent comes home */
		return;
	}
	s.n_back = s.n_rest = 0;
	memset(s.fates, 0, sizeof(s.fates));
	sort_all(r, &s, frames, n);
	sent = send_back(r, s.back, s.n_back);
	pio_kick(r->tx);
	if (sent < s.n_back) {
		uint32_t packets = packets_in(s.back + sent, s.n_back - sent);

		s.fates[REFLECT_reflected] -= packets;
		s.fates[REFLECT_ring_full] += packets;
		pio_put(rx, s.back + sent, s.n_back - sent);
	}
	pio_put(rx, s.rest, s.n_rest);
#define COUNT_FATE(key, help) stats_add(&r->counts.key, s.fates[REFLECT_##key]);
	STATS_REFLECT(COUNT_FATE)
#undef COUNT_FATE
}

void reflect_end(struct reflector *r, struct pio_queue *rx)
{
	pio_put(rx, r->held, r->n_held);
	r->n_held = 0;
	pio_drain(r->tx, clock_mono_ns() + DRAIN_NS);
	pio_sync(r->tx);
}
