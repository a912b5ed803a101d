/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_rate.h"

#include "gen/pace.h"
#include "lib/log.h"
#include "lib/units.h"

double engine_pps(const struct engine *en)
{
	double sum = 0;

	for (unsigned i = 0; i < en->set->n_groups; i++) {
		struct tx_pace pace = en->set->groups[i].pace;

		pace.interval = en->limiters[i].interval;
		if (pace_pps(&pace) < 0)
			return -1;
		sum += pace_pps(&pace);
	}
	return sum;
}

double engine_requested_pps(const struct engine *en)
{
	return en->replay && en->replay->original ? replay_original_pps(en->replay) : stream_set_pps(en->set);
}

double engine_asked_pps(const struct engine *en)
{
	return en->rate_changes ? engine_pps(en) : engine_requested_pps(en);
}

/* All that have a limit, or none: false. How many have one: *limited. */
static bool scale_all(struct engine *en, int steps, unsigned *limited)
{
	unsigned i = 0;

	*limited = 0;
	for (; i < en->set->n_groups; i++) {
		if (en->limiters[i].unlimited)
			continue;
		++*limited;
		if (!limiter_scale(&en->limiters[i], steps))
			break;
	}
	if (i == en->set->n_groups)
		return *limited;
	while (i-- > 0)
		limiter_scale(&en->limiters[i], -steps); /* which gives the very rate that was */
	return false;
}

void engine_change_rate(struct engine *en, int steps)
{
	unsigned limited;
	char rate[32];

	if (!steps || !en->n_tx)
		return;
	if (en->replay && en->replay->original) {
		log_note("the rate stays as it is: the capture's own times pace it");
		return;
	}
	if (!scale_all(en, steps, &limited)) {
		log_note("the rate stays as it is: %s", limited ? "no farther this way" : "it has no limit");
		return;
	}
	en->rate_changes++;
	if (engine_pps(en) < 0)
		log_note("the rates of the streams that have a limit are %s", steps > 0 ? "higher now" : "lower now");
	else
		log_note("the rate is now %s", units_format_with(engine_pps(en), "pps", rate, sizeof(rate)));
}
