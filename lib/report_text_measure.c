/* SPDX-License-Identifier: Apache-2.0 */
#include "report_text_measure.h"

#include "units.h"

#include <inttypes.h>
#include <math.h>

/* Flows that are shown one by one: the JSON form has as many as --flow-report says. */
#define FLOWS_SHOWN 10U

/* A duration in the unit that suits it. */
static const char *span(double ns, char buf[32])
{
	if (!isfinite(ns))
		snprintf(buf, 32, "-");
	else if (ns < 1e4)
		snprintf(buf, 32, "%.0f ns", ns);
	else if (ns < 1e7)
		snprintf(buf, 32, "%.2f us", ns / 1e3);
	else if (ns < 1e10)
		snprintf(buf, 32, "%.2f ms", ns / 1e6);
	else
		snprintf(buf, 32, "%.2f s", ns / 1e9);
	return buf;
}

static void ratio_text(double ratio, char buf[32])
{
	if (isfinite(ratio))
		snprintf(buf, 32, "%.6g %%", ratio * 100);
	else
		snprintf(buf, 32, "-");
}

static void loss_lines(struct report *r, const char *name, const struct report_measured *d)
{
	const struct measure_counts *c = &d->counts;
	char loss[32];

	ratio_text(d->loss_ratio, loss);
	fprintf(r->out,
		"%s  %" PRIu64 " unique, %" PRIu64 " lost (%s), %" PRIu64 " duplicate, %" PRIu64 " reordered, %" PRIu64
		" late; %" PRIu64 " flow%s\n",
		name, c->unique, d->lost, loss, c->duplicate, c->reordered, c->late, d->flows,
		d->flows == 1 ? "" : "s");
	if (d->longest_loss)
		fprintf(r->out, "%s  at most %u packets of a flow were lost in a row\n", name, d->longest_loss);
	if (d->extent->total)
		fprintf(r->out,
			"%s  reordered packets were overtaken by %" PRIu64 " or fewer for half of them, by %" PRIu64
			" at most\n",
			name, hist_quantile(d->extent, 500000), d->extent->greatest);
}

static void quantiles(struct report *r, const char *name, const char *what, const struct hist *h)
{
	char buf[32];

	if (!h->total)
		return;
	fprintf(r->out, "%s  %-8s min %s", name, what, span((double)(h->least - 1), buf));
	fprintf(r->out, ", mean %s", span((double)h->sum / (double)h->total, buf));
#define QUANTILE(key, in_a_million) \
	fprintf(r->out, ", %g %% %s", in_a_million / 1e4, span((double)hist_quantile(h, in_a_million), buf));
	REPORT_QUANTILES(QUANTILE)
#undef QUANTILE
	fprintf(r->out, ", max %s\n", span((double)h->greatest, buf));
}

static void time_lines(struct report *r, const char *name, const struct report_measure *m,
		       const struct report_measured *d)
{
	char buf[32];

	if (m->clock)
		quantiles(r, name, "latency", d->latency);
	if (d->pdv.known) {
		fprintf(r->out, "%s  pdv     ", name);
#define PDV(key, in_a_million) fprintf(r->out, " %g %% %s,", in_a_million / 1e4, span((double)d->pdv.key, buf));
		REPORT_QUANTILES(PDV)
#undef PDV
		fprintf(r->out, " max %s\n", span((double)d->pdv.max, buf));
	}
	quantiles(r, name, "ipdv", d->ipdv);
	if (isfinite(d->jitter_ns))
		fprintf(r->out, "%s  jitter   %s (RFC 3550)\n", name, span(d->jitter_ns, buf));
}

static void clock_line(struct report *r, const struct report_measure *m)
{
	char buf[32];

	if (!m->total.counts.unique)
		return;
	if (!m->clock)
		fprintf(r->out, "measure  no latency: %s; arrivals: %s\n", m->no_clock, m->arrivals);
	else if (m->clock_error_ns)
		fprintf(r->out, "measure  clock %s, off by %s as the system estimates; arrivals: %s\n", m->clock,
			span((double)m->clock_error_ns, buf), m->arrivals);
	else
		fprintf(r->out, "measure  clock %s; arrivals: %s\n", m->clock, m->arrivals);
}

static void others_line(struct report *r, uint64_t n, const char *what)
{
	if (n)
		fprintf(r->out, "measure  %" PRIu64 " %s\n", n, what);
}

static void flow_lines(struct report *r, const struct report_measure *m)
{
	uint64_t shown = m->n_flows < FLOWS_SHOWN ? m->n_flows : FLOWS_SHOWN;

	if (!shown)
		return;
	fprintf(r->out, "%-10s %16s %12s %12s %12s %12s %8s %12s\n", "flow", "unique", "lost", "duplicate", "reordered",
		"late", "in a row", "mean latency");
	for (uint64_t i = 0; i < shown; i++) {
		const struct report_flow *f = &m->flows[i];
		char latency[32] = "-";

		if (f->have_latency)
			span(f->latency_mean, latency);
		fprintf(r->out,
			"%-10u %16" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8u %12s\n",
			f->flow, f->unique, f->lost, f->duplicate, f->reordered, f->late, f->longest_loss, latency);
	}
	if (m->n_flows + m->rest.flow > shown)
		fprintf(r->out, "and %" PRIu64 " flows more, none worse\n", m->n_flows + m->rest.flow - shown);
}

void report_text_measure(struct report *r, const struct report_measure *m)
{
	if (!m)
		return;
	if (m->run < 0)
		fprintf(r->out, "measure  no stamp was seen\n");
	else
		fprintf(r->out, "measure  run %d%s; losses are known %s\n", m->run,
			m->run_learnt ? ", learnt from its first stamp" : "",
			m->sent_known ? "of all that was sent"
				      : "from number 0 up to the last packet of each flow that came");
	loss_lines(r, "measure", &m->total);
	if (m->not_sent)
		fprintf(r->out,
			"measure  %" PRIu64
			" packets more were numbered, but not sent: lost by flow and stream, and not here\n",
			m->not_sent);
	time_lines(r, "measure", m, &m->total);
	clock_line(r, m);
#define OTHERS(key, help) others_line(r, m->total.counts.key, help);
	OTHERS(foreign, "packets without a stamp of the run")
	OTHERS(other_run, "of them with a stamp of another run")
	OTHERS(unfollowed, "packets of flows beyond --flow-limit, not measured")
	OTHERS(unreadable, "fragments or merged packets, whose stamps cannot be looked for")
#undef OTHERS
	for (unsigned i = 0; i < m->n_streams; i++) {
		loss_lines(r, m->streams[i].name, &m->streams[i]);
		time_lines(r, m->streams[i].name, m, &m->streams[i]);
	}
	flow_lines(r, m);
}
