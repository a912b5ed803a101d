/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits: whether the tool itself, or the device, was what limited a run: one plain sentence each, and none when it was
 * not so. Pure.
 */
#ifndef SQUALL_LIMITS_H
#define SQUALL_LIMITS_H

#include "host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads' time: on a processor, and ready to run while others had it. */
struct limits_time {
	uint64_t ran_ns, waited_ns;
};

/* A receive queue. Looks are counted in windows of time: full ones are those in which (almost) every look found
 * packets. */
struct limits_rx {
	unsigned queue;
	uint64_t packets, dropped; /* dropped before us: by the ring or for want of a frame */
	uint64_t windows, full;    /* in which packets came */
	struct limits_time time;   /* its thread's */
};

/* A sentence about the queue, or false: its thread kept up, with time to spare. */
bool limits_rx_tell(const struct limits_rx *q, char *buf, size_t size);

struct limits_tx {
	uint64_t due, unsent;      /* packets of the schedule */
	uint64_t calls, ring_full; /* transmit calls that took something, and that found the ring full */
	struct limits_time time;   /* all senders' */
};

/* A sentence about the senders, or false: everything left that was due. */
bool limits_tx_tell(const struct limits_tx *t, char *buf, size_t size);

/* What counters of the device tell: packets that it could not store, and pause frames. */
enum limits_counter { LIMITS_NO_ROOM, LIMITS_PAUSE };

/* A sentence about the one that grew most, of those that `grown` lists; or false: none did. */
bool limits_counter_tell(enum limits_counter what, const struct host_drops *grown, char *buf, size_t size);

#endif
