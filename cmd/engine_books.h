/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_books: what the schedules of a run asked for, and what was sent of it. Main thread; but for books_sent_by()
 * and books_sent() after the workers have ended and engine_sample() has filled en->now.
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

/* Packets of a stream that one sender handed to the device so far; at any time, of workers that are set up. */
uint64_t books_sent_by(const struct engine *en, unsigned sender, unsigned stream);

/* The same of all senders, with their bytes; of a list of streams. */
void books_sent(const struct engine *en, unsigned stream, struct report_sent *out);

/* What is known of it at the end. */
void books_stream(const struct engine *en, unsigned stream, struct report_stream *out);

#endif
