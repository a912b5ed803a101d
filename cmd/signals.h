/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals: INT, TERM and HUP (unless it came ignored) ask a run to stop; a second one leaves at once with 130, unless
 * it is the same within a tenth of a second. A closed pipe and a file at its limit are no signals here but errors of
 * the write. USR1 and USR2 ask for a faster and a slower rate; who sends nothing passes over them.
 */
#ifndef SQUALL_CMD_SIGNALS_H
#define SQUALL_CMD_SIGNALS_H

#include <stdbool.h>

/* Main thread, before any other exists. */
void signals_install(void);

/* The number of the signal that asked to stop, 0: none yet. Written by the handler; for waits that poll it. */
extern volatile int signals_stop;

/*
 * From here on a stop interrupts no write: a report whose reader is slow is whole at last, or a second signal leaves
 * it. Until then it ends what waits for a pipe or an answer. Main thread.
 */
void signals_let_writes_finish(void);

/* Called before a second signal ends the process, in its handler. NULL: nobody. Main thread. */
void signals_before_leaving(void (*fn)(void));

/* USR1 less USR2 since the last call. Main thread. */
int signals_rate_steps(void);

/* Sleeps, at most until a signal to stop comes. Main thread. */
void signals_sleep(unsigned long long ns);

/* Waits until fd has something to read, or has ended. False when a signal asked to stop. Main thread. */
bool signals_wait_input(int fd);

#endif
