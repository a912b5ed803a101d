/* SPDX-License-Identifier: Apache-2.0 */
#include "afpacket.h"

#include "afpacket_queue.h"
#include "backend.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TX_FRAMES   512U /* rings and sendmmsg give a frame back at once: only the caller's burst is ever out */
#define RX_FRAMES   2048U
#define MAX_FRAME   1514U
#define LINEAR_MAX  256U  /* measured: above it, copying by sendmmsg is faster */
#define JUMBO_FRAME 9018U /* one frame holds a received packet up to this */

static const char *const mechanism_option[] = {
	[AFPACKET_RING] = "ring", [AFPACKET_LINEAR] = "linear", [AFPACKET_SENDMMSG] = "sendmmsg"};
static const char *const mechanism_words[] = {[AFPACKET_RING] = "TPACKET_V2 ring",
					      [AFPACKET_LINEAR] = "TPACKET_V2 ring, linear",
					      [AFPACKET_SENDMMSG] = "sendmmsg"};

/* What stands behind a colon: IFACE[,tx=MECHANISM]. */
struct device {
	char name[IF_NAMESIZE];
	bool forced;
	enum afpacket_mechanism mechanism;
};

static int refuse_device(struct err *e, const char *device, const char *cause)
{
	err_set(e, -EINVAL, EXIT_USAGE, "cannot open the interface", device, "%s", cause);
	err_hint(e, "afpacket:IFACE or afpacket:IFACE,tx=ring|linear|sendmmsg");
	return -EINVAL;
}

static int parse_device(const char *text, struct device *d, struct err *e)
{
	const char *comma = strchr(text, ',');
	int rc;

	*d = (struct device){.forced = comma != NULL};
	rc = pio_link_name(text, d->name, e);
	if (rc || !comma)
		return rc;
	if (strncmp(comma + 1, "tx=", 3) != 0)
		return refuse_device(e, text, "the only option is tx");
	for (unsigned i = 0; i < sizeof(mechanism_option) / sizeof(mechanism_option[0]); i++) {
		if (strcmp(comma + 4, mechanism_option[i]) == 0) {
			d->mechanism = (enum afpacket_mechanism)i;
			return 0;
		}
	}
	return refuse_device(e, text, "tx is one of ring, linear, sendmmsg");
}

/*
 * Pages of the ring may be lent only to a device that keeps the packet (and with it the slot) until it is sent. Drivers
 * of hardware do; virtual devices mostly let go of it at once, and read it, or hand it on to who reads it, later.
 */
static bool keeps_packets(const struct host_link *link)
{
	if (link->kind[0])
		return strcmp(link->kind, "ifb") == 0 || strcmp(link->kind, "dummy") == 0;
	return strcmp(link->driver, "virtio_net") != 0 && strcmp(link->driver, "tun") != 0 &&
	       strcmp(link->driver, "veth") != 0;
}

static enum afpacket_mechanism best_mechanism(const struct host_link *link, uint32_t max_frame)
{
	if (keeps_packets(link))
		return AFPACKET_RING;
	return max_frame <= LINEAR_MAX ? AFPACKET_LINEAR : AFPACKET_SENDMMSG;
}

/* In words, with the reason for it; a step down has its own in caps->why. */
static void describe(struct pio_caps *caps, const struct host_link *link, const struct device *d,
		     enum afpacket_mechanism mechanism)
{
	const char *on = link->kind[0] ? link->kind : link->driver[0] ? link->driver : "unknown driver";

	if (caps->why[0])
		snprintf(caps->mechanism, sizeof(caps->mechanism), "%s", mechanism_words[mechanism]);
	else if (d->forced)
		snprintf(caps->mechanism, sizeof(caps->mechanism), "%s (asked for)", mechanism_words[mechanism]);
	else if (mechanism == AFPACKET_RING)
		snprintf(caps->mechanism, sizeof(caps->mechanism), "%s (%s)", mechanism_words[mechanism], on);
	else
		snprintf(caps->mechanism, sizeof(caps->mechanism), "%s (%s, frames %s %u bytes)",
			 mechanism_words[mechanism], on, mechanism == AFPACKET_LINEAR ? "up to" : "over", LINEAR_MAX);
}

static int open_tx(struct pio_port *port, const struct pio_conf *conf, const struct host_link *link,
		   const struct device *d, struct err *e)
{
	enum afpacket_mechanism mechanism = d->forced ? d->mechanism : best_mechanism(link, port->caps.max_frame);
	int rc;

	for (unsigned i = 0; i < conf->tx_queues; i++) {
		struct afpacket_tx *tx;

		tx = (struct afpacket_tx *)pio_queue_create(port, sizeof(*tx), i, true,
							    conf->tx_frames ? conf->tx_frames : TX_FRAMES, e);
		if (!tx)
			return -ENOMEM;
		tx->fd = -1;
		port->tx[port->n_tx++] = &tx->q;
		rc = afpacket_tx_open(tx, link->index, conf->tx_frames, conf->qdisc, &mechanism, port->caps.why,
				      sizeof(port->caps.why), e);
		if (rc)
			return rc;
	}
	describe(&port->caps, link, d, mechanism);
	port->caps.queue_by_cpu = link->tx_queues > 1;
	return 0;
}

static int open_rx(struct afpacket_port *ap, const struct pio_conf *conf, const struct host_link *link, struct err *e)
{
	struct pio_port *port = &ap->port;

	filter_compile(&ap->filter, conf->filter);
	for (unsigned i = 0; i < conf->rx_queues; i++) {
		struct afpacket_rx *rx;

		rx = (struct afpacket_rx *)pio_queue_create(port, sizeof(*rx), i, false,
							    conf->rx_frames ? conf->rx_frames : RX_FRAMES, e);
		if (!rx)
			return -ENOMEM;
		rx->fd = -1;
		rx->q.ops = &afpacket_rx_ops;
		rx->room = port->pool->max_frame;
		rx->filter = &ap->filter;
		port->rx[port->n_rx++] = &rx->q;
	}
	if (!conf->tx_queues)
		snprintf(port->caps.mechanism, sizeof(port->caps.mechanism), "TPACKET_V3 blocks");
	return afpacket_rx_open((struct afpacket_rx *const *)port->rx, port->n_rx, link->index, conf->rx_frames, e);
}

/* The arrays end with NULL. */
static void afpacket_close(struct pio_port *port)
{
	for (struct pio_queue **q = port->tx; q && *q; q++) {
		afpacket_tx_close((struct afpacket_tx *)*q);
		pio_queue_destroy(*q);
	}
	for (struct pio_queue **q = port->rx; q && *q; q++) {
		afpacket_rx_close((struct afpacket_rx *)*q);
		pio_queue_destroy(*q);
	}
	if (port->own_pool)
		pio_pool_destroy(port->pool);
	free(port->tx);
	free(port->rx);
	free(port);
}

/* The pool that was given, or one of its own that also holds what the link may receive. */
static int choose_pool(struct pio_port *port, const struct pio_conf *conf, const struct host_link *link, struct err *e)
{
	uint32_t frames = conf->tx_queues * (conf->tx_frames ? conf->tx_frames : TX_FRAMES) +
			  conf->rx_queues * (conf->rx_frames ? conf->rx_frames : RX_FRAMES);
	uint32_t largest = port->caps.max_frame;
	uint32_t on_link = link->mtu + ETH_HEADER_LEN + VLAN_TAG_LEN;

	if (conf->pool) {
		port->pool = conf->pool;
		return pio_check_pool(conf->pool, port, e);
	}
	port->own_pool = true;
	if (conf->rx_queues && on_link > largest)
		largest = on_link < JUMBO_FRAME ? on_link : JUMBO_FRAME;
	return pio_pool_create_own(&port->pool, frames, largest, e);
}

static int afpacket_open(const struct pio_conf *conf, const char *device, struct pio_port **out, struct err *e)
{
	struct afpacket_port *ap = NULL;
	const struct host_link *link;
	struct device d;
	int rc;

	*out = NULL;
	rc = parse_device(device, &d, e);
	if (rc)
		return rc;
	if (conf->rx_queues) {
		if (!conf->filter)
			return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the interface", device,
				       "a receiver needs a filter");
		rc = filter_check(conf->filter, e);
		if (rc)
			return rc;
	}
	link = host_usable_link(conf->host, d.name, e);
	if (!link)
		return -ENODEV;
	ap = calloc(1, sizeof(*ap));
	if (!ap)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open the interface", device, "no memory");
	struct pio_port *port = &ap->port;

	port->backend = &pio_afpacket;
	port->ifindex = link->index;
	snprintf(port->name, sizeof(port->name), "afpacket:%s", d.name);
	port->caps = (struct pio_caps){
		.kernel_keeps = true,
		.offers_again = true,
		.arrivals = PIO_CLOCK_WALL,
		.arrivals_by = "the kernel",
		.rx_copies = true,
		.blocking_poll = true,
		.rx_chains = true,
		.max_frame = conf->max_frame ? conf->max_frame : MAX_FRAME,
		.headroom = PIO_RX_HEADROOM,
		.tailroom = PIO_TAILROOM,
	};
	port->tx = calloc(conf->tx_queues + 1, sizeof(struct pio_queue *));
	port->rx = calloc(conf->rx_queues + 1, sizeof(struct pio_queue *));
	if (!port->tx || !port->rx) {
		rc = err_set(e, -ENOMEM, EXIT_RUN, "cannot open the interface", device, "no memory");
		goto out;
	}
	if (conf->tx_queues) {
		rc = pio_check_size(link, port->caps.max_frame, port->name, e);
		if (rc)
			goto out;
	}
	rc = choose_pool(port, conf, link, e);
	if (!rc)
		rc = open_tx(port, conf, link, &d, e);
	if (!rc && conf->rx_queues)
		rc = open_rx(ap, conf, link, e);
out:
	if (rc)
		afpacket_close(port);
	else
		*out = port;
	return rc;
}

static int afpacket_probe(const struct host_link *link, struct err *e)
{
	int fd;
	int rc;

	if (!link->ethernet)
		return err_set(e, -ENOTSUP, EXIT_CAPABILITY, "cannot use the afpacket backend", link->name,
			       "this is no Ethernet link");
	rc = afpacket_socket(link->name, &fd, e);
	if (!rc)
		close(fd);
	return rc;
}

const struct pio_backend pio_afpacket = {
	.name = "afpacket",
	.summary = "Linux packet sockets: every interface, needs no driver support",
	.needs_link = true,
	.probe = afpacket_probe,
	.open = afpacket_open,
	.close = afpacket_close,
};
