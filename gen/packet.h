/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet: the headers and the payload that the options ask for, put into a frame. Cold; main thread.
 */
#ifndef SQUALL_GEN_PACKET_H
#define SQUALL_GEN_PACKET_H

#include "frame.h"
#include "plan_build.h"

/* What can be judged of header and payload options. Adds to *p. */
void packet_check(const struct config *cfg, struct problems *p);

/*
 * All headers; cfg has passed packet_check(). dst: the first destination; not looked at in raw mode.
 * Returns the place of a tunnel's outer source port (tunnel.h), 0: there is none.
 */
uint32_t packet_put_headers(struct frame *f, const struct config *cfg, const struct gen_ends *ends,
			    const struct ip *dst);

/* The payload, up to a frame of max_len bytes. EXIT_USAGE when a file cannot be read. */
int packet_put_payload(struct frame *f, const struct config *cfg, uint32_t max_len, struct err *e);

/* The headers alone, with addresses of nobody: *f is good for reading until the next call. */
void packet_outline(const struct config *cfg, struct frame *f);

/* How long the headers are, and where what follows the last tag begins. */
void packet_measure(const struct config *cfg, uint32_t *l3, uint32_t *headers);

#endif
