/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_fill: writes the next packets of a source into frames. Hot: one inline function, of which each kind of plan has
 * an instance of its own. Sender's thread.
 */
#ifndef SQUALL_GEN_TX_FILL_H
#define SQUALL_GEN_TX_FILL_H

#include "lib/core/patch.h"
#include "tx_source.h"

/*
 * What a packet of the plan needs, so that the usual kinds have a loop of their own: TX_SHAPE_PORTS is one part of 12
 * bytes (addresses and ports of UDP and TCP) and the checksums that the flow alone decides: two over IPv4, one over
 * IPv6.
 */
enum tx_shape {
	TX_SHAPE_FIXED,
	TX_SHAPE_PORTS_4,
	TX_SHAPE_PORTS_6,
	TX_SHAPE_ONE_SIZE,
	TX_SHAPE_SIZES,
	TX_SHAPE_REPLAY,       /* the frames are a capture's, */
	TX_SHAPE_REPLAY_TIMED, /* and so are the departures */
};

static inline enum tx_shape tx_shape_of(const struct tx_source *s)
{
	const struct tx_plan *plan = s->plan;

	if (s->replay.replay)
		return s->replay.replay->original ? TX_SHAPE_REPLAY_TIMED : TX_SHAPE_REPLAY;
	if (plan->n_sizes > 1)
		return TX_SHAPE_SIZES;
	if (!plan->n_parts && !plan->sums[0].follows)
		return TX_SHAPE_FIXED;
	if (plan->n_parts == 1 && plan->parts[0].len == 12 && plan->entry == 16 && !plan->sums[0].follows)
		return plan->n_sums == 2 ? TX_SHAPE_PORTS_4 : plan->n_sums == 1 ? TX_SHAPE_PORTS_6 : TX_SHAPE_ONE_SIZE;
	return TX_SHAPE_ONE_SIZE;
}

/* Writes one flow each into n frames, which hold the plan's template. */
static inline __attribute__((always_inline)) void tx_patch_run(const struct tx_plan *plan, struct pio_frame *frames,
							       const unsigned char *entries, uint32_t n,
							       struct tx_at *at, const enum tx_shape shape)
{
	const uint32_t part = plan->parts[0].at;
	const uint32_t check[2] = {plan->sums[0].at, plan->sums[1].at};
	const uint32_t stride = plan->entry;
	const struct tx_size *size = &plan->sizes[0];
	const uint32_t len = size->len;

	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *entry =
			entries + (size_t)i * (shape == TX_SHAPE_PORTS_4 || shape == TX_SHAPE_PORTS_6 ? 16 : stride);
		unsigned char *frame = frames[i].data;

		if (shape == TX_SHAPE_PORTS_4 || shape == TX_SHAPE_PORTS_6) {
			__builtin_memcpy(frame + part, entry, 12);
			__builtin_memcpy(frame + check[0], entry + 12, 2);
			if (shape == TX_SHAPE_PORTS_4)
				__builtin_memcpy(frame + check[1], entry + 14, 2);
			frames[i].len = len;
		} else if (shape == TX_SHAPE_FIXED) {
			frames[i].len = len;
		} else {
			if (shape == TX_SHAPE_SIZES) {
				size = &plan->sizes[plan->cycle[at->size]];
				at->size = at->size + 1 == plan->n_cycle ? 0 : at->size + 1;
				tx_put_lengths(plan, size, frame);
			}
			tx_put_flow(plan, entry, frame);
			tx_put_sums(plan, entry, size, frame, 0);
			frames[i].len = size->len;
		}
	}
}

/*
 * Writes the source's next n packets into frames, which hold its template. at: where the source is; the caller's own
 * copy of s->at, so that a loop may keep it in registers.
 */
static inline __attribute__((always_inline)) void
tx_fill(struct tx_source *s, struct tx_at *at, struct pio_frame *frames, uint32_t n, const enum tx_shape shape)
{
	const struct tx_plan *plan = s->plan;
	const uint64_t n_flows = s->n_flows;
	uint64_t flow = at->flow;

	if (shape == TX_SHAPE_REPLAY || shape == TX_SHAPE_REPLAY_TIMED) {
		replay_fill(&s->replay, frames, n);
		return;
	}
	for (uint32_t filled = 0; filled < n;) {
		uint64_t to_end = n_flows - flow;
		uint32_t run = to_end < n - filled ? (uint32_t)to_end : n - filled;

		tx_patch_run(plan, frames + filled, s->entries + flow * plan->entry, run, at, shape);
		filled += run;
		flow += run;
		if (flow == n_flows) { /* here a round through the flows ends: all of them have sent as many packets */
			flow = 0;
			at->round = at->round + 1 == plan->n_cycle ? 0 : at->round + 1;
			at->size = at->round;
		}
	}
	at->flow = flow;
}

#endif
