/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_stream: a thread that reads a capture ahead of its senders, pass after pass, and deals the packets to their
 * rings: packet k of the replay to sender k mod n. Main thread, but where another is named.
 */
#ifndef SQUALL_GEN_REPLAY_STREAM_H
#define SQUALL_GEN_REPLAY_STREAM_H

#include "lib/worker.h"
#include "replay_read.h"
#include "replay_ring.h"

/*
 * Memory of all rings together: what the capture could have taken (--pcap-preload) up to the most; a sender has the
 * least in any case.
 */
#define REPLAY_AHEAD_MAX   (64UL << 20)
#define REPLAY_AHEAD_LEAST (1UL << 20)

struct replay_stream {
	struct replay_ring *rings;
	unsigned n;
	uint64_t total; /* packets to deal; 0: no end */
	struct replay_reader reader;
	struct worker thread;
	_Atomic bool stop;
	_Atomic bool full; /* the rings have been full once, or all has been read */
	_Atomic bool failed;
	struct err err; /* written before failed is set */
};

/* Bytes that n senders' rings have together. */
size_t replay_stream_bytes(const struct replay *r, unsigned n);

/* Rings for n senders. replay is streamed, and outlives it. -ENOMEM. replay_stream_free() releases it on every path. */
int replay_stream_init(struct replay_stream *s, const struct replay *replay, unsigned n, struct err *e);

/* Begins to read. Errors of replay_reader_open() and worker_start(). */
int replay_stream_start(struct replay_stream *s, struct err *e);

/* Senders can begin: there is as much ahead as there can be. */
bool replay_stream_is_ready(struct replay_stream *s);

/* True, and *e says why: it cannot read on. What was read before is still sent. */
bool replay_stream_has_failed(struct replay_stream *s, struct err *e);

void replay_stream_free(struct replay_stream *s);

#endif
