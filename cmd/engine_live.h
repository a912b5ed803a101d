/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_live: shows the run to a report that follows it, and takes what is asked for there. Main thread.
 */
#ifndef SQUALL_CMD_ENGINE_LIVE_H
#define SQUALL_CMD_ENGINE_LIVE_H

#include "engine.h"

/* At every look at the run; costs next to nothing where the report is not a live one. now_ns: monotonic. */
struct report_wish engine_follow(struct engine *en, struct report *report, uint64_t now_ns);

/* The run was told to end: shown before its end is waited for. */
void engine_show_stopping(struct engine *en, struct report *report);

#endif
