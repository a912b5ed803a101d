/* SPDX-License-Identifier: Apache-2.0 */
#include "ports.h"

#include "engine_measure.h"

#include "lib/ether.h"
#include "lib/log.h"
#include "lib/pio/queues.h"
#include "lib/worker.h"

#include <inttypes.h>
#include <stdio.h>

/* Ethernet header and two VLAN tags: what a frame has besides the bytes that the MTU counts. */
#define L2_MAX (ETH_HEADER_LEN + 2 * VLAN_TAG_LEN)

/* One queue carries this on every backend; a run that asks for no more does not spin on several cores for it. */
#define ONE_QUEUE_PPS 250000.0

/* How many queues of a kind: what was asked for, at most what there are; else as many as there are processors. */
static uint32_t queues_of(uint32_t asked, uint32_t available, uint32_t cpus, const char *what,
			  struct report_warnings *w)
{
	if (!asked)
		return available < cpus ? available : cpus;
	if (asked > available) {
		report_warn(w, "%u %s queues were asked for, the interface has %u: these are used", asked, what,
			    available);
		return available;
	}
	return asked;
}

static uint32_t cpus_of(const struct config *cfg)
{
	return cfg->cpus.n ? cfg->cpus.n : worker_cpus_usable();
}

static uint32_t tx_queues_of(const struct config *cfg, const struct ends *ends, const struct stream_set *set,
			     struct report_warnings *w)
{
	uint32_t n = queues_of(cfg->queues, ends->tx_queues, cpus_of(cfg), "transmit", w);
	double pps = stream_set_pps(set);
	uint32_t usable;

	if (!cfg->queues && cfg->mode == MODE_PCAP) /* the wire's order is the capture's */
		n = 1;
	if (!cfg->queues && !cfg->cpus.n && pps >= 0 && pps <= ONE_QUEUE_PPS)
		n = 1;
	usable = stream_set_queues(set, n);
	if (usable == n)
		return n;
	if (cfg->mode == MODE_PCAP)
		report_warn(w, "the capture has %u packets, so %u of %u transmit queues are used", usable, usable, n);
	else if (cfg->queues || cfg->cpus.n)
		report_warn(w,
			    "a flow stays on one queue, so %u of %u transmit queues are used: more --flows use more%s",
			    usable, n,
			    cfg->n_streams ? "; streams that share a rate use as many as the least of them has" : "");
	return usable;
}

/*
 * Where each receive queue has packets of its own, one that is not opened would be missed. The receiver of a pair has a
 * number of its own, and a wire in memory has the queues that it was asked to have.
 */
static uint32_t rx_queues_of(const struct config *cfg, const struct ends *ends, const struct pio_backend *backend,
			     struct report_warnings *w)
{
	bool all = backend->rx_by_device ? !cfg->cpus.n || cfg->verb == VERB_PAIR
					 : !backend->needs_link && cfg->verb == VERB_PAIR;

	return queues_of(cfg->verb == VERB_PAIR ? cfg->rx_queues : cfg->queues, ends->rx_queues,
			 all ? ends->rx_queues : cpus_of(cfg), "receive", w);
}

/* Said at once, since it is seldom what one wants. */
static void warn_of_queues_left(const struct config *cfg, const struct ends *ends, const struct pio_port *port,
				struct report_warnings *w)
{
	char or_else[32] = "leave --queues out", text[256];

	if (!port->backend->rx_by_device || !port->n_rx)
		return;
	if (cfg->verb == VERB_PAIR)
		snprintf(or_else, sizeof(or_else), "leave --rx-queues out");
	if (cfg->cpus.n && cfg->verb != VERB_PAIR)
		snprintf(or_else, sizeof(or_else), "--queues %u", ends->rx_queues);
	pio_queues_left(ends->link, port->n_rx, or_else, text, sizeof(text));
	if (!text[0])
		return;
	log_warn("%s", text);
	report_warn(w, "%s", text);
}

int port_open(const struct config *cfg, struct ends *ends, const char *name, const struct stream_set *set,
	      const struct filter *filter, struct pio_port **out, struct report_warnings *w, struct err *e)
{
	struct pio_conf conf = {.name = name,
				.backend = cfg->backend,
				.filter = filter,
				.host = &ends->host,
				.qdisc = cfg->qdisc,
				.times = (engine_measures(cfg) || cfg->capture[0]) && !cfg->host_times,
				.rx_frames = cfg->rx_frames,
				.xdp_mode = (enum xdp_choice)cfg->xdp_mode,
				.napi_defer = (enum when_helpful)cfg->napi_defer,
				.busy_poll_ns = cfg->busy_poll_ns};
	const struct pio_backend *backend;
	int rc = pio_choose(&conf, &backend, e);

	if (rc)
		return rc;
	if (set)
		conf.max_frame = stream_set_max_len(set);
	else if (ends->link)
		conf.max_frame = ends->link->mtu + L2_MAX;
	if (ends->link)
		pio_queues_of_link(backend, ends->link, &ends->tx_queues, &ends->rx_queues);
	if (set)
		conf.tx_queues = tx_queues_of(cfg, ends, set, w);
	if (filter)
		conf.rx_queues = rx_queues_of(cfg, ends, backend, w);
	if (cfg->verb == VERB_REFLECT) {
		if (conf.rx_queues > ends->tx_queues)
			conf.rx_queues = ends->tx_queues;
		conf.tx_queues = conf.rx_queues;
		/* Backends send what the MTU lets through, and a tag. */
		if (ends->link)
			conf.max_frame = ends->link->mtu + ETH_HEADER_LEN + VLAN_TAG_LEN;
	}
	rc = pio_open(&conf, out, e);
	if (!rc && ends->link)
		warn_of_queues_left(cfg, ends, *out, w);
	return rc;
}

int port_wait(struct ends *ends, const struct pio_port *port, struct err *e)
{
	return ends->link ? ends_wait_link(ends, port->caps.restarts_link, e) : 0;
}
