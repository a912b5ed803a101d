/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine: runs senders and receivers on an open port until time, count, silence, a signal or an error ends them, and
 * reports while it does. Main thread.
 */
#ifndef SQUALL_CMD_ENGINE_H
#define SQUALL_CMD_ENGINE_H

#include "gen/limiter.h"
#include "gen/tx_loop.h"
#include "lib/config.h"
#include "lib/host.h"
#include "lib/report.h"
#include "lib/worker.h"
#include "rx/rx_loop.h"

struct engine_tx {
	struct tx_worker w;
	struct worker thread;
	int cpu;
};

struct engine_rx {
	struct rx_worker w;
	struct worker thread;
	int cpu;
};

struct engine {
	const struct config *cfg;
	struct pio_port *port;
	const struct tx_plan *plan;  /* NULL: nothing is sent */
	const struct replay *replay; /* NULL: what is sent is the plan's */
	uint64_t count;              /* packets to send or to receive; 0: no limit */
	struct limiter limiter;
	struct engine_tx *tx;
	struct engine_rx *rx;
	unsigned n_tx, n_rx;
	struct rx_shared rx_shared;
	_Atomic bool stop_tx, stop_rx;
	uint64_t start_ns;   /* monotonic: first departure, or when the receivers started */
	uint64_t stopped_ns; /* when the run was told to end */
	uint64_t link_checked_ns;
	uint64_t link_down_ns;    /* since when the link has been down; 0: it is up */
	uint64_t last_rx_packets; /* for --idle */
	uint64_t last_rx_ns;
	struct report_sample prev, now;
	uint64_t reported_ns;
	unsigned rate_changes;
	enum end_reason reason;
	struct err err;            /* the first thing that went wrong */
	bool err_is_queues;        /* and that was a queue that failed */
	unsigned dead_tx, dead_rx; /* queues that failed so far */
	struct report_warnings warnings;
	struct cpu_seconds cpu_at_start;
	bool have_drops; /* the device tells of its drops */
	struct host_drops drops_at_start;
};

/* A link that is down longer than this ends the run, and is waited for no longer before it (but see ends.h). */
#define LINK_WAIT_NS 5000000000ULL

/*
 * Makes the workers for the port's queues. The port, the plan, the replay and cfg stay the caller's and must outlive
 * the engine. Processors are taken from --cpus in order, senders first; without it by the interrupts of the queues of
 * link, which may be NULL. -ENOMEM; EXIT_USAGE for a processor that cannot be had.
 */
int engine_init(struct engine *en, const struct config *cfg, struct pio_port *port, const struct host_link *link,
		const struct tx_plan *plan, const struct replay *replay, struct err *e);
void engine_free(struct engine *en);

/* Tells it on stderr now, and in the report at its end. */
void engine_warn(struct engine *en, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Runs to the end and writes intervals and the end record. en->err tells how it went. */
void engine_run(struct engine *en, struct report *report);

#endif
