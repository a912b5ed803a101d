/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_send.h"

#include "facts.h"
#include "facts_frame.h"
#include "gen/pace.h"
#include "gen/tunnel.h"
#include "gen/vary.h"
#include "lib/option.h"
#include "lib/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX   256
#define MIX_LISTED 12U /* a mix of more sizes is told by its smallest and its largest */

/* Adds to a text, as much as fits. */
static void add(char text[TEXT_MAX], const char *more)
{
	size_t n = strlen(text);

	snprintf(text + n, TEXT_MAX - n, "%s", more);
}

/* ---- sizes ---- */

/* Of the frames without FCS, as often as each is sent. */
static double mean_len(const struct tx_plan *plan)
{
	double bytes = 0;

	for (unsigned i = 0; i < plan->n_cycle; i++)
		bytes += plan->sizes[plan->cycle[i]].len;
	return bytes / plan->n_cycle;
}

static uint32_t smallest_len(const struct tx_plan *plan)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < plan->n_sizes; i++)
		least = plan->sizes[i].len < least ? plan->sizes[i].len : least;
	return least;
}

static void list_mix(const struct imix *mix, char out[TEXT_MAX])
{
	out[0] = '\0';
	for (unsigned i = 0; i < mix->n; i++) {
		uint32_t whole = mix->weight[i] / IMIX_WEIGHT_UNIT, cents = mix->weight[i] % IMIX_WEIGHT_UNIT;
		char part[48];

		if (cents)
			snprintf(part, sizeof(part), "%s%u:%u.%02u", i ? "," : "", mix->size[i], whole, cents);
		else
			snprintf(part, sizeof(part), "%s%u:%u", i ? "," : "", mix->size[i], whole);
		add(out, part);
	}
}

static void mix_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		      const struct tx_plan *plan)
{
	char list[TEXT_MAX];
	struct imix mix;
	unsigned raised;

	if (gen_mix(cfg, ends->gen.mtu, &mix, &raised, NULL))
		return;
	if (mix.n <= MIX_LISTED)
		list_mix(&mix, list);
	else
		snprintf(list, sizeof(list), "%u sizes", mix.n);
	report_fact_add(facts, "imix", "mix", "%s%s%s (size:weight), mean %.2f bytes, %u packets a cycle",
			strchr(mix.name, ':') ? "" : mix.name, strchr(mix.name, ':') ? "" : ": ", list, imix_mean(&mix),
			plan->n_cycle);
	if (raised)
		report_warn(&facts->warnings,
			    "%u of the mix's sizes are too small for these headers, and raised to %u bytes", raised,
			    smallest_len(plan) + FCS_BYTES);
}

char *facts_pattern(const struct config *cfg, const struct tx_plan *plan, char *buf, size_t size)
{
	static const char *const protocols[] = {[MODE_UDP] = "UDP",
						[MODE_TCP_SYN] = "TCP SYN",
						[MODE_ICMP_ECHO] = "ICMP echo requests",
						[MODE_IMIX] = "UDP"};
	char what[TEXT_MAX / 2], sizes[TEXT_MAX / 2];

	if (cfg->mode == MODE_RAW)
		snprintf(what, sizeof(what), "raw Ethernet, type 0x%04x", cfg->ethertype);
	else if (cfg->mode == MODE_TCP_SYN && cfg->tcp_flags[0])
		snprintf(what, sizeof(what), "TCP (%s) over IPv%u", cfg->tcp_flags, cfg->dst_ip.ip.family);
	else
		snprintf(what, sizeof(what), "%s over IPv%u", protocols[cfg->mode], cfg->dst_ip.ip.family);
	if (plan->n_sizes == 1)
		snprintf(sizes, sizeof(sizes), "%u-byte frames (%u without FCS)", plan->max_len + FCS_BYTES,
			 plan->max_len);
	else
		snprintf(sizes, sizeof(sizes), "frames of %u sizes, %u to %u bytes, mean %.2f", plan->n_sizes,
			 smallest_len(plan) + FCS_BYTES, plan->max_len + FCS_BYTES, mean_len(plan) + FCS_BYTES);
	snprintf(buf, size, "%s, %s", what, sizes);
	return buf;
}

static void pattern_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
			  const struct tx_plan *plan)
{
	char what[TEXT_MAX];

	report_fact_add(facts, "pattern", "pattern", "%s", facts_pattern(cfg, plan, what, sizeof(what)));
	if (cfg->mode == MODE_IMIX)
		mix_facts(facts, cfg, ends, plan);
}

/* ---- headers ---- */

static const struct vary *find(const struct varies *v, enum vary_field field)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->vary[i].field == field)
			return &v->vary[i];
	return NULL;
}

/* The ports of a walk from `first` on: "port 5", "ports 5-9", or where they begin. */
static void ports_text(const struct varies *v, enum vary_field field, const struct config *cfg, char out[TEXT_MAX])
{
	const char *name = cfg->mode == MODE_ICMP_ECHO ? "identifier" : "port";
	const struct vary *one = find(v, field);
	uint64_t from, last;

	out[0] = '\0';
	if (!one)
		return;
	from = one->walk.base + one->walk.first;
	last = from + cfg->flows - 1;
	if (one->asked)
		snprintf(out, TEXT_MAX, " %ss vary", name);
	else if (one->walk.count == 1 || cfg->flows == 1)
		snprintf(out, TEXT_MAX, " %s %" PRIu64, name, from);
	else if (cfg->flow_walk == FLOW_WALK_STEP && cfg->flows <= UINT16_MAX && last <= UINT16_MAX)
		snprintf(out, TEXT_MAX, " %ss %" PRIu64 "-%" PRIu64, name, from, last);
	else
		snprintf(out, TEXT_MAX, " %ss from %" PRIu64 ", 1 after 65535", name, from);
}

static void address_facts(struct report_plan *facts, const struct config *cfg, const struct ends *ends)
{
	char src_mac[MAC_STRLEN], dst_mac[MAC_STRLEN], src[PREFIX_STRLEN], dst[PREFIX_STRLEN];
	char sports[TEXT_MAX], dports[TEXT_MAX];
	struct varies v;

	mac_format(&ends->gen.src_mac, src_mac);
	mac_format(&ends->gen.dst_mac, dst_mac);
	if (cfg->mode == MODE_RAW) {
		report_fact_add(facts, "source", "source", "%s", src_mac);
		report_fact_add(facts, "destination", "destination", "%s", dst_mac);
		return;
	}
	varies_collect(cfg, &ends->gen.src_ip, &v, NULL);
	ports_text(&v, VARY_SRC_PORT, cfg, sports);
	ports_text(&v, VARY_DST_PORT, cfg, dports);
	if (cfg->src_ip.ip.family && cfg->flows > 1)
		prefix_format(&cfg->src_ip, src);
	else
		ip_format(&ends->gen.src_ip, src);
	prefix_format(&cfg->dst_ip, dst);
	if (find(&v, VARY_SRC_IP)->asked) /* not the template's, which is in no packet */
		snprintf(src, sizeof(src), "addresses vary,");
	if (find(&v, VARY_DST_IP)->asked)
		snprintf(dst, sizeof(dst), "addresses vary,");
	report_fact_add(facts, "source", "source", "%s%s, %s", src, sports, src_mac);
	report_fact_add(facts, "destination", "destination", "%s%s", dst, dports);
	report_fact_add(facts, "next_hop", "next hop", "%s (%s)", dst_mac, ends->how);
}

static void rate_facts(struct report_plan *facts, const struct config *cfg, const struct tx_plan *plan)
{
	double pps = pace_pps(&plan->pace);
	double l1 = (mean_len(plan) + FCS_BYTES + L1_EXTRA_BYTES) * 8.0;
	char a[32], b[32], t[32];

	if (plan->pace.group)
		report_fact_add(facts, "rate", "rate", "bursts of %u packets every %s, %s on average", plan->pace.group,
				units_format_time(plan->pace.interval.ns, t, sizeof(t)),
				units_format_with(pps, "pps", a, sizeof(a)));
	else if (plan->pace.poisson)
		report_fact_add(facts, "rate", "rate", "%s on average, at random (Poisson, seed %" PRIu64 ")",
				units_format_with(pps, "pps", a, sizeof(a)), plan->pace.seed);
	else if (pps < 0)
		report_fact_add(facts, "rate", "rate", "unlimited");
	else
		report_fact_add(facts, "rate", "rate", "%s, %s on the wire (L1)",
				units_format_with(pps, "pps", a, sizeof(a)),
				units_format_with(pps * l1, "bit/s", b, sizeof(b)));
	facts_length(facts, cfg);
}

void facts_length(struct report_plan *facts, const struct config *cfg)
{
	if (pace_count(cfg))
		report_fact_add(facts, "count", "packets", "%" PRIu64, pace_count(cfg));
	facts_duration(facts, cfg, pace_count(cfg));
}

/* Of a stream what its item says: what it has from the run is for the others. */
static bool is_said(const struct config *cfg, enum option_id id)
{
	return cfg->name[0] ? option_said(cfg, id) : option_given(cfg, id);
}

/* Where the warning is of one of a list of streams: which. Returns buf. */
static const char *of_stream(const struct config *cfg, char buf[TEXT_MAX / 2])
{
	buf[0] = '\0';
	if (cfg->name[0])
		snprintf(buf, TEXT_MAX / 2, "stream %.64s: ", cfg->name);
	return buf;
}

void facts_warn_no_effect(struct report_warnings *w, const struct config *cfg)
{
	/* Destination ports first: the only ones that an echo request has not. */
	static const enum option_id of_ip[] = {OPTION_DST_PORT, OPTION_VARY_DST_PORT, OPTION_SRC_PORT, OPTION_SRC_IP,
					       OPTION_DST_IP};
	const bool raw = cfg->mode == MODE_RAW;
	const unsigned n = raw ? 5 : cfg->mode == MODE_ICMP_ECHO ? 2 : 0;
	char stream[TEXT_MAX / 2];

	for (unsigned i = 0; i < n; i++)
		if (is_said(cfg, of_ip[i]))
			report_warn(w, "%s--%s has no effect: %s have no such field", of_stream(cfg, stream),
				    option_name(of_ip[i]), raw ? "frames of --mode raw" : "echo requests");
}

static void warn_of_first(struct report_warnings *w, const struct config *cfg, const struct vary *v)
{
	const bool src = v->field == VARY_SRC_IP;
	const char *does = src ? "comes from" : "sends everything to", *end = src ? "src" : "dst";
	const uint64_t hosts = v->walk.count;
	char stream[TEXT_MAX / 2];

	of_stream(cfg, stream);
	if (hosts <= GEN_FLOWS_MAX)
		report_warn(w, "%sone flow %s the first of the %" PRIu64 " hosts of --%s-ip; --flows %" PRIu64 " %s",
			    stream, does, hosts, end, hosts, src ? "has them all" : "reaches all of them");
	else
		report_warn(w, "%sone flow %s the first host of --%s-ip; --flows says how many of them there are",
			    stream, does, end);
}

void facts_warn_one_flow(struct report_warnings *w, const struct config *cfg)
{
	static const struct ip nobody;
	struct varies v;

	if (cfg->flows != 1 || cfg->mode == MODE_RAW)
		return;
	varies_collect(cfg, &nobody, &v, NULL);
	for (unsigned i = 0; i < v.n; i++)
		if ((v.vary[i].field == VARY_SRC_IP || v.vary[i].field == VARY_DST_IP) && !v.vary[i].asked &&
		    v.vary[i].walk.count > 1)
			warn_of_first(w, cfg, &v.vary[i]);
}

void facts_warn_tunnel(struct report_warnings *w, const struct config *cfg)
{
	char stream[TEXT_MAX / 2];
	struct tunnel t;

	if (cfg->udp_checksum != CHECK_OFF || tunnel_parse(cfg->tunnel, &t, NULL) || t.kind == TUNNEL_NONE ||
	    t.kind == TUNNEL_GRE || t.dst.family != 6)
		return;
	report_warn(w,
		    "%s--udp-checksum off leaves the tunnel's UDP over IPv6 without a checksum as well: Linux drops "
		    "such packets unless the tunnel's end has udp6zerocsumrx",
		    of_stream(cfg, stream));
}

void facts_fill_send(struct report_plan *facts, const struct config *cfg, const struct ends *ends,
		     const struct tx_plan *plan)
{
	pattern_facts(facts, cfg, ends, plan);
	address_facts(facts, cfg, ends);
	facts_frame(facts, cfg);
	report_fact_add(facts, "flows", "flows", "%" PRIu64 "%s%s", cfg->flows,
			cfg->flow_order == FLOW_ORDER_RANDOM ? " in scattered order" : "",
			cfg->flow_walk == FLOW_WALK_CROSS ? ", fields as a cross product" : "");
	if (plan->stamped)
		report_fact_add(facts, "run_id", "run id", "%u", plan->run);
	rate_facts(facts, cfg, plan);
	facts_warn_one_flow(&facts->warnings, cfg);
	facts_warn_no_effect(&facts->warnings, cfg);
	facts_warn_tunnel(&facts->warnings, cfg);
}
