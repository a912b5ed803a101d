/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "answers.h"
#include "calibrate.h"
#include "ends.h"
#include "engine.h"
#include "engine_measure.h"
#include "engine_respond.h"
#include "facts.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/option.h"
#include "lib/report_form.h"
#include "ports.h"
#include "rx/rx_filter.h"
#include "rx/sent_filter.h"
#include "signals.h"
#include "stream_plans.h"
#include "write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool receives(const struct config *cfg)
{
	return cfg->verb != VERB_SEND || cfg->rx_mode != RX_MODE_NONE || cfg->filters.n;
}

/* Else the interface that sends receives, too. */
static bool two_ports(const struct config *cfg)
{
	return cfg->verb == VERB_PAIR && cfg->rx_interface[0] && strcmp(cfg->rx_interface, cfg->interface) != 0;
}

/* One run, from the interfaces to the open ports. */
struct traffic {
	struct ends ends;
	struct ends rx_ends; /* of a pair of two interfaces */
	struct stream_plans sent;
	struct filter filter;
	struct pio_port *port;
	struct pio_port *rx_port;         /* of a pair of two interfaces, else NULL */
	struct responder *responder;      /* NULL: nothing is answered */
	struct report_floor *calibrates;  /* where the result of this run goes that calibrates; NULL: it does not */
	const struct report_floor *floor; /* of a run that calibrated; NULL: there was none */
	struct report_plan facts;
	struct engine engine;
};

/* Any number will do that no other run near by is likely to have: the run that follows a calibration, too. */
static uint16_t run_id(const struct config *cfg, bool calibrates)
{
	uint16_t run = (uint16_t)(clock_mono_ns() / 1000);

	if (option_given(cfg, OPTION_RUN_ID) && !calibrates)
		return cfg->run_id;
	getrandom(&run, sizeof(run), GRND_NONBLOCK);
	return calibrates && run == cfg->run_id ? (uint16_t)~run : run;
}

/*
 * What is sent comes as it is from another interface, and on the same one from a looped cable so or from a reflector
 * the other way round.
 */
static int build_filter(struct traffic *t, const struct config *cfg, struct err *e)
{
	const struct ends *rx = two_ports(cfg) ? &t->rx_ends : &t->ends;
	bool sent = cfg->verb == VERB_PAIR && !cfg->filters.n &&
		    (cfg->rx_mode == RX_MODE_NONE || cfg->rx_mode == RX_MODE_GENERATED_FLOW);

	if (sent)
		return sent_filter_build(t->sent.plans, t->sent.set.n,
					 rx->link && rx->link->index == t->ends.link->index, &t->filter, e);
	return rx_filter_build(cfg, &rx->host, rx->link, &t->ends.gen.src_ip, &t->filter, e);
}

/* The interfaces, and what is to be sent and taken; nothing is touched but neighbours asked for addresses. */
static int resolve(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct ends *ends = &t->ends;
	int rc = ends_find_link(ends, cfg->interface, cfg->backend, e);

	if (!rc && two_ports(cfg))
		rc = ends_find_link(&t->rx_ends, cfg->rx_interface, cfg->backend, e);
	if (!rc)
		rc = answers_check_host(cfg, ends, e);
	if (!rc && t->rx_ends.link)
		rc = ends_wait_link(&t->rx_ends, false, e);
	ends->gen.run = run_id(cfg, t->calibrates);
	if (!rc && verb_sends(cfg->verb))
		rc = stream_plans_resolve(&t->sent, cfg, ends, &t->facts.warnings, e);
	else if (!rc && ends->link)
		rc = ends_wait_link(ends, false, e);
	return !rc && receives(cfg) ? build_filter(t, cfg, e) : rc;
}

static int open_ports(struct traffic *t, const struct config *cfg, struct err *e)
{
	struct report_warnings *w = &t->facts.warnings;
	const struct stream_set *set = verb_sends(cfg->verb) ? &t->sent.set : NULL;
	const struct filter *filter = receives(cfg) ? &t->filter : NULL;
	int rc = set ? ends_confirm(&t->ends, cfg, stream_plans_unlimited(&t->sent), e) : 0;

	if (!rc && two_ports(cfg))
		rc = port_open(cfg, &t->rx_ends, cfg->rx_interface, NULL, filter, &t->rx_port, w, e);
	if (!rc)
		rc = port_open(cfg, &t->ends, cfg->interface, set, t->rx_port ? NULL : filter, &t->port, w, e);
	if (!rc && t->rx_port)
		rc = port_wait(&t->rx_ends, t->rx_port, e);
	if (!rc)
		rc = port_wait(&t->ends, t->port, e);
	if (rc)
		return rc;
	return answers_open(cfg, t->rx_port ? &t->rx_ends : &t->ends, t->rx_port ? t->rx_port : t->port, &t->responder,
			    e);
}

static void tell_plan(struct traffic *t, const struct config *cfg)
{
	const struct facts_port tx = {.ends = &t->ends, .port = t->port};
	const struct facts_port apart = {.ends = &t->rx_ends, .port = t->rx_port};

	facts_fill(&t->facts, cfg, &tx, two_ports(cfg) ? &apart : NULL, verb_sends(cfg->verb) ? &t->sent : NULL,
		   receives(cfg) ? &t->filter : NULL);
}

/* A signal before the start: a run of nothing, ended by it. */
static void report_stopped(struct report *report, const struct err *e)
{
	static const struct report_sample nothing;
	struct report_end end = {.reason = END_SIGNAL, .total = &nothing, .requested_pps = -1, .last_pps = -1};

	report_end(report, &end, e, NULL);
}

static void run(struct traffic *t, const struct config *cfg, struct report *report, struct err *e)
{
	const struct stream_set *set = verb_sends(cfg->verb) ? &t->sent.set : NULL;
	const struct engine_port tx = {.port = t->port, .link = t->ends.link};
	const struct engine_port apart = {.port = t->rx_port, .link = t->rx_ends.link};
	int rc = engine_init(&t->engine, cfg, &tx, t->rx_port ? &apart : &tx, set, e);

	if (!rc) {
		tell_plan(t, cfg);
		engine_measure_facts(&t->engine, &t->facts);
		signals_let_writes_finish();
		report_begin(report, &t->facts, clock_wall_ns());
		rc = report_failed(report, e);
	}
	if (rc && e->code == EXIT_DONE) {
		report_stopped(report, e);
	} else if (rc) {
		report_end(report, NULL, e, NULL);
	} else {
		if (!verb_sends(cfg->verb))
			log_note("%s on %s: the filter is active", cfg->verb == VERB_RECV ? "receiving" : "reflecting",
				 cfg->interface);
		engine_set_responder(&t->engine, t->responder);
		engine_set_floor(&t->engine, t->floor);
		engine_run(&t->engine, report);
		*e = t->engine.err;
		if (t->calibrates && e->code == EXIT_DONE && !signals_stop)
			calibrate_result(&t->engine, t->calibrates, e);
	}
	engine_free(&t->engine);
}

/* Nothing is opened: the plan is told, and with --write its frames are in a file. */
static void tell(struct traffic *t, const struct config *cfg, struct report *report, struct err *e)
{
	uint64_t written = 0;
	int rc = 0;

	tell_plan(t, cfg);
	if (cfg->write_file[0])
		rc = write_frames(cfg, &t->sent.set, &written, e);
	if (!rc && cfg->write_file[0])
		report_fact_add(&t->facts, "written", "written", "%" PRIu64 " frames to %s", written, cfg->write_file);
	if (!rc && strcmp(cfg->write_file, "-") != 0)
		report_begin(report, &t->facts, clock_wall_ns());
	report_end(report, NULL, e, NULL);
}

/* One run from its interfaces to its end. floor may be NULL; calibrates: NULL but for the run that fills it. */
static void run_once(const struct config *cfg, const struct report_floor *floor, struct report_floor *calibrates,
		     struct report *report, struct err *e)
{
	struct traffic *t = aligned_alloc(_Alignof(struct traffic), sizeof(*t));

	if (!t) {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", cfg->interface, "no memory");
		report_end(report, NULL, e, NULL);
		return;
	}
	memset(t, 0, sizeof(*t));
	t->floor = floor;
	t->calibrates = calibrates;
	int rc = resolve(t, cfg, e);
	bool tells = cfg->dry_run || cfg->write_file[0];

	if (!rc && !tells)
		rc = open_ports(t, cfg, e);
	if (!rc && tells)
		tell(t, cfg, report, e);
	else if (!rc)
		run(t, cfg, report, e);
	else if (e->code == EXIT_DONE)
		report_stopped(report, e);
	else
		report_end(report, NULL, e, NULL);
	responder_close(t->responder);
	pio_close(t->rx_port);
	pio_close(t->port);
	stream_plans_free(&t->sent);
	ends_free(&t->rx_ends);
	ends_free(&t->ends);
	free(t);
}

/* False: the run that was asked for is not to follow, and the report says why. */
static bool calibrate(const struct config *cfg, struct report_floor *floor, struct report *report, struct err *e)
{
	struct config *quiet = malloc(sizeof(*quiet));
	struct report *silent = report_open(cfg, stdout);

	if (quiet && silent) {
		report_set_form(silent, &report_silent_ops);
		calibrate_config(cfg, quiet);
		log_note("calibrating: %" PRIu64 " packets, 1 ms apart", quiet->count);
		run_once(quiet, NULL, floor, silent, e);
	} else {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot calibrate", cfg->interface, "no memory");
	}
	report_close(silent);
	free(quiet);
	if (e->code == EXIT_DONE && !signals_stop)
		return true;
	if (e->code == EXIT_DONE)
		report_stopped(report, e);
	else
		report_end(report, NULL, e, NULL);
	return false;
}

void traffic_main(const struct config *cfg, struct report *report, struct err *e)
{
	const bool calibrates = cfg->calibrate && !cfg->dry_run && !cfg->write_file[0];
	struct report_floor floor = {0};

	if (!calibrates || calibrate(cfg, &floor, report, e))
		run_once(cfg, calibrates ? &floor : NULL, NULL, report, e);
}
