/* SPDX-License-Identifier: Apache-2.0 */
/* engine_respond: the run's part of --respond. Main thread. */
#ifndef SQUALL_CMD_ENGINE_RESPOND_H
#define SQUALL_CMD_ENGINE_RESPOND_H

#include "engine.h"

/* Between init and run: the receivers of the run work with it. It must outlive the run. NULL is passed over. */
void engine_set_responder(struct engine *en, struct responder *r);

/* Before the receivers start. The thread ends with them. */
int engine_respond_start(struct engine *en, struct err *e);

#endif
