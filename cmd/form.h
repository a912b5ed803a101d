/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form: whether a run is followed on the terminal. Main thread.
 */
#ifndef SQUALL_CMD_FORM_H
#define SQUALL_CMD_FORM_H

#include "lib/config.h"
#include "lib/report.h"

/*
 * Gives the report the dashboard's form where nothing else was asked for and the terminal can show it. Where it cannot
 * the report stays in text; with --start the reason is said.
 */
void form_choose(const struct config *cfg, struct report *report);

/* Gives the terminal back, should the report have ended without that. */
void form_close(void);

#endif
