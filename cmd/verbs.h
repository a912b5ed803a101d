/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs: what squall can be told to do. Each fills *e (EXIT_DONE: all went well, but for what report_failed() knows)
 * and has written its whole report when it returns. Main thread.
 */
#ifndef SQUALL_CMD_VERBS_H
#define SQUALL_CMD_VERBS_H

#include "lib/config.h"
#include "lib/err.h"
#include "lib/report.h"

/* Relations between options, before anything is touched. Adds to *p; settles defaults that depend on other options. */
void traffic_check(struct config *cfg, struct problems *p);

/* send, recv, pair, reflect. */
void traffic_main(const struct config *cfg, struct report *report, struct err *e);

void devices_main(struct report *report, struct err *e);

#endif
