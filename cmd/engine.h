/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine: runs senders and receivers on open ports until time, count, silence, a signal or an error ends them, and
 * reports while it does. Main thread.
 */
#ifndef SQUALL_CMD_ENGINE_H
#define SQUALL_CMD_ENGINE_H

#include "engine_link.h"
#include "gen/limiter.h"
#include "gen/replay_stream.h"
#include "gen/stream_set.h"
#include "gen/tx_loop.h"
#include "lib/config.h"
#include "lib/host.h"
#include "lib/report.h"
#include "lib/worker.h"
#include "rx/capture_file.h"
#include "rx/responder.h"
#include "rx/rx_loop.h"

#include <stdio.h>

struct engine_tx {
	struct tx_worker w;
	struct worker thread;
	int cpu;
};

struct engine_rx {
	struct rx_worker w;
	struct reflector reflector; /* used by a run that reflects */
	struct worker thread;
	int cpu;
};

struct engine {
	const struct config *cfg;
	struct engine_link link[2];   /* of the sender's port, and of the receiver's where that is another */
	struct pio_port *tx_port;     /* NULL: nothing is sent */
	struct pio_port *rx_port;     /* NULL: nothing is received */
	const struct stream_set *set; /* NULL: nothing is sent */
	const struct replay *replay;  /* its only stream's; NULL: none */
	struct replay_stream stream;  /* of a replay that does not fit into memory; else empty */
	uint64_t count;               /* packets to send or to receive; 0: no limit */
	struct limiter *limiters;     /* one a group of the set */
	struct engine_tx *tx;
	struct engine_rx *rx;
	unsigned n_tx, n_rx; /* threads */
	struct rx_shared rx_shared;
	struct responder *responder; /* the caller's; NULL: there is none */
	struct worker answering;
	struct capture_file *capture; /* NULL: none was asked for */
	struct worker capturing;
	_Atomic bool stop_capture;
	struct report_capture captured;
	struct measure *measure; /* NULL: nothing is measured */
	struct report_measure measured;
	char arrivals[160];               /* of it */
	FILE *histograms;                 /* of --histograms, until it is written; NULL */
	const struct report_floor *floor; /* the caller's; NULL: it was not measured */
	_Atomic bool stop_tx, stop_rx;
	uint64_t start_ns;        /* monotonic: first departure, or when the receivers started */
	uint64_t stopped_ns;      /* when the run was told to end */
	uint64_t last_rx_packets; /* for --idle */
	uint64_t last_rx_ns;
	struct report_sample prev, now;
	struct report_sample live; /* for a form that follows the run */
	uint64_t reported_ns;
	unsigned rate_changes;
	enum end_reason reason;
	struct err err;            /* the first thing that went wrong */
	bool err_is_queues;        /* and that was a queue that failed */
	unsigned dead_tx, dead_rx; /* queues that failed so far */
	struct report_warnings warnings;
	struct cpu_seconds cpu_at_start;
};

/* What engine_init() takes: an open port and its link, which may be NULL. Both stay the caller's. */
struct engine_port {
	struct pio_port *port;
	const struct host_link *link;
};

/*
 * Makes the workers for the queues of the port that sends and the one that receives: the same port, or two. The ports,
 * the set (NULL: nothing is sent) and cfg must outlive the engine. Processors are taken from --cpus in order, senders
 * first; without it by the interrupts of the queues of the links. -ENOMEM; -EINTR
 * with EXIT_DONE after a signal; those of capture_file_open() and report_histograms_open().
 */
int engine_init(struct engine *en, const struct config *cfg, const struct engine_port *tx, const struct engine_port *rx,
		const struct stream_set *set, struct err *e);
void engine_free(struct engine *en);

/* Tells it on stderr now, and in the report at its end. */
void engine_warn(struct engine *en, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes the first error of the run, and ends it. */
void engine_fail(struct engine *en, const struct err *e);

/* For messages about the run as a whole: the port that sends, else the one that receives. */
const char *engine_name(const struct engine *en);

/* Runs to the end and writes intervals and the end record. en->err tells how it went. */
void engine_run(struct engine *en, struct report *report);

#endif
