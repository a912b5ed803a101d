/* SPDX-License-Identifier: Apache-2.0 */
/* engine_limits: says at the end of a run when the tool itself, or the device, was its limit. Main thread. */
#ifndef SQUALL_CMD_ENGINE_LIMITS_H
#define SQUALL_CMD_ENGINE_LIMITS_H

#include "engine.h"

/* Adds a warning for each; end has its sample, what was not sent, and what the devices lost. */
void engine_limits_tell(struct engine *en, const struct report_end *end);

#endif
