/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_replay: a run that replays a capture: the thread that reads one ahead that does not fit into memory, and what
 * the report says of it.
 */
#ifndef SQUALL_CMD_ENGINE_REPLAY_H
#define SQUALL_CMD_ENGINE_REPLAY_H

#include "engine.h"

/* The rings of a streamed replay; nothing for others. -ENOMEM. */
int engine_replay_init(struct engine *en, struct err *e);
/* Of sender q; NULL: the replay is in memory. */
struct replay_ring *engine_replay_ring(struct engine *en, unsigned q);
/* Begins to read, and waits until there is something ahead of every sender, or a signal comes. */
void engine_replay_start(struct engine *en);
/* Every tick, and after the senders have ended: a file that cannot be read on ends the run. */
void engine_replay_check(struct engine *en);

/* After the senders have ended. */
void engine_replay_counts(const struct engine *en, struct pcap_counts *out);
void engine_replay_remark(struct engine *en);
/* By how much a replay at the capture's own times was put off, since it could not keep up. */
uint64_t engine_replay_shifted_ns(const struct engine *en);

#endif
