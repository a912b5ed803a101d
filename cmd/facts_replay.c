/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_replay.h"

#include "gen/pace.h"
#include "gen/pcap_link.h"
#include "gen/replay_stream.h"
#include "lib/ether.h"
#include "lib/units.h"

#include <inttypes.h>

#define NS_IN_TEXT 32

static void capture_facts(struct report_plan *facts, const struct config *cfg, const struct capture *c)
{
	char link[96], t[NS_IN_TEXT];

	report_fact_add(facts, "pcap.file", "capture", "%s", cfg->pcap);
	report_fact_add(facts, "pcap.packets", "packets",
			"%" PRIu64 " of its %" PRIu64 ", %" PRIu64 " bytes without FCS, %s from first to last", c->n,
			c->counts.packets, c->bytes, units_format_time(c->last_ns, t, sizeof(t)));
	report_fact_add(facts, "pcap.link", "link type", "%s%s", pcap_link_name(c->link, link, sizeof(link)),
			c->converted ? ", made Ethernet" : "");
}

static void stream_fact(struct report_plan *facts, const struct replay *r, const struct pio_port *port)
{
	const size_t ahead = replay_stream_bytes(r, port ? port->n_tx : 1);

	if (r->capture.streamed)
		report_fact_add(facts, "pcap.stream", "streamed",
				"does not fit into the %" PRIu64 " bytes of --pcap-preload: read on the way, up to %zu "
				"bytes ahead; all that is said here is of the whole capture, which was read once",
				r->rules.memory, ahead);
}

static void passes_fact(struct report_plan *facts, const struct config *cfg, const struct capture *c)
{
	if (cfg->loop || !cfg->pcap_loop)
		report_fact_add(facts, "pcap.passes", "passes", "%" PRIu64, cfg->loop ? cfg->loop : 1);
	else
		report_fact_add(facts, "pcap.passes", "passes", "over and over");
	if (cfg->count)
		report_fact_add(facts, "count", "packets", "%" PRIu64 " at most (%" PRIu64 " a pass)", cfg->count,
				c->n);
}

static void timing_facts(struct report_plan *facts, const struct config *cfg, const struct tx_plan *plan,
			 const struct replay *r)
{
	const struct capture *c = &r->capture;
	const double mean_l1 = ((double)c->bytes / (double)c->n + FCS_BYTES + L1_EXTRA_BYTES) * 8;
	double pps = r->original ? replay_original_pps(r) : pace_pps(&plan->pace);
	char a[NS_IN_TEXT], b[NS_IN_TEXT], t[NS_IN_TEXT];

	if (r->original)
		report_fact_add(facts, "pcap.timing", "timing",
				"the capture's own times, at %s; %s from the last packet of a pass to the next pass",
				cfg->pcap_speed,
				units_format_time(r->pass_ns ? r->pass_ns - c->last_ns : 0, t, sizeof(t)));
	if (pps < 0)
		report_fact_add(facts, "rate", "rate", "unlimited");
	else
		report_fact_add(facts, "rate", "rate", "%s%s, %s on the wire (L1)", r->original ? "mean " : "",
				units_format_with(pps, "pps", a, sizeof(a)),
				units_format_with(pps * mean_l1, "bit/s", b, sizeof(b)));
	facts_duration(facts, cfg, r->total);
}

static void rewrite_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
			  const struct capture *c)
{
	const struct pcap_counts *n = &c->counts;
	char src[MAC_STRLEN], dst[MAC_STRLEN];

	if (c->converted) {
		mac_format(&ends->gen.src_mac, src);
		mac_format(&ends->gen.dst_mac, dst);
		report_fact_add(facts, "source", "source", "%s", src);
		report_fact_add(facts, "next_hop", "next hop", "%s (%s)", dst, ends->how);
	} else if (cfg->rewrite_mac[0] || !mac_is_zero(&cfg->src_mac) || !mac_is_zero(&cfg->dst_mac)) {
		report_fact_add(facts, "pcap.rewrite_mac", "MAC rewrite", "changes %" PRIu64 " packets",
				n->rewritten_mac);
	}
	if (cfg->rewrite_ip[0])
		report_fact_add(facts, "pcap.rewrite_ip", "IP rewrite",
				"%s: changes %" PRIu64 " packets; outermost IP header and its checksums, no ARP, "
				"nothing inside tunnels and ICMP errors",
				cfg->rewrite_ip, n->rewritten_ip);
	if (cfg->rewrite_vlan[0])
		report_fact_add(facts, "pcap.rewrite_vlan", "VLAN rewrite",
				"%s: changes %" PRIu64 " packets; the outermost tag, its priority stays",
				cfg->rewrite_vlan, n->rewritten_vlan);
}

static void warn_of(struct report_warnings *w, uint64_t n, const char *what)
{
	if (n)
		report_warn(w, "%" PRIu64 " %s", n, what);
}

static void capture_warnings(struct report_plan *facts, const struct capture *c)
{
	const struct pcap_counts *n = &c->counts;
	struct report_warnings *w = &facts->warnings;

	if (c->cut)
		report_warn(w, "the capture's file ends within a packet, which is left out");
	warn_of(w, n->truncated_skipped, "packets of the capture are left out: only their beginning was captured");
	warn_of(w, n->truncated_padded,
		"packets of the capture are filled up with zeros: only their beginning was captured");
	warn_of(w, n->too_large, "packets of the capture are left out: they are larger than the MTU lets through");
	warn_of(w, n->too_short, "packets of the capture are left out: they have no whole Ethernet header");
	warn_of(w, c->small, "packets of the capture are shorter than 60 bytes: hardware fills them up on the wire");
	warn_of(w, n->backwards, "packets of the capture are stamped earlier than one before them: they leave with it");
	warn_of(w, n->gaps_clamped,
		"steps of the capture's clock are beyond --pcap-max-gap: shortened to it, or to none where it goes "
		"back");
}

void facts_fill_replay(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		       const struct tx_plan *plan, const struct replay *replay, const struct pio_port *port)
{
	capture_facts(facts, cfg, &replay->capture);
	stream_fact(facts, replay, port);
	passes_fact(facts, cfg, &replay->capture);
	timing_facts(facts, cfg, plan, replay);
	rewrite_facts(facts, cfg, ends, &replay->capture);
	if (port && port->n_tx > 1)
		report_fact_add(facts, "pcap.order", "order",
				"each packet once, dealt over %u queues: the order between them is not kept",
				port->n_tx);
	capture_warnings(facts, &replay->capture);
}
