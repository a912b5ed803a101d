/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_measure.h"

#include "engine.h"
#include "engine_books.h"
#include "lib/clock.h"
#include "lib/core/stamp.h"
#include "lib/option.h"
#include "lib/report_histograms.h"
#include "lib/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* So few packets that needed no time are noise of the clocks' readings. */
#define EARLY_ONE_IN 1000U

/* No path takes so long at its best: two clocks are apart. */
#define APART_NS NS_PER_S

bool engine_measures(const struct config *cfg)
{
	return cfg->measure && (cfg->verb == VERB_RECV || (cfg->verb == VERB_PAIR && cfg->stamp));
}

static enum measure_clock clock_of(const struct config *cfg)
{
	if (cfg->clock == CLOCK_CHOICE_PTP)
		return MEASURE_CLOCK_PTP;
	return cfg->clock == CLOCK_CHOICE_SAME_HOST || cfg->verb == VERB_PAIR ? MEASURE_CLOCK_SAME_HOST
									      : MEASURE_CLOCK_NONE;
}

static int32_t run_of(const struct engine *en)
{
	if (en->set)
		return (int32_t)en->set->streams[0].plan->run;
	return option_given(en->cfg, OPTION_RUN_ID) ? en->cfg->run_id : MEASURE_RUN_ANY;
}

static uint64_t flows_of(const struct stream_set *set)
{
	uint64_t sum = 0;

	for (unsigned i = 0; set && i < set->n; i++)
		sum += set->streams[i].plan->flows;
	return sum;
}

/*
 * Streams number their flows one after the other: those that are sent here, or as the sender's file has them. Returns
 * how many flows they have in all; 0: nobody said.
 */
static uint64_t take_streams(const struct engine *en, struct measure_stream *streams, struct measure_conf *conf)
{
	const struct config *cfg = en->cfg;
	const unsigned n = en->set ? en->set->n : cfg->n_streams;
	uint64_t flows = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct config *one = en->set ? en->set->streams[i].cfg : &cfg->streams[i];

		streams[i].first_flow = (uint32_t)(flows < STAMP_FLOWS ? flows : STAMP_FLOWS);
		snprintf(streams[i].name, sizeof(streams[i].name), "%.31s", one->name);
		flows += en->set ? en->set->streams[i].plan->flows : one->flows;
	}
	if (n > 1) {
		conf->n_streams = n;
		conf->streams = streams;
	}
	return flows;
}

int engine_measure_init(struct engine *en, struct err *e)
{
	const struct config *cfg = en->cfg;
	struct measure_stream streams[CONFIG_STREAMS_MAX];
	struct measure_conf conf = {
		.run = run_of(en),
		.window = cfg->window,
		.threads = en->n_rx,
		.per_flow = cfg->per_flow,
		.clock = clock_of(cfg),
		.arrivals = en->rx_port && !cfg->host_times ? en->rx_port->caps.arrivals : PIO_CLOCK_NONE,
	};
	uint64_t flows;
	int rc;

	if (!engine_measures(cfg) || !en->n_rx)
		return 0;
	flows = take_streams(en, streams, &conf);
	conf.flows = cfg->flow_limit ? cfg->flow_limit : flows;
	if (!en->set && flows && conf.flows > flows) /* others are no stream's */
		conf.flows = flows;
	rc = measure_open(&en->measure, &conf, e);
	if (!rc && cfg->histograms[0])
		rc = report_histograms_open(cfg->histograms, &en->histograms, e);
	for (unsigned i = 0; !rc && i < en->n_rx; i++) {
		en->rx[i].w.measure = measure_worker(en->measure, i);
		en->rx[i].w.host_times = cfg->host_times;
	}
	return rc;
}

void engine_measure_free(struct engine *en)
{
	measure_close(en->measure);
	if (en->histograms)
		fclose(en->histograms);
	en->measure = NULL;
	en->histograms = NULL;
}

/* Of a pair that follows all its flows. */
static bool tells_missing(const struct engine *en)
{
	struct report_measure bounds;

	if (!en->measure || !en->set)
		return false;
	measure_bounds(en->measure, &bounds);
	return flows_of(en->set) <= bounds.flow_limit;
}

void engine_measure_facts(const struct engine *en, struct report_plan *facts)
{
	struct report_measure bounds = {0};
	char number[16];
	const char *run = "that comes first";

	facts->measure = en->measure;
	facts->missing = tells_missing(en);
	if (!en->measure)
		return;
	measure_bounds(en->measure, &bounds);
	if (run_of(en) >= 0) {
		snprintf(number, sizeof(number), "%d", run_of(en));
		run = number;
	}
	report_fact_add(facts, "measure", "measures",
			"run %s: up to %" PRIu64 " flow%s, windows of at least %" PRIu64 " packets, at most %" PRIu64
			" MiB",
			run, bounds.flow_limit, bounds.flow_limit == 1 ? "" : "s", bounds.window,
			(bounds.memory + (1U << 20) - 1) >> 20);
}

void engine_measure_sample(const struct engine *en, struct report_sample *out)
{
	uint64_t left;

	if (!en->measure)
		return;
	measure_counts(en->measure, &out->measure);
	/* A packet may be here before the sender has counted it. What the device dropped will not come. */
	left = out->tx.queued - out->tx.dropped_driver - out->tx.dropped_end;
	if (tells_missing(en) && left > out->measure.unique)
		out->missing = left - out->measure.unique;
}

/* Packets of a flow that were handed to the device. */
static uint64_t sent_of(const void *arg, uint32_t flow)
{
	const struct engine *en = arg;
	const struct stream_set *set = en->set;
	uint64_t sum = 0;
	unsigned s = 0;

	while (s + 1 < set->n && flow >= set->streams[s + 1].plan->first_flow)
		s++;
	for (unsigned q = 0; q < en->n_tx; q++)
		sum += tx_source_sent(&en->tx[q].w.sources[s], books_sent_by(en, q, s),
				      flow - set->streams[s].plan->first_flow);
	return sum;
}

/* A sender's clock that is ahead makes packets early, one that is behind makes all of them late. */
static void remark_clocks(struct engine *en, const struct report_measure *m)
{
	const uint64_t unique = m->total.counts.unique, least = m->total.latency->least;
	static const char hint[] = "the sender's is another one, or apart from it; --clock on both sides says which";
	char text[32];

	if (!m->clock)
		return;
	if (m->early * EARLY_ONE_IN >= unique && m->early)
		report_warn(&en->warnings,
			    "%" PRIu64 " of %" PRIu64 " packets came no later than they were sent, by the clock %s: %s",
			    m->early, unique, m->clock, hint);
	else if (!m->sent_known && least > APART_NS)
		report_warn(&en->warnings, "no packet took less than %s, by the clock %s: %s",
			    units_format_time(least - 1, text, sizeof(text)), m->clock, hint);
}

static void remark(struct engine *en, const struct report_measure *m)
{
	const struct measure_counts *c = &m->total.counts;

	if (m->books[0])
		report_warn(&en->warnings, "the measurement's books do not close: %s", m->books);
	if (!c->stamped && c->other_run)
		report_warn(&en->warnings,
			    "no packet of run %d came, but %" PRIu64
			    " of another run: the sender tells its number, and --run-id takes it",
			    m->run, c->other_run);
	if (c->unfollowed && !en->set && en->cfg->n_streams)
		report_warn(
			&en->warnings,
			"%" PRIu64 " packets were of flows beyond the %" PRIu64
			" of the list of streams that are measured: the sender's list is another one, or --flow-limit "
			"leaves them out",
			c->unfollowed, m->flow_limit);
	else if (c->unfollowed)
		report_warn(&en->warnings,
			    "%" PRIu64 " packets were of flows beyond the %" PRIu64
			    " that are measured: a larger --flow-limit measures them, too",
			    c->unfollowed, m->flow_limit);
	if (c->unreadable)
		report_warn(
			&en->warnings,
			"%" PRIu64
			" packets came in fragments, or merged by the kernel: whose they are is not known, and they "
			"count as lost; a smaller --packet-size, or ethtool -K gro off",
			c->unreadable);
	if (!m->sent_known && m->before_first)
		report_warn(&en->warnings,
			    "up to %" PRIu64
			    " of the lost were numbered before the first packet of their flow that came (%" PRIu64
			    " flows): if the sender started before this receiver, they were not lost",
			    m->before_first, m->began);
	if (m->joined)
		report_warn(&en->warnings,
			    "the first packets of %" PRIu64
			    " flows were not seen: losses count from their first that was",
			    m->joined);
	remark_clocks(en, m);
	if (c->late)
		report_warn(&en->warnings,
			    "%" PRIu64 " packets came more than %" PRIu64
			    " behind the newest of their flow, and count as lost: a larger --window tells more",
			    c->late, m->window);
}

static void tell_arrivals(struct engine *en)
{
	static const char taken[] = "when the receiver took them";
	const struct pio_caps *caps = &en->rx_port->caps;
	const struct rx_counts *rx = &en->now.rx;
	char *text = en->arrivals;
	const size_t size = sizeof(en->arrivals);

	if (en->cfg->host_times || !caps->arrivals || (rx->packets && rx->untimed == rx->packets))
		snprintf(text, size, "%s, all of a burst at one time", taken);
	else if (!rx->untimed)
		snprintf(text, size, "when they came, by %s", caps->arrivals_by);
	else
		snprintf(text, size, "when they came, by %s; %" PRIu64 " of %" PRIu64 " %s", caps->arrivals_by,
			 rx->untimed, rx->packets, taken);
	en->measured.arrivals = text;
}

void engine_measure_end(struct engine *en, struct report_end *end)
{
	const struct measure_sent sent = {
		.packets = en->now.tx.completed,
		.undecided = en->now.tx.undecided,
		.numbers = en->now.tx.queued,
		.flows = flows_of(en->set),
		.of_flow = sent_of,
		.arg = en,
	};
	struct err e = {.code = EXIT_DONE};

	if (!en->measure)
		return;
	if (measure_result(en->measure, en->set ? &sent : NULL, en->cfg->flow_report, &en->measured, &e)) {
		engine_fail(en, &e);
		return;
	}
	tell_arrivals(en);
	remark(en, &en->measured);
	if (en->histograms && report_histograms_write(en->histograms, en->cfg->histograms, &en->measured, &e))
		engine_fail(en, &e);
	en->histograms = NULL;
	end->measure = &en->measured;
}

void engine_set_floor(struct engine *en, const struct report_floor *floor)
{
	en->floor = floor;
	if (floor && floor->subtracted)
		measure_set_floor(en->measure, floor->min);
}
