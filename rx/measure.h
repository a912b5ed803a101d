/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure: what became of the packets of a run, by their stamps: unique, duplicate, late, lost, reordered; how long
 * they took and how much that varied; by stream, and by flow where that was asked for. docs/measurement.md defines the
 * terms.
 *
 * One struct measure for the run, one struct measure_worker for each receiving thread. Memory is fixed when it is
 * opened: a window (lib/core/seqwin.h) for each flow that is followed. Packets of flows beyond are counted as a sum.
 */
#ifndef SQUALL_RX_MEASURE_H
#define SQUALL_RX_MEASURE_H

#include "lib/err.h"
#include "lib/pio/pio.h"
#include "lib/report_measure.h"
#include "lib/stats.h"

#include <stdbool.h>
#include <stdint.h>

#define MEASURE_RUN_ANY (-1)

/* Which clock the stamps' times are of, as far as this host has it too. */
enum measure_clock {
	MEASURE_CLOCK_NONE,      /* another's: how long a packet took is not known, how much that varied is */
	MEASURE_CLOCK_SAME_HOST, /* CLOCK_MONOTONIC of this host */
	MEASURE_CLOCK_PTP,       /* CLOCK_TAI of two hosts that PTP keeps together */
};

/* Flows first_flow up to the next one's are the stream's. */
struct measure_stream {
	uint32_t first_flow;
	char name[32];
};

struct measure_conf {
	int32_t run;     /* 0 .. 65535, or MEASURE_RUN_ANY: that of the first stamp that is seen */
	uint64_t flows;  /* flows 0 .. flows - 1 are followed; 0: as many as are usual, the first with wider windows */
	uint64_t window; /* packets of a flow that a late one may be behind; 0: what 4 MiB hold for all flows */
	unsigned threads;
	bool per_flow; /* counters for each flow as well */
	enum measure_clock clock;
	/* What the times of arrivals that measure_frames() is given are of, where the device tells of each. */
	enum pio_clock arrivals;
	unsigned n_streams;                   /* 0: one, of all flows */
	const struct measure_stream *streams; /* in order of flows; copied */
};

struct measure;
struct measure_worker;

/* Main thread. -ENOMEM, also for more than this host can have. */
int measure_open(struct measure **out, const struct measure_conf *conf, struct err *e);
void measure_close(struct measure *m);

/* Thread i's; i < conf.threads. */
struct measure_worker *measure_worker(struct measure *m, unsigned i);

/* What each packet is taken to have needed less: the latency of an idle path. Main thread, before the threads start. */
void measure_set_floor(struct measure *m, uint64_t ns);

/*
 * Brings the offsets between this host's clocks up to date. Before the first measure_frames(), and then some ten times
 * a second. The worker's thread.
 */
void measure_clocks(struct measure_worker *w);

/* The bounds of the measurement: flow_limit, window, memory. */
void measure_bounds(const struct measure *m, struct report_measure *out);

/*
 * The frames that one call of rx returned, before they are put back. now_ns: monotonic, read after that call.
 * arrival_ns: when each came, by the clock conf.arrivals; NULL: all at now_ns. Reads the frames only. n <=
 * MEASURE_BURST. The worker's thread.
 */
#define MEASURE_BURST 256U
void measure_frames(struct measure_worker *w, const struct pio_frame *f, unsigned n, const uint64_t *arrival_ns,
		    uint64_t now_ns);

/* What was counted so far, of all threads. Any thread. */
void measure_counts(const struct measure *m, struct measure_counts *out);

/* What is known of the other end, where that is this process. */
struct measure_sent {
	uint64_t packets;   /* that the device sent; lost is what of them was not unique */
	uint64_t undecided; /* that it may have sent, besides: those of them that came were */
	uint64_t numbers;   /* packets with a number, of all flows: those that the device refused are among them */
	uint64_t flows;
	uint64_t (*of_flow)(const void *arg, uint32_t flow); /* numbers of a flow */
	const void *arg;
};

/*
 * The result, when all threads are done. sent may be NULL: losses are then known up to the last packet of each flow
 * that came. n_flows: at most so many flows are told of one by one (per_flow), the worst first. What does not add up
 * is told in out->books. *out points into m and is good until measure_close(). Main thread, once. -ENOMEM.
 */
int measure_result(struct measure *m, const struct measure_sent *sent, uint64_t n_flows, struct report_measure *out,
		   struct err *e);

#endif
