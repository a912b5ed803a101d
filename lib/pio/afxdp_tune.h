/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp_tune: settings of an interface that make AF_XDP faster, for as long as a port is open. Private to
 * lib/pio/afxdp*.c.
 *
 *     NAPI deferral    napi_defer_hard_irqs and gro_flush_timeout: under load the interface is polled by a timer
 *                      instead of by interrupts, so each poll finds more packets
 *     xdp_tx_mpwqe     mlx5's private flag: how descriptors carry packets, which is better off for few queues
 *
 * What was there before is there again after afxdp_tune_end(), and after the end of the process by whatever cause
 * (lib/restore.h). Two rules keep that true when several processes use one interface:
 *
 *     - one at a time: who finds the interface claimed (lib/claim.h) changes nothing, and says who has it. The claim
 *       lasts until all is restored, so the next run, even right after a SIGKILL, sees the user's own settings.
 *     - a deferral that is set already, by whom ever, is the user's wish and left alone.
 *
 * What somebody else sets meanwhile is left as well: only what is still ours is restored.
 *
 * Main thread.
 */
#ifndef SQUALL_PIO_AFXDP_TUNE_H
#define SQUALL_PIO_AFXDP_TUNE_H

#include "pio.h"

#define AFXDP_NAPI_DEFER_HARD_IRQS 2U
#define AFXDP_GRO_FLUSH_TIMEOUT_NS 200000U

/* What the port does, and what the user wants. */
struct afxdp_tune_ask {
	enum when_helpful napi_defer;
	bool native; /* the driver runs the program */
	bool receives;
	bool sends;
	bool zero_copy;
	unsigned tx_queues;
};

struct afxdp_tune;

/*
 * Sets what helps. *out is NULL when there was nothing to set. What was set, and why not what would have helped or was
 * asked for, becomes a note of caps ("xdp.napi", "xdp.mpwqe"); caps->restarts_link is set when the driver may take the
 * carrier away for it. On failure (EXIT_RUN) everything is as it was. May wait two seconds for the settings of a
 * process that was killed to be restored.
 */
int afxdp_tune_begin(struct afxdp_tune **out, const struct host_link *link, const struct afxdp_tune_ask *ask,
		     struct pio_caps *caps, struct err *e);

/* Restores, waits for it, and frees t, which may be NULL. After the sockets are closed: the link may restart. */
void afxdp_tune_end(struct afxdp_tune *t);

/* Pure: whether NAPI deferral is to be set. */
bool afxdp_wants_napi(const struct host_link *link, const struct afxdp_tune_ask *ask);

/* Pure: what xdp_tx_mpwqe should be. */
enum afxdp_flag { AFXDP_FLAG_AS_IT_IS, AFXDP_FLAG_OFF, AFXDP_FLAG_ON };
enum afxdp_flag afxdp_wants_mpwqe(const struct host_link *link, const struct afxdp_tune_ask *ask);

#endif
