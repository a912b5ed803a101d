/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_read: the packets of a replay from the file itself, one after the other, pass after pass: for a capture that
 * does not fit into memory. Each pass is of the packets that were there when the capture was loaded; a file that has
 * become another one is an error. One thread.
 */
#ifndef SQUALL_GEN_REPLAY_READ_H
#define SQUALL_GEN_REPLAY_READ_H

#include "replay.h"

struct replay_reader {
	const struct replay *replay;
	struct pcap_file *file;
	struct capture_reader reader;
	uint64_t n;       /* packets of this pass so far */
	uint64_t pass_ns; /* when it began, after the start */
};

/* replay is of a streamed capture, and outlives it. EXIT_RUN. replay_reader_close() releases it on every path. */
int replay_reader_open(struct replay_reader *r, const struct replay *replay, struct err *e);
void replay_reader_close(struct replay_reader *r);

/*
 * *f is the next packet, at_ns its departure after the start with original timing. -errno with EXIT_RUN: the file
 * cannot be read on, or has changed since it was loaded; the error names the packet.
 */
int replay_reader_next(struct replay_reader *r, struct capture_frame *f, struct err *e);

#endif
