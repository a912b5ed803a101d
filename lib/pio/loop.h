/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: a wire in memory. What leaves transmit queue i arrives in the receive queues of the same port, spread by flow.
 * A full wire holds the sender and drops nothing. With no receive queue it is a sink, as with the option `sink`.
 *
 * Behind the colon stand options, separated by commas: sink, queues=N, rate=PPS, delay=TIME, loss=P%, duplicate=P%,
 * reorder=P%, seed=N, ring=SLOTS, fail=QUEUE@PACKETS, rx-fail=QUEUE@PACKETS.
 *
 * The impairments, per transmit queue, in this order: loss; duplication (both copies leave one after the other, and
 * are not held); reordering: a frame is held until 1 to 16 later frames of its flow were delivered, or until the queue
 * is drained, and counts as reordered if it then leaves behind at least one later frame. What happens to a packet
 * depends on seed, queue index and the packets before it, never on time. A held frame is queued and not yet completed;
 * a lost one is completed: the device took it.
 *
 * With `rate` the wire takes one frame every 1/rate, together for all queues; the sender is held when the wire is busy
 * for longer than a millisecond (and one frame) ahead. With `delay` a frame arrives that much later.
 *
 * With `fail=2@1000` transmit queue 2 takes exactly 1000 packets and is then dead for good, to see what a program does
 * about it; `rx-fail` is the same for receive queues, whose wires then fill and hold the senders. Both may be given for
 * several queues, the first of which is number 0.
 */
#ifndef SQUALL_PIO_LOOP_H
#define SQUALL_PIO_LOOP_H

#include "pio.h"

extern const struct pio_backend pio_loop;

#endif
