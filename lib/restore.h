/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore: puts back what was changed on the machine, however this process ends.
 *
 * A small process of its own waits for the end of this one, by whatever cause, SIGKILL included, and then undoes every
 * step, the last one first. It is a copy of this process at the moment of restore_arm(): what undo functions and their
 * arguments need has to be there by then. It holds no file of this process but those that a step names, and no mapping
 * of one, so that sockets and BPF links go away with their owner. Signals of the terminal do not reach it, and none but
 * SIGKILL ends it. It is called "sq-restore", so that `pkill -9 squall` does not mean it too. It is a child of this
 * process, but nobody needs to care: it is waited for by its number, ends when it is told to, and may have been waited
 * for by others.
 *
 * Being a copy, it needs memory of its own for what is pinned at that moment (a UMEM): such is marked MADV_DONTFORK.
 *
 * A process that was forked from this one after restore_arm() and does not exec counts as this one when this one is
 * killed: the watching process then waits for its end, too.
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
 * A step that is not yet taken: undo(arg) is called in the watching process only, and must do no harm when the step was
 * in the end not taken. It sees arg as it was at restore_arm(), or as it is now in shared anonymous memory; no other
 * thread is there. fd: a file that undo needs, -1: none; it stays the caller's.
 * undo NULL: the file is only to stay open until every later step is undone. -E2BIG, or -EBUSY after restore_arm().
 */
int restore_add(struct restore *r, void (*undo)(void *arg), void *arg, int fd, struct err *e);

/*
 * Starts the watching process; when this returns 0 it watches and has closed what it must not hold. Only after it may
 * the steps be taken. Without a step it does nothing. EXIT_RUN.
 */
int restore_arm(struct restore *r, struct err *e);

/* Has everything undone, waits for it, and frees r, which may be NULL. */
void restore_end(struct restore *r);

#endif
