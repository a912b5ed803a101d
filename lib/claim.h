/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim: who may change a thing of this network namespace. One at a time, so that nobody takes another's passing
 * setting for what the user wants to have back.
 *
 * A claim is a listening socket whose abstract name nobody else in the namespace can have: it is held by whoever has
 * the descriptor open, and ends with the last of them, however that ends. There is no file to be left behind.
 */
#ifndef SQUALL_CLAIM_H
#define SQUALL_CLAIM_H

#include <sys/types.h>

/*
 * Returns the claim, a descriptor (O_CLOEXEC) to hold and to close. Somebody else's claim is waited for at most
 * timeout_ms: who was killed still holds it for as long as his settings are being restored. -EBUSY: it is still held,
 * by *holder (0: a process that is not to be seen from here). Else -errno. name: of at most 64 characters.
 */
int claim_take(const char *name, unsigned timeout_ms, pid_t *holder);

#endif
