/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "ends.h"
#include "engine.h"
#include "facts.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/nearest.h"
#include "lib/option.h"
#include "lib/pio/pio.h"
#include "rx/rx_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One queue carries this on every backend; a run that asks for no more does not spin on several cores for it. */
#define ONE_QUEUE_PPS 250000.0

static void check_backend(const struct config *cfg, struct problems *p)
{
	struct nearest near;

	nearest_start(&near, cfg->backend);
	for (const struct pio_backend *const *b = pio_backends; *b; b++) {
		if (strcmp((*b)->name, cfg->backend) == 0)
			return;
		nearest_try(&near, (*b)->name);
	}
	if (near.best)
		problem_add(p, "--backend", "there is no backend \"%s\"; did you mean %s?", cfg->backend, near.best);
	else
		problem_add(p, "--backend", "there is no backend \"%s\"; squall devices lists them", cfg->backend);
}

void traffic_check(struct config *cfg, struct problems *p)
{
	if (cfg->backend[0])
		check_backend(cfg, p);
	if (!cfg->interface[0])
		problem_add(p, "--interface", "missing: say which interface; squall devices lists them");
	if (cfg->verb == VERB_SEND) {
		if (option_given(cfg, OPTION_BPS) && !option_given(cfg, OPTION_PPS))
			cfg->pps.kind = RATE_UNSET;
		if (option_given(cfg, OPTION_COUNT) && !option_given(cfg, OPTION_DURATION))
			cfg->duration_ns = 0;
		gen_check(cfg, p);
	}
	rx_filter_check(cfg, p);
	for (unsigned i = 0; i < cfg->cpus.n; i++)
		if (!worker_cpu_usable(cfg->cpus.cpu[i]))
			problem_add(p, "--cpus", "processor %u does not exist, or this process may not run on it",
				    cfg->cpus.cpu[i]);
}

static bool receives(const struct config *cfg)
{
	return cfg->verb == VERB_RECV || cfg->rx_mode != RX_MODE_NONE || cfg->filters.n;
}

/* How many queues of a kind: what was asked for, at most what there are; 0 asks for the sensible number. */
static uint32_t queues_of(const struct config *cfg, uint32_t available, const char *what)
{
	uint32_t cpus = cfg->cpus.n ? cfg->cpus.n : worker_cpus_usable();

	if (!cfg->queues)
		return available < cpus ? available : cpus;
	if (cfg->queues > available) {
		log_warn("the interface has %u %s queues: %u were asked for, %u are used", available, what, cfg->queues,
			 available);
		return available;
	}
	return cfg->queues;
}

static void choose_queues(struct pio_conf *conf, const struct config *cfg, const struct ends *ends,
			  const struct tx_plan *plan)
{
	double pps;

	if (plan) {
		pps = gen_pace_pps(&plan->pace);
		conf->tx_queues = queues_of(cfg, ends->tx_queues, "transmit");
		if (!cfg->queues && !cfg->cpus.n && pps >= 0 && pps <= ONE_QUEUE_PPS)
			conf->tx_queues = 1;
		if (conf->tx_queues > plan->flows)
			conf->tx_queues = (uint32_t)plan->flows;
	}
	if (receives(cfg))
		conf->rx_queues = queues_of(cfg, ends->rx_queues, "receive");
}

/* Everything from the interface to the open port. On failure what was made stays in *ends, *plan and *port. */
static int prepare(const struct config *cfg, struct ends *ends, struct tx_plan *plan, struct filter *filter,
		   struct pio_port **port, struct err *e)
{
	struct pio_conf conf = {.name = cfg->interface, .backend = cfg->backend, .filter = filter, .qdisc = cfg->qdisc};
	int rc = ends_find_link(ends, cfg, e);

	if (rc)
		return rc;
	if (plan) {
		rc = ends_resolve(ends, cfg, e);
		if (!rc)
			rc = gen_plan_build(cfg, &ends->gen, plan, e);
		if (!rc)
			rc = facts_check_mtu(ends, plan, e);
		if (!rc)
			rc = ends_confirm(ends, cfg, gen_pace_pps(&plan->pace) < 0, e);
		conf.max_frame = plan->len;
	} else if (ends->link) {
		rc = ends_wait_link(ends->link, e);
	}
	if (!rc && receives(cfg))
		rc = rx_filter_build(cfg, &ends->host, ends->link, &ends->gen.src_ip, filter, e);
	if (rc)
		return rc;
	if (!plan && ends->link)
		conf.max_frame = ends->link->mtu + FACTS_L2_MAX;
	conf.host = &ends->host;
	choose_queues(&conf, cfg, ends, plan);
	return pio_open(&conf, port, e);
}

static void run(const struct config *cfg, struct report *report, const struct ends *ends, const struct tx_plan *plan,
		const struct filter *filter, struct pio_port *port, struct err *e)
{
	struct engine *en = aligned_alloc(_Alignof(struct engine), sizeof(*en));
	struct report_plan *facts = calloc(1, sizeof(*facts));
	int rc;

	if (!en || !facts) {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", cfg->interface, "no memory");
		goto out;
	}
	rc = engine_init(en, cfg, port, plan, e);
	if (rc)
		goto out;
	facts_fill(facts, cfg, ends, plan, port->n_rx ? filter : NULL, port);
	rc = report_begin(report, facts, clock_wall_ns());
	if (rc) {
		err_set(e, rc, EXIT_RUN, "cannot write the report", "standard output", "%s", strerror(-rc));
		engine_free(en);
		goto out;
	}
	if (cfg->verb == VERB_RECV)
		log_note("receiving on %s: the filter is active", cfg->interface);
	engine_run(en, report);
	*e = en->err;
	engine_free(en);
	free(facts);
	free(en);
	return;
out:
	report_end(report, NULL, e, NULL);
	free(facts);
	free(en);
}

void traffic_main(const struct config *cfg, struct report *report, struct err *e)
{
	struct tx_plan *plan = cfg->verb == VERB_SEND ? calloc(1, sizeof(*plan)) : NULL;
	struct filter filter = {0};
	struct pio_port *port = NULL;
	struct ends ends = {0};
	int rc;

	if (cfg->verb == VERB_SEND && !plan)
		rc = err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", cfg->interface, "no memory");
	else
		rc = prepare(cfg, &ends, plan, &filter, &port, e);
	if (rc || !port)
		report_end(report, NULL, e, NULL);
	else
		run(cfg, report, &ends, plan, &filter, port, e);
	pio_close(port);
	ends_free(&ends);
	free(plan);
}
