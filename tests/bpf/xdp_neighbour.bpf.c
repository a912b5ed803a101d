/* SPDX-License-Identifier: Apache-2.0 */
/* xdp_neighbour: another program on the interface, which passes every packet on and counts. It comes late in the order.
 */
#include <linux/bpf.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>
#include <xdp/xdp_helpers.h>

struct {
	__uint(priority, 60);
	__uint(XDP_PASS, 1);
} XDP_RUN_CONFIG(xdp_neighbour);

uint64_t seen;

SEC("xdp")
int xdp_neighbour(struct xdp_md *ctx)
{
	(void)ctx;
	seen++;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Apache-2.0";
