/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_measure: what a report tells of a measurement. Filled by rx/measure.h. docs/measurement.md defines the terms.
 *
 * Times of day are wall clock, in ns; durations are ns.
 */
#ifndef SQUALL_REPORT_MEASURE_H
#define SQUALL_REPORT_MEASURE_H

#include "core/hist.h"
#include "stats.h"

#include <stdbool.h>
#include <stdint.h>

/* X(key, in a million) */
#define REPORT_QUANTILES(X) X(p50, 500000) X(p90, 900000) X(p99, 990000) X(p99_9, 999000) X(p99_99, 999900)

/* Packet delay variation: how much longer than the shortest they took. */
struct report_pdv {
	bool known;
#define REPORT_PDV_FIELD(key, in_a_million) uint64_t key;
	REPORT_QUANTILES(REPORT_PDV_FIELD)
#undef REPORT_PDV_FIELD
	uint64_t max;
};

/* All flows, or those of one stream. */
struct report_measured {
	char name[32]; /* of the stream */
	struct measure_counts counts;
	uint64_t flows; /* that were seen */
	uint64_t lost;
	double loss_ratio; /* lost of those that should have come; NAN: none should */
	uint32_t longest_loss;
	uint64_t first_ns, last_ns; /* arrivals of the first and the last stamped packet; 0: none came */
	double jitter_ns;           /* RFC 3550; NAN: fewer than two packets of a flow */
	struct report_pdv pdv;
	const struct hist *latency; /* of unique packets; of no use without a clock */
	const struct hist *ipdv; /* size of the change of latency between packets sent one after the other (RFC 5481) */
	const struct hist *gap;  /* between arrivals on a receive queue */
	const struct hist *extent; /* of reordered packets: how many sent later had come before, in packets */
};

/* One flow. */
struct report_flow {
	uint32_t flow;
	uint64_t stamped, unique, duplicate, late, reordered, bytes;
	uint64_t lost;
	double loss_ratio;
	uint32_t longest_loss;
	uint32_t extent_max;
	uint64_t first_ns, last_ns;
	double jitter_ns;
	bool have_latency;
	uint64_t latency_min, latency_max;
	double latency_mean;
};

struct report_measure {
	int32_t run; /* -1: no stamp was seen and none was asked for */
	bool run_learnt;
	bool sent_known;   /* lost counts packets after the last that came, too */
	char books[200];   /* what of it does not add up; empty: nothing, the books close */
	uint64_t not_sent; /* numbers that the sender's device took no packet of; sent_known, not partly: else 0 */
	bool partly;       /* more flows were sent than can be followed */
	uint64_t joined;   /* flows whose first packets were not seen, nor counted as lost */
	/* Of a receiver alone: flows whose first packet had not the first number, though the window reached back to it;
	 * and how many of the lost may have been sent before it, at most. */
	uint64_t began, before_first;
	uint64_t flow_limit;
	uint64_t window;         /* packets, of the flow with the least */
	uint64_t memory;         /* bytes, at most */
	const char *clock;       /* what latency rests on; NULL: nothing */
	const char *no_clock;    /* why it does not */
	uint64_t clock_error_ns; /* of that clock, as the system estimates it; 0: none */
	const char *arrivals;    /* where the times of arrival are from; measure_result() leaves it to its caller */
	uint64_t early; /* unique packets that came no later than they were sent, by that clock: taken to have needed no
			   time */
	struct report_measured total;
	unsigned n_streams; /* 0: they are not known */
	const struct report_measured *streams;
	bool per_flow;
	uint64_t n_flows; /* told of one by one, the worst first */
	const struct report_flow *flows;
	struct report_flow rest; /* the sum of the others; flow: how many */
};

#endif
