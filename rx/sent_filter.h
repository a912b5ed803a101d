/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sent_filter: the filter that takes what plans send, as it leaves or as a reflector sends it back. Cold; pure.
 */
#ifndef SQUALL_RX_SENT_FILTER_H
#define SQUALL_RX_SENT_FILTER_H

#include "lib/core/plan.h"
#include "lib/err.h"
#include "lib/pio/filter.h"

/*
 * Of n plans, 1 or more. By protocol, addresses and ports of the outermost IP header, for all flows; addresses that
 * vary are taken as the smallest prefix that holds them all, ports as one range; ports count only if all plans have
 * them. What is no IP packet is taken by its EtherType and its destination MAC, if that stays the same. There is no
 * condition on VLAN tags.
 *
 * both_ways: also what has source and destination (addresses and ports, or MACs) exchanged. A filter cannot tie a
 * source to a destination: packets from and to the same side, or from one plan's side to another's, are taken, too.
 *
 * -EINVAL and -ENOSPC with EXIT_USAGE when one filter cannot tell them: IP packets and others, or too many addresses.
 */
int sent_filter_build(const struct tx_plan *plans, unsigned n, bool both_ways, struct filter *out, struct err *e);

#endif
