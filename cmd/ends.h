/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends: where a run's packets come from and go to: the link, the addresses on both ends, and what may stand in the way.
 * Main thread.
 */
#ifndef SQUALL_CMD_ENDS_H
#define SQUALL_CMD_ENDS_H

#include "gen/plan_build.h"
#include "lib/config.h"
#include "lib/host.h"
#include "lib/report.h"

struct ends {
	struct host host;
	const struct host_link *link;  /* NULL: the backend has no Linux interface (loop) */
	uint32_t tx_queues, rx_queues; /* what the device has; with a link the caller's to find, by the backend */
	struct gen_ends gen;
	bool have_macs;              /* the frames bring their own: no next hop is looked for. Set by the caller */
	char how[128];               /* how the destination MAC was found */
	char waited[128];            /* how long the carrier was waited for; empty: not at all */
	struct host_link_state seen; /* when the link was last waited for */
};

/*
 * Finds the link of an interface's name; backend_name: as of pio_name_split(). EXIT_USAGE for a link that cannot be
 * used. ends_free() releases it on every path.
 */
int ends_find_link(struct ends *ends, const char *interface, const char *backend_name, struct err *e);

/* Waits for the link (EXIT_LINK), then finds source and next hop; what the user gave is taken as it is. */
int ends_resolve(struct ends *ends, const struct config *cfg, struct err *e);
void ends_free(struct ends *ends);

/*
 * Waits until the link has a carrier, 5 s at most. restarted: for after something that may have taken it away, until it
 * has been there for 500 ms without a break, 20 s at most. EXIT_LINK when the link is down or no carrier comes; -EINTR
 * after a signal.
 */
int ends_wait_link(struct ends *ends, bool restarted, struct err *e);

/*
 * The safety question: no limit on the interface of the default route or of this SSH session. Answered by --yes, or on
 * the terminal. EXIT_REFUSED when it is not.
 */
int ends_confirm(const struct ends *ends, const struct config *cfg, bool unlimited, struct err *e);

#endif
