/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_plans: the plans of what a run sends: of each of its streams, or of the one that the options describe. Main
 * thread.
 */
#ifndef SQUALL_CMD_STREAM_PLANS_H
#define SQUALL_CMD_STREAM_PLANS_H

#include "ends.h"
#include "gen/replay.h"
#include "gen/stream_set.h"

struct stream_plans {
	struct replay replay; /* of --mode pcap; else empty */
	struct tx_plan *plans;
	struct ends *ends; /* of each stream: as the run's, with its own addresses. Borrows what the run's holds */
	struct stream_set set;
};

/*
 * Finds the ends of each stream and builds its plan. The run's ends have their link; what is known of it and of the
 * first stream is left in them. warnings: what to mind. stream_plans_free() releases it on every path.
 */
int stream_plans_resolve(struct stream_plans *s, const struct config *cfg, struct ends *ends,
			 struct report_warnings *warnings, struct err *e);
void stream_plans_free(struct stream_plans *s);

/* The only stream's replay; NULL: flows are sent. */
const struct replay *stream_plans_replay(const struct stream_plans *s);

/* Nothing holds the packets back: the user has to agree to this. */
bool stream_plans_unlimited(const struct stream_plans *s);

#endif
