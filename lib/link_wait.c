/* SPDX-License-Identifier: Apache-2.0 */
#include "link_wait.h"

void link_wait_begin(struct link_wait *w, uint64_t now_ns, const struct host_link_state *before, uint64_t steady_ns,
		     uint64_t limit_ns)
{
	*w = (struct link_wait){.begin_ns = now_ns, .steady_ns = steady_ns, .limit_ns = limit_ns, .since_ns = now_ns};
	if (!before)
		return;
	w->there = before->carrier;
	w->changes = before->carrier_changes;
}

enum link_verdict link_wait_look(struct link_wait *w, uint64_t now_ns, const struct host_link_state *link)
{
	bool broke = w->there && link->carrier_changes != w->changes;

	if (!link->up)
		return LINK_DOWN;
	if (!link->carrier || broke)
		w->missed = true;
	if (link->carrier && (!w->there || broke))
		w->since_ns = now_ns;
	w->there = link->carrier;
	w->changes = link->carrier_changes;
	if (w->there && now_ns - w->since_ns >= w->steady_ns)
		return LINK_READY;
	return now_ns - w->begin_ns >= w->limit_ns ? LINK_LATE : LINK_NOT_YET;
}
