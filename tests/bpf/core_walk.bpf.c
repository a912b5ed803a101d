/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_walk: the packet headers of lib/core in the kernel. One run writes flow `flow` of the plan, and `mark` into the
 * first bytes of the payload, into the frame that the run was given.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "lib/core/patch.h"

/* The layout is constant while the program is loaded: the verifier then sees fixed offsets. */
const volatile uint32_t family = TX_UDP4;
const volatile uint32_t l3 = 14;

uint64_t flow;
uint64_t mark;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct tx_plan);
} plans SEC(".maps");

SEC("xdp")
int core_walk(struct xdp_md *ctx)
{
	unsigned char *frame = (unsigned char *)(long)ctx->data;
	unsigned char *end = (unsigned char *)(long)ctx->data_end;
	uint32_t hlen = family == TX_UDP4 ? IP4_HLEN : IP6_HLEN;
	uint32_t zero = 0;
	const struct tx_plan *plan = bpf_map_lookup_elem(&plans, &zero);
	unsigned char *payload = frame + l3 + hlen + UDP_HLEN;
	struct tx_flow f;
	uint64_t extra;

	if (!plan || payload + sizeof(mark) > end)
		return XDP_ABORTED;
	((struct core_u64 *)(void *)payload)->v = mark;
	extra = csum_bytes(payload, sizeof(mark), sizeof(mark));
	tx_flow_at(plan, flow, &f);
	if (family == TX_UDP4)
		tx_patch_udp4(frame + l3, &f, extra);
	else
		tx_patch_udp6(frame + l3, &f, extra);
	return XDP_TX;
}

char LICENSE[] SEC("license") = "Apache-2.0";
