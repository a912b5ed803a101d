/* SPDX-License-Identifier: Apache-2.0 */
#include "rx_filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static void check_filters(const struct config *cfg, struct problems *p)
{
	struct filter f = {0};
	struct err e = {0};

	for (unsigned i = 0; i < cfg->filters.n; i++)
		if (filter_add_text(&f, cfg->filters.text[i], &e))
			err_hint(problem_add(p, "--filter", "%s: %s", cfg->filters.text[i], e.cause), "%s", e.hint);
	if (cfg->filters.n && f.n == cfg->filters.n && filter_check(&f, &e))
		problem_add(p, "--filter", "%s", e.cause);
}

void rx_filter_check(const struct config *cfg, struct problems *p)
{
	check_filters(cfg, p);
	if (cfg->filters.n && cfg->rx_mode != RX_MODE_NONE)
		problem_add(p, "--filter", "goes without --rx-mode: both say what to receive");
	switch (cfg->rx_mode) {
	case RX_MODE_UDP_PORT:
	case RX_MODE_TCP_PORT:
		if (!cfg->rx_ports.n)
			problem_add(p, "--rx-port", "missing: --rx-mode %s needs at least one port",
				    cfg->rx_mode == RX_MODE_UDP_PORT ? "udp-port" : "tcp-port");
		break;
	case RX_MODE_CIDR:
		if (!cfg->rx_cidr.ip.family)
			problem_missing(p, "--rx-cidr", "missing: --rx-mode cidr needs it");
		else if (!cfg->rx_cidr.len && !cfg->allow_match_all)
			problem_add(p, "--rx-cidr",
				    "a prefix of length 0 matches everything: add --allow-match-all if you mean it");
		break;
	case RX_MODE_ALL:
		if (!cfg->allow_match_all)
			problem_add(p, "--rx-mode", "all takes every packet: add --allow-match-all if you mean it");
		break;
	case RX_MODE_GENERATED_FLOW:
		if (cfg->verb == VERB_PAIR || cfg->n_streams) /* what is sent tells; a list is stream_check()'s */
			break;
		if (cfg->mode == MODE_RAW || !cfg->dst_ip.ip.family)
			problem_add(p, "--rx-mode",
				    "generated-flow needs --dst-ip: it receives what comes back from there");
		if (!verb_sends(cfg->verb) && !cfg->src_ip.ip.family)
			problem_missing(p, "--src-ip",
					"missing: --rx-mode generated-flow of recv needs the address that "
					"the flow was sent from");
		break;
	default:
		break;
	}
}

static void add_protocol(struct filter *f, uint8_t proto)
{
	f->match[f->n++] = (struct filter_match){.kind = FILTER_PROTO, .proto = proto};
}

static void add_port(struct filter *f, uint16_t port)
{
	f->match[f->n++] = (struct filter_match){.kind = FILTER_DST_PORT, .port = {.lo = port, .hi = port}};
}

static void add_prefix(struct filter *f, enum filter_kind kind, const struct prefix *prefix)
{
	f->match[f->n++] = (struct filter_match){.kind = kind, .prefix = *prefix};
}

/* The addresses of the link and of the VLAN and macvlan interfaces on it. Refused when one would be left out. */
static int add_locals(struct filter *f, const struct host *host, const struct host_link *link, struct err *e)
{
	for (size_t i = 0; host && link && i < host->n_addrs; i++) {
		const struct host_link *at = host_link_by_index(host, host->addrs[i].link);

		if (!at || (at->index != link->index && at->parent != link->index))
			continue;
		if (f->n_locals == FILTER_LOCALS_MAX) {
			err_set(e, -E2BIG, EXIT_USAGE, "cannot keep management traffic", link->name,
				"it has more than %u addresses", FILTER_LOCALS_MAX);
			err_hint(e, "--filter with what you want to receive");
			return -E2BIG;
		}
		f->locals[f->n_locals++] = host->addrs[i].ip;
	}
	return 0;
}

int rx_filter_build(const struct config *cfg, const struct host *host, const struct host_link *link,
		    const struct ip *src_ip, struct filter *out, struct err *e)
{
	struct prefix own = {0};

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < cfg->filters.n; i++)
		if (filter_add_text(out, cfg->filters.text[i], e))
			return -EINVAL;
	if (cfg->filters.n)
		return filter_check(out, e);
	switch (cfg->rx_mode) {
	case RX_MODE_GENERATED_FLOW:
		own = cfg->src_ip;
		if (!own.ip.family)
			own = (struct prefix){.ip = *src_ip, .len = (uint8_t)ip_bits(src_ip)};
		add_prefix(out, FILTER_SRC, &cfg->dst_ip);
		add_prefix(out, FILTER_DST, &own);
		break;
	case RX_MODE_UDP_PORT:
	case RX_MODE_TCP_PORT:
		add_protocol(out, cfg->rx_mode == RX_MODE_UDP_PORT ? IPPROTO_UDP : IPPROTO_TCP);
		for (unsigned i = 0; i < cfg->rx_ports.n; i++)
			add_port(out, cfg->rx_ports.port[i]);
		break;
	case RX_MODE_CIDR:
		add_prefix(out, FILTER_SRC, &cfg->rx_cidr);
		break;
	case RX_MODE_KEEP_MANAGEMENT:
		out->keep_management = true;
		if (add_locals(out, host, link, e))
			return -E2BIG;
		break;
	case RX_MODE_ALL:
		out->all = true;
		break;
	default:
		add_protocol(out, IPPROTO_UDP);
		add_port(out, RX_DEFAULT_PORT);
	}
	return filter_check(out, e);
}
