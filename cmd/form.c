/* SPDX-License-Identifier: Apache-2.0 */
#include "form.h"

#ifdef WITH_TUI
#include "lib/log.h"
#include "signals.h"
#include "tui/dashboard.h"

/* There is something to follow, and nobody asked for another form. */
static bool wanted(const struct config *cfg)
{
	bool follows = cfg->verb != VERB_DEVICES && !cfg->dry_run && !cfg->write_file[0];

	return follows && !cfg->no_tui && !cfg->json && !cfg->json_stream && !cfg->csv && !cfg->quiet;
}

void form_choose(const struct config *cfg, struct report *report)
{
	char why[128];

	if (!wanted(cfg))
		return;
	if (dashboard_open(why, sizeof(why))) {
		report_set_form(report, &dashboard_ops);
		signals_before_leaving(dashboard_leave);
	} else if (cfg->start) {
		log_warn("there is no dashboard: %s", why);
	}
}

void form_close(void)
{
	dashboard_close();
}
#else
void form_choose(const struct config *cfg, struct report *report)
{
	(void)cfg;
	(void)report;
}

void form_close(void)
{
}
#endif
