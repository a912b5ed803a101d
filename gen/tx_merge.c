/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_merge.h"

#include "pace.h"

#include <errno.h>
#include <stdlib.h>

/*
 * So near to the start of a stream, positions are claimed one by one, so that each is told apart by its own time:
 * those of a clump have that of its first. No clump reaches so far ahead.
 */
#define NEAR_START_NS 10000000U

/* A time at which all streams have begun. */
#define ALL_BEGUN_NS (TX_MERGE_NEVER - 1)

_Static_assert(STREAM_CYCLE_MAX <= UINT16_MAX + 1U, "a turn has a number of 16 bits");

static bool takes_part(const struct stream_set *set, unsigned group, unsigned q, unsigned n)
{
	return stream_group_sender(set, group, q, n) < stream_group_queues(set, group, n);
}

static int init_source(struct tx_source *s, const struct stream_set *set, unsigned i, unsigned q, unsigned n,
		       const volatile int *stop, struct err *e)
{
	const struct stream *stream = &set->streams[i];
	unsigned queues = stream_group_queues(set, stream->group, n);
	unsigned own = stream_group_sender(set, stream->group, q, n);
	int rc;

	if (own >= queues)
		return 0;
	rc = tx_source_init(s, stream->plan, own, queues, stream->count, stream->cfg->flow_order == FLOW_ORDER_RANDOM,
			    stop, e);
	s->left = s->quota;
	s->group = stream->group;
	return rc;
}

static int init_group(struct tx_merge *m, unsigned i, const struct stream_set *set, struct limiter *limiters,
		      unsigned q, unsigned n)
{
	const struct stream_group *group = &set->groups[i];
	struct tx_group *g = &m->groups[i];
	unsigned queues = stream_group_queues(set, i, n);
	unsigned own = stream_group_sender(set, i, q, n);

	*g = (struct tx_group){
		.limiter = &limiters[i],
		.cycle = group->cycle,
		.n_cycle = group->n_cycle,
		.over = !takes_part(set, i, q, n),
	};
	if (g->over)
		return 0;
	/* Not all senders at the same turn at the same time. */
	g->at = (uint32_t)((uint64_t)own * group->n_cycle / queues);
	for (unsigned s = 0; s < set->n; s++) {
		if (set->streams[s].group != i)
			continue;
		g->members |= 1ULL << s;
		if (m->sources[s].quota == TX_QUOTA_NONE)
			g->left = TX_QUOTA_NONE;
		else if (g->left != TX_QUOTA_NONE)
			g->left += m->sources[s].quota;
	}
	g->over = !g->left;
	if (pace_pps(&group->pace) < 0)
		m->unlimited = g;
	else
		m->n_limited++;
	if (g != m->unlimited && !m->counted)
		return 0;
	g->next = malloc(g->n_cycle * sizeof(*g->next));
	return g->next ? 0 : -ENOMEM;
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", NULL, "no memory");
}

int tx_merge_create(struct tx_merge **out, const struct stream_set *set, struct tx_source *sources,
		    struct limiter *limiters, unsigned q, unsigned n, const volatile int *stop, struct err *e)
{
	struct tx_merge *m = calloc(1, sizeof(*m) + set->n_groups * sizeof(m->groups[0]));
	int rc = 0;

	*out = m;
	if (!m)
		return no_memory(e);
	m->sources = sources;
	m->n_groups = set->n_groups;
	m->counted = set->counted;
	for (unsigned i = 0; !rc && i < set->n; i++)
		rc = init_source(&sources[i], set, i, q, n, stop, e);
	for (unsigned i = 0; !rc && i < set->n_groups; i++)
		if (init_group(m, i, set, limiters, q, n))
			rc = no_memory(e);
	return rc;
}

void tx_merge_free(struct tx_merge *m)
{
	for (unsigned i = 0; m && i < m->n_groups; i++)
		free(m->groups[i].next);
	free(m);
}

void tx_merge_begin(struct tx_merge *m, const struct stream_set *set, uint64_t start_ns, unsigned q, unsigned n)
{
	for (unsigned i = 0; i < set->n; i++)
		m->sources[i].start_ns = start_ns + set->streams[i].delay_ns;
	for (unsigned i = 0; i < m->n_groups; i++) {
		struct tx_group *g = &m->groups[i];
		const struct tx_pace *pace = &set->groups[i].pace;

		for (uint64_t left = g->members; left; left &= left - 1) {
			uint64_t begin = m->sources[__builtin_ctzll(left)].start_ns;

			g->begun_ns = begin > g->begun_ns ? begin : g->begun_ns;
		}
		if (!g->over && g != m->unlimited && pace->poisson)
			poisson_init(&g->poisson, g->limiter, pace->seed, stream_group_sender(set, i, q, n),
				     stream_group_queues(set, i, n));
	}
}

/* ---- schedules ---- */

/* When the first of some streams (a bit each) that begin after now_ns does. */
static uint64_t next_start(const struct tx_merge *m, uint64_t members, uint64_t now_ns)
{
	uint64_t next = TX_MERGE_NEVER;

	for (; members; members &= members - 1) {
		uint64_t start = m->sources[__builtin_ctzll(members)].start_ns;

		if (start > now_ns && start < next)
			next = start;
	}
	return next;
}

static bool near_a_start(const struct tx_merge *m, const struct tx_group *g, uint64_t now_ns)
{
	return now_ns < g->begun_ns && next_start(m, g->members, now_ns) - now_ns < NEAR_START_NS;
}

static void claim(struct tx_merge *m, struct tx_group *g, uint32_t max, uint64_t now_ns)
{
	struct limiter_claim c;

	/* Of several groups one by one, so that their order is that of their own times. */
	if (m->n_limited > 1 || near_a_start(m, g, now_ns))
		max = 1;
	if (max > g->left)
		max = (uint32_t)g->left;
	c = g->poisson.queues ? poisson_claim(&g->poisson, g->limiter, max, now_ns)
			      : limiter_claim(g->limiter, max, now_ns);
	g->departure_ns = c.departure_ns;
	g->claimed = c.n;
	g->over = g->ended = !c.n;
}

uint64_t tx_merge_departure(struct tx_merge *m, uint32_t max, uint64_t now_ns)
{
	uint64_t earliest = TX_MERGE_NEVER;

	for (unsigned i = 0; i < m->n_groups; i++) {
		struct tx_group *g = &m->groups[i];

		if (g == m->unlimited)
			continue;
		if (!g->claimed && !g->over)
			claim(m, g, max, now_ns);
		if (g->claimed && g->departure_ns < earliest) {
			earliest = g->departure_ns;
			m->earliest = i;
		}
	}
	return earliest;
}

bool tx_merge_joins(const struct tx_merge *m, uint64_t departure_ns, uint64_t first_ns, uint32_t n, uint64_t now_ns)
{
	const struct limiter *l = m->groups[m->earliest].limiter;

	if (departure_ns == first_ns)
		return true;
	if (n >= l->burst)
		return false;
	return departure_ns <= now_ns || (departure_ns <= first_ns + LIMITER_CLUMP_NS && limiter_makes_clumps(l));
}

static uint64_t there_at(const struct tx_merge *m, const struct tx_group *g, uint64_t now_ns)
{
	uint64_t there = 0;

	for (uint64_t left = g->members; left; left &= left - 1) {
		const struct tx_source *s = &m->sources[__builtin_ctzll(left)];

		if (s->left && s->start_ns <= now_ns)
			there |= left & -left;
	}
	return there;
}

/* Whose turns there are at now_ns. False: nobody's. */
static bool find_turns(struct tx_merge *m, struct tx_group *g, uint64_t now_ns)
{
	const uint64_t there = there_at(m, g, now_ns);
	uint32_t next = 0;

	if (!there)
		return false;
	while (!(there >> g->cycle[next] & 1))
		next++;
	for (uint32_t i = g->n_cycle; i-- > 0;) {
		g->next[i] = (uint16_t)next;
		if (there >> g->cycle[i] & 1)
			next = i;
	}
	if (!(there >> g->cycle[g->at] & 1))
		g->at = g->next[g->at];
	g->changes_ns = next_start(m, g->members, now_ns);
	return true;
}

/* Whose turn it is. Negative: nobody's, of those that have begun by now_ns. */
static int next_turn(struct tx_merge *m, struct tx_group *g, uint64_t now_ns)
{
	uint32_t turn;

	if (g->next && now_ns >= g->changes_ns && !find_turns(m, g, now_ns))
		return -1;
	turn = g->at;
	if (g->next)
		g->at = g->next[turn];
	else
		g->at = turn + 1 == g->n_cycle ? 0 : turn + 1;
	return g->cycle[turn];
}

static void take_from(struct tx_group *g, struct tx_source *s)
{
	s->left -= s->left != TX_QUOTA_NONE;
	g->left -= g->left != TX_QUOTA_NONE;
	if (!s->left)
		g->changes_ns = 0;
	if (!g->left)
		g->over = true;
}

int tx_merge_take(struct tx_merge *m)
{
	struct tx_group *g = &m->groups[m->earliest];
	/* Some source has something left, or nothing would have been claimed. */
	const int turn = next_turn(m, g, ALL_BEGUN_NS);

	g->claimed--;
	if (turn < 0 || !m->sources[turn].left || g->departure_ns < m->sources[turn].start_ns) {
		g->passed++;
		return -1;
	}
	take_from(g, &m->sources[turn]);
	return turn;
}

/* ---- no schedule ---- */

int tx_merge_take_unlimited(struct tx_merge *m, uint64_t now_ns)
{
	struct tx_group *g = m->unlimited;
	const int turn = g && !g->over ? next_turn(m, g, now_ns) : -1;

	if (turn >= 0)
		take_from(g, &m->sources[turn]);
	return turn;
}

uint64_t tx_merge_unlimited_from(const struct tx_merge *m)
{
	const struct tx_group *g = m->unlimited;
	uint64_t first = TX_MERGE_NEVER;

	for (uint64_t left = g && !g->over ? g->members : 0; left; left &= left - 1) {
		const struct tx_source *s = &m->sources[__builtin_ctzll(left)];

		if (s->left && s->start_ns < first)
			first = s->start_ns;
	}
	return first;
}

bool tx_merge_is_spent(const struct tx_merge *m)
{
	for (unsigned i = 0; i < m->n_groups; i++)
		if (m->groups[i].left)
			return false;
	return true;
}
