/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hand_over: hands what the rules take to the AF_XDP socket of the queue it came in on. All else, and what comes in on
 * a queue without a socket, goes on to the kernel untouched.
 */
#ifndef SQUALL_PIO_BPF_HAND_OVER_H
#define SQUALL_PIO_BPF_HAND_OVER_H

#include "lib/pio/bpf/decide.h"

const volatile struct rules rules SEC(".rodata.rules");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1); /* set to the interface's queues before it is loaded */
	__type(key, uint32_t);
	__type(value, uint32_t);
} sockets SEC(".maps");

/* What the program returns: XDP_REDIRECT for a packet that a socket gets, which the kernel hands over afterwards. */
CORE_INLINE int hand_over(struct xdp_md *ctx)
{
	if (!decide_takes(&rules, ctx))
		return XDP_PASS;
	return (int)bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}

#endif
