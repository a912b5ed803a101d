/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp: a receiver's program that asks for no times of arrival. afxdp_timed.bpf.c is the other. */
#include "lib/pio/bpf/hand_over.h"

/* For packets of several buffers too, where the kernel has them: a flag that is set when it is loaded. */
SEC("xdp")
int squall_afxdp(struct xdp_md *ctx)
{
	return hand_over(ctx);
}

char LICENSE[] SEC("license") = "Apache-2.0";
