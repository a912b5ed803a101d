/* SPDX-License-Identifier: Apache-2.0 */
#include "report_calc.h"
#include "clock.h"

#include <math.h>
#include <string.h>

/* pps is 0 or undefined when there are no packets, and then the bit rates are the same. */
static struct calc rates(uint64_t packets, uint64_t bytes, double pps)
{
	uint64_t bytes_l2 = bytes + FCS_BYTES * packets;
	double mean = packets ? (double)bytes_l2 / (double)packets : NAN;

	return (struct calc){
		.packets = packets,
		.bytes_l2 = bytes_l2,
		.pps = pps,
		.bps_l1 = packets ? pps * (mean + L1_EXTRA_BYTES) * 8 : pps,
		.bps_l2 = packets ? pps * mean * 8 : pps,
		.mean_bytes_l2 = mean,
	};
}

struct calc calc_over(uint64_t packets, uint64_t bytes, uint64_t ns)
{
	return rates(packets, bytes, ns ? (double)packets * NS_PER_S / (double)ns : NAN);
}

struct calc calc_between(uint64_t packets, uint64_t bytes, uint64_t first_ns, uint64_t last_ns)
{
	bool defined = packets >= 2 && last_ns > first_ns;

	return rates(packets, bytes, defined ? (double)(packets - 1) * NS_PER_S / (double)(last_ns - first_ns) : NAN);
}

double calc_share_pps(const struct calc *total, uint64_t packets)
{
	return total->packets ? total->pps * (double)packets / (double)total->packets : total->pps;
}

bool calc_is_drop(const char *key)
{
	return strncmp(key, "dropped_", strlen("dropped_")) == 0;
}

#define ADD_DROPS(key, help) sum += calc_is_drop(#key) ? c->key : 0;

uint64_t calc_tx_dropped(const struct tx_counts *c)
{
	uint64_t sum = 0;

	STATS_TX(ADD_DROPS)
	return sum;
}

uint64_t calc_rx_dropped(const struct rx_counts *c)
{
	uint64_t sum = 0;

	STATS_RX(ADD_DROPS)
	return sum;
}

int64_t calc_difference(const struct tx_counts *tx, const struct rx_counts *rx)
{
	return (int64_t)(tx->completed - rx->packets);
}
