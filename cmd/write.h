/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write: the frames of a run in a capture file instead of on the wire: the same loop sends them to a queue that writes
 * a file. Main thread.
 */
#ifndef SQUALL_CMD_WRITE_H
#define SQUALL_CMD_WRITE_H

#include "gen/replay.h"
#include "lib/config.h"
#include "lib/core/plan.h"
#include "lib/err.h"

/* How many frames are written when no --count says. */
#define WRITE_FRAMES 1000U

/*
 * Writes the first frames of the plan (cfg->count, or WRITE_FRAMES), or of a replay, to cfg->write_file, "-" for the
 * standard output; their times are those of the schedule, from 0 on. Sets *written. EXIT_RUN when the file cannot be
 * written.
 */
int write_frames(const struct config *cfg, const struct tx_plan *plan, const struct replay *replay, uint64_t *written,
		 struct err *e);

#endif
