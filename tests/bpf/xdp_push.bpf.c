/* SPDX-License-Identifier: Apache-2.0 */
/* xdp_push: sends frames out of an interface, lengthened at the front and with metadata before them. */
#include <linux/bpf.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>

uint32_t ifindex, longer_by, metadata; /* bytes */

SEC("xdp")
int xdp_push(struct xdp_md *ctx)
{
	unsigned char *at;

	if (bpf_xdp_adjust_head(ctx, -(int)longer_by) || bpf_xdp_adjust_meta(ctx, -(int)metadata))
		return XDP_DROP;
	at = (unsigned char *)(long)ctx->data_meta;
	for (unsigned i = 0; i < 32 && at + 1 <= (unsigned char *)(long)ctx->data; i++)
		*at++ = 0xff;
	return (int)bpf_redirect(ifindex, 0);
}

char LICENSE[] SEC("license") = "Apache-2.0";
