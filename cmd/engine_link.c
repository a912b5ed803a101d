/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_link.h"

#include "engine.h"
#include "lib/clock.h"
#include "lib/link_wait.h"

#include <errno.h>
#include <string.h>

#define LINK_CHECK_NS (100 * NS_PER_MS)

static int (*const read_counters[])(int index, struct host_drops *out) = {
	[ENGINE_DROPS] = host_link_drops, [ENGINE_PAUSES] = host_link_pauses};

void engine_link_begin(struct engine_link *l)
{
	for (unsigned i = 0; i < ENGINE_COUNTERS && l->port && l->port->ifindex; i++)
		l->counters[i].known = read_counters[i](l->port->ifindex, &l->counters[i].at_start) == 0;
}

void engine_link_free(struct engine_link *l)
{
	for (unsigned i = 0; i < ENGINE_COUNTERS; i++)
		host_drops_free(&l->counters[i].at_start);
}

static void fail_vanished(struct engine *en, const struct engine_link *l)
{
	struct err e = {0};

	err_set(&e, -ENODEV, EXIT_RUN, "the run ended early", l->port->name, "the interface has vanished");
	err_hint(&e, "squall devices shows what is there now");
	engine_fail(en, &e);
}

static void fail_down(struct engine *en, const struct engine_link *l)
{
	struct err e = {0};

	err_set(&e, -ENETDOWN, EXIT_LINK, "the run ended early", l->port->name, "the link has been down for 5 s");
	err_hint(&e, "the cable and the other end; the report counts what left before");
	engine_fail(en, &e);
}

void engine_link_check(struct engine *en, struct engine_link *l, uint64_t now_ns)
{
	struct host_link_state link;
	int rc;

	if (!l->port || !l->port->ifindex || now_ns - l->checked_ns < LINK_CHECK_NS)
		return;
	l->checked_ns = now_ns;
	rc = host_link_state(l->port->ifindex, &link);
	if (rc == -ENODEV)
		fail_vanished(en, l);
	if (rc) /* the look failed, not the link */
		return;
	if (link.up && link.carrier) {
		if (l->down_ns)
			engine_warn(en, "%s: the link is back after %.1f s", l->port->name,
				    (double)(now_ns - l->down_ns) / 1e9);
		l->down_ns = 0;
		return;
	}
	if (!l->down_ns) {
		l->down_ns = now_ns;
		l->went = true;
		engine_warn(en, "%s: %s %.1f s after the start", l->port->name,
			    link.up ? "the link lost its carrier" : "the interface was set down",
			    (double)(now_ns - en->start_ns) / 1e9);
	}
	if (en->n_tx && now_ns - l->down_ns >= LINK_WAIT_NS)
		fail_down(en, l);
}

/* Adds what grew of one device's counters. False when it does not tell, or is gone. */
static bool add_growth(const struct engine_link *l, enum engine_counters which, bool named, struct host_drops *sum)
{
	struct host_drops now = {0}, grew = {0};
	bool known = l->counters[which].known && read_counters[which](l->port->ifindex, &now) == 0 &&
		     host_drops_sub(&grew, &now, &l->counters[which].at_start) == 0 &&
		     host_drops_add(sum, &grew, named ? l->link->name : NULL) == 0;

	host_drops_free(&now);
	host_drops_free(&grew);
	return known;
}

bool engine_link_grew(const struct engine *en, enum engine_counters which, struct host_drops *grew)
{
	bool two = en->link[1].port, known = false;

	memset(grew, 0, sizeof(*grew));
	for (unsigned i = 0; i < 2; i++)
		known |= add_growth(&en->link[i], which, two, grew);
	return known;
}
