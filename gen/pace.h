/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace: from the rates that were asked for to the time between two departures. Cold; pure.
 */
#ifndef SQUALL_GEN_PACE_H
#define SQUALL_GEN_PACE_H

#include "lib/config.h"
#include "lib/core/plan.h"
#include "lib/err.h"

/* Of --burst-profile: the most packets of a burst, and the shortest time between two. */
#define PACE_BURST_MAX   1000000U
#define PACE_TIME_MIN_NS 1000U

/* What the options of the pace say about each other. Adds to *p. */
void pace_check(const struct config *cfg, struct problems *p);

/*
 * --burst-profile: *packets 0: continuous; with *time_ns: so many packets at that interval; without: so many and then
 * no more. False: it is none of these.
 */
bool pace_profile(const struct config *cfg, uint64_t *packets, uint64_t *time_ns);

/* No rate is set. */
bool pace_is_unlimited(const struct config *cfg);

/* Packets to send by --count and --burst-profile N; 0: no limit. */
uint64_t pace_count(const struct config *cfg);

/* Packets a second that the pace allows, or a negative number when it is unlimited. */
double pace_pps(const struct tx_pace *pace);

/* The packets that a bit rate is spread over: one round of all sizes. */
struct pace_load {
	uint64_t packets;
	uint64_t bytes;    /* of all, without FCS */
	uint64_t l3_bytes; /* without Ethernet headers and tags, too */
};

struct pace_load pace_load_of(const struct tx_plan *plan);

/*
 * --burst-profile, or the slower of --pps and --bps; cfg has passed pace_check(). link_bps: for percentages; 0:
 * unknown. -EINVAL with EXIT_USAGE: a percentage of an unknown speed, or a rate too slow to be kept (one packet in more
 * than an hour).
 */
int pace_of(const struct config *cfg, uint64_t link_bps, const struct pace_load *load, struct tx_pace *pace,
	    struct err *e);

#endif
