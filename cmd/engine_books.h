/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_books: what the schedules of a run asked for, and what was sent of it. After the workers have ended and
 * engine_sample() has filled en->now. Main thread.
 */
#ifndef SQUALL_CMD_ENGINE_BOOKS_H
#define SQUALL_CMD_ENGINE_BOOKS_H

#include "engine.h"

/* What the schedules asked for until the end of the run, and was not handed to the device. */
uint64_t books_unsent(const struct engine *en);

/* In a run of so many packets a schedule grows longer when a sender falls behind: by so many positions. */
uint64_t books_stretched(const struct engine *en);

/*
 * The time that the packets took: from the first departure until sending ended, and no less than the schedule gives
 * the packets that were sent, so that N packets at r a second are N / r seconds and not (N - 1) / r.
 */
uint64_t books_tx_time(const struct engine *en);

/* Of one stream of a list. */
void books_stream(const struct engine *en, unsigned stream, struct report_stream *out);

#endif
