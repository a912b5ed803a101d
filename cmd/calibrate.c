/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate.h"

#include "engine_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define PACKETS      1000U
#define PPS_IN_MICRO 1000000000ULL /* 1000 packets a second */

void calibrate_check(const struct config *cfg, struct problems *p)
{
	if (cfg->subtract_floor && !cfg->calibrate)
		problem_add(p, "--subtract-floor", "goes with --calibrate, which measures it");
	if (!cfg->calibrate)
		return;
	if (!engine_measures(cfg))
		problem_add(p, "--calibrate", "goes by stamps, and nothing is stamped");
	if (cfg->n_streams)
		problem_add(p, "--calibrate", "goes without a list of streams, which have paces of their own");
}

void calibrate_config(const struct config *cfg, struct config *out)
{
	*out = *cfg;
	out->pps = (struct rate){.kind = RATE_VALUE, .micro = PPS_IN_MICRO};
	out->bps = (struct rate){.kind = RATE_UNSET};
	out->spacing = SPACING_CONSTANT;
	snprintf(out->burst_profile, sizeof(out->burst_profile), "continuous");
	out->burst = 1;
	out->count = PACKETS;
	out->duration_ns = 0;
	out->idle_ns = 0;
	out->interval_ns = 0;
	out->queues = 1;
	out->per_flow = false;
	out->strict_rate = false;
	out->max_loss.set = out->max_duplicates.set = out->max_reordered.set = false;
	out->max_latency_p99_ns = 0;
	out->min_rate.kind = RATE_UNSET;
	out->capture[0] = '\0';
	out->histograms[0] = '\0';
}

int calibrate_result(const struct engine *en, struct report_floor *out, struct err *e)
{
	const struct hist *latency = en->measured.total.latency;

	if (!latency || !latency->total) {
		err_set(e, -ENODATA, EXIT_RUN, "cannot calibrate", engine_name(en),
			"none of %" PRIu64 " packets came back", en->now.tx.completed);
		err_hint(e, "squall pair without --calibrate shows what comes");
		return -ENODATA;
	}
	*out = (struct report_floor){
		.packets = latency->total,
		.min = latency->least - 1,
		.p50 = hist_quantile(latency, 500000),
		.p99 = hist_quantile(latency, 990000),
		.subtracted = en->cfg->subtract_floor,
	};
	return 0;
}
