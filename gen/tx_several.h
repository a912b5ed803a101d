/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_several: the loop of a sender of several streams: merges them by departure, writes each packet into a frame that
 * may have held another stream's, and hands them over in clumps.
 */
#ifndef SQUALL_GEN_TX_SEVERAL_H
#define SQUALL_GEN_TX_SEVERAL_H

#include "tx_loop.h"

#define TX_HOLDS_NOTHING 0xffU /* in tx_worker.holds; sources are fewer */

/* The sending of a worker that has a merge, until there is nothing more to send. Queue's thread. */
void tx_several_run(struct tx_worker *w);

/* Writes the next packet of a source; time_ns: as tx_fill(). Whoever sends from the worker. */
void tx_several_fill(struct tx_worker *w, unsigned source, struct pio_frame *f, uint64_t time_ns);

#endif
