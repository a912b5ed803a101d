/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports: from an interface's name to an open port: how many queues it gets, and its link awaited. Main thread.
 */
#ifndef SQUALL_CMD_PORTS_H
#define SQUALL_CMD_PORTS_H

#include "ends.h"
#include "gen/stream_set.h"
#include "lib/core/plan.h"
#include "lib/pio/pio.h"

/*
 * Opens the interface that ends was found for. set: what is sent there, NULL: nothing; filter: what is received there,
 * NULL: nothing. A port that reflects has a transmit queue for each receive queue. How many queues the interface has
 * goes to ends, what to mind to *w. Errors as of pio_open().
 */
int port_open(const struct config *cfg, struct ends *ends, const char *name, const struct stream_set *set,
	      const struct filter *filter, struct pio_port **out, struct report_warnings *w, struct err *e);

/* Waits for the link after the opening, which may have taken it away. Errors as of ends_wait_link(). */
int port_wait(struct ends *ends, const struct pio_port *port, struct err *e);

#endif
