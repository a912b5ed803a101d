/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dashboard: the form of the report that shows a run on the terminal while it goes on. The plan is told before it and
 * the result after it, both as in the text form, so that they stay there. There is one in a process; main thread.
 */
#ifndef SQUALL_TUI_DASHBOARD_H
#define SQUALL_TUI_DASHBOARD_H

#include "lib/report_form.h"

extern const struct report_ops dashboard_ops;

/*
 * Whether this run can be shown: a terminal that can, on standard input and output, in the foreground. Holds on to it
 * until the run's end or dashboard_close(). False, and in why the reason.
 */
bool dashboard_open(char *why, size_t size);
void dashboard_close(void);

/* Gives the terminal back at once, on the way out of the process; for a signal handler, too. */
void dashboard_leave(void);

#endif
