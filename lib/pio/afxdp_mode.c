/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way AF_XDP works on an interface, from the best to the one that always does:
 *
 *     native-zc   the driver puts packets into our frames and takes them from there
 *     native      the driver runs our program and copies
 *     generic     the kernel runs our program, after it has made a packet of its own, and copies
 *
 * A port that only sends needs no program when it copies; with zero-copy, drivers serve the transmit ring only while
 * one is attached.
 */
#include "afxdp_dispatcher.h"
#include "afxdp_foreign.h"
#include "afxdp_program.h"
#include "afxdp_queue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[XDP_CHOICE_NATIVE_ZC] = "native-zc",
	[XDP_CHOICE_NATIVE] = "native",
	[XDP_CHOICE_GENERIC] = "generic",
};
static const char *const words[] = {
	[XDP_CHOICE_NATIVE_ZC] = "native, zero-copy",
	[XDP_CHOICE_NATIVE] = "native, copy",
	[XDP_CHOICE_GENERIC] = "generic, copy",
};

struct attempt {
	struct afxdp_port *ap;
	struct host_xdp can;
	bool native_attached;
};

/* Not this mode; a lesser one may do. Else it is the interface, another program or a privilege. */
static bool is_step_down(int rc)
{
	return rc != -EBUSY && rc != -EEXIST && rc != -EPERM && rc != -ENETDOWN && rc != -ENODEV && rc != -ENXIO &&
	       rc != -ENOBUFS && rc != -ENOMEM;
}

static const char *driver_of(const struct host_link *link)
{
	return link->driver[0] ? link->driver : link->kind[0] ? link->kind : "of the interface";
}

static int no_such_mode(const struct attempt *t, const char *cause, struct err *e)
{
	return err_set(e, -EOPNOTSUPP, EXIT_CAPABILITY, "cannot use this XDP mode", t->ap->port.name, "%s %s",
		       driver_of(t->ap->link), cause);
}

static int no_native_mode(const struct attempt *t, struct err *e)
{
	const char *name = t->ap->link->name;

	if (strcmp(t->ap->link->kind, "veth") != 0)
		return no_such_mode(t, "runs no XDP programs itself", e);
	no_such_mode(t, "runs XDP programs itself only with a receive queue for each queue that its peer sends on", e);
	err_hint(e, "ethtool -L %s rx N, with as many as the peer sends on (ethtool -l), or --xdp-mode generic", name);
	return -EOPNOTSUPP;
}

/* What the kernel already says of the driver, so that nothing is attached for nothing. */
static int is_possible(const struct attempt *t, enum xdp_choice mode, struct err *e)
{
	const struct afxdp_port *ap = t->ap;

	if (mode == XDP_CHOICE_GENERIC || !t->can.known)
		return 0;
	if (mode == XDP_CHOICE_NATIVE_ZC && !t->can.zero_copy)
		return no_such_mode(t, "has no zero-copy for AF_XDP", e);
	if (mode == XDP_CHOICE_NATIVE_ZC && ap->want_multi_buffer && t->can.zc_segments < 2)
		return no_such_mode(t, "has zero-copy only for packets of one buffer", e);
	if (!t->can.native)
		return no_native_mode(t, e);
	if (ap->port.n_rx && !t->can.redirect)
		return no_such_mode(t, "cannot hand packets from an XDP program to a socket", e);
	if (ap->port.n_rx && ap->want_multi_buffer && !t->can.multi_buffer)
		return no_such_mode(t, "has no packets of several buffers in native mode", e);
	return 0;
}

static void close_sockets(struct afxdp_port *ap)
{
	for (unsigned i = 0; i < ap->n; i++)
		afxdp_socket_close(ap, i);
}

static int open_sockets(struct afxdp_port *ap, bool zero_copy, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < ap->n && !rc; i++)
		rc = afxdp_socket_open(ap, i, zero_copy, e);
	if (rc)
		close_sockets(ap);
	return rc;
}

static void drop_program(struct afxdp_port *ap)
{
	afxdp_program_close(ap->program);
	restore_end(ap->restore);
	ap->program = NULL;
	ap->restore = NULL;
}

/* A program that joins libxdp's dispatcher does not go with this process: what a killed one leaves is taken out. */
static int watch_over_dispatcher(struct afxdp_port *ap, struct err *e)
{
	struct afxdp_foreign f;
	int rc;

	if (afxdp_foreign_find(ap->link->index, &f) || strcmp(f.name, AFXDP_DISPATCHER_NAME) != 0)
		return 0;
	rc = restore_create(&ap->restore, e);
	if (!rc)
		rc = afxdp_program_restore(ap->program, ap->restore, e);
	return rc ? rc : restore_arm(ap->restore, e);
}

/* Receiving: the program first, the sockets' place in its map last. */
static int try_receiving(struct attempt *t, enum xdp_choice mode, const struct filter *filter, struct err *e)
{
	struct afxdp_port *ap = t->ap;
	bool native = mode != XDP_CHOICE_GENERIC;
	int rc = 0;

	if (ap->program && t->native_attached != native)
		drop_program(ap);
	if (!ap->program) {
		rc = afxdp_program_load(&ap->program, ap->port.name, filter, ap->n, ap->want_times, e);
		if (!rc)
			rc = watch_over_dispatcher(ap, e);
		if (!rc)
			rc = afxdp_program_attach(ap->program, ap->link->index, ap->link->name, native, e);
		/* Of an old kernel, or beside one in libxdp's dispatcher that takes none. */
		if (!rc && native && ap->want_multi_buffer && !afxdp_program_multi_buffer(ap->program))
			rc = no_such_mode(t, "runs a program here that takes no packets of several buffers", e);
		if (rc) {
			drop_program(ap);
			return rc;
		}
		t->native_attached = native;
	}
	rc = open_sockets(ap, mode == XDP_CHOICE_NATIVE_ZC, e);
	for (unsigned i = 0; i < ap->port.n_rx && !rc; i++) {
		struct afxdp_rx *rx = (struct afxdp_rx *)ap->port.rx[i];

		rx->program = ap->program;
		rx->times = afxdp_program_times(ap->program);
		if (rx->times)
			afxdp_times_open(rx);
		rc = afxdp_program_put_socket(ap->program, i, rx->fd, e);
	}
	return rc;
}

/* Sending only: the sockets first; a foreign program serves the driver as well as ours. */
static int try_sending(struct attempt *t, enum xdp_choice mode, struct err *e)
{
	struct afxdp_port *ap = t->ap;
	int rc = open_sockets(ap, mode == XDP_CHOICE_NATIVE_ZC, e);

	if (rc || mode != XDP_CHOICE_NATIVE_ZC)
		return rc;
	rc = afxdp_program_load(&ap->program, ap->port.name, NULL, ap->n, false, e);
	if (!rc)
		rc = afxdp_program_attach(ap->program, ap->link->index, ap->link->name, true, e);
	if (rc)
		drop_program(ap);
	if (rc == -EBUSY)
		return 0;
	if (rc)
		close_sockets(ap);
	return rc;
}

/* Whose the times of arrival are. */
static void describe_times(struct afxdp_port *ap)
{
	struct pio_caps *caps = &ap->port.caps;

	if (!ap->want_times)
		return;
	if (!afxdp_program_times(ap->program)) {
		pio_note(caps, "xdp.times", "XDP times",
			 "none: a program that notes them is not taken here (--verbose: why)");
		return;
	}
	caps->arrivals = PIO_CLOCK_MONOTONIC;
	caps->arrivals_by = "the XDP program";
	pio_note(caps, "xdp.times", "XDP times", "each packet's, noted by the program; the device's own are not taken");
}

static void describe(struct attempt *t, enum xdp_choice mode)
{
	struct afxdp_port *ap = t->ap;
	struct pio_caps *caps = &ap->port.caps;

	ap->choice = mode;
	caps->zero_copy = mode == XDP_CHOICE_NATIVE_ZC;
	caps->restarts_link = ap->program && mode != XDP_CHOICE_GENERIC && !ap->link->kind[0];
	snprintf(caps->mechanism, sizeof(caps->mechanism), "%s%s%s", words[mode],
		 ap->want_multi_buffer ? ", several buffers" : "", ap->busy_poll_ns ? ", busy poll" : "");
	pio_note(caps, "xdp.mode", "XDP mode", "%s", names[mode]);
	if (ap->busy_poll_ns)
		pio_note(caps, "xdp.busy_poll", "busy poll", "%llu us at a time",
			 (unsigned long long)(ap->busy_poll_ns / 1000));
	if (ap->program)
		pio_note(caps, "xdp.program", "XDP program", "id %u, %s, %s", afxdp_program_id(ap->program),
			 afxdp_program_joined(ap->program) ? "one of libxdp's dispatcher" : "attached by a BPF link",
			 mode == XDP_CHOICE_GENERIC ? "generic" : "native");
	else
		pio_note(caps, "xdp.program", "XDP program", "none: sending needs none in copy mode");
	describe_times(ap);
}

int afxdp_negotiate(struct afxdp_port *ap, const struct filter *filter, struct err *e)
{
	const enum xdp_choice asked = ap->choice;
	struct attempt t = {.ap = ap};
	char key[sizeof(ap->port.caps.notes[0].key)];
	int rc = host_link_xdp(ap->link->index, &t.can);

	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot open the interface", ap->port.name, "%s", strerror(-rc));
	for (enum xdp_choice mode = XDP_CHOICE_NATIVE_ZC; mode <= XDP_CHOICE_GENERIC; mode++) {
		if (asked != XDP_CHOICE_AUTO && asked != mode)
			continue;
		rc = is_possible(&t, mode, e);
		if (!rc)
			rc = ap->port.n_rx ? try_receiving(&t, mode, filter, e) : try_sending(&t, mode, e);
		if (!rc) {
			describe(&t, mode);
			return 0;
		}
		if (asked != XDP_CHOICE_AUTO || mode == XDP_CHOICE_GENERIC || !is_step_down(rc))
			break;
		snprintf(key, sizeof(key), "xdp.not_%s", mode == XDP_CHOICE_NATIVE ? "native" : "native_zc");
		pio_note(&ap->port.caps, key, mode == XDP_CHOICE_NATIVE ? "not native" : "not zero-copy", "%s",
			 e->cause);
	}
	if (rc && asked != XDP_CHOICE_AUTO && e->code == EXIT_CAPABILITY && !e->hint[0])
		err_hint(e, "--xdp-mode auto takes the best that works");
	return rc;
}
