/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* A VLAN on a VLAN on a VLAN is as deep as anyone stacks; the bound only ends a loop in a broken snapshot. */
#define VLAN_DEPTH 8

const struct host_link *host_usable_link(const struct host *h, const char *name, struct err *e)
{
	const char *what = "cannot use the interface";
	const struct host_link *l = host_link_by_name(h, name);

	if (!l) {
		err_set(e, -ENODEV, EXIT_USAGE, what, name, "there is no such interface in this network namespace");
		err_hint(e, "`squall devices` lists them");
		return NULL;
	}
	if (l->loopback) {
		err_set(e, -EINVAL, EXIT_USAGE, what, name, "it is the loopback interface");
		err_hint(e, "an Ethernet interface, or -i loop: for a run without a network");
		return NULL;
	}
	if (strcmp(l->kind, "vlan") == 0) {
		const struct host_link *parent = host_link_by_index(h, l->parent);

		err_set(e, -EINVAL, EXIT_USAGE, what, name,
			"it is a VLAN sub-interface; frames leave through its parent");
		if (!parent)
			err_hint(e, "its parent, which is in another network namespace");
		else if (l->vlan_proto == 0x8100)
			err_hint(e, "-i %s --vlan %u", parent->name, l->vlan_id);
		else
			err_hint(e, "-i %s", parent->name);
		return NULL;
	}
	if (!l->ethernet) {
		err_set(e, -EINVAL, EXIT_USAGE, what, name, "it is no Ethernet interface");
		err_hint(e, "an interface with a 6-byte MAC address; `squall devices` lists them");
		return NULL;
	}
	return l;
}

/* True for the link and for whatever VLAN sits on it. */
static bool rests_on(const struct host *h, int index, int link)
{
	for (int i = 0; index && i < VLAN_DEPTH; i++) {
		const struct host_link *l = host_link_by_index(h, index);

		if (index == link)
			return true;
		index = l && strcmp(l->kind, "vlan") == 0 ? l->parent : 0;
	}
	return false;
}

bool host_is_default_route(const struct host *h, int link)
{
	for (size_t i = 0; i < h->n_routes; i++) {
		const struct host_route *r = &h->routes[i];

		if (r->type == RTN_UNICAST && r->dst.len == 0 && rests_on(h, r->link, link))
			return true;
	}
	return false;
}

/* The order in which the kernel's default rules look into the tables; 3: they do not. */
static unsigned table_order(uint32_t table)
{
	return table == RT_TABLE_LOCAL ? 0 : table == RT_TABLE_MAIN ? 1 : table == RT_TABLE_DEFAULT ? 2 : 3;
}

/* Only what forwards can leave through the wrong link; the host's own addresses and refusals hold for all links. */
static bool fits_link(const struct host_route *r, int link)
{
	return r->type != RTN_UNICAST || r->link == link;
}

bool host_covers(const struct prefix *outer, const struct prefix *inner)
{
	return outer->len <= inner->len && prefix_contains(outer, &inner->ip);
}

/*
 * A more specific route through another link wins: sending past it would surprise. Between equal prefixes the link
 * decides before the metric does, as for a socket bound to it.
 */
static bool better(const struct host_route *a, const struct host_route *b, int link)
{
	if (table_order(a->table) != table_order(b->table))
		return table_order(a->table) < table_order(b->table);
	if (a->dst.len != b->dst.len)
		return a->dst.len > b->dst.len;
	if (fits_link(a, link) != fits_link(b, link))
		return fits_link(a, link);
	return a->metric < b->metric;
}

const struct host_route *host_best_route(const struct host *h, int link, const struct prefix *dst)
{
	const struct host_route *best = NULL;

	for (size_t i = 0; i < h->n_routes; i++) {
		const struct host_route *r = &h->routes[i];

		if (table_order(r->table) < 3 && host_covers(&r->dst, dst) && (!best || better(r, best, link)))
			best = r;
	}
	return best;
}

static bool same_hop(const struct host_route *a, const struct host_route *b)
{
	return a->type == b->type && a->link == b->link && a->gateway.family == b->gateway.family &&
	       (!a->gateway.family || ip_equal(&a->gateway, &b->gateway));
}

const struct host_route *host_splitting_route(const struct host *h, int link, const struct prefix *dst,
					      const struct host_route *r)
{
	for (size_t i = 0; i < h->n_routes; i++) {
		const struct host_route *in = &h->routes[i];

		if (table_order(in->table) < 3 && in->dst.len > dst->len && host_covers(dst, &in->dst) &&
		    !same_hop(in, r) && !better(host_best_route(h, link, &in->dst), in, link))
			return in;
	}
	return NULL;
}

const struct host_route *host_rival_route(const struct host *h, const struct host_route *r)
{
	for (size_t i = 0; i < h->n_routes; i++) {
		const struct host_route *o = &h->routes[i];

		if (o->link == r->link && o->table == r->table && o->type == r->type && o->metric == r->metric &&
		    o->dst.len == r->dst.len && host_covers(&o->dst, &r->dst) && !same_hop(o, r))
			return o;
	}
	return NULL;
}
