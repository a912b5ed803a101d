/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_plans.h"

#include "gen/pace.h"
#include "gen/stream_check.h"
#include "lib/ether.h"
#include "lib/log.h"
#include "lib/option.h"
#include "signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", NULL, "no memory");
}

/* EXIT_USAGE when the frame is larger than the link's MTU allows; the error says the largest --packet-size. */
static int check_mtu(const struct ends *ends, const struct tx_plan *plan, struct err *e)
{
	const struct host_link *link = ends->link;
	uint32_t l3 = plan->max_len - plan->l3;

	if (!link || l3 <= link->mtu)
		return 0;
	err_set(e, -EMSGSIZE, EXIT_USAGE, "cannot send frames of this size", link->name,
		"its MTU is %u; the largest --packet-size with these headers is %u", link->mtu,
		link->mtu + plan->l3 + FCS_BYTES);
	err_hint(e, "a smaller --packet-size, or ip link set %s mtu %u", link->name, l3);
	return -EMSGSIZE;
}

/* What takes a while is announced. */
static void tell_large(const struct config *cfg)
{
	struct stat st;

	if (stat(cfg->pcap, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > cfg->pcap_preload)
		log_note("%s is larger than --pcap-preload: it is read through first, for its sizes and times",
			 cfg->pcap);
}

/* A capture is judged before the link is waited for, and knows then what it needs of it. */
static int resolve_replay(struct stream_plans *s, const struct config *cfg, struct ends *ends,
			  struct report_warnings *warnings, struct err *e)
{
	int rc;

	tell_large(cfg);
	rc = replay_load(&s->replay, cfg, ends->gen.mtu, &signals_stop, e);
	if (rc)
		return rc;
	ends->have_macs = !s->replay.capture.converted;
	if (ends->have_macs && cfg->dst_ip.ip.family)
		report_warn(warnings, "--dst-ip has no effect: the capture's frames have their own addresses");
	rc = ends_resolve(ends, cfg, e);
	return rc ? rc : replay_plan(&s->replay, cfg, &ends->gen, &s->plans[0], e);
}

static int resolve_flows(const struct config *cfg, struct ends *ends, struct tx_plan *plan, struct err *e)
{
	int rc = ends_resolve(ends, cfg, e);

	if (!rc)
		rc = gen_plan_build(cfg, &ends->gen, plan, e);
	if (rc && e->code != EXIT_DONE && signals_stop) /* --payload-file may be a pipe that nobody writes to */
		return err_set(e, -EINTR, EXIT_DONE, "stopped", NULL, "while the frames were made");
	return rc ? rc : check_mtu(ends, plan, e);
}

static int resolve_list(struct stream_plans *s, const struct config *cfg, struct ends *ends, struct err *e)
{
	const struct ends unresolved = *ends;
	uint64_t flows = 0;
	int rc = 0;

	for (unsigned i = 0; !rc && i < cfg->n_streams; i++) {
		*ends = unresolved;
		rc = resolve_flows(&cfg->streams[i], ends, &s->plans[i], e);
		s->ends[i] = *ends;
		s->plans[i].first_flow = (uint32_t)flows;
		flows += s->plans[i].flows;
		if (i) /* it was the first that waited for the link */
			memcpy(ends->waited, s->ends[0].waited, sizeof(ends->waited));
		if (rc && e->code != EXIT_DONE)
			stream_name_err(&cfg->streams[i], e);
	}
	return rc ? rc : stream_set_list(&s->set, cfg, s->plans, ends->gen.link_bps, e);
}

/* What the command line says in vain. */
static void warn_of_ousted(const struct config *cfg, struct report_warnings *warnings)
{
	bool own = cfg->n_streams;

	for (unsigned i = 0; i < cfg->n_streams; i++)
		own = own && stream_has_own_rate(&cfg->streams[i]);
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		bool rate = i == OPTION_PPS || i == OPTION_BPS;

		if (option_in_vain(cfg, i) || (own && rate && option_given(cfg, i)))
			report_warn(warnings, "--%s has no effect: every stream has its own%s", option_name(i),
				    rate ? " rate" : "");
	}
}

int stream_plans_resolve(struct stream_plans *s, const struct config *cfg, struct ends *ends,
			 struct report_warnings *warnings, struct err *e)
{
	const unsigned n = cfg->n_streams ? cfg->n_streams : 1;
	int rc;

	s->plans = calloc(n, sizeof(*s->plans));
	s->ends = calloc(n, sizeof(*s->ends));
	if (!s->plans || !s->ends)
		return no_memory(e);
	if (cfg->n_streams) {
		warn_of_ousted(cfg, warnings);
		return resolve_list(s, cfg, ends, e);
	}
	if (cfg->mode == MODE_PCAP)
		rc = resolve_replay(s, cfg, ends, warnings, e);
	else
		rc = resolve_flows(cfg, ends, &s->plans[0], e);
	s->ends[0] = *ends;
	if (!rc)
		stream_set_one(&s->set, cfg, &s->plans[0], stream_plans_replay(s));
	return rc;
}

void stream_plans_free(struct stream_plans *s)
{
	replay_free(&s->replay);
	free(s->plans);
	free(s->ends);
	s->plans = NULL;
	s->ends = NULL;
}

const struct replay *stream_plans_replay(const struct stream_plans *s)
{
	return s->replay.capture.n ? &s->replay : NULL;
}

bool stream_plans_unlimited(const struct stream_plans *s)
{
	if (s->replay.original)
		return replay_original_pps(&s->replay) < 0;
	return stream_set_pps(&s->set) < 0;
}
