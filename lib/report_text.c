/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For people: the plan, a line per interval with what that interval had, a summary of the whole run. Packets and bytes
 * are exact, rates have an SI prefix. Errors are not told here: cmd/ has them on stderr.
 */
#include "clock.h"
#include "host.h"
#include "report_form.h"
#include "report_text_measure.h"
#include "threshold.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void text_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	int width = (int)strlen("warning");

	(void)wall_ns;
	if (!plan || r->cfg->quiet)
		return;
	for (unsigned i = 0; i < plan->n_facts; i++)
		if ((int)strlen(plan->facts[i].label) > width)
			width = (int)strlen(plan->facts[i].label);
	for (unsigned i = 0; i < plan->n_facts; i++)
		fprintf(r->out, "%-*s  %s\n", width, plan->facts[i].label, plan->facts[i].value);
	for (unsigned i = 0; i < plan->warnings.n; i++)
		fprintf(r->out, "%-*s  %s\n", width, "warning", plan->warnings.text[i]);
	fputs("\n", r->out);
}

static void direction(struct report *r, const char *name, const struct calc *c, uint64_t dropped)
{
	char pps[UNITS_STR], l1[UNITS_STR], l2[UNITS_STR];

	fprintf(r->out, " %s %" PRIu64 " pkts  %s  L1 %s  L2 %s", name, c->packets,
		units_format_with(c->pps, "pps", pps, sizeof(pps)),
		units_format_with(c->bps_l1, "bit/s", l1, sizeof(l1)),
		units_format_with(c->bps_l2, "bit/s", l2, sizeof(l2)));
	if (dropped)
		fprintf(r->out, "  drops %" PRIu64, dropped);
}

static void text_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	struct report_span s;
	char at[UNITS_STR];

	if (r->cfg->quiet)
		return;
	report_span_interval(&s, prev, now);
	/* with milliseconds when intervals are not whole seconds */
	fprintf(r->out, "[%s]", units_format_clock(s.elapsed_ns, r->cfg->interval_ns % NS_PER_S, at, sizeof(at)));
	if (r->tx)
		direction(r, "tx", &s.tx_rates, calc_tx_dropped(&s.tx));
	if (r->tx && r->rx)
		fputs(" |", r->out);
	if (r->rx)
		direction(r, "rx", &s.rx_rates, calc_rx_dropped(&s.rx));
	fputs("\n", r->out);
}

static void table_head(struct report *r)
{
	fprintf(r->out, "%-4s %20s %20s %12s %14s %14s %10s\n", "", "packets", "bytes (L2)", "rate", "L1", "L2",
		"mean");
}

static void table_row(struct report *r, const char *name, const struct calc *c)
{
	char pps[UNITS_STR], l1[UNITS_STR], l2[UNITS_STR];
	char mean[UNITS_STR] = "-";

	if (isfinite(c->mean_bytes_l2))
		snprintf(mean, sizeof(mean), "%.0f B", c->mean_bytes_l2);
	fprintf(r->out, "%-4s %20" PRIu64 " %20" PRIu64 " %12s %14s %14s %10s\n", name, c->packets, c->bytes_l2,
		units_format_with(c->pps, "pps", pps, sizeof(pps)),
		units_format_with(c->bps_l1, "bit/s", l1, sizeof(l1)),
		units_format_with(c->bps_l2, "bit/s", l2, sizeof(l2)), mean);
}

/* Drops always; with --verbose every counter that is not 0. */
static void counter_line(struct report *r, const char *name, const char *key, uint64_t n, const char *help)
{
	bool telling = calc_is_drop(key) || strcmp(key, "filtered") == 0;

	if (n && (telling || r->cfg->verbose))
		fprintf(r->out, "%-4s %20" PRIu64 " %s: %s\n", name, n, key, help);
}

static void amount_line(struct report *r, const char *name, uint64_t n, const char *what)
{
	if (n)
		fprintf(r->out, "%-4s %20" PRIu64 " %s\n", name, n, what);
}

static void tx_lines(struct report *r, const struct report_span *s, const struct report_end *end)
{
	if (end->rate_changes) {
		char pps[UNITS_STR];

		fprintf(r->out, "tx   rate changed %u times, to %s at last\n", end->rate_changes,
			units_format_with(end->last_pps, "pps", pps, sizeof(pps)));
	}
	if (end->lateness.known)
		fprintf(r->out,
			"tx   late by %.2f us or less for half of the packets, %.2f us for 99 %%, %.2f us at most\n",
			(double)end->lateness.p50 / 1e3, (double)end->lateness.p99 / 1e3,
			(double)end->lateness.max / 1e3);
	amount_line(r, "tx", end->unsent, "unsent: packets that the schedule asked for and that were not sent");
#define TX_LINE(key, help) counter_line(r, "tx", #key, s->tx.key, help);
	STATS_TX(TX_LINE)
#undef TX_LINE
}

static void rx_lines(struct report *r, const struct report_span *s)
{
#define RX_LINE(key, help)    counter_line(r, "rx", #key, s->rx.key, help);
#define CLASS_LINE(key, help) amount_line(r, "rx", s->classes.key, help);
	STATS_RX(RX_LINE)
	STATS_CLASS(CLASS_LINE)
#undef RX_LINE
#undef CLASS_LINE
}

static void floor_line(struct report *r, const struct report_floor *f)
{
	fprintf(r->out,
		"floor    %.3f us at least, %.3f us for half of the packets, %.3f us for 99 %% (%" PRIu64
		" packets, 1 ms apart, before the run)%s\n",
		(double)f->min / 1e3, (double)f->p50 / 1e3, (double)f->p99 / 1e3, f->packets,
		f->subtracted ? "; the least was taken off the latencies" : "");
}

static void threshold_line(struct report *r, const struct report_threshold *t)
{
	char value[UNITS_STR], limit[UNITS_STR];

	/* Streams with a limit beside streams without one have no rate in common. */
	threshold_format(t, t->limit, limit, sizeof(limit));
	fprintf(r->out, "limit    %s%s%s: %s, %s\n", t->name, isnan(t->limit) ? "" : " ", isnan(t->limit) ? "" : limit,
		threshold_format(t, t->value, value, sizeof(value)), t->ok ? "met" : "not met");
}

static void pair_line(struct report *r, const struct report_span *s)
{
	int64_t fewer = calc_difference(&s->tx, &s->rx);

	if (fewer)
		fprintf(r->out, "pair %20" PRIi64 " packets %s received than sent\n", fewer < 0 ? -fewer : fewer,
			fewer < 0 ? "more" : "fewer");
	else
		fputs("pair as many packets received as sent\n", r->out);
}

/* As wide as a name and its number are in the lines above. */
static void device_lines(struct report *r, const struct host_drops *d)
{
	for (unsigned i = 0; d && i < d->n; i++)
		fprintf(r->out,
			"device %18" PRIu64 " %s: the driver's own count; these may be the packets of the drops above, "
			"seen again\n",
			d->drop[i].n, d->drop[i].name);
}

static void queue_lines(struct report *r, const struct report_sample *total)
{
	fprintf(r->out, "%-7s %-5s %20s %20s %12s\n", "queue", "cpu", "tx packets", "rx packets", "drops");
	for (unsigned i = 0; i < total->n_queues; i++) {
		const struct report_queue *q = &total->queues[i];
		char cpu[16] = "-", tx[24] = "-", rx[24] = "-";

		if (q->cpu >= 0)
			snprintf(cpu, sizeof(cpu), "%d", q->cpu);
		if (q->tx)
			snprintf(tx, sizeof(tx), "%" PRIu64, q->tx_counts.completed);
		if (q->rx)
			snprintf(rx, sizeof(rx), "%" PRIu64, q->rx_counts.packets);
		fprintf(r->out, "%-7u %-5s %20s %20s %12" PRIu64 "\n", q->queue, cpu, tx, rx,
			calc_tx_dropped(&q->tx_counts) + calc_rx_dropped(&q->rx_counts));
	}
}

static void stream_lines(struct report *r, const struct report_end *end)
{
	fprintf(r->out, "%-22s %20s %12s %12s\n", "stream", "packets queued", "asked for", "unsent");
	for (unsigned i = 0; i < end->n_streams; i++) {
		const struct report_stream *s = &end->streams[i];
		char pps[UNITS_STR], unsent[24] = "-";

		if (s->have_unsent)
			snprintf(unsent, sizeof(unsent), "%" PRIu64, s->unsent);
		fprintf(r->out, "%-22s %20" PRIu64 " %12s %12s\n", s->name, end->total->streams[i].queued,
			s->requested_pps < 0 ? "unlimited"
					     : units_format_with(s->requested_pps, "pps", pps, sizeof(pps)),
			unsent);
	}
}

static void cpu_line(struct report *r, const struct cpu_seconds *c)
{
	if (!isfinite(c->user))
		return;
	fputs("cpu ", r->out);
#define CPU_PART(key) fprintf(r->out, " %s %.2f s", #key, c->key);
	CPU_SECONDS(CPU_PART)
#undef CPU_PART
	fputs(" (whole machine)\n", r->out);
}

static void text_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	struct report_span s;
	char took[UNITS_STR];

	(void)e;
	(void)all;
	if (!end)
		return;
	report_span_run(&s, end);
	fprintf(r->out, "%sran for %s, ended by %s\n", r->n_intervals && !r->cfg->quiet ? "\n" : "",
		units_format_time(s.ns, took, sizeof(took)), end_reason_name(end->reason));
	table_head(r);
	if (r->tx)
		table_row(r, "tx", &s.tx_rates);
	if (r->rx)
		table_row(r, "rx", &s.rx_rates);
	if (r->tx)
		tx_lines(r, &s, end);
	if (r->rx)
		rx_lines(r, &s);
	if (end->pair)
		pair_line(r, &s);
#define LOOP_LINE(key, help) amount_line(r, "loop", end->loop.key, help);
	if (end->have_loop) {
		STATS_LOOP(LOOP_LINE)
	}
#undef LOOP_LINE
#define REFLECT_LINE(key, help) amount_line(r, "back", end->reflect->key, help);
	if (end->reflect) {
		STATS_REFLECT(REFLECT_LINE)
	}
#undef REFLECT_LINE
#define RESPOND_LINE(key, help) amount_line(r, "told", end->respond->key, help);
	if (end->respond) {
		STATS_RESPOND(RESPOND_LINE)
	}
#undef RESPOND_LINE
	if (end->capture)
		fprintf(r->out, "file %20" PRIu64 " packets in %s, %" PRIu64 " received and not in it\n",
			end->capture->packets, end->capture->file, end->capture->dropped);
#define PCAP_LINE(key, help) amount_line(r, "pcap", end->pcap->key, help);
	if (end->pcap) {
		STATS_PCAP(PCAP_LINE)
	}
#undef PCAP_LINE
	report_text_measure(r, end->measure);
	if (end->floor)
		floor_line(r, end->floor);
	device_lines(r, end->device_drops);
	if (end->n_streams)
		stream_lines(r, end);
	if (end->total->n_queues > 1)
		queue_lines(r, end->total);
	cpu_line(r, &end->cpu);
	for (unsigned i = 0; i < end->n_thresholds; i++)
		threshold_line(r, &end->thresholds[i]);
	for (unsigned i = 0; i < end->warnings.n; i++)
		fprintf(r->out, "warning  %s\n", end->warnings.text[i]);
}

void report_text_document(struct report *r, const struct report_document *d, const struct err *e,
			  const struct problems *all)
{
	(void)all;
	if (!err_failed(e))
		d->text(d->arg, r->out);
}

const struct report_ops report_text_ops = {
	.begin = text_begin,
	.interval = text_interval,
	.end = text_end,
	.document = report_text_document,
};
