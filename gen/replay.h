/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: a capture as a source of packets: which frame is the next one of a queue, and when it departs.
 *
 * The capture is played in passes. Packet k of the replay is packet k mod n of the capture; queue q of Q sends the
 * packets q, q + Q, ... of the replay, so each goes out once. With original timing a packet departs at its own time
 * after the start, and a pass begins one mean gap of the capture after the last packet of the pass before it.
 *
 * A capture that does not fit into memory is streamed: its senders take their packets from rings (replay_ring.h) that
 * a thread fills (replay_stream.h). What is said about the capture is as exact.
 *
 * Prepared by the main thread, then only read. A cursor is its sender's.
 */
#ifndef SQUALL_GEN_REPLAY_H
#define SQUALL_GEN_REPLAY_H

#include "capture.h"
#include "lib/pio/pio.h"
#include "limiter.h"
#include "plan_build.h"
#include "replay_ring.h"

#include <string.h>

struct replay {
	struct capture capture;
	const char *path;           /* the caller's */
	struct capture_rules rules; /* by which it was loaded */
	struct mac src, dst;        /* of frames that are made Ethernet */
	bool original;              /* the capture's own times, else the plan's pace */
	uint64_t pass_ns;           /* of original timing: from one pass to the next */
	uint64_t total;             /* packets to send; 0: no limit */
};

/* What the options of a replay say about each other, and those that say nothing to it. Adds to *p. */
void replay_check(const struct config *cfg, struct problems *p);

/*
 * Loads cfg->pcap, which has passed replay_check(). mtu 0: unknown; stop: not 0 ends it early, may be NULL. Errors of
 * capture_load(); original timing of a capture without any gap, in passes without end. cfg outlives it. replay_free()
 * releases it on every path.
 */
int replay_load(struct replay *r, const struct config *cfg, uint32_t mtu, const volatile int *stop, struct err *e);
void replay_free(struct replay *r);

/*
 * Sets the addresses of frames that were made Ethernet, and fills *plan with what a plan says of a replay: the pace,
 * the largest frame, and as flows the packets of a pass. -EINVAL with EXIT_USAGE when an address or a rate is missing.
 */
int replay_plan(struct replay *r, const struct config *cfg, const struct gen_ends *ends, struct tx_plan *plan,
		struct err *e);

/* Packets a second of the capture itself; negative: all at one time. */
double replay_original_pps(const struct replay *r);

/* With original timing: when packet k of the replay departs, after the start. Not of a streamed one. */
uint64_t replay_departure(const struct replay *r, uint64_t k);

/* Frames up to this many bytes are copied as one block; every transmit frame has as much room. */
#define REPLAY_BLOCK CAPTURE_SLACK

/* One sender's place in the replay. */
struct replay_cursor {
	const struct replay *replay; /* NULL: no replay */
	struct replay_ring *ring;    /* of a streamed one, whose place at is; else NULL */
	struct replay_ring_at at;
	uint64_t late;     /* times that a packet was due and not in the ring, */
	uint64_t late_ns;  /* and how long it was waited for in all */
	uint64_t next;     /* packet of the capture */
	uint64_t pass_ns;  /* when this pass began, after the start */
	uint64_t shift_ns; /* the schedule is late by so much, for good */
	uint32_t step;     /* senders */
};

/* Queue q of n; n is at most the capture's number of packets. ring: that queue's of a streamed replay, else NULL. */
static inline void replay_cursor_init(struct replay_cursor *c, const struct replay *r, struct replay_ring *ring,
				      unsigned q, unsigned n)
{
	*c = (struct replay_cursor){.replay = r, .ring = ring, .next = q, .step = n};
}

static inline void replay_cursor_step(struct replay_cursor *c)
{
	const struct replay *r = c->replay;

	if (c->ring) {
		replay_ring_step(c->ring, &c->at, replay_ring_next(c->ring, &c->at));
		return;
	}
	c->next += c->step;
	if (c->next >= r->capture.n) {
		c->next -= r->capture.n;
		c->pass_ns += r->pass_ns;
	}
}

static inline void replay_copy(struct pio_frame *to, const unsigned char *from, uint32_t len)
{
	if (len <= REPLAY_BLOCK)
		__builtin_memcpy(to->data, from, REPLAY_BLOCK);
	else
		memcpy(to->data, from, len);
	to->len = len;
}

/* Of a streamed replay: how many of its packets the sender can have now. */
static inline uint64_t replay_ready(const struct replay_cursor *c)
{
	return replay_ring_ready(c->ring, &c->at);
}

/* A packet was due and not there; the sender has waited so long for it. */
static inline void replay_late(struct replay_cursor *c, uint64_t waited_ns)
{
	c->late++;
	c->late_ns += waited_ns;
}

/* The sender takes no more packets. */
static inline void replay_cursor_close(struct replay_cursor *c)
{
	if (c->ring)
		atomic_store_explicit(&c->ring->closed, true, memory_order_release);
}

/* Writes the next n packets, all of them ready, into frames. Sender's thread. */
static inline void replay_fill_streamed(struct replay_cursor *c, struct pio_frame *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct replay_record *record = replay_ring_next(c->ring, &c->at);

		replay_copy(&frames[i], (const unsigned char *)(record + 1), record->len);
		replay_ring_step(c->ring, &c->at, record);
	}
	replay_ring_release(c->ring, &c->at);
}

/* The same of one that is in memory. */
static inline void replay_fill(struct replay_cursor *c, struct pio_frame *frames, uint32_t n)
{
	const struct capture *capture = &c->replay->capture;

	for (uint32_t i = 0; i < n; i++) {
		const struct capture_packet *p = &capture->packets[c->next];

		replay_copy(&frames[i], capture_frame(capture, p), p->len);
		replay_cursor_step(c);
	}
}

/*
 * With original timing: what leaves next, up to max packets (of a streamed replay, ready ones): the next one, and those
 * after it that are due with it or were due before now_ns. n 0: nothing departs before end_ns. What is later than
 * catch_up_ns is not repaid: the whole schedule moves (shift_ns).
 */
struct limiter_claim replay_claim(struct replay_cursor *c, uint64_t start_ns, uint64_t end_ns, uint64_t catch_up_ns,
				  uint32_t max, uint64_t now_ns);

#endif
