/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp.h"

#include "afxdp_program.h"
#include "afxdp_queue.h"
#include "afxdp_tune.h"
#include "backend.h"
#include "lib/log.h"
#include "promisc.h"

#include <xdp/libxdp.h>

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAME 1514U

static const char *const mode_option[] = {
	[XDP_CHOICE_AUTO] = "auto",
	[XDP_CHOICE_NATIVE_ZC] = "native-zc",
	[XDP_CHOICE_NATIVE] = "native",
	[XDP_CHOICE_GENERIC] = "generic",
};

/* What stands behind a colon. */
struct device {
	char name[IF_NAMESIZE];
	enum xdp_choice choice;
	bool multi_buffer;
};

static int refuse_device(struct err *e, const char *device, const char *cause)
{
	err_set(e, -EINVAL, EXIT_USAGE, "cannot open the interface", device, "%s", cause);
	err_hint(e, "afxdp:IFACE[,mode=auto|native-zc|native|generic][,multi-buffer=off]");
	return -EINVAL;
}

static bool parse_mode(const char *text, size_t len, enum xdp_choice *out)
{
	for (unsigned i = 0; i < sizeof(mode_option) / sizeof(mode_option[0]); i++) {
		if (strlen(mode_option[i]) == len && memcmp(mode_option[i], text, len) == 0) {
			*out = (enum xdp_choice)i;
			return true;
		}
	}
	return false;
}

static int parse_device(const char *text, enum xdp_choice asked, struct device *d, struct err *e)
{
	static const char no_chains[] = "multi-buffer=off";
	int rc;

	*d = (struct device){.choice = asked, .multi_buffer = true};
	rc = pio_link_name(text, d->name, e);
	for (const char *at = strchr(text, ','); at && !rc; at = strchr(at, ',')) {
		size_t len = strcspn(++at, ",");

		if (len == sizeof(no_chains) - 1 && memcmp(at, no_chains, len) == 0)
			d->multi_buffer = false;
		else if (strncmp(at, "mode=", 5) != 0)
			rc = refuse_device(e, text, "its options are mode and multi-buffer=off");
		else if (!parse_mode(at + 5, len - 5, &d->choice))
			rc = refuse_device(e, text, "mode is one of auto, native-zc, native, generic");
	}
	return rc;
}

static int to_log(enum libxdp_print_level level, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
static int to_log(enum libxdp_print_level level, const char *format, va_list ap)
{
	char line[512];

	(void)level;
	vsnprintf(line, sizeof(line), format, ap);
	line[strcspn(line, "\n")] = '\0';
	log_debug("libxdp: %s", line);
	return 0;
}

/* ---- the port ---- */

static void afxdp_close(struct pio_port *port)
{
	struct afxdp_port *ap = (struct afxdp_port *)port;

	/* First, so that nothing is on its way to a socket that goes. */
	afxdp_program_close(ap->program);
	restore_end(ap->restore);
	for (unsigned i = 0; ap->sockets && i < ap->n; i++)
		afxdp_socket_close(ap, i);
	afxdp_tune_end(ap->tune);
	if (ap->promisc >= 0)
		close(ap->promisc);
	afxdp_memory_close(ap);
	free(ap->sockets);
	free(ap);
}

/* Hardware that takes tags out tells of them beside the packet, where a program does not see them. */
static void warn_of_tags(struct afxdp_port *ap, const struct filter *filter)
{
	if (!ap->port.n_rx || !ap->link->strips_vlan || ap->link->kind[0])
		return;
	for (unsigned i = 0; i < filter->n; i++) {
		if (filter->match[i].kind != FILTER_VLAN)
			continue;
		pio_warn(&ap->port.caps,
			 "%s takes VLAN tags out before XDP sees them, so that the vlan condition matches nothing: "
			 "ethtool -K %s rxvlan off",
			 ap->link->name, ap->link->name);
		return;
	}
}

static int open_device(struct afxdp_port *ap, const struct pio_conf *conf, struct err *e)
{
	struct pio_port *port = &ap->port;
	int rc = afxdp_negotiate(ap, conf->filter, e);

	if (rc)
		return rc;
	if (port->n_rx) {
		rc = pio_promisc_open(port->ifindex, &ap->promisc);
		if (rc)
			return err_set(e, rc, EXIT_RUN, "cannot receive for all addresses", port->name, "%s",
				       strerror(-rc));
	}
	warn_of_tags(ap, conf->filter);
	return afxdp_tune_begin(&ap->tune, ap->link,
				&(struct afxdp_tune_ask){
					.napi_defer = conf->napi_defer,
					.native = ap->choice != XDP_CHOICE_GENERIC,
					.receives = port->n_rx > 0,
					.sends = port->n_tx > 0,
					.zero_copy = port->caps.zero_copy,
					.tx_queues = port->n_tx,
				},
				&port->caps, e);
}

static int make_port(struct afxdp_port **out, const struct pio_conf *conf, const struct host_link *link,
		     const struct device *d, struct err *e)
{
	struct afxdp_port *ap = calloc(1, sizeof(*ap));

	*out = ap;
	if (!ap)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open the interface", d->name, "no memory");
	struct pio_port *port = &ap->port;

	ap->link = link;
	ap->choice = d->choice;
	ap->busy_poll_ns = conf->busy_poll_ns;
	ap->want_times = conf->times && conf->rx_queues;
	ap->promisc = -1;
	ap->n = conf->tx_queues > conf->rx_queues ? conf->tx_queues : conf->rx_queues;
	port->backend = &pio_afxdp;
	port->ifindex = link->index;
	port->n_tx = conf->tx_queues;
	port->n_rx = conf->rx_queues;
	snprintf(port->name, sizeof(port->name), "afxdp:%s", d->name);
	port->caps = (struct pio_caps){
		.kernel_keeps = true,
		.blocking_poll = true,
		.max_frame = conf->max_frame ? conf->max_frame : MAX_FRAME,
		.headroom = AFXDP_KERNEL_HEADROOM,
		.tailroom = PIO_TAILROOM,
	};
	port->tx = calloc(port->n_tx + 1, sizeof(struct pio_queue *));
	port->rx = calloc(port->n_rx + 1, sizeof(struct pio_queue *));
	ap->sockets = aligned_alloc(_Alignof(struct afxdp_socket), ap->n * sizeof(*ap->sockets));
	if (!port->tx || !port->rx || !ap->sockets)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open the interface", d->name, "no memory");
	memset(ap->sockets, 0, ap->n * sizeof(*ap->sockets));
	return 0;
}

static int afxdp_open(const struct pio_conf *conf, const char *device, struct pio_port **out, struct err *e)
{
	struct afxdp_port *ap = NULL;
	const struct host_link *link;
	struct device d;
	int rc;

	*out = NULL;
	libxdp_set_print(to_log);
	rc = parse_device(device, conf->xdp_mode, &d, e);
	if (rc)
		return rc;
	link = host_usable_link(conf->host, d.name, e);
	if (!link)
		return -ENODEV;
	rc = make_port(&ap, conf, link, &d, e);
	if (!rc && conf->tx_queues)
		rc = pio_check_size(link, ap->port.caps.max_frame, ap->port.name, e);
	if (!rc)
		rc = afxdp_memory_open(ap, conf, d.multi_buffer, e);
	if (!rc)
		rc = open_device(ap, conf, e);
	if (rc && ap)
		afxdp_close(&ap->port);
	else if (!rc)
		*out = &ap->port;
	return rc;
}

static int afxdp_probe(const struct host_link *link, struct err *e)
{
	int fd;

	if (!link->ethernet)
		return err_set(e, -ENOTSUP, EXIT_CAPABILITY, "cannot use the afxdp backend", link->name,
			       "this is no Ethernet link");
	fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == EAFNOSUPPORT)
		return err_set(e, -EAFNOSUPPORT, EXIT_CAPABILITY, "cannot use the afxdp backend", link->name,
			       "this kernel is built without AF_XDP (CONFIG_XDP_SOCKETS)");
	err_set(e, -errno, EXIT_CAPABILITY, "cannot use the afxdp backend", link->name, "%s",
		errno == EPERM ? "the capability CAP_NET_RAW is missing" : strerror(errno));
	err_hint(e, "run as root");
	return -EPERM;
}

int afxdp_check_interface(struct pio_queue *q, int fd)
{
	socklen_t size = sizeof(int);
	int error = 0;

	/* The kernel leaves an error when it unbinds the socket, and only then. */
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error)
		pio_queue_gone(q);
	return pio_queue_error(q, NULL);
}

const struct pio_backend pio_afxdp = {
	.name = "afxdp",
	.summary = "AF_XDP sockets: every interface, best with a driver that has XDP",
	.needs_link = true,
	.rx_by_device = true,
	.no_qdisc = true,
	.probe = afxdp_probe,
	.open = afxdp_open,
	.close = afxdp_close,
};
