/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_streams.h"

#include "facts_frame.h"
#include "facts_send.h"
#include "gen/pace.h"
#include "lib/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 128

/* What a stream gets of a schedule, and from whom. */
static void pace_text(const struct stream_set *set, unsigned i, char out[TEXT_MAX])
{
	const struct stream *s = &set->streams[i];
	const struct stream_group *g = &set->groups[s->group];
	uint64_t turns = stream_cycle_share(g->cycle, g->n_cycle, (uint8_t)i, g->n_cycle);
	double pps = stream_pps(set, i);
	char a[32], t[32];

	if (!s->own_rate && pps >= 0)
		snprintf(out, TEXT_MAX, "%" PRIu64 " of %u packets: %s", turns, g->n_cycle,
			 units_format_with(pps, "pps", a, sizeof(a)));
	else if (pps < 0 && g->n > 1)
		snprintf(out, TEXT_MAX, "unlimited, %" PRIu64 " of %u packets", turns, g->n_cycle);
	else if (pps < 0)
		snprintf(out, TEXT_MAX, "unlimited");
	else if (g->pace.group)
		snprintf(out, TEXT_MAX, "bursts of %u packets every %s, %s on average", g->pace.group,
			 units_format_time(g->pace.interval.ns, t, sizeof(t)),
			 units_format_with(pps, "pps", a, sizeof(a)));
	else
		snprintf(out, TEXT_MAX, "%s%s of its own", units_format_with(pps, "pps", a, sizeof(a)),
			 g->pace.poisson ? " at random" : "");
}

static void stream_fact(struct report_plan *facts, const struct stream_plans *sent, unsigned i)
{
	const struct stream *s = &sent->set.streams[i];
	const struct gen_ends *gen = &sent->ends[i].gen;
	char key[32], label[32], what[TEXT_MAX], to[TEXT_MAX], pace[TEXT_MAX], count[48] = "", delay[48] = "", t[32];
	char dst[PREFIX_STRLEN], mac[MAC_STRLEN], frame[sizeof(facts->facts[0].value)];

	snprintf(key, sizeof(key), "streams.%s", s->cfg->name);
	snprintf(label, sizeof(label), "stream %s", s->cfg->name);
	facts_pattern(s->cfg, s->plan, what, sizeof(what));
	pace_text(&sent->set, i, pace);
	mac_format(&gen->dst_mac, mac);
	if (s->cfg->mode == MODE_RAW)
		snprintf(to, sizeof(to), "%s", mac);
	else
		snprintf(to, sizeof(to), "%s by %s", prefix_format(&s->cfg->dst_ip, dst), mac);
	if (pace_count(s->cfg) && !s->cfg->count)
		snprintf(count, sizeof(count), ", %" PRIu64 " packets", pace_count(s->cfg));
	if (s->delay_ns)
		snprintf(delay, sizeof(delay), ", from %s on", units_format_time(s->delay_ns, t, sizeof(t)));
	report_fact_add(facts, key, label, "%s, %" PRIu64 " flow%s to %s%s, %s%s%s", what, s->plan->flows,
			s->plan->flows == 1 ? "" : "s", to, facts_frame_line(s->cfg, frame, sizeof(frame)), pace, count,
			delay);
}

void facts_fill_streams(struct report_plan *facts, const struct config *cfg, const struct stream_plans *sent)
{
	double pps = stream_set_pps(&sent->set);
	char a[32];

	for (unsigned i = 0; i < cfg->n_streams; i++)
		stream_fact(facts, sent, i);
	for (unsigned i = 0; i < cfg->n_streams; i++) {
		facts_warn_one_flow(&facts->warnings, &cfg->streams[i]);
		facts_warn_no_effect(&facts->warnings, &cfg->streams[i]);
		facts_warn_tunnel(&facts->warnings, &cfg->streams[i]);
	}
	if (pps < 0)
		report_fact_add(facts, "rate", "rate", "unlimited");
	else
		report_fact_add(facts, "rate", "rate", "%s together", units_format_with(pps, "pps", a, sizeof(a)));
	facts_length(facts, cfg);
}
