/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_calc: what reports derive from counts: rates, bytes on the wire, sums of drops.
 *
 * Pure. A figure that is not defined is NAN here and null, empty or "-" in a report.
 */
#ifndef SQUALL_REPORT_CALC_H
#define SQUALL_REPORT_CALC_H

#include "stats.h"

#include <stdbool.h>

/* X(key) */
#define CALC_RATES(X) X(pps) X(bps_l1) X(bps_l2) X(mean_bytes_l2)

#define CALC_FIELD(key) double key;
struct calc {
	uint64_t packets;
	uint64_t bytes_l2;
	CALC_RATES(CALC_FIELD)
};
#undef CALC_FIELD

/* Rates over a stretch of time that is known by itself; undefined when it is 0. bytes are without FCS. */
struct calc calc_over(uint64_t packets, uint64_t bytes, uint64_t ns);

/*
 * Rates from the times of the first and the last packet. Between n packets lie n - 1 gaps, so the rate is
 * (n - 1) / (last - first), and bits are scaled alike; undefined for fewer than 2 packets or no time between them.
 */
struct calc calc_between(uint64_t packets, uint64_t bytes, uint64_t first_ns, uint64_t last_ns);

/* The rate of a part (one queue) of a total: shares add up to the total's rate. Undefined when that is. */
double calc_share_pps(const struct calc *total, uint64_t packets);

/* Counters whose key says so are drops, whatever their cause. */
bool calc_is_drop(const char *key);
uint64_t calc_tx_dropped(const struct tx_counts *c);
uint64_t calc_rx_dropped(const struct rx_counts *c);

/* Packets sent less packets received; negative when more came than left. */
int64_t calc_difference(const struct tx_counts *tx, const struct rx_counts *rx);

#endif
