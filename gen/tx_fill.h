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
 * What a packet of the plan needs, so that the usual kinds have a loop of their own. PORTS is one part of 12 bytes
 * (addresses and ports of UDP and TCP) and the checksums that the flow alone decides: two over IPv4, one over IPv6.
 * MIX is the same of UDP in several sizes. STAMPED_4 and _6 are as PORTS, of flows in their order, with a stamp, which
 * changes the first checksum; STAMPED_MIX is as MIX, likewise, of few sizes.
 */
#define TX_SHAPES_OF_FLOWS(X) \
	X(FIXED) \
	X(PORTS_4) \
	X(PORTS_6) \
	X(ONE_SIZE) \
	X(MIX_4) \
	X(MIX_6) \
	X(SIZES) \
	X(STAMPED_4) \
	X(STAMPED_6) \
	X(STAMPED_MIX_4) \
	X(STAMPED_MIX_6) \
	X(STAMPED_ONE_SIZE) \
	X(STAMPED_SIZES)

enum tx_shape {
#define TX_SHAPE_ENUM(name) TX_SHAPE_##name,
	TX_SHAPES_OF_FLOWS(TX_SHAPE_ENUM)
#undef TX_SHAPE_ENUM
		TX_SHAPE_REPLAY, /* the frames are a capture's, */
	TX_SHAPE_REPLAY_TIMED,   /* and so are the departures */
};

static inline bool tx_shape_is_stamped(const enum tx_shape shape)
{
	return shape >= TX_SHAPE_STAMPED_4 && shape <= TX_SHAPE_STAMPED_SIZES;
}

/*
 * UDP with a checksum and one IP header: two lengths, and besides UDP's checksum at most one; and the part is addresses
 * and ports. So all that changes in the headers is in places that are known from where UDP's begins (tx_put_mix()).
 */
static inline bool tx_shape_is_udp(const struct tx_plan *plan)
{
	return plan->n_lengths == 2 && plan->sums[0].is_udp && plan->sums[0].follows & TX_FOLLOWS_SIZE &&
	       plan->parts[0].at + 8U == plan->l4;
}

static inline enum tx_shape tx_shape_stamped(const struct tx_source *s, bool ports)
{
	const struct tx_plan *plan = s->plan;

	if (plan->n_sizes > 1)
		return !ports || !tx_shape_is_udp(plan) || s->step != 1 || plan->n_sizes > TX_FEW_SIZES
			       ? TX_SHAPE_STAMPED_SIZES
		       : plan->n_sums == 2 ? TX_SHAPE_STAMPED_MIX_4
					   : TX_SHAPE_STAMPED_MIX_6;
	if (!ports || s->step != 1 || plan->sums[0].follows != TX_FOLLOWS_PAYLOAD)
		return TX_SHAPE_STAMPED_ONE_SIZE;
	return plan->n_sums == 2   ? TX_SHAPE_STAMPED_4
	       : plan->n_sums == 1 ? TX_SHAPE_STAMPED_6
				   : TX_SHAPE_STAMPED_ONE_SIZE;
}

static inline enum tx_shape tx_shape_of(const struct tx_source *s)
{
	const struct tx_plan *plan = s->plan;
	const bool ports = plan->n_parts == 1 && plan->parts[0].len == 12 && plan->entry == 16;
	const bool udp = tx_shape_is_udp(plan);

	if (s->replay.replay)
		return s->replay.replay->original ? TX_SHAPE_REPLAY_TIMED : TX_SHAPE_REPLAY;
	if (plan->stamped)
		return tx_shape_stamped(s, ports);
	if (plan->n_sizes > 1)
		return ports && udp ? plan->n_sums == 2 ? TX_SHAPE_MIX_4 : TX_SHAPE_MIX_6 : TX_SHAPE_SIZES;
	if (!plan->n_parts && !plan->sums[0].follows)
		return TX_SHAPE_FIXED;
	if (ports && !plan->sums[0].follows)
		return plan->n_sums == 2 ? TX_SHAPE_PORTS_4 : plan->n_sums == 1 ? TX_SHAPE_PORTS_6 : TX_SHAPE_ONE_SIZE;
	return TX_SHAPE_ONE_SIZE;
}

/*
 * A frame that was shorter has its stamp in the midst of the payload now. A few sizes leave few places, which get the
 * template's bytes back; else all of the payload does where one may have been.
 */
static inline __attribute__((always_inline)) void tx_restore(const struct tx_plan *plan, const struct tx_mix_size *size,
							     unsigned char *frame, const bool few)
{
	if (!few) {
		const uint32_t first = plan->min_len - STAMP_LEN;

		__builtin_memcpy(frame + first, plan->frame + first, size->len - first);
		return;
	}
	for (uint32_t i = 0; i < size->n_smaller; i++) {
		const uint32_t at = size->smaller[i];

		__builtin_memcpy(frame + at, plan->frame + at, STAMP_LEN);
	}
}

static inline __attribute__((always_inline)) void tx_put_check(unsigned char *field, uint64_t sum, bool is_udp)
{
	core_put16(field, is_udp ? csum_finish_udp(sum) : csum_finish(sum));
}

/*
 * What flow and size put into a packet of TX_SHAPE_MIX: udp is where that header begins. stamped: `extra` is what the
 * stamp adds to its checksum.
 */
static inline __attribute__((always_inline)) void tx_put_mix(const struct tx_mix_size *size, const unsigned char *entry,
							     unsigned char *udp, uint64_t extra, const bool stamped,
							     const bool is_ip4)
{
	const uint16_t flow = core_get16(entry + 12);

	__builtin_memcpy(udp - 8, entry, 12);
	core_put16(udp - (is_ip4 ? 18 : 36), size->length[0]);
	core_put16(udp + 4, size->length[1]);
	if (stamped)
		tx_put_check(udp + 6, csum_add(extra, (uint64_t)flow + size->sum[0]), true);
	else
		core_put16(udp + 6, csum_finish_pair_udp(flow, size->sum[0]));
	if (is_ip4)
		core_put16(udp - 10, csum_finish_pair(core_get16(entry + 14), size->sum[1]));
}

/* Writes one flow each into n <= TX_BURST_MAX frames, which hold the plan's template. */
static inline __attribute__((always_inline)) void tx_patch_run(const struct tx_source *s, struct pio_frame *frames,
							       const unsigned char *entries, uint32_t n,
							       struct tx_at *at, uint64_t time_ns,
							       const enum tx_shape shape)
{
	const bool stamped = tx_shape_is_stamped(shape);
	const bool mix = shape == TX_SHAPE_MIX_4 || shape == TX_SHAPE_MIX_6 || shape == TX_SHAPE_STAMPED_MIX_4 ||
			 shape == TX_SHAPE_STAMPED_MIX_6;
	const bool sizes = mix || shape == TX_SHAPE_SIZES || shape == TX_SHAPE_STAMPED_SIZES;
	const bool ports = shape == TX_SHAPE_PORTS_4 || shape == TX_SHAPE_PORTS_6 || shape == TX_SHAPE_STAMPED_4 ||
			   shape == TX_SHAPE_STAMPED_6;
	const bool ip_sum = shape == TX_SHAPE_MIX_4 || shape == TX_SHAPE_PORTS_4 || shape == TX_SHAPE_STAMPED_4 ||
			    shape == TX_SHAPE_STAMPED_MIX_4;
	const bool is_udp = s->plan->sums[0].is_udp;
	const struct tx_plan *plan = s->plan;
	const uint32_t part = plan->parts[0].at;
	const uint32_t check[2] = {plan->sums[0].at, plan->sums[1].at};
	const uint32_t stride = ports || mix ? 16 : plan->entry;
	const uint32_t l4 = plan->l4;
	/* Copies: in memory, for all the compiler knows, a store into a frame could change them. */
	const uint16_t *cycle = s->cycle + at->size;
	const struct tx_mix_size *mix_sizes = s->sizes, *mix_size = NULL;
	/* A flow's number stands above the time: the place of the next flow is a sum. */
	const uint64_t step = stamp_place(s->number_step, 0), back = stamp_place(s->number_span - s->number_step, 0);
	const uint64_t last = stamp_place(s->number + s->number_span - s->number_step, 0);
	const uint16_t run = (uint16_t)plan->run;
	const uint32_t sequence = at->sequence;
	uint64_t place = stamp_place(at->number, time_ns);
	uint32_t len = plan->sizes[0].len;
	uint64_t extra = 0;

	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *entry = entries + (size_t)i * stride;
		unsigned char *frame = frames[i].data;

		if (sizes) {
			mix_size = &mix_sizes[cycle[i]];
			len = mix_size->len;
		}
		frames[i].len = len;
		if (stamped && sizes)
			tx_restore(plan, mix_size, frame, mix || plan->n_sizes <= TX_FEW_SIZES);
		if (stamped) {
			if (sizes)
				extra = csum_turn(stamp_put(frame + mix_size->stamp, run, place, sequence),
						  mix_size->turn);
			else
				extra = tx_put_stamp(frame, len, l4, run, place, sequence);
			if (!ports && !mix && place >= last)
				place -= back;
			else
				place += step;
		}
		if (mix) {
			tx_put_mix(mix_size, entry, frame + l4, extra, stamped, ip_sum);
		} else if (ports) {
			__builtin_memcpy(frame + part, entry, 12);
			if (stamped)
				tx_put_check(frame + check[0], csum_add(extra, core_get16(entry + 12)), is_udp);
			else
				__builtin_memcpy(frame + check[0], entry + 12, 2);
			if (ip_sum)
				__builtin_memcpy(frame + check[1], entry + 14, 2);
		} else if (shape != TX_SHAPE_FIXED) {
			const struct tx_size *size = &plan->sizes[sizes ? cycle[i] : 0];

			if (sizes)
				tx_put_lengths(plan, size, frame);
			tx_put_flow(plan, entry, frame);
			tx_put_sums(plan, entry, size, frame, extra);
		}
	}
	if (sizes)
		at->size = (at->size + n) % plan->n_cycle;
	at->number = (uint32_t)(place >> STAMP_TIME_BITS);
}

/*
 * Writes the source's next n <= TX_BURST_MAX packets into frames, which hold its template. at: where the source is; the
 * caller's own copy of s->at, so that a loop may keep it in registers. time_ns: when they leave, for stamps; by the
 * clock whose times these carry.
 */
static inline __attribute__((always_inline)) void tx_fill(struct tx_source *s, struct tx_at *at,
							  struct pio_frame *frames, uint32_t n, uint64_t time_ns,
							  const enum tx_shape shape)
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

		tx_patch_run(s, frames + filled, s->entries + flow * plan->entry, run, at, time_ns, shape);
		filled += run;
		flow += run;
		if (flow == n_flows) { /* here a round through the flows ends: all of them have sent as many packets */
			flow = 0;
			at->number = s->number;
			at->sequence++;
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
