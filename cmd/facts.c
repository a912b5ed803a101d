/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include "facts_replay.h"
#include "facts_send.h"
#include "facts_streams.h"
#include "lib/option_row.h"
#include "lib/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* of: "" or, for the interface that receives only, "rx". */
static void add_fact(struct report_plan *facts, const char *of, const char *key, const char *label, const char *text)
{
	char full_key[64], full_label[64];

	snprintf(full_key, sizeof(full_key), "%s%s%s", of, *of ? "_" : "", key);
	snprintf(full_label, sizeof(full_label), "%s%s%s", of, *of ? " " : "", label);
	report_fact_add(facts, full_key, full_label, "%s", text);
}

static void interface_facts(struct report_plan *facts, const char *of, const struct facts_port *p)
{
	const struct host_link *link = p->ends->link;
	const struct pio_port *port = p->port;
	char text[256];

	if (link)
		snprintf(text, sizeof(text), "%s (%s, MTU %u)", link->name,
			 link->driver[0] ? link->driver : "no driver name", link->mtu);
	else
		snprintf(text, sizeof(text), "%s", port ? port->name : "loop");
	add_fact(facts, of, "interface", "interface", text);
	if (!port)
		return;
	snprintf(text, sizeof(text), "%s: %s", port->backend->name, port->caps.mechanism);
	add_fact(facts, of, "backend", "backend", text);
	if (port->caps.why[0])
		add_fact(facts, of, "backend_why", "because", port->caps.why);
	for (unsigned i = 0; i < port->caps.n_notes; i++) {
		const struct pio_note *n = &port->caps.notes[i];

		if (n->key[0])
			add_fact(facts, of, n->key, n->label, n->text);
		else
			report_warn(&facts->warnings, "%s", n->text);
	}
	if (p->ends->waited[0])
		add_fact(facts, of, "link_wait", "link wait", p->ends->waited);
	snprintf(text, sizeof(text), "%u transmit, %u receive", port->n_tx, port->n_rx);
	add_fact(facts, of, "queues", "queues", text);
}

static void link_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends)
{
	if (!ends->link || cfg->write_file[0])
		return;
	report_fact_add(facts, "capture", "tcpdump", "%s",
			cfg->qdisc ? "sees these packets on this interface, and tc applies to them"
				   : "on this interface does not see these packets (--qdisc makes it)");
	if (host_is_default_route(&ends->host, ends->link->index))
		report_warn(&facts->warnings, "%s carries this machine's default route", ends->link->name);
}

static void respond_facts(struct report_plan *facts, const struct config *cfg)
{
	char text[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < cfg->respond.n && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", cfg->respond.text[i]);
	if (cfg->respond.n)
		report_fact_add(facts, "respond", "answers for", "%s", text);
}

void facts_duration(struct report_plan *facts, const struct config *cfg, bool ends_otherwise)
{
	char t[32];

	if (cfg->duration_ns)
		report_fact_add(facts, "duration", "duration", "%s", units_format_time(cfg->duration_ns, t, sizeof(t)));
	else if (!ends_otherwise)
		report_fact_add(facts, "duration", "duration", "until stopped");
}

static void recv_facts(struct report_plan *facts, const struct config *cfg, const struct filter *filter,
		       const struct pio_port *port)
{
	char text[200], t[32];

	report_fact_add(facts, "filter", "receives", "%s", filter_describe(filter, text, sizeof(text)));
	if (port && port->caps.kernel_keeps)
		report_fact_add(facts, "kernel", "Linux", "%s",
				port->caps.rx_copies ? "still gets every packet: these are copies"
						     : "gets every packet but these");
	respond_facts(facts, cfg);
	if (cfg->capture[0])
		report_fact_add(facts, "capture_file", "written to", "%s", cfg->capture);
	if (verb_sends(cfg->verb))
		return;
	facts_duration(facts, cfg, cfg->count || cfg->idle_ns);
	if (cfg->count)
		report_fact_add(facts, "count", "packets", "%" PRIu64, cfg->count);
	if (cfg->idle_ns)
		report_fact_add(facts, "idle", "idle", "ends after %s without a packet",
				units_format_time(cfg->idle_ns, t, sizeof(t)));
}

static void pair_facts(struct report_plan *facts, const struct config *cfg)
{
	char t[32];

	report_fact_add(facts, "linger", "linger", "receives until nothing has come for %s after the last packet sent",
			units_format_time(cfg->linger_ns, t, sizeof(t)));
}

void facts_fill(struct report_plan *facts, const struct config *cfg, const struct facts_port *tx,
		const struct facts_port *rx, const struct stream_plans *sent, const struct filter *filter)
{
	const struct replay *replay = sent ? stream_plans_replay(sent) : NULL;
	const struct pio_port *receiver = rx ? rx->port : tx->port;

	facts->verb = option_verb_name(cfg->verb);
	facts->tx = sent || cfg->verb == VERB_REFLECT;
	facts->rx = filter != NULL;
	interface_facts(facts, "", tx);
	if (rx)
		interface_facts(facts, "rx", rx);
	if (replay)
		facts_fill_replay(facts, cfg, tx->ends, &sent->plans[0], replay, tx->port);
	else if (sent && cfg->n_streams)
		facts_fill_streams(facts, cfg, sent);
	else if (sent)
		facts_fill_send(facts, cfg, tx->ends, &sent->plans[0]);
	if (sent)
		link_facts(facts, cfg, tx->ends);
	if (filter)
		recv_facts(facts, cfg, filter, receiver);
	if (cfg->verb == VERB_PAIR)
		pair_facts(facts, cfg);
}
