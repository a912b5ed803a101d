/* SPDX-License-Identifier: Apache-2.0 */
/* facts_send: the packets that are generated, in words: pattern, sizes, addresses, what varies, rate. */
#ifndef SQUALL_CMD_FACTS_SEND_H
#define SQUALL_CMD_FACTS_SEND_H

#include "ends.h"
#include "lib/core/plan.h"
#include "lib/report.h"

/* What is sent and how large, in words. Returns buf. */
char *facts_pattern(const struct config *cfg, const struct tx_plan *plan, char *buf, size_t size);

/* How many packets, and for how long. */
void facts_length(struct report_plan *facts, const struct config *cfg);

/* Prefixes of which one flow, of a run or a stream, has one address only. */
void facts_warn_one_flow(struct report_warnings *w, const struct config *cfg);

/* What was said of a run or a stream that its packets have no place for. */
void facts_warn_no_effect(struct report_warnings *w, const struct config *cfg);
/* Of a tunnel whose far end may drop what comes. Main thread. */
void facts_warn_tunnel(struct report_warnings *w, const struct config *cfg);

void facts_fill_send(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		     const struct tx_plan *plan);

#endif
