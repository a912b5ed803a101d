/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp: hands what the rules take to the AF_XDP socket of the queue it came in on. All else, and what comes in on a
 * queue without a socket, goes on to the kernel untouched.
 */
#include "lib/pio/bpf/decide.h"

const volatile struct rules rules SEC(".rodata.rules");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1); /* set to the interface's queues before it is loaded */
	__type(key, uint32_t);
	__type(value, uint32_t);
} sockets SEC(".maps");

/* For packets of several buffers too, where the kernel has them: a flag that is set when it is loaded. */
SEC("xdp")
int squall_afxdp(struct xdp_md *ctx)
{
	if (!decide_takes(&rules, ctx))
		return XDP_PASS;
	return (int)bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "Apache-2.0";
