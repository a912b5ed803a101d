/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_walk: the packet headers of lib/core in the kernel. One run makes the frame that it was given, which holds the
 * template or another packet of it, the packet of flow `flow` and size `size`, with `mark` in its payload, or with a
 * stamp where the plan (of one size) has them.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "lib/core/patch.h"

/* Constant while the program is loaded: the verifier then sees fixed offsets, and only the branches that are taken. */
struct tx_plan plan SEC(".rodata.plan");
uint32_t mark_at SEC(".rodata.mark"); /* 0: no mark */

uint64_t flow;
uint64_t mark;
uint64_t time_ns;
uint32_t sequence;
uint32_t size;
unsigned char entry[TX_ENTRY_MAX];

SEC("xdp")
int core_walk(struct xdp_md *ctx)
{
	unsigned char *frame = (unsigned char *)(long)ctx->data;
	const struct tx_size *s = &plan.sizes[size % TX_SIZES_MAX];
	uint64_t extra = 0;

	if (frame + plan.max_len > (unsigned char *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (mark_at) {
		((struct core_u64 *)(void *)(frame + mark_at))->v = mark;
		extra = csum_bytes(frame + mark_at, sizeof(mark), sizeof(mark));
	}
	if (plan.stamped)
		extra = tx_put_stamp(frame, plan.sizes[0].len, plan.l4, (uint16_t)plan.run,
				     stamp_place((uint32_t)flow, time_ns), sequence);
	tx_entry_at(&plan, flow, entry);
	tx_put(&plan, entry, s, frame, extra);
	if (bpf_xdp_adjust_tail(ctx, (int)(s->len - plan.max_len)))
		return XDP_ABORTED;
	return XDP_TX;
}

char LICENSE[] SEC("license") = "Apache-2.0";
