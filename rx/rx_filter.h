/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_filter: from --rx-mode, --filter and the default to one struct filter. Cold; main thread.
 */
#ifndef SQUALL_RX_RX_FILTER_H
#define SQUALL_RX_RX_FILTER_H

#include "lib/config.h"
#include "lib/err.h"
#include "lib/host.h"
#include "lib/pio/filter.h"

/* Where send sends, and recv listens, when nobody says otherwise. */
#define RX_DEFAULT_PORT 9000U

/* What can be judged from the options alone. Adds to *p. */
void rx_filter_check(const struct config *cfg, struct problems *p);

/*
 * cfg has passed rx_filter_check(). host and link may be NULL (no Linux interface); src_ip is the address that the
 * generated flow comes from (generated-flow mode only). Without mode and filter: UDP to RX_DEFAULT_PORT.
 */
int rx_filter_build(const struct config *cfg, const struct host *host, const struct host_link *link,
		    const struct ip *src_ip, struct filter *out, struct err *e);

#endif
