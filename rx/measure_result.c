/* SPDX-License-Identifier: Apache-2.0 */
/* What a measurement tells in the end. */
#include "lib/core/seqwin_end.h"
#include "measure_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

/* What became of one flow. */
struct fate {
	bool came;   /* anything did */
	bool joined; /* its first packets were not seen */
	bool beyond; /* a packet came with a number that none was sent with */
	uint64_t expected;
	uint32_t longest;
};

/* Once for each flow: it takes the window out of use. */
static struct fate fate_of(struct measure *m, uint32_t flow, const struct measure_sent *sent)
{
	uint32_t mask;
	struct measure_record *r = measure_record_of(m->tiers, flow, &mask);
	uint64_t highest = seqwin_highest(&r->win, r->words, mask);
	uint64_t base = highest ? r->win.base : SEQWIN_ZERO;
	uint64_t end = highest ? highest + 1 : SEQWIN_ZERO;
	struct fate fate = {.came = highest, .joined = base != SEQWIN_ZERO};

	if (sent) {
		/* Flows that are not the sender's have no numbers. */
		uint64_t all = SEQWIN_ZERO + (flow < sent->flows ? sent->of_flow(sent->arg, flow) : 0);

		fate.beyond = end > all;
		end = all > end ? all : end;
		if (base - SEQWIN_ZERO < SEQWIN_RUN_MAX)
			fate.longest = (uint32_t)(base - SEQWIN_ZERO);
		base = SEQWIN_ZERO;
	}
	fate.expected = end - base;
	if (!highest)
		fate.longest = fate.expected < SEQWIN_RUN_MAX ? (uint32_t)fate.expected : SEQWIN_RUN_MAX;
	seqwin_finish(&r->win, r->words, mask, end, &fate.longest);
	return fate;
}

static uint64_t lost_of(uint64_t expected, uint64_t unique)
{
	return expected > unique ? expected - unique : 0;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* ---- threads to one ---- */

static void earlier(uint64_t *first, uint64_t v)
{
	if (v && (!*first || v < *first))
		*first = v;
}

static void sum_up(struct measure_part *sum, const struct measure_part *part)
{
	struct measure_counts c;

	measure_counts_read(&part->counts, &c);
#define ADD(key, help) stats_add(&sum->counts.key, c.key);
	STATS_MEASURE(ADD)
#undef ADD
	earlier(&sum->first_ns, part->first_ns);
	sum->last_ns = part->last_ns > sum->last_ns ? part->last_ns : sum->last_ns;
	sum->longest = part->longest > sum->longest ? part->longest : sum->longest;
	/* Each thread's jitter, by the packets that it is of. */
	if (part->jitters) {
		double all = (double)(sum->jitters + part->jitters);

		sum->jitter = (uint64_t)llround(
			((double)sum->jitter * (double)sum->jitters + (double)part->jitter * (double)part->jitters) /
			all);
		sum->jitters += part->jitters;
	}
	hist_merge(&sum->latency, &part->latency);
	hist_merge(&sum->ipdv, &part->ipdv);
	hist_merge(&sum->gap, &part->gap);
	hist_merge(&sum->extent, &part->extent);
	hist_merge(&sum->longer, &part->longer);
	hist_merge(&sum->shorter, &part->shorter);
	sum->began += part->began;
	sum->before_first += part->before_first;
}

static uint64_t wall(const struct measure *m, uint64_t at)
{
	return at ? at - 1 + m->workers[0].wall_add : 0;
}

static void tell(const struct measure *m, const struct measure_part *sum, uint64_t expected, uint64_t flows,
		 struct report_measured *out)
{
	measure_counts_read(&sum->counts, &out->counts);
	out->flows = flows;
	out->lost = lost_of(expected, out->counts.unique);
	out->loss_ratio = ratio(out->lost, expected);
	out->longest_loss = sum->longest;
	out->first_ns = wall(m, sum->first_ns);
	out->last_ns = wall(m, sum->last_ns);
	out->jitter_ns = sum->jitters ? (double)sum->jitter / 16 : NAN;
	measure_pdv(sum, m->conf.clock != MEASURE_CLOCK_NONE, &out->pdv);
	out->latency = &sum->latency;
	out->ipdv = &sum->ipdv;
	out->gap = &sum->gap;
	out->extent = &sum->extent;
}

/* ---- flows ---- */

/* A flow in the order of the report. */
struct rank {
	uint64_t lost, others; /* others: what else went wrong */
	uint64_t expected;
	uint32_t flow, longest;
};

static int worst_first(const void *a, const void *b)
{
	const struct rank *x = a;
	const struct rank *y = b;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	if (x->others != y->others)
		return x->others < y->others ? 1 : -1;
	return x->flow < y->flow ? -1 : 1;
}

static struct rank rank_of(const struct measure *m, uint32_t flow, const struct fate *fate)
{
	const struct measure_flow *f = &m->flows[flow];

	return (struct rank){.lost = lost_of(fate->expected, f->unique),
			     .others = f->duplicate + f->late + f->reordered,
			     .expected = fate->expected,
			     .flow = flow,
			     .longest = f->longest > fate->longest ? f->longest : fate->longest};
}

static void flow_tell(const struct measure *m, const struct rank *k, struct report_flow *out)
{
	const struct measure_flow *f = &m->flows[k->flow];

	*out = (struct report_flow){
		.flow = k->flow,
		.stamped = f->unique + f->duplicate + f->late,
		.unique = f->unique,
		.duplicate = f->duplicate,
		.late = f->late,
		.reordered = f->reordered,
		.bytes = f->bytes,
		.lost = k->lost,
		.loss_ratio = ratio(k->lost, k->expected),
		.longest_loss = k->longest,
		.extent_max = f->extent,
		.first_ns = wall(m, f->first_ns),
		.last_ns = wall(m, f->last_ns),
		.jitter_ns = f->unique > 1 ? (double)f->jitter / 16 : NAN,
		.have_latency = f->latency_least,
		.latency_min = f->latency_least ? f->latency_least - 1 : 0,
		.latency_max = f->latency_most,
		.latency_mean = f->unique ? (double)f->latency_sum / (double)f->unique : NAN,
	};
}

static void rest_add(struct report_flow *rest, const struct report_flow *f)
{
	rest->flow++;
	rest->stamped += f->stamped;
	rest->unique += f->unique;
	rest->duplicate += f->duplicate;
	rest->late += f->late;
	rest->reordered += f->reordered;
	rest->bytes += f->bytes;
	rest->lost += f->lost;
	rest->longest_loss = f->longest_loss > rest->longest_loss ? f->longest_loss : rest->longest_loss;
	rest->extent_max = f->extent_max > rest->extent_max ? f->extent_max : rest->extent_max;
	earlier(&rest->first_ns, f->first_ns);
	rest->last_ns = f->last_ns > rest->last_ns ? f->last_ns : rest->last_ns;
}

static int tell_flows(struct measure *m, struct rank *ranks, uint64_t n, uint64_t most, struct report_measure *out,
		      uint64_t *unique)
{
	uint64_t expected = 0;

	qsort(ranks, n, sizeof(*ranks), worst_first);
	out->n_flows = n < most ? n : most;
	m->told_flows = calloc(out->n_flows + 1, sizeof(*m->told_flows));
	if (!m->told_flows)
		return -ENOMEM;
	out->flows = m->told_flows;
	for (uint64_t i = 0; i < n; i++) {
		struct report_flow f;

		flow_tell(m, &ranks[i], &f);
		*unique += f.unique;
		if (i < out->n_flows) {
			m->told_flows[i] = f;
		} else {
			rest_add(&out->rest, &f);
			expected += ranks[i].expected;
		}
	}
	out->rest.loss_ratio = ratio(out->rest.lost, expected);
	out->rest.jitter_ns = NAN;
	out->rest.latency_mean = NAN;
	return 0;
}

/* ---- all of it ---- */

/* The system's own estimate of how far its clock is off. */
static uint64_t clock_error(void)
{
	struct timex t = {0};

	return adjtimex(&t) < 0 || t.esterror < 0 ? 0 : (uint64_t)t.esterror * 1000;
}

static void tell_clock(const struct measure *m, struct report_measure *out)
{
	static const char *const clocks[] = {
		[MEASURE_CLOCK_NONE] = NULL,
		[MEASURE_CLOCK_SAME_HOST] = "same host (CLOCK_MONOTONIC)",
		[MEASURE_CLOCK_PTP] = "PTP (CLOCK_TAI)",
	};

	out->clock = clocks[m->conf.clock];
	if (!out->clock)
		out->no_clock = "the sender's clock is not known to be this host's: --clock same-host or ptp says so";
	if (m->conf.clock == MEASURE_CLOCK_PTP)
		out->clock_error_ns = clock_error();
}

void measure_bounds(const struct measure *m, struct report_measure *out)
{
	uint32_t words = UINT32_MAX;

	for (unsigned i = 0; i < MEASURE_TIERS; i++)
		if (m->tiers[i].from < m->limit && m->tiers[i].mask < words)
			words = m->tiers[i].mask;
	out->flow_limit = m->limit;
	out->window = (uint64_t)words * SEQWIN_BLOCK;
	out->memory = m->records_size + m->flows_size;
}

static void tell_conf(struct measure *m, struct report_measure *out)
{
	measure_bounds(m, out);
	out->run = atomic_load(&m->run);
	out->run_learnt = atomic_load(&m->run_learnt);
	out->per_flow = m->flows;
	tell_clock(m, out);
	/* Less than a floor that is taken off is nothing to wonder at. */
	if (out->clock && !m->floor_ns)
		out->early = out->total.latency->n[0];
}

static void go_through(struct measure *m, const struct measure_sent *sent, struct measure_sums *sums,
		       struct rank *ranks, uint64_t n, struct report_measure *out, uint64_t *n_ranks)
{
	unsigned s = 0;

	for (uint32_t flow = 0; flow < n; flow++) {
		struct fate fate = fate_of(m, flow, sent);

		while (flow >= m->first_flow[s + 1])
			s++;
		if (!fate.came && !fate.expected)
			continue;
		sums[s].expected += fate.expected;
		sums[s].flows += fate.came;
		sums[s].beyond += fate.beyond;
		out->joined += fate.joined;
		if (fate.longest > m->sums[s].longest)
			m->sums[s].longest = fate.longest;
		if (ranks)
			ranks[(*n_ranks)++] = rank_of(m, flow, &fate);
	}
}

static uint64_t flows_to_tell(const struct measure *m, const struct measure_sent *sent)
{
	uint64_t n = sent ? sent->flows : 0;

	for (unsigned i = 0; i < m->conf.threads; i++)
		n = m->workers[i].flows_seen > n ? m->workers[i].flows_seen : n;
	return n < m->limit ? n : m->limit;
}

/*
 * Of the packets with a number, how many the device sent: what it dropped was not lost, and nobody knows of which flow
 * it was. Of what it was not heard of any more, as much was sent as came.
 */
static uint64_t really_sent(const struct measure_sent *sent, uint64_t unique)
{
	uint64_t most = sent->packets + sent->undecided;

	if (unique <= sent->packets)
		return sent->packets;
	return unique < most ? unique : most;
}

int measure_result(struct measure *m, const struct measure_sent *sent, uint64_t n_flows, struct report_measure *out,
		   struct err *e)
{
	const uint64_t n = flows_to_tell(m, sent);
	struct measure_part *total = &m->sums[m->n_parts];
	struct measure_sums all = {0};
	struct measure_sums *sums = calloc(m->n_parts, sizeof(*sums));
	struct rank *ranks = m->flows ? calloc(n + 1, sizeof(*ranks)) : NULL;
	uint64_t n_ranks = 0, flow_unique = 0, expected;
	int rc = !sums || (m->flows && !ranks) ? -ENOMEM : 0;

	*out = (struct report_measure){.sent_known = sent,
				       .partly = sent && sent->flows > m->limit,
				       .n_streams = m->conf.n_streams,
				       .streams = m->told};
	if (rc)
		goto out;
	for (unsigned i = 0; i < m->conf.threads; i++)
		for (unsigned s = 0; s < m->n_parts; s++)
			sum_up(&m->sums[s], &m->parts[i * m->n_parts + s]);
	go_through(m, sent, sums, ranks, n, out, &n_ranks);
	for (unsigned s = 0; s < m->n_parts; s++) {
		memcpy(m->told[s].name, m->streams[s].name, sizeof(m->told[s].name));
		tell(m, &m->sums[s], sums[s].expected, sums[s].flows, &m->told[s]);
		sum_up(total, &m->sums[s]);
		all.expected += sums[s].expected;
		all.flows += sums[s].flows;
		all.beyond += sums[s].beyond;
	}
	expected = all.expected;
	if (sent && !out->partly) {
		uint64_t unique = 0;

		for (unsigned s = 0; s < m->n_parts; s++)
			unique += m->told[s].counts.unique;
		expected = really_sent(sent, unique);
		out->not_sent = all.expected > expected ? all.expected - expected : 0;
	}
	tell(m, total, expected, all.flows, &out->total);
	out->began = total->began;
	out->before_first = total->before_first < out->total.lost ? total->before_first : out->total.lost;
	/* Nor is what was not sent a burst of losses. */
	if (out->total.longest_loss > out->total.lost)
		out->total.longest_loss = (uint32_t)out->total.lost;
	tell_conf(m, out);
	if (ranks)
		rc = tell_flows(m, ranks, n_ranks, n_flows, out, &flow_unique);
	if (!rc)
		measure_books(m, sent, sums, &all, flow_unique, out);
out:
	free(sums);
	free(ranks);
	return rc ? err_set(e, rc, EXIT_RUN, "cannot tell what was measured", NULL, "no memory") : 0;
}
