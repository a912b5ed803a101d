/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp_refused: reads a packet without a look at where it ends, which no verifier lets through. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int afxdp_refused(struct xdp_md *ctx)
{
	const unsigned char *data = (const unsigned char *)(long)ctx->data;

	return data[100] ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Apache-2.0";
