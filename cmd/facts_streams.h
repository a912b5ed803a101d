/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts_streams: a list of streams in words: a fact for each, and what they share.
 */
#ifndef SQUALL_CMD_FACTS_STREAMS_H
#define SQUALL_CMD_FACTS_STREAMS_H

#include "lib/report.h"
#include "stream_plans.h"

void facts_fill_streams(struct report_plan *facts, const struct config *cfg, const struct stream_plans *sent);

#endif
