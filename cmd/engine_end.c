/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_end.h"

#include "engine_books.h"
#include "engine_capture.h"
#include "engine_limits.h"
#include "engine_measure.h"
#include "engine_rate.h"
#include "engine_replay.h"
#include "lib/clock.h"
#include "lib/report_calc.h"
#include "lib/threshold.h"
#include "lib/units.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void engine_sample(const struct engine *en, uint64_t now_ns, struct report_sample *out)
{
	struct class_counts classes;
	unsigned n_tx = en->tx_port ? en->tx_port->n_tx : 0;
	unsigned n = n_tx > en->n_rx ? n_tx : en->n_rx;

	memset(out, 0, sizeof(*out));
	out->elapsed_ns = now_ns > en->start_ns ? now_ns - en->start_ns : 0;
	out->n_queues = n < REPORT_QUEUES_MAX ? n : REPORT_QUEUES_MAX;
	for (unsigned i = 0; i < n; i++) {
		struct report_queue row = {.queue = i, .tx = i < n_tx, .rx = i < en->n_rx};

		row.cpu = i < en->n_tx ? en->tx[i].cpu : row.rx ? en->rx[i].cpu : -1;
		if (row.tx) {
			/* Queues of a reflector are its receivers' to drive. */
			row.cpu_ns += i < en->n_tx ? worker_cpu_ns(&en->tx[i].thread) : 0;
			tx_counts_read(&en->tx_port->tx[i]->stats.tx, &row.tx_counts);
			tx_counts_add(&out->tx, &row.tx_counts);
		}
		if (row.rx) {
			row.cpu_ns += worker_cpu_ns(&en->rx[i].thread);
			rx_counts_read(&en->rx_port->rx[i]->stats.rx, &row.rx_counts);
			rx_counts_add(&out->rx, &row.rx_counts);
			class_counts_read(&en->rx[i].w.classes, &classes);
			class_counts_add(&out->classes, &classes);
		}
		if (i < REPORT_QUEUES_MAX)
			out->queues[i] = row;
	}
	out->n_streams = en->n_tx ? en->cfg->n_streams : 0;
	for (unsigned i = 0; i < out->n_streams; i++)
		books_sent(en, i, &out->streams[i]);
	engine_measure_sample(en, out);
}

/* Of all senders together, which *sum holds then. */
static struct report_lateness lateness(const struct engine *en, struct hist *sum)
{
	*sum = (struct hist){0};
	for (unsigned i = 0; i < en->n_tx; i++)
		hist_merge(sum, &en->tx[i].w.lateness);
	return (struct report_lateness){
		.known = sum->total,
		.p50 = hist_quantile(sum, 500000),
		.p99 = hist_quantile(sum, 990000),
		.max = sum->greatest,
		.hist = sum,
	};
}

static void rx_times(const struct engine *en, struct report_end *end)
{
	for (unsigned i = 0; i < en->n_rx; i++) {
		uint64_t first = atomic_load(&en->rx_port->rx[i]->first_ns);
		uint64_t last = atomic_load(&en->rx_port->rx[i]->last_ns);

		if (first && (!end->first_ns || first < end->first_ns))
			end->first_ns = first;
		end->last_ns = last > end->last_ns ? last : end->last_ns;
	}
}

/* What a reader of the numbers should know about them. */
static void remark(struct engine *en)
{
	const struct tx_counts *tx = &en->now.tx;

	if (tx->undecided)
		report_warn(&en->warnings,
			    "%" PRIu64 " packets were still in the device's hands at the end: sent or not, "
			    "they are counted as neither",
			    tx->undecided);
	if (tx->dropped_driver)
		report_warn(&en->warnings, "%" PRIu64 " packets were refused by the driver or the kernel: %s",
			    tx->dropped_driver,
			    en->link[0].went || en->link[1].went
				    ? "its link was down"
				    : "the device, or what is behind it, had no room for them, or its MTU is no longer "
				      "what it was");
	engine_replay_remark(en);
	if (books_stretched(en))
		report_warn(&en->warnings, "the sender fell behind: the schedule was stretched by %" PRIu64 " packets",
			    books_stretched(en));
}

/* Whether all that was due has left when it was due, within what --catch-up makes up for. Else *e says what did not. */
static bool rate_reached(const struct engine *en, const struct report_end *end, struct err *e)
{
	uint64_t missing = end->unsent + books_stretched(en) + en->now.tx.queued - en->now.tx.completed;
	const bool original = en->replay && en->replay->original;
	uint64_t shifted = engine_replay_shifted_ns(en);
	char text[32];

	if (!en->cfg->strict_rate || (!missing && !shifted) ||
	    (!original && en->set->n_groups == 1 && en->limiters[0].unlimited))
		return true;
	if (shifted)
		err_set(e, -ERANGE, EXIT_RATE, "the requested rate was not reached", engine_name(en),
			"it ended %s later than the capture's times say",
			units_format_time(shifted, text, sizeof(text)));
	else
		err_set(e, -ERANGE, EXIT_RATE, "the requested rate was not reached", engine_name(en),
			"%" PRIu64 " packets of the schedule were not sent in time", missing);
	err_hint(e, "%s", original ? "a smaller --pcap-speed" : "a lower --pps or --bps, or more --queues");
	return false;
}

/* Did it end well, and was it what it was to be? The first of these that was not is the run's error. */
static void judge(struct engine *en, struct report_end *end, struct report_threshold *thresholds)
{
	const bool stopped = en->reason == END_SIGNAL || en->reason == END_USER;
	struct err rate = {.code = EXIT_DONE};
	const struct tx_counts *tx = &en->now.tx;
	const struct rx_counts *rx = &en->now.rx;
	const struct threshold_values values = {
		.measure = end->measure,
		.rx_pps = calc_between(rx->packets, rx->bytes, end->first_ns, end->last_ns).pps,
		.sent = en->n_tx,
		.requested_pps = end->requested_pps,
		.tx_pps = calc_over(tx->completed, tx->completed_bytes, end->tx_ns).pps,
		.rate_missed = en->n_tx && !rate_reached(en, end, &rate),
	};

	end->thresholds = thresholds;
	end->n_thresholds = threshold_judge(en->cfg, &values, thresholds);
	if (en->err.code != EXIT_DONE)
		return;
	for (unsigned i = 0; i < 2 && en->n_tx && !stopped; i++) {
		if (!en->link[i].down_ns)
			continue;
		err_set(&en->err, -ENETDOWN, EXIT_LINK, "the run did not end well", en->link[i].port->name,
			"its link was down at the end");
		err_hint(&en->err, "the cable and the other end; the report counts what left before");
		return;
	}
	threshold_tell(thresholds, end->n_thresholds, engine_name(en), &rate, &en->err);
}

static void reflections(const struct engine *en, struct reflect_counts *sum)
{
	struct reflect_counts part;

	for (unsigned i = 0; i < en->n_rx; i++) {
		reflect_counts_read(&en->rx[i].reflector.counts, &part);
		reflect_counts_add(sum, &part);
	}
}

void engine_end(struct engine *en, struct report *report)
{
	struct report_end end = {.reason = en->reason, .total = &en->now, .requested_pps = -1, .last_pps = -1};
	uint64_t now = clock_mono_ns();
	struct report_stream streams[CONFIG_STREAMS_MAX];
	struct report_threshold thresholds[REPORT_THRESHOLDS_MAX];
	struct host_drops grew = {0};
	struct hist late;
	struct reflect_counts reflect = {0};
	struct respond_counts respond;
	struct pcap_counts pcap;
	struct cpu_seconds cpu;

	engine_sample(en, now, &en->now);
	if (en->n_tx) {
		end.requested_pps = engine_requested_pps(en);
		end.last_pps = engine_asked_pps(en);
		end.rate_changes = en->rate_changes;
		end.unsent = books_unsent(en);
		end.tx_ns = books_tx_time(en);
		end.lateness = lateness(en, &late);
		end.streams = streams;
		end.n_streams = en->cfg->n_streams;
		for (unsigned i = 0; i < end.n_streams; i++)
			books_stream(en, i, &streams[i]);
	}
	if (en->cfg->verb == VERB_REFLECT) {
		end.tx_ns = en->now.elapsed_ns;
		reflections(en, &reflect);
		end.reflect = &reflect;
	}
	if (en->responder) {
		responder_counts(en->responder, &respond);
		end.respond = &respond;
	}
	if (en->replay) {
		engine_replay_counts(en, &pcap);
		end.pcap = &pcap;
	}
	rx_times(en, &end);
	engine_capture_end(en, &end);
	engine_measure_end(en, &end);
	end.floor = en->floor;
	end.pair = en->cfg->verb == VERB_PAIR;
	for (unsigned i = 0; i < en->n_tx && en->tx_port->loop; i++) {
		struct loop_counts part;

		loop_counts_read(&en->tx_port->loop[i], &part);
		loop_counts_add(&end.loop, &part);
		end.have_loop = true;
	}
	if (engine_link_grew(en, ENGINE_DROPS, &grew))
		end.device_drops = &grew;
	remark(en);
	engine_limits_tell(en, &end);
	judge(en, &end, thresholds);
	cpu_seconds_read(&cpu);
	cpu_seconds_sub(&end.cpu, &cpu, &en->cpu_at_start);
	end.warnings = en->warnings;
	report_end(report, &end, &en->err, NULL);
	host_drops_free(&grew);
}
