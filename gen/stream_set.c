/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_set.h"

#include "gcd.h"
#include "lib/core/rand.h"
#include "lib/option.h"
#include "pace.h"
#include "tx_source.h"

#include <string.h>

/* The packets that a bit rate is spread over are counted in so many units at most, lest the products overflow. */
#define LOAD_UNITS_MAX (1ULL << 26)
#define QUEUES_MAX     65536U /* more than any port has */

bool stream_has_own_rate(const struct config *stream)
{
	uint64_t packets, time_ns;

	if (option_said(stream, OPTION_PPS) || option_said(stream, OPTION_BPS))
		return true;
	return option_said(stream, OPTION_BURST_PROFILE) && pace_profile(stream, &packets, &time_ns) && time_ns;
}

static unsigned new_group(struct stream_set *set, const struct tx_pace *pace, const uint8_t *cycle)
{
	set->groups[set->n_groups] =
		(struct stream_group){.pace = *pace, .delay_ns = UINT64_MAX, .cycle = cycle, .n_cycle = 1};
	return set->n_groups++;
}

/* ---- counts ---- */

/* How many packets a stream has to send by its share of the run's count and by its own profile. */
static uint64_t count_of(const struct stream_set *set, unsigned i, uint64_t count)
{
	const struct stream *s = &set->streams[i];
	const struct stream_group *g = &set->groups[s->group];
	uint64_t own, time_ns;
	uint64_t n = TX_QUOTA_NONE;

	if (count)
		n = stream_cycle_share(g->cycle, g->n_cycle, (uint8_t)i, count);
	if (pace_profile(s->cfg, &own, &time_ns) && own && !time_ns && own < n)
		n = own;
	return n;
}

static void add_counts(struct stream_set *set, uint64_t count)
{
	set->counted = count;
	for (unsigned i = 0; i < set->n; i++) {
		struct stream *s = &set->streams[i];
		struct stream_group *g = &set->groups[s->group];

		s->count = count_of(set, i, count);
		g->n++;
		g->delay_ns = s->delay_ns < g->delay_ns ? s->delay_ns : g->delay_ns;
		if (s->count == TX_QUOTA_NONE)
			g->count = TX_QUOTA_NONE;
		else if (g->count != TX_QUOTA_NONE)
			g->count += s->count;
	}
}

uint64_t stream_set_count(const struct stream_set *set)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < set->n_groups; i++) {
		if (set->groups[i].count == TX_QUOTA_NONE)
			return 0;
		sum += set->groups[i].count;
	}
	return sum;
}

/* ---- one ---- */

void stream_set_one(struct stream_set *set, const struct config *cfg, const struct tx_plan *plan,
		    const struct replay *replay)
{
	uint64_t count = replay ? replay->total : pace_count(cfg);

	memset(set, 0, sizeof(*set));
	set->n = 1;
	set->streams[0] = (struct stream){
		.cfg = cfg,
		.plan = plan,
		.replay = replay,
		.group = new_group(set, &plan->pace, set->own),
	};
	add_counts(set, 0);
	set->streams[0].count = set->groups[0].count = count ? count : TX_QUOTA_NONE;
}

/* ---- several ---- */

/* The streams of one group, in order, and their shares. Returns how many. */
static unsigned members(const struct stream_set *set, unsigned group, uint8_t *which, uint32_t *shares)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->n; i++) {
		if (set->streams[i].group != group)
			continue;
		which[n] = (uint8_t)i;
		shares[n++] = set->streams[i].cfg->share;
	}
	return n;
}

static void fill_cycle(struct stream_set *set, unsigned group, uint8_t *cycle, uint64_t seed)
{
	uint8_t which[CONFIG_STREAMS_MAX];
	uint32_t shares[CONFIG_STREAMS_MAX];
	unsigned n = members(set, group, which, shares);

	set->groups[group].n_cycle = (uint32_t)stream_cycle_len(shares, n);
	stream_cycle_fill(shares, n, seed, cycle);
	for (uint32_t i = 0; i < set->groups[group].n_cycle; i++)
		cycle[i] = which[cycle[i]];
}

/* So many rounds of the cycle that each stream gets whole rounds of its sizes, or as near to it as can be counted. */
static uint64_t rounds_of(const struct stream_set *set, const struct stream_group *g)
{
	uint64_t rounds = 1;

	for (uint32_t i = 0; i < g->n_cycle; i++) {
		uint64_t sizes = set->streams[g->cycle[i]].plan->n_cycle;
		uint64_t more = sizes ? rounds / gcd(rounds, sizes) * sizes : rounds;

		if (more * g->n_cycle > LOAD_UNITS_MAX)
			return LOAD_UNITS_MAX / g->n_cycle;
		rounds = more;
	}
	return rounds;
}

/* The packets that the bit rate of a group is spread over. */
static struct pace_load group_load(const struct stream_set *set, unsigned group)
{
	const struct stream_group *g = &set->groups[group];
	const uint64_t rounds = rounds_of(set, g);
	struct pace_load sum = {0};

	for (unsigned i = 0; i < set->n; i++) {
		uint64_t packets = rounds * stream_cycle_share(g->cycle, g->n_cycle, (uint8_t)i, g->n_cycle);
		struct pace_load one = pace_load_of(set->streams[i].plan);

		if (set->streams[i].group != group || !one.packets)
			continue;
		sum.packets += packets;
		sum.bytes += packets * one.bytes / one.packets;
		sum.l3_bytes += packets * one.l3_bytes / one.packets;
	}
	return sum;
}

/* A stream of a rate of its own. */
static unsigned own_group(struct stream_set *set, unsigned i)
{
	struct tx_pace pace = set->streams[i].plan->pace;

	/* Streams with the run's seed shall not depart in step. */
	if (!option_said(set->streams[i].cfg, OPTION_SEED))
		pace.seed = rand_mix(pace.seed) + i;
	set->own[i] = (uint8_t)i;
	return new_group(set, &pace, &set->own[i]);
}

int stream_set_list(struct stream_set *set, const struct config *cfg, const struct tx_plan *plans, uint64_t link_bps,
		    struct err *e)
{
	static const struct tx_pace none;
	const unsigned nowhere = CONFIG_STREAMS_MAX + 1;
	unsigned shared = nowhere, unlimited = nowhere;
	uint32_t queue = 0;
	int rc = 0;

	memset(set, 0, sizeof(*set));
	set->n = cfg->n_streams;
	for (unsigned i = 0; i < set->n; i++) {
		const struct config *c = &cfg->streams[i];
		struct stream *s = &set->streams[i];

		*s = (struct stream){.cfg = c, .plan = &plans[i], .delay_ns = c->start_delay_ns};
		s->own_rate = stream_has_own_rate(c);
		if (pace_is_unlimited(s->own_rate ? c : cfg))
			s->group = unlimited =
				unlimited == nowhere ? new_group(set, &none, set->cycle_unlimited) : unlimited;
		else if (s->own_rate)
			s->group = own_group(set, i);
		else
			s->group = shared = shared == nowhere ? new_group(set, &none, set->cycle) : shared;
	}
	if (unlimited != nowhere) {
		fill_cycle(set, unlimited, set->cycle_unlimited, cfg->seed);
		set->groups[unlimited].pace.burst = cfg->burst;
	}
	if (shared != nowhere) {
		fill_cycle(set, shared, set->cycle, cfg->seed);
		struct pace_load load = group_load(set, shared);

		rc = pace_of(cfg, link_bps, &load, &set->groups[shared].pace, e);
	}
	add_counts(set, cfg->count);
	for (unsigned i = 0; i < set->n_groups; i++) {
		set->groups[i].first = queue;
		queue += stream_group_queues(set, i, QUEUES_MAX);
	}
	return rc;
}

/* ---- what comes of it ---- */

uint32_t stream_set_max_len(const struct stream_set *set)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < set->n; i++)
		most = set->streams[i].plan->max_len > most ? set->streams[i].plan->max_len : most;
	return most;
}

double stream_set_pps(const struct stream_set *set)
{
	double sum = 0;

	for (unsigned i = 0; i < set->n_groups; i++) {
		double pps = pace_pps(&set->groups[i].pace);

		if (pps < 0)
			return pps;
		sum += pps;
	}
	return sum;
}

double stream_pps(const struct stream_set *set, unsigned stream)
{
	const struct stream_group *g = &set->groups[set->streams[stream].group];
	double pps = pace_pps(&g->pace);

	if (pps < 0 || g->n == 1)
		return pps;
	return pps * (double)stream_cycle_share(g->cycle, g->n_cycle, (uint8_t)stream, g->n_cycle) / g->n_cycle;
}

unsigned stream_group_queues(const struct stream_set *set, unsigned group, unsigned n)
{
	for (unsigned i = 0; i < set->n; i++)
		if (set->streams[i].group == group && set->streams[i].plan->flows < n)
			n = (unsigned)set->streams[i].plan->flows;
	return n;
}

unsigned stream_set_queues(const struct stream_set *set, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < set->n_groups; i++)
		sum += stream_group_queues(set, i, n);
	return sum < n ? (unsigned)sum : n;
}

unsigned stream_group_sender(const struct stream_set *set, unsigned group, unsigned q, unsigned n)
{
	return (q + n - set->groups[group].first % n) % n;
}
