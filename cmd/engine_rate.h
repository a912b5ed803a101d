/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_rate: the rate of a running sender, which signals change. Main thread.
 */
#ifndef SQUALL_CMD_ENGINE_RATE_H
#define SQUALL_CMD_ENGINE_RATE_H

#include "engine.h"

/* Packets a second that all paces together allow now; negative: unlimited. */
double engine_pps(const struct engine *en);

/* What was asked for before any change; a replay's own times count, too. */
double engine_requested_pps(const struct engine *en);

/* What the run is to have now. */
double engine_asked_pps(const struct engine *en);

/* steps: what keys and signals asked for since the last look: for all paces that there are, or, said so, for none. */
void engine_change_rate(struct engine *en, int steps);

#endif
