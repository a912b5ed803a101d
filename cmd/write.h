/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write: the frames of a run in a capture file instead of on the wire: the same loop sends them to a queue that writes
 * a file. Main thread.
 */
#ifndef SQUALL_CMD_WRITE_H
#define SQUALL_CMD_WRITE_H

#include "gen/stream_set.h"
#include "lib/config.h"
#include "lib/err.h"

/* How many frames are written when no --count says. */
#define WRITE_FRAMES 1000U

/*
 * Writes the first frames of the set (cfg->count, or WRITE_FRAMES), to cfg->write_file, "-" for the standard output;
 * their times are those of the schedules, from 0 on, and their order that of one queue. Behind the end of a duration
 * that was given there are none. Sets *written. EXIT_RUN when
 * the file cannot be written; EXIT_USAGE where streams have limits beside others that have none: nobody knows their
 * order.
 */
int write_frames(const struct config *cfg, const struct stream_set *set, uint64_t *written, struct err *e);

#endif
