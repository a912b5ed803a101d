/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "ends.h"
#include "engine.h"
#include "facts.h"
#include "gen/pace.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/pio/queues.h"
#include "rx/rx_filter.h"
#include "write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One queue carries this on every backend; a run that asks for no more does not spin on several cores for it. */
#define ONE_QUEUE_PPS 250000.0

static bool receives(const struct config *cfg)
{
	return cfg->verb == VERB_RECV || cfg->rx_mode != RX_MODE_NONE || cfg->filters.n;
}

/* How many queues of a kind: what was asked for, at most what there are; else as many as there are processors. */
static uint32_t queues_of(const struct config *cfg, uint32_t available, uint32_t cpus, const char *what,
			  struct report_warnings *w)
{
	if (!cfg->queues)
		return available < cpus ? available : cpus;
	if (cfg->queues > available) {
		report_warn(w, "%u %s queues were asked for, the interface has %u: these are used", cfg->queues, what,
			    available);
		return available;
	}
	return cfg->queues;
}

static uint32_t cpus_of(const struct config *cfg)
{
	return cfg->cpus.n ? cfg->cpus.n : worker_cpus_usable();
}

static uint32_t tx_queues_of(const struct config *cfg, const struct ends *ends, const struct tx_plan *plan,
			     struct report_warnings *w)
{
	uint32_t n = queues_of(cfg, ends->tx_queues, cpus_of(cfg), "transmit", w);
	double pps = pace_pps(&plan->pace);

	if (!cfg->queues && cfg->mode == MODE_PCAP) /* the wire's order is the capture's */
		n = 1;
	if (!cfg->queues && !cfg->cpus.n && pps >= 0 && pps <= ONE_QUEUE_PPS)
		n = 1;
	if (n <= plan->flows)
		return n;
	if (cfg->mode == MODE_PCAP)
		report_warn(w, "the capture has %" PRIu64 " packets, so %" PRIu64 " of %u transmit queues are used",
			    plan->flows, plan->flows, n);
	else if (cfg->queues || cfg->cpus.n)
		report_warn(w,
			    "a flow stays on one queue, so %" PRIu64
			    " of %u transmit queues are used: more --flows use "
			    "more",
			    plan->flows, n);
	return (uint32_t)plan->flows;
}

/* Where each receive queue has packets of its own, one that is not opened would be missed. */
static uint32_t rx_queues_of(const struct config *cfg, const struct ends *ends, const struct pio_backend *backend,
			     struct report_warnings *w)
{
	uint32_t cpus = backend->rx_by_device && !cfg->cpus.n ? ends->rx_queues : cpus_of(cfg);

	return queues_of(cfg, ends->rx_queues, cpus, "receive", w);
}

/* Said at once, since it is seldom what one wants. */
static void warn_of_queues_left(const struct config *cfg, const struct ends *ends, const struct pio_port *port,
				struct report_warnings *w)
{
	char or_else[32] = "leave --queues out", text[256];

	if (!port->backend->rx_by_device || !port->n_rx)
		return;
	if (cfg->cpus.n)
		snprintf(or_else, sizeof(or_else), "--queues %u", ends->rx_queues);
	pio_queues_left(ends->link, port->n_rx, or_else, text, sizeof(text));
	if (!text[0])
		return;
	log_warn("%s", text);
	report_warn(w, "%s", text);
}

/* One run, from the interface to the open port. */
struct traffic {
	struct ends ends;
	struct tx_plan plan;
	struct replay replay; /* of --mode pcap; else empty */
	struct filter filter;
	struct pio_port *port;
	struct report_plan facts;
	struct engine engine;
};

/* A capture is judged before the link is waited for, and knows then what it needs of it. */
static int resolve_replay(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct ends *ends = &t->ends;
	int rc = replay_load(&t->replay, cfg, ends->gen.mtu, e);

	if (rc)
		return rc;
	ends->have_macs = !t->replay.capture.converted;
	if (ends->have_macs && cfg->dst_ip.ip.family)
		report_warn(&t->facts.warnings,
			    "--dst-ip has no effect: the capture's frames have their own addresses");
	rc = ends_resolve(ends, cfg, e);
	return rc ? rc : replay_plan(&t->replay, cfg, &ends->gen, &t->plan, e);
}

static int resolve_flows(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct ends *ends = &t->ends;
	int rc = ends_resolve(ends, cfg, e);

	if (!rc)
		rc = gen_plan_build(cfg, &ends->gen, &t->plan, e);
	return rc ? rc : facts_check_mtu(ends, &t->plan, e);
}

/* The interface, and what is to be sent from it or taken; nothing is touched but neighbours asked for addresses. */
static int resolve(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct ends *ends = &t->ends;
	int rc = ends_find_link(ends, cfg, e);

	if (!rc && cfg->verb == VERB_SEND) {
		rc = cfg->mode == MODE_PCAP ? resolve_replay(t, cfg, e) : resolve_flows(t, cfg, e);
	} else if (!rc && ends->link) {
		rc = ends_wait_link(ends, false, e);
	}
	if (!rc && receives(cfg))
		rc = rx_filter_build(cfg, &ends->host, ends->link, &ends->gen.src_ip, &t->filter, e);
	return rc;
}

/* The user has to agree to this: nothing holds the packets back. */
static bool unlimited(const struct traffic *t)
{
	if (t->replay.original)
		return replay_original_pps(&t->replay) < 0;
	return pace_pps(&t->plan.pace) < 0;
}

static int open_port(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct pio_conf conf = {.name = cfg->interface,
				.backend = cfg->backend,
				.filter = &t->filter,
				.qdisc = cfg->qdisc,
				.rx_frames = cfg->rx_frames,
				.xdp_mode = (enum xdp_choice)cfg->xdp_mode,
				.napi_defer = (enum when_helpful)cfg->napi_defer,
				.busy_poll_ns = cfg->busy_poll_ns};
	struct ends *ends = &t->ends;
	const struct pio_backend *backend;
	int rc = cfg->verb == VERB_SEND ? ends_confirm(ends, cfg, unlimited(t), e) : 0;

	conf.max_frame = cfg->verb == VERB_SEND ? t->plan.max_len : ends->link ? ends->link->mtu + FACTS_L2_MAX : 0;
	conf.host = &ends->host;
	if (!rc)
		rc = pio_choose(&conf, &backend, e);
	if (rc)
		return rc;
	if (ends->link)
		pio_queues_of_link(backend, ends->link, &ends->tx_queues, &ends->rx_queues);
	if (cfg->verb == VERB_SEND)
		conf.tx_queues = tx_queues_of(cfg, ends, &t->plan, &t->facts.warnings);
	if (receives(cfg))
		conf.rx_queues = rx_queues_of(cfg, ends, backend, &t->facts.warnings);
	rc = pio_open(&conf, &t->port, e);
	if (rc || !ends->link)
		return rc;
	warn_of_queues_left(cfg, ends, t->port, &t->facts.warnings);
	return ends_wait_link(ends, t->port->caps.restarts_link, e);
}

/* NULL: what is sent is the plan's. */
static const struct replay *replay_of(const struct traffic *t)
{
	return t->replay.capture.n ? &t->replay : NULL;
}

static void run(struct traffic *t, const struct config *cfg, struct report *report, struct err *e)
{
	const struct tx_plan *plan = cfg->verb == VERB_SEND ? &t->plan : NULL;
	const struct replay *replay = replay_of(t);
	int rc = engine_init(&t->engine, cfg, t->port, t->ends.link, plan, replay, e);

	if (!rc) {
		facts_fill(&t->facts, cfg, &t->ends, plan, replay, t->port->n_rx ? &t->filter : NULL, t->port);
		rc = report_begin(report, &t->facts, clock_wall_ns());
		if (rc)
			err_set(e, rc, EXIT_RUN, "cannot write the report", "standard output", "%s", strerror(-rc));
	}
	if (rc) {
		report_end(report, NULL, e, NULL);
	} else {
		if (cfg->verb == VERB_RECV)
			log_note("receiving on %s: the filter is active", cfg->interface);
		engine_run(&t->engine, report);
		*e = t->engine.err;
	}
	engine_free(&t->engine);
}

/* Nothing is opened: the plan is told, and with --write its frames are in a file. */
static void tell(struct traffic *t, const struct config *cfg, struct report *report, struct err *e)
{
	uint64_t written = 0;
	int rc = 0;

	facts_fill(&t->facts, cfg, &t->ends, &t->plan, replay_of(t), NULL, NULL);
	if (cfg->write_file[0])
		rc = write_frames(cfg, &t->plan, replay_of(t), &written, e);
	if (!rc && cfg->write_file[0])
		report_fact_add(&t->facts, "written", "written", "%" PRIu64 " frames to %s", written, cfg->write_file);
	if (!rc && strcmp(cfg->write_file, "-") != 0)
		report_begin(report, &t->facts, clock_wall_ns());
	report_end(report, NULL, e, NULL);
}

/* A signal before the start: a run of nothing, ended by it. */
static void report_stopped(struct report *report, const struct err *e)
{
	static const struct report_sample nothing;
	struct report_end end = {.reason = END_SIGNAL, .total = &nothing, .requested_pps = -1, .last_pps = -1};

	report_end(report, &end, e, NULL);
}

void traffic_main(const struct config *cfg, struct report *report, struct err *e)
{
	struct traffic *t = aligned_alloc(_Alignof(struct traffic), sizeof(*t));

	if (!t) {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", cfg->interface, "no memory");
		report_end(report, NULL, e, NULL);
		return;
	}
	memset(t, 0, sizeof(*t));
	int rc = resolve(t, cfg, e);
	bool tells = cfg->dry_run || cfg->write_file[0];

	if (!rc && !tells)
		rc = open_port(t, cfg, e);
	if (!rc && tells)
		tell(t, cfg, report, e);
	else if (!rc)
		run(t, cfg, report, e);
	else if (e->code == EXIT_DONE)
		report_stopped(report, e);
	else
		report_end(report, NULL, e, NULL);
	pio_close(t->port);
	replay_free(&t->replay);
	ends_free(&t->ends);
	free(t);
}
