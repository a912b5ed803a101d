/* SPDX-License-Identifier: Apache-2.0 */
/* answers: the addresses of --respond. Main thread. */
#ifndef SQUALL_CMD_ANSWERS_H
#define SQUALL_CMD_ANSWERS_H

#include "ends.h"
#include "lib/pio/pio.h"
#include "rx/responder.h"

/* What can be judged from the options alone. Adds to *p. */
void answers_check(const struct config *cfg, struct problems *p);

/* EXIT_USAGE when one of the addresses is this machine's own already, on any interface: its kernel answers for it. */
int answers_check_host(const struct config *cfg, const struct ends *ends, struct err *e);

/*
 * Opens the responder of the interface that receives; *out stays NULL without --respond. cfg has passed both checks.
 */
int answers_open(const struct config *cfg, const struct ends *ends, const struct pio_port *port, struct responder **out,
		 struct err *e);

#endif
