/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts: the plan in words: what will be sent and received, where, how fast, by what means, and what to mind.
 */
#ifndef SQUALL_CMD_FACTS_H
#define SQUALL_CMD_FACTS_H

#include "ends.h"
#include "lib/pio/pio.h"
#include "lib/report.h"
#include "stream_plans.h"

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

/* How long the run lasts; without a duration, and unless something else ends it, until it is stopped. */
void facts_duration(struct report_plan *facts, const struct config *cfg, bool ends_otherwise);

#endif
