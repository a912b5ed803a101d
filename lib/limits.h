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

/* A receive queue. Looks are counted in windows of time: full ones are those in which (almost) every look found
 * packets. */
struct limits_rx {
	unsigned queue;
	uint64_t packets, dropped; /* dropped before us: by the ring or for want of a frame */
	uint64_t windows, full;    /* in which packets came */
};

/* A sentence about the queue, or false: its thread kept up, with time to spare. */
bool limits_rx_tell(const struct limits_rx *q, char *buf, size_t size);

struct limits_tx {
	uint64_t due, unsent;      /* packets of the schedule */
	uint64_t calls, ring_full; /* transmit calls that took something, and that found the ring full */
};

/* A sentence about the senders, or false: everything left that was due. */
bool limits_tx_tell(const struct limits_tx *t, char *buf, size_t size);

/* Counters that grew: of packets that the device could not store, and of pause frames. False: none of them did. */
bool limits_device_tell(const struct host_drops *drops, char *buf, size_t size);
bool limits_pause_tell(const struct host_drops *pauses, char *buf, size_t size);

#endif
