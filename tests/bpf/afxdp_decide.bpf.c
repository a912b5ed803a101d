/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp_decide: what lib/pio/bpf/decide.h decides, as the program's answer: XDP_TX takes the packet. */
#include "lib/pio/bpf/decide.h"

const volatile struct rules rules SEC(".rodata.rules");

SEC("xdp.frags")
int afxdp_decide(struct xdp_md *ctx)
{
	return decide_takes(&rules, ctx) ? XDP_TX : XDP_PASS;
}

char LICENSE[] SEC("license") = "Apache-2.0";
