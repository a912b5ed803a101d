/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_live.h"

#include "engine_end.h"
#include "engine_rate.h"
#include "lib/clock.h"

#include <math.h>

static void show(struct engine *en, struct report *report, uint64_t now_ns)
{
	struct report_live live = {
		.now = &en->live,
		.requested_pps = en->n_tx ? engine_asked_pps(en) : NAN,
		.rate_changes = en->rate_changes,
		.count = en->count,
		.stopping = en->stopped_ns != 0,
	};

	engine_sample(en, now_ns, &en->live);
	report_live(report, &live);
}

struct report_wish engine_follow(struct engine *en, struct report *report, uint64_t now_ns)
{
	struct report_wish wish = {0};

	if (report_poll(report, now_ns, &wish))
		show(en, report, now_ns);
	return wish;
}

void engine_show_stopping(struct engine *en, struct report *report)
{
	show(en, report, clock_mono_ns());
}
