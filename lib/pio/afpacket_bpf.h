/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afpacket_bpf: a filter as classic BPF, for a packet socket (the kernel has taken the outer VLAN tag out of the data
 * and keeps it beside the packet).
 *
 * It lets through everything that filter_matches() accepts and a little more: what classic BPF cannot say in a few
 * instructions (IPv6 extension headers, more tags than one in the data) is left to filter_matches(). Pure.
 */
#ifndef SQUALL_PIO_AFPACKET_BPF_H
#define SQUALL_PIO_AFPACKET_BPF_H

#include "filter.h"

#include <linux/filter.h>

/* Per condition at most an IPv6 prefix: four words of load, mask, compare, and a jump out; and the common part. */
#define AFPACKET_BPF_MAX (FILTER_MATCHES_MAX * 13 + 80)

/* Returns how many instructions were written to out[AFPACKET_BPF_MAX]. */
unsigned afpacket_bpf_compile(const struct filter *f, struct sock_filter *out);

#endif
