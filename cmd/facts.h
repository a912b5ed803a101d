/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts: the plan in words: what will be sent and received, where, how fast, by what means, and what to mind.
 */
#ifndef SQUALL_CMD_FACTS_H
#define SQUALL_CMD_FACTS_H

#include "ends.h"
#include "lib/core/plan.h"
#include "lib/pio/pio.h"
#include "lib/report.h"
#include "stream_plans.h"

/* Ethernet header and two VLAN tags: what a frame has besides the bytes that the MTU counts. */
#define FACTS_L2_MAX (ETH_HEADER_LEN + 2 * VLAN_TAG_LEN)

/* EXIT_USAGE when the frame is larger than the link's MTU allows; the error says the largest --packet-size. */
int facts_check_mtu(const struct ends *ends, const struct tx_plan *plan, struct err *e);

/* An interface of the run, and its port; NULL: not opened. */
struct facts_port {
	const struct ends *ends;
	const struct pio_port *port;
};

/*
 * rx: the receiver's interface where that is another than the sender's, else NULL. sent: NULL when nothing is;
 * filter: NULL when nothing is received.
 */
void facts_fill(struct report_plan *facts, const struct config *cfg, const struct facts_port *tx,
		const struct facts_port *rx, const struct stream_plans *sent, const struct filter *filter);

#endif
