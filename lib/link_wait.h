/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_wait: until a link has a carrier, and has had it for a while. Pure: the caller looks at the link and at the
 * clock, and sleeps between two looks. One thread.
 */
#ifndef SQUALL_LINK_WAIT_H
#define SQUALL_LINK_WAIT_H

#include "host.h"

#include <stdbool.h>
#include <stdint.h>

/* How long a run goes without a carrier, before it and on the way. */
#define LINK_WAIT_NS 5000000000ULL

enum link_verdict {
	LINK_READY,
	LINK_NOT_YET, /* look again */
	LINK_DOWN,    /* set down by somebody: no waiting brings it up */
	LINK_LATE,    /* the limit is over */
};

struct link_wait {
	uint64_t begin_ns;
	uint64_t steady_ns;
	uint64_t limit_ns;
	uint64_t since_ns; /* the look since which the carrier has been there; means nothing while it is not */
	uint32_t changes;
	bool there;
	bool missed; /* for the caller: the carrier was away at a look, or between two */
};

/*
 * before: an earlier look, with which the first one is compared; NULL: there was none. steady_ns: how long the carrier
 * has to be there without a break from now on, 0: one look is enough. limit_ns: from now on, after which a link that is
 * not ready is late.
 */
void link_wait_begin(struct link_wait *w, uint64_t now_ns, const struct host_link_state *before, uint64_t steady_ns,
		     uint64_t limit_ns);

/* One look. now_ns never goes back. */
enum link_verdict link_wait_look(struct link_wait *w, uint64_t now_ns, const struct host_link_state *link);

#endif
