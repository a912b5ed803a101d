/* SPDX-License-Identifier: Apache-2.0 */
/* What is done for few packets, or in some runs only; and how much longer than the shortest packets took. */
#include "measure_internal.h"

/* ---- without a clock in common ---- */

static int64_t longer_by(uint64_t transit, uint64_t reference)
{
	const unsigned unused = 64 - STAMP_TIME_BITS;

	return (int64_t)((transit - reference) << unused) >> unused;
}

/*
 * How long packets took is known up to a difference that is the same for all. Against that of one packet it is a small
 * number, for which a histogram is exact enough. All threads take the same one; the shortest of the first few is near
 * the shortest of all.
 */
static void learn_reference(struct measure_worker *w, const uint64_t *transit, unsigned n)
{
	uint64_t none = 0, least = transit[0];

	for (unsigned i = 1; i < n; i++)
		if (longer_by(transit[i], least) < 0)
			least = transit[i];
	least = (least & ((1ULL << STAMP_TIME_BITS) - 1)) + 1;
	if (!atomic_compare_exchange_strong(&w->m->reference, &none, least))
		least = none;
	w->reference = least;
}

void measure_varied(struct measure_worker *w, struct measure_part *part, const uint64_t *transit, unsigned n)
{
	if (!w->reference && n)
		learn_reference(w, transit, n);
	for (unsigned i = 0; i < n; i++) {
		int64_t longer = longer_by(transit[i], w->reference - 1);

		if (longer < 0)
			hist_add(&part->shorter, (uint64_t)-longer, 1);
		else
			hist_add(&part->longer, (uint64_t)longer, 1);
	}
}

/* The value of this rank, from 1 for the least; the middle of its bucket. */
static uint64_t of_rank(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0, v;
	uint32_t i = 0;

	for (; i < HIST_BUCKETS - 1; i++) {
		seen += h->n[i];
		if (seen >= rank)
			break;
	}
	v = hist_low(i) + (hist_low(i + 1) - hist_low(i)) / 2;
	if (v < h->least - 1)
		return h->least - 1;
	return v > h->greatest || i == HIST_BUCKETS - 1 ? h->greatest : v;
}

/* From the shortest on: those that took less than the reference, the most of it first, then the others. */
static uint64_t varied_quantile(const struct hist *shorter, const struct hist *longer, uint32_t in_a_million)
{
	const uint64_t total = shorter->total + longer->total;
	uint64_t rank = total / 1000000 * in_a_million + (total % 1000000 * in_a_million + 999999) / 1000000;

	if (rank <= shorter->total)
		return shorter->greatest - of_rank(shorter, shorter->total + 1 - rank);
	return of_rank(longer, rank - shorter->total) + shorter->greatest - (shorter->total ? 0 : longer->least - 1);
}

void measure_pdv(const struct measure_part *sum, bool has_clock, struct report_pdv *out)
{
	const struct hist *h = has_clock ? &sum->latency : &sum->longer;
	const bool by_reference = !has_clock && sum->shorter.total;
	const uint64_t least = h->least - 1;

	*out = (struct report_pdv){.known = h->total || by_reference};
	if (!out->known)
		return;
#define QUANTILE(key, in_a_million) \
	out->key = by_reference ? varied_quantile(&sum->shorter, h, in_a_million) \
				: hist_quantile(h, in_a_million) - least;
	REPORT_QUANTILES(QUANTILE)
#undef QUANTILE
	if (h->total)
		out->max = h->greatest + (by_reference ? sum->shorter.greatest : -least);
	else
		out->max = sum->shorter.greatest - (sum->shorter.least - 1);
}

/* ---- how flows begin ---- */

/* Where the window does not reach back to number 0, what was before is not counted as lost. */
void measure_flow_began(struct measure_part *part, const struct measure_record *r, uint32_t sequence)
{
	/* Another thread may be writing it just now. */
	if (!sequence || seqwin_load(&r->win.base, true) > SEQWIN_ZERO)
		return;
	part->began++;
	part->before_first += sequence;
}
