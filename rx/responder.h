/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder: a socket of its own on an interface, and a thread that answers there what respond.h answers. The packets
 * that a receiver takes are not touched by it: it sees what the kernel sees. Where a backend keeps packets from the
 * kernel, the receiving threads offer what they take.
 */
#ifndef SQUALL_RX_RESPONDER_H
#define SQUALL_RX_RESPONDER_H

#include "lib/err.h"
#include "lib/pio/pio.h"
#include "respond.h"

#include <stdatomic.h>

struct responder;

/*
 * For the interface `ifindex` (name: for messages). Joins the groups in which neighbours ask for the IPv6 addresses, as
 * long as it is open. set is copied. EXIT_CAPABILITY without the right to packet sockets; EXIT_RUN.
 */
int responder_open(struct responder **out, const struct respond_set *set, int ifindex, const char *name, struct err *e);
void responder_close(struct responder *r); /* NULL is passed over */

/* The thread: until *stop. */
void responder_run(struct responder *r, const _Atomic bool *stop);

/*
 * True when the frame is a request for one of the addresses: it is answered with `answers`, else it is told only. Any
 * thread; the frame is not changed.
 */
bool responder_takes(struct responder *r, const struct pio_frame *f, bool answers);

void responder_counts(const struct responder *r, struct respond_counts *out);

#endif
