/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts_replay: the plan of a replay in words.
 */
#ifndef SQUALL_CMD_FACTS_REPLAY_H
#define SQUALL_CMD_FACTS_REPLAY_H

#include "facts.h"

void facts_fill_replay(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		       const struct tx_plan *plan, const struct replay *replay, const struct pio_port *port);

#endif
