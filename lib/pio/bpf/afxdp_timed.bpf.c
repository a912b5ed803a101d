/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp_timed: the same as afxdp.bpf.c, and each packet that a socket gets has its time of arrival in front of it. A
 * program of its own, since the kernel looks for the call that moves metadata before it takes out what is never run,
 * and lets no program with one join an old dispatcher of libxdp.
 */
#include "lib/pio/bpf/hand_over.h"
#include "lib/pio/bpf/times.h"

const volatile uint64_t times_key SEC(".rodata.times");

/* Packets that got none. Counted before the packet is in the ring, so that who finds it there sees it counted. */
uint64_t untimed;

/*
 * Just so much metadata, whatever a program that ran before has left: it is read from the packet's start backwards.
 * Nobody but the socket gets it; a packet that the kernel goes on with keeps its own, by which GRO tells packets apart.
 */
CORE_INLINE bool note_time(struct xdp_md *ctx)
{
	long have = (long)ctx->data - (long)ctx->data_meta;
	struct packet_time *t;

	if (bpf_xdp_adjust_meta(ctx, (int)have - (int)sizeof(*t)))
		return false;
	t = (struct packet_time *)(long)ctx->data_meta;
	if ((unsigned char *)(t + 1) > (unsigned char *)(long)ctx->data) /* never, and the verifier wants to see it */
		return false;
	t->ns = bpf_ktime_get_ns();
	t->proof = t->ns ^ times_key;
	return true;
}

SEC("xdp")
int squall_afxdp_timed(struct xdp_md *ctx)
{
	int action = hand_over(ctx);

	if (action == XDP_REDIRECT && !note_time(ctx))
		__sync_fetch_and_add(&untimed, 1);
	return action;
}

char LICENSE[] SEC("license") = "Apache-2.0";
