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
 * IPv6. TX_SHAPE_MIX is the same of UDP in several sizes.
 */
enum tx_shape {
	TX_SHAPE_FIXED,
	TX_SHAPE_PORTS_4,
	TX_SHAPE_PORTS_6,
	TX_SHAPE_ONE_SIZE,
	TX_SHAPE_MIX_4,
	TX_SHAPE_MIX_6,
	TX_SHAPE_SIZES,
	TX_SHAPE_REPLAY,       /* the frames are a capture's, */
	TX_SHAPE_REPLAY_TIMED, /* and so are the departures */
};

static inline enum tx_shape tx_shape_of(const struct tx_source *s)
{
	const struct tx_plan *plan = s->plan;
	const bool ports = plan->n_parts == 1 && plan->parts[0].len == 12 && plan->entry == 16;
	const bool udp = plan->n_lengths == 2 && plan->sums[0].is_udp && plan->sums[0].follows == TX_FOLLOWS_SIZE;

	if (s->replay.replay)
		return s->replay.replay->original ? TX_SHAPE_REPLAY_TIMED : TX_SHAPE_REPLAY;
	if (plan->n_sizes > 1)
		return ports && udp ? plan->n_sums == 2 ? TX_SHAPE_MIX_4 : TX_SHAPE_MIX_6 : TX_SHAPE_SIZES;
	if (!plan->n_parts && !plan->sums[0].follows)
		return TX_SHAPE_FIXED;
	if (ports && !plan->sums[0].follows)
		return plan->n_sums == 2 ? TX_SHAPE_PORTS_4 : plan->n_sums == 1 ? TX_SHAPE_PORTS_6 : TX_SHAPE_ONE_SIZE;
	return TX_SHAPE_ONE_SIZE;
}

/* Writes one flow each into n frames, which hold the plan's template. */
static inline __attribute__((always_inline)) void tx_patch_run(const struct tx_plan *plan, struct pio_frame *frames,
							       const unsigned char *entries, uint32_t n,
							       struct tx_at *at, const enum tx_shape shape)
{
	const bool mix = shape == TX_SHAPE_MIX_4 || shape == TX_SHAPE_MIX_6;
	const bool ports = mix || shape == TX_SHAPE_PORTS_4 || shape == TX_SHAPE_PORTS_6;
	const bool ip_sum = shape == TX_SHAPE_MIX_4 || shape == TX_SHAPE_PORTS_4;
	const uint32_t part = plan->parts[0].at;
	const uint32_t check[2] = {plan->sums[0].at, plan->sums[1].at};
	const uint32_t length[2] = {plan->lengths[0], plan->lengths[1]};
	const uint32_t stride = ports ? 16 : plan->entry;
	const uint32_t n_cycle = plan->n_cycle;
	const struct tx_size *size = &plan->sizes[0];
	uint32_t len = size->len;

	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *entry = entries + (size_t)i * stride;
		unsigned char *frame = frames[i].data;

		if (mix || shape == TX_SHAPE_SIZES) {
			size = &plan->sizes[plan->cycle[at->size]];
			at->size = at->size + 1 == n_cycle ? 0 : at->size + 1;
			len = size->len;
		}
		frames[i].len = len;
		if (ports)
			__builtin_memcpy(frame + part, entry, 12);
		if (mix) {
			core_put16(frame + length[0], size->length[0]);
			core_put16(frame + length[1], size->length[1]);
			core_put16(frame + check[0], csum_finish_pair_udp(core_get16(entry + 12), size->sum[0]));
			if (ip_sum)
				core_put16(frame + check[1], csum_finish_pair(core_get16(entry + 14), size->sum[1]));
		} else if (ports) {
			__builtin_memcpy(frame + check[0], entry + 12, 2);
			if (ip_sum)
				__builtin_memcpy(frame + check[1], entry + 14, 2);
		} else if (shape != TX_SHAPE_FIXED) {
			if (shape == TX_SHAPE_SIZES)
				tx_put_lengths(plan, size, frame);
			tx_put_flow(plan, entry, frame);
			tx_put_sums(plan, entry, size, frame, 0);
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
		if (s->replay.ring)
			replay_fill_streamed(&s->replay, frames, n);
		else
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
			if (++at->round == s->cycle_rounds) {
				at->round = 0;
				at->shift = at->shift + 1 == s->cycle_shifts ? 0 : at->shift + 1;
				at->size = at->shift;
			}
		}
	}
	at->flow = flow;
}

#endif
