/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore: puts back what was changed on the machine, however this process ends.
 *
 * A small process of its own waits for the end of this one, by whatever cause, SIGKILL included, and then undoes every
 * step, the last one first. It is a copy of this process at the moment of restore_arm(): what undo functions and their
 * arguments need has to be there by then. It holds no file of this process but those that a step names, so that
 * sockets and BPF links go away with their owner. Signals of the terminal do not reach it.
 *
 * Main thread, before other threads start and after they ended.
 */
#ifndef SQUALL_RESTORE_H
#define SQUALL_RESTORE_H

#include "err.h"

#define RESTORE_STEPS_MAX 16

struct restore;

/* -ENOMEM. */
int restore_create(struct restore **out, struct err *e);

/*
 * A step that is not yet taken: undo(arg) is called in the watching process only, without memory allocation, and must
 * do no harm when the step was in the end not taken. fd: a file that undo needs, -1: none; it stays the caller's.
 * -E2BIG.
 */
int restore_add(struct restore *r, void (*undo)(void *arg), void *arg, int fd, struct err *e);

/* Starts the watching process. Only after it may the steps be taken. Without a step it does nothing. EXIT_RUN. */
int restore_arm(struct restore *r, struct err *e);

/* Has everything undone, waits for it, and frees r, which may be NULL. */
void restore_end(struct restore *r);

#endif
