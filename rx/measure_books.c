/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be true of any measurement, whatever came: each packet is counted once, and where the sender is known, what
 * it sent is what came and what was lost. If it is not, a number of the report is wrong, and the report says so.
 */
#include "measure_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The first flaw is told. */
static void flaw(struct report_measure *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void flaw(struct report_measure *out, const char *fmt, ...)
{
	va_list ap;

	if (out->books[0])
		return;
	va_start(ap, fmt);
	vsnprintf(out->books, sizeof(out->books), fmt, ap);
	va_end(ap);
}

/* Of the run, or of a stream. */
static void each_once(struct report_measure *out, const char *what, const struct report_measured *d)
{
	const struct measure_counts *c = &d->counts;

	if (c->stamped != c->unique + c->duplicate + c->late)
		flaw(out,
		     "%s%s%" PRIu64 " packets were stamped, but %" PRIu64 " unique, %" PRIu64 " duplicate and %" PRIu64
		     " late",
		     what, what[0] ? ": " : "", c->stamped, c->unique, c->duplicate, c->late);
}

static void sent_is_unique_and_lost(struct report_measure *out, const char *what, uint64_t sent,
				    const struct report_measured *d)
{
	if (sent != d->counts.unique + d->lost)
		flaw(out,
		     "%s%s%" PRIu64 " packets were sent, but %" PRIu64 " came for the first time and %" PRIu64
		     " were lost",
		     what, what[0] ? ": " : "", sent, d->counts.unique, d->lost);
}

void measure_books(const struct measure *m, const struct measure_sent *sent, const struct measure_sums *sums,
		   const struct measure_sums *all, uint64_t flow_unique, struct report_measure *out)
{
	const struct report_measured *total = &out->total;

	each_once(out, "", total);
	if (m->flows && flow_unique != total->counts.unique)
		flaw(out, "%" PRIu64 " packets were unique, but %" PRIu64 " by flow", total->counts.unique,
		     flow_unique);
	for (unsigned s = 0; s < m->conf.n_streams; s++)
		each_once(out, m->told[s].name, &m->told[s]);
	if (!sent)
		return;
	/* With the run's number, of flows that it has: then another sender has the same number. */
	if (all->beyond)
		flaw(out, "packets of %" PRIu64 " flows came with numbers that none of them was sent with",
		     all->beyond);
	for (unsigned s = 0; s < m->conf.n_streams; s++)
		sent_is_unique_and_lost(out, m->told[s].name, sums[s].expected, &m->told[s]);
	if (out->partly) {
		sent_is_unique_and_lost(out, "", all->expected, total);
		return;
	}
	if (all->expected != sent->numbers)
		flaw(out, "%" PRIu64 " packets were handed to the device, but %" PRIu64 " by flow", sent->numbers,
		     all->expected);
	if (total->counts.unique <= sent->packets)
		sent_is_unique_and_lost(out, "", sent->packets, total);
	else if (total->counts.unique > sent->packets + sent->undecided)
		flaw(out, "%" PRIu64 " packets came for the first time, but only %" PRIu64 " were sent",
		     total->counts.unique, sent->packets + sent->undecided);
	/* By flow and stream what the device did not send is lost, since nobody knows whose it was. */
	if (all->expected != total->counts.unique + total->lost + out->not_sent)
		flaw(out, "the flows' losses are not the run's and what was not sent");
}
