/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include "lib/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int facts_check_mtu(const struct ends *ends, const struct tx_plan *plan, struct err *e)
{
	const struct host_link *link = ends->link;
	uint32_t l3 = plan->len - plan->l3;

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
		report_fact_add(facts, "interface", "interface", "%s", port->name);
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

static void address_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends)
{
	char src_mac[MAC_STRLEN], dst_mac[MAC_STRLEN], src[IP_STRLEN], dst[PREFIX_STRLEN];
	uint64_t last_port = cfg->src_port + cfg->flows - 1;

	mac_format(&ends->gen.src_mac, src_mac);
	mac_format(&ends->gen.dst_mac, dst_mac);
	if (cfg->mode == MODE_RAW) {
		report_fact_add(facts, "source", "source", "%s", src_mac);
		report_fact_add(facts, "destination", "destination", "%s", dst_mac);
		return;
	}
	ip_format(&ends->gen.src_ip, src);
	prefix_format(&cfg->dst_ip, dst);
	if (cfg->flows == 1)
		report_fact_add(facts, "source", "source", "%s port %u, %s", src, cfg->src_port, src_mac);
	else if (last_port <= UINT16_MAX && cfg->src_port)
		report_fact_add(facts, "source", "source", "%s ports %u-%" PRIu64 ", %s", src, cfg->src_port, last_port,
				src_mac);
	else
		report_fact_add(facts, "source", "source", "%s ports from %u, 1 after 65535, %s", src,
				cfg->src_port ? cfg->src_port : 1, src_mac);
	report_fact_add(facts, "destination", "destination", "%s port %u%s", dst, cfg->dst_port,
			cfg->vary_dst_port ? " and up" : "");
	report_fact_add(facts, "next_hop", "next hop", "%s (%s)", dst_mac, ends->how);
}

static void rate_facts(struct report_plan *facts, const struct config *cfg, const struct tx_plan *plan)
{
	double pps = gen_pace_pps(&plan->pace);
	double l1 = (plan->len + FCS_BYTES + L1_EXTRA_BYTES) * 8.0;
	char a[32], b[32], t[32];

	if (pps < 0)
		report_fact_add(facts, "rate", "rate", "unlimited");
	else
		report_fact_add(facts, "rate", "rate", "%spps, %sbit/s on the wire (L1)",
				units_format_si(pps, a, sizeof(a)), units_format_si(pps * l1, b, sizeof(b)));
	if (cfg->count)
		report_fact_add(facts, "count", "packets", "%" PRIu64, cfg->count);
	if (cfg->duration_ns)
		report_fact_add(facts, "duration", "duration", "%s", units_format_time(cfg->duration_ns, t, sizeof(t)));
	else if (!cfg->count)
		report_fact_add(facts, "duration", "duration", "until stopped");
}

static void send_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		       const struct tx_plan *plan)
{
	static const char *const protocols[] = {[TX_UDP4] = "UDP over IPv4", [TX_UDP6] = "UDP over IPv6"};

	if (plan->family == TX_RAW)
		report_fact_add(facts, "pattern", "pattern",
				"raw Ethernet, type 0x%04x, %u-byte frames (%u without FCS)", cfg->ethertype,
				plan->len + FCS_BYTES, plan->len);
	else
		report_fact_add(facts, "pattern", "pattern", "%s, %u-byte frames (%u without FCS)",
				protocols[plan->family], plan->len + FCS_BYTES, plan->len);
	address_facts(facts, cfg, ends);
	if (cfg->vlan)
		report_fact_add(facts, "vlan", "VLAN", "802.1Q id %u", cfg->vlan);
	report_fact_add(facts, "flows", "flows", "%" PRIu64 "%s", cfg->flows,
			cfg->flow_order == FLOW_ORDER_RANDOM ? " in scattered order" : "");
	rate_facts(facts, cfg, plan);
	if (cfg->flows == 1 && plan->daddr.count > 1)
		report_warn(&facts->warnings,
			    "one flow sends everything to the first of the %" PRIu64
			    " hosts of --dst-ip; --flows %" PRIu64 " reaches all of them",
			    plan->daddr.count, plan->daddr.count);
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
		const struct tx_plan *plan, const struct filter *filter, const struct pio_port *port)
{
	facts->verb = cfg->verb == VERB_SEND ? "send" : "recv";
	facts->tx = plan != NULL;
	facts->rx = filter != NULL;
	interface_facts(facts, ends, port);
	if (plan)
		send_facts(facts, cfg, ends, plan);
	if (filter)
		recv_facts(facts, cfg, filter, port);
}
