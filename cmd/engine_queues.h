/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_queues: queues that fail for good. The others go on to the end of the run; that it went wrong is said at once
 * and at the end.
 */
#ifndef SQUALL_CMD_ENGINE_QUEUES_H
#define SQUALL_CMD_ENGINE_QUEUES_H

#include "engine.h"

/* Every tick, and after the workers have ended: takes the first failure into en->err. Warns while others go on. */
void engine_check_queues(struct engine *en, bool others_go_on);

/* A pair whose receive queues have all failed: what it still sends would count as lost. */
bool engine_is_deaf(const struct engine *en);

/* At the end: en->err, if it is a queue's, says how many of how many failed. */
void engine_tell_queues(struct engine *en);

#endif
