/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_books.h"

#include "gen/pace.h"
#include "gen/tx_bytes.h"

/* What the senders did with one group's schedule. */
struct group_books {
	uint64_t sent;
	uint64_t passed;    /* positions that were nobody's packets */
	uint64_t abandoned; /* claimed, and not yet due at the stop */
	uint64_t drawn;     /* departures of a schedule at random, */
	uint64_t rest;      /* and what there would be more of them before the end */
};

uint64_t books_sent_by(const struct engine *en, unsigned sender, unsigned stream)
{
	if (en->set->n == 1)
		return atomic_load_explicit(&en->tx_port->tx[sender]->stats.tx.queued, memory_order_relaxed);
	return atomic_load_explicit(&en->tx[sender].w.sources[stream].sent, memory_order_relaxed);
}

static uint64_t sent_of(const struct engine *en, unsigned stream)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < en->n_tx; i++)
		sum += books_sent_by(en, i, stream);
	return sum;
}

void books_sent(const struct engine *en, unsigned stream, struct report_sent *out)
{
	*out = (struct report_sent){0};
	for (unsigned i = 0; i < en->n_tx; i++) {
		uint64_t packets = books_sent_by(en, i, stream);

		out->queued += packets;
		out->bytes += tx_source_bytes(&en->tx[i].w.sources[stream], packets);
	}
}

static void add_sender(struct group_books *b, const struct tx_worker *w, unsigned group)
{
	const struct tx_group *g = w->merge ? &w->merge->groups[group] : NULL;
	const struct poisson *p = g ? &g->poisson : &w->poisson;

	if (g) {
		b->passed += g->passed;
		b->abandoned += g->abandoned + g->claimed;
	} else {
		b->abandoned += w->abandoned;
	}
	b->drawn += p->drawn;
	b->rest += p->queues ? poisson_rest(p, g ? g->limiter : w->limiter) : 0;
}

static struct group_books books_of(const struct engine *en, unsigned group)
{
	struct group_books b = {0};

	for (unsigned i = 0; i < en->set->n; i++)
		if (en->set->streams[i].group == group)
			b.sent += sent_of(en, i);
	for (unsigned i = 0; i < en->n_tx; i++)
		add_sender(&b, &en->tx[i].w, group);
	return b;
}

/* Positions of the schedule that were due before the end of the run, and somebody's packets. */
static uint64_t due(const struct engine *en, unsigned group, const struct group_books *b)
{
	const struct limiter *l = &en->limiters[group];
	const bool whole = en->reason == END_DURATION;
	uint64_t positions;

	if (l->unlimited)
		return b->sent;
	if (en->set->groups[group].pace.poisson)
		positions = whole ? b->drawn + b->rest : b->drawn - b->abandoned;
	else
		positions = whole ? limiter_positions(l) : limiter_claimed(l) - b->abandoned;
	return positions > b->passed ? positions - b->passed : 0;
}

static uint64_t unsent_of(const struct engine *en, unsigned group)
{
	struct group_books b = books_of(en, group);
	uint64_t asked = due(en, group, &b);

	if (asked > en->set->groups[group].count)
		asked = en->set->groups[group].count;
	return asked > b.sent ? asked - b.sent : 0;
}

uint64_t books_unsent(const struct engine *en)
{
	uint64_t sum = 0;

	for (unsigned i = 0; en->n_tx && i < en->set->n_groups; i++)
		sum += unsent_of(en, i);
	return sum;
}

uint64_t books_stretched(const struct engine *en)
{
	uint64_t sum = 0;

	for (unsigned i = 0; en->n_tx && en->reason == END_COUNT && i < en->set->n_groups; i++) {
		struct group_books b = books_of(en, i);
		uint64_t asked = due(en, i, &b);

		sum += asked > b.sent ? asked - b.sent : 0;
	}
	return sum;
}

/* How long after the start of the run its schedule gives what a group has sent; 0: it gives no time. */
static uint64_t scheduled(const struct engine *en, unsigned group)
{
	const struct stream_group *g = &en->set->groups[group];
	const struct limiter *l = &en->limiters[group];
	struct group_books b = books_of(en, group);

	if (l->unlimited || g->pace.poisson)
		return 0;
	return g->delay_ns + limiter_span(l, b.sent + b.passed);
}

static bool has_schedule(const struct engine *en)
{
	for (unsigned i = 0; i < en->set->n_groups; i++)
		if (!en->limiters[i].unlimited)
			return true;
	return false;
}

uint64_t books_tx_time(const struct engine *en)
{
	uint64_t last = en->start_ns;

	for (unsigned i = 0; i < en->n_tx; i++) {
		uint64_t t = atomic_load(&en->tx[i].w.last_ns);

		last = t > last ? t : last;
	}
	last -= en->start_ns;
	if (en->reason == END_DURATION && has_schedule(en) && last < en->cfg->duration_ns)
		return en->cfg->duration_ns;
	for (unsigned i = 0; i < en->set->n_groups; i++) {
		uint64_t t = scheduled(en, i);

		last = t > last ? t : last;
	}
	return last;
}

void books_stream(const struct engine *en, unsigned stream, struct report_stream *out)
{
	const struct stream *s = &en->set->streams[stream];
	const struct stream_group *g = &en->set->groups[s->group];

	*out = (struct report_stream){
		.name = s->cfg->name,
		.requested_pps = stream_pps(en->set, stream),
		.have_unsent = g->n == 1,
		.unsent = g->n == 1 ? unsent_of(en, s->group) : 0,
	};
}
