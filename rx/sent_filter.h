/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sent_filter: the filter that takes what a plan sends, as it leaves or as a reflector sends it back. Cold; pure.
 */
#ifndef SQUALL_RX_SENT_FILTER_H
#define SQUALL_RX_SENT_FILTER_H

#include "lib/core/plan.h"
#include "lib/err.h"
#include "lib/pio/filter.h"

/*
 * By protocol, addresses and ports of the outermost IP header, for all flows of the plan; addresses that vary are taken
 * as the smallest prefix that holds them all, ports as one range. What is no IP packet is taken by its EtherType and
 * its destination MAC, if that stays the same. There is no condition on VLAN tags.
 *
 * both_ways: also what has source and destination (addresses and ports, or MACs) exchanged. A filter cannot tie a
 * source to a destination, so that packets from and to the same side are taken, too.
 *
 * -EINVAL with EXIT_USAGE when the plan's frames have nothing that a filter could tell them by.
 */
int sent_filter_build(const struct tx_plan *plan, bool both_ways, struct filter *out, struct err *e);

#endif
