/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_end: adds up what the workers counted: samples while they run, the end record after them.
 */
#ifndef SQUALL_CMD_ENGINE_END_H
#define SQUALL_CMD_ENGINE_END_H

#include "engine.h"

/* Any moment. now_ns: monotonic. */
void engine_sample(const struct engine *en, uint64_t now_ns, struct report_sample *out);

/* After the workers have ended. Judges the run into en->err, and writes the end record. */
void engine_end(struct engine *en, struct report *report);

#endif
