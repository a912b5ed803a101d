/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include "facts_replay.h"
#include "facts_send.h"
#include "lib/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int facts_check_mtu(const struct ends *ends, const struct tx_plan *plan, struct err *e)
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

static void interface_facts(struct report_plan *facts, const struct ends *ends, const struct pio_port *port)
{
	const struct host_link *link = ends->link;

	if (link)
		report_fact_add(facts, "interface", "interface", "%s (%s, MTU %u)", link->name,
				link->driver[0] ? link->driver : "no driver name", link->mtu);
	else
		report_fact_add(facts, "interface", "interface", "%s", port ? port->name : "loop");
	if (!port)
		return;
	report_fact_add(facts, "backend", "backend", "%s: %s", port->backend->name, port->caps.mechanism);
	if (port->caps.why[0])
		report_fact_add(facts, "backend_why", "because", "%s", port->caps.why);
	for (unsigned i = 0; i < port->caps.n_notes; i++) {
		const struct pio_note *n = &port->caps.notes[i];

		if (n->key[0])
			report_fact_add(facts, n->key, n->label, "%s", n->text);
		else
			report_warn(&facts->warnings, "%s", n->text);
	}
	if (ends->waited[0])
		report_fact_add(facts, "link_wait", "link wait", "%s", ends->waited);
	report_fact_add(facts, "queues", "queues", "%u transmit, %u receive", port->n_tx, port->n_rx);
}

static void link_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends)
{
	if (!ends->link)
		return;
	report_fact_add(facts, "capture", "tcpdump", "%s",
			cfg->qdisc ? "sees these packets on this interface, and tc applies to them"
				   : "on this interface does not see these packets (--qdisc makes it)");
	if (host_is_default_route(&ends->host, ends->link->index))
		report_warn(&facts->warnings, "%s carries this machine's default route", ends->link->name);
}

static void recv_facts(struct report_plan *facts, const struct config *cfg, const struct filter *filter,
		       const struct pio_port *port)
{
	char text[200], t[32];

	report_fact_add(facts, "filter", "receives", "%s", filter_describe(filter, text, sizeof(text)));
	if (port->caps.kernel_keeps)
		report_fact_add(facts, "kernel", "Linux", "%s",
				port->caps.rx_copies ? "still gets every packet: these are copies"
						     : "gets every packet but these");
	if (cfg->verb != VERB_RECV)
		return;
	if (cfg->duration_ns)
		report_fact_add(facts, "duration", "duration", "%s", units_format_time(cfg->duration_ns, t, sizeof(t)));
	if (cfg->count)
		report_fact_add(facts, "count", "packets", "%" PRIu64, cfg->count);
	if (cfg->idle_ns)
		report_fact_add(facts, "idle", "idle", "ends after %s without a packet",
				units_format_time(cfg->idle_ns, t, sizeof(t)));
	if (!cfg->duration_ns && !cfg->count && !cfg->idle_ns)
		report_fact_add(facts, "duration", "duration", "until stopped");
}

void facts_fill(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		const struct tx_plan *plan, const struct replay *replay, const struct filter *filter,
		const struct pio_port *port)
{
	facts->verb = cfg->verb == VERB_SEND ? "send" : "recv";
	facts->tx = plan != NULL;
	facts->rx = filter != NULL;
	interface_facts(facts, ends, port);
	if (replay)
		facts_fill_replay(facts, cfg, ends, plan, replay, port);
	else if (plan)
		facts_fill_send(facts, cfg, ends, plan);
	if (plan)
		link_facts(facts, cfg, ends);
	if (filter)
		recv_facts(facts, cfg, filter, port);
}
