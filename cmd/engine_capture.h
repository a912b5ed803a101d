/* SPDX-License-Identifier: Apache-2.0 */
/* engine_capture: the run's part of --capture. Main thread. */
#ifndef SQUALL_CMD_ENGINE_CAPTURE_H
#define SQUALL_CMD_ENGINE_CAPTURE_H

#include "engine.h"

/* Opens the file and gives each receiver its ring; nothing without --capture. Errors as of capture_file_open(). */
int engine_capture_init(struct engine *en, struct err *e);
void engine_capture_free(struct engine *en);

/* Before the receivers start, and after they have ended. */
int engine_capture_start(struct engine *en, struct err *e);
void engine_capture_stop(struct engine *en);

/* What became of it: into the report, with a warning where it is not whole; en->err when the file failed. */
void engine_capture_end(struct engine *en, struct report_end *end);

#endif
