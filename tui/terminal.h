/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: takes the terminal and gives it back as it was: at the end, before a stop (Ctrl-Z), and on the way out by a
 * signal or abort(). What only SIGKILL can do is leave it as it is then (reset(1) puts that right).
 *
 * There is one terminal in a process: the state is this file's. Main thread, but for terminal_leave().
 */
#ifndef SQUALL_TUI_TERMINAL_H
#define SQUALL_TUI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The terminal on standard input and output, opened once more so that writing to it never waits. False when there is
 * none that can be had now, with the reason in why.
 */
bool terminal_open(char *why, size_t size);
void terminal_close(void);

/* For writing and reading without waiting. */
int terminal_fd(void);

/* The standard error is this terminal, too. */
bool terminal_has_stderr(void);

/* This process may use it now: it is not in the background. */
bool terminal_is_ours(void);

/* Keys come at once and are not echoed; signals for stopping and ending, and faults, are watched for. -errno. */
int terminal_enter(void);

/* What is written as it is given back: the screen's to know. Longer ones are not kept. */
#define TERMINAL_LEAVE_MAX 256
void terminal_set_leave(const char *text, size_t len);

/*
 * Gives it back; does nothing when it was not taken. Async-signal-safe. A terminal that takes nothing is waited for
 * 200 ms and then loses what it had not shown.
 */
void terminal_leave(void);

/* Called first of all by terminal_leave(), async-signal-safe as well. */
void terminal_on_leave(void (*fn)(void));

/* Somebody asked to stop (Ctrl-Z): gives it back and stops; returns when told to go on. False: nobody asked. */
bool terminal_stop_if_asked(void);

/* The process was stopped and told to go on without being asked before: others may have used the terminal. */
bool terminal_was_stopped(void);

/* What it says of itself; 24 by 80 where it says nothing. */
void terminal_size(unsigned *rows, unsigned *cols);

#endif
