/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A header, a row per interval, a row of totals. Every run has every column; what a run does not have is empty. The
 * keys are those of docs/json.md with tx_, rx_ or class_ in front. A run that never started has the header only: CSV
 * has no place for an error.
 */
#include "clock.h"
#include "report_form.h"

#include <inttypes.h>
#include <math.h>

static void csv_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	(void)plan;
	(void)wall_ns;
#define NAME_TX_RATE(key)                ",tx_" #key
#define NAME_RX_RATE(key)                ",rx_" #key
#define NAME_TX(key, help)               ",tx_" #key
#define NAME_RX(key, help)               ",rx_" #key
#define NAME_CLASS(key, help)            ",class_" #key
#define NAME_MEASURE(key, help)          ",measure_" #key
#define NAME_QUANTILE(key, in_a_million) ",latency_ns_" #key
	fputs("row,elapsed_s,seconds"
	      ",tx_packets,tx_bytes_l2" CALC_RATES(NAME_TX_RATE) ",tx_dropped" STATS_TX(
		      NAME_TX) ",tx_unsent"
			       ",tx_lateness_ns_p50,tx_lateness_ns_p99,tx_lateness_ns_max"
			       ",rx_bytes_l2" CALC_RATES(NAME_RX_RATE) ",rx_dropped" STATS_RX(NAME_RX)
				       STATS_CLASS(NAME_CLASS) STATS_MEASURE(
					       NAME_MEASURE) ",measure_missing_so_far,measure_lost,measure_loss_ratio"
							     ",jitter_ns,latency_ns_min,latency_ns_"
							     "mean" REPORT_QUANTILES(NAME_QUANTILE) ",latency_ns_max\n",
	      r->out);
}

/* What is not there is an empty cell. */
static void cell(struct report *r, bool there, uint64_t n)
{
	fputs(",", r->out);
	if (there)
		fprintf(r->out, "%" PRIu64, n);
}

static void cell_real(struct report *r, bool there, double v)
{
	char buf[32] = "";

	if (there && isfinite(v))
		snprintf(buf, sizeof(buf), "%.15g", v);
	for (char *p = buf; *p; p++)
		if (*p == ',') /* a locale's decimal comma would be one more column */
			*p = '.';
	fprintf(r->out, ",%s", buf);
}

/* m: NULL but in the row of totals, which has what is lost instead of what is missing. */
static void measure_cells(struct report *r, const struct report_span *s, const struct report_measure *m, bool total)
{
	const struct hist *h = m ? m->total.latency : NULL;
	const bool latency = h && m->clock && h->total;

#define CELL_MEASURE(key, help)          cell(r, r->measure, s->measure.key);
#define CELL_QUANTILE(key, in_a_million) cell(r, latency, latency ? hist_quantile(h, in_a_million) : 0);
	STATS_MEASURE(CELL_MEASURE)
	cell(r, r->missing && !total, s->missing);
	cell(r, m, m ? m->total.lost : 0);
	cell_real(r, m, m ? m->total.loss_ratio : 0);
	cell_real(r, m, m ? m->total.jitter_ns : 0);
	cell(r, latency, latency ? h->least - 1 : 0);
	cell_real(r, latency, latency ? (double)h->sum / (double)h->total : 0);
	REPORT_QUANTILES(CELL_QUANTILE)
	cell(r, latency, latency ? h->greatest : 0);
}

/* end: of the row of totals, which alone has what is known only then; else NULL. */
static void row(struct report *r, const char *name, const struct report_span *s, const struct report_end *end)
{
	static const struct report_lateness none;
	const struct report_lateness *late = end ? &end->lateness : &none;

	fputs(name, r->out);
	cell_real(r, true, (double)s->elapsed_ns / NS_PER_S);
	cell_real(r, true, (double)s->ns / NS_PER_S);

#define CELL_TX_RATE(key)     cell_real(r, r->tx, s->tx_rates.key);
#define CELL_RX_RATE(key)     cell_real(r, r->rx, s->rx_rates.key);
#define CELL_TX(key, help)    cell(r, r->tx, s->tx.key);
#define CELL_RX(key, help)    cell(r, r->rx, s->rx.key);
#define CELL_CLASS(key, help) cell(r, r->rx, s->classes.key);
	cell(r, r->tx, s->tx_rates.packets);
	cell(r, r->tx, s->tx_rates.bytes_l2);
	CALC_RATES(CELL_TX_RATE)
	cell(r, r->tx, calc_tx_dropped(&s->tx));
	STATS_TX(CELL_TX)
	cell(r, r->tx && end, end ? end->unsent : 0);
	cell(r, r->tx && late->known, late->p50);
	cell(r, r->tx && late->known, late->p99);
	cell(r, r->tx && late->known, late->max);

	cell(r, r->rx, s->rx_rates.bytes_l2);
	CALC_RATES(CELL_RX_RATE)
	cell(r, r->rx, calc_rx_dropped(&s->rx));
	STATS_RX(CELL_RX)
	STATS_CLASS(CELL_CLASS)
	measure_cells(r, s, end ? end->measure : NULL, end);
	fputs("\n", r->out);
}

static void csv_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	struct report_span s;

	report_span_interval(&s, prev, now);
	row(r, "interval", &s, NULL);
}

static void csv_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	struct report_span s;

	(void)e;
	(void)all;
	if (!end)
		return;
	report_span_run(&s, end);
	row(r, "total", &s, end);
}

const struct report_ops report_csv_ops = {
	.begin = csv_begin,
	.interval = csv_interval,
	.end = csv_end,
	.document = report_text_document,
};
