/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate: the run before the run that --calibrate asks for: packets so far apart that none waits. Main thread. */
#ifndef SQUALL_CMD_CALIBRATE_H
#define SQUALL_CMD_CALIBRATE_H

#include "engine.h"

/* Relations between options. Adds to *p. */
void calibrate_check(const struct config *cfg, struct problems *p);

/* What that run is asked to do. *out is a copy that borrows what cfg borrows. */
void calibrate_config(const struct config *cfg, struct config *out);

/* After it: EXIT_RUN when no packet came. */
int calibrate_result(const struct engine *en, struct report_floor *out, struct err *e);

#endif
