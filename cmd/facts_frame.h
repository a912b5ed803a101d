/* SPDX-License-Identifier: Apache-2.0 */
/* facts_frame: what a run's or a stream's options put into its packets beside addresses and sizes, in words. */
#ifndef SQUALL_CMD_FACTS_FRAME_H
#define SQUALL_CMD_FACTS_FRAME_H

#include "lib/config.h"
#include "lib/report.h"

/* A fact for each kind of what is not as without any option: tags, labels, tunnel, IP fields, payload, what varies. */
void facts_frame(struct report_plan *facts, const struct config *cfg);

/* All of them in one line, each behind a comma; "" where there are none. Returns buf. */
char *facts_frame_line(const struct config *cfg, char *buf, size_t size);

#endif
