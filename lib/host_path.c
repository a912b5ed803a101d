/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#define WHAT "cannot choose the path"

/* What every refusal names. */
struct refusal {
	char object[96];
	const char *link;
	bool tagged;
	struct err *e;
};

/* The flags that send through the link of a route: "-i eth0 --vlan 5" for a VLAN sub-interface. Empty: there are none.
 */
static void way_out(const struct host *h, int index, bool tagged, char *buf, size_t size)
{
	const struct host_link *l = host_link_by_index(h, index);
	const struct host_link *parent = l ? host_link_by_index(h, l->parent) : NULL;

	buf[0] = '\0';
	if (!l || !l->ethernet)
		return;
	if (strcmp(l->kind, "vlan") != 0)
		snprintf(buf, size, "-i %s%s, or ", l->name, tagged ? " --vlan 0" : "");
	else if (parent && l->vlan_proto == 0x8100)
		snprintf(buf, size, "-i %s --vlan %u, or ", parent->name, l->vlan_id);
}

static int refuse_other_link(const struct host *h, const struct host_route *r, struct refusal *no)
{
	char route[PREFIX_STRLEN];
	char out[IF_NAMESIZE + 32];

	prefix_format(&r->dst, route);
	way_out(h, r->link, no->tagged, out, sizeof(out));
	err_set(no->e, -ENETUNREACH, EXIT_USAGE, WHAT, no->object, "the route %s leaves through %s", route,
		host_link_name(h, r->link));
	err_hint(no->e, "%s--dst-mac MAC to send through %s all the same", out, no->link);
	return -ENETUNREACH;
}

static int refuse_type(const struct host_route *r, struct refusal *no)
{
	char route[PREFIX_STRLEN];

	prefix_format(&r->dst, route);
	switch (r->type) {
	case RTN_LOCAL:
	case RTN_ANYCAST:
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object, "%s belongs to this host", route);
		err_hint(no->e, "an address of the other end, or --dst-mac MAC to send it out all the same");
		return -EINVAL;
	case RTN_BROADCAST:
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object, "%s is a broadcast address", route);
		err_hint(no->e, "a single address, or --dst-mac MAC");
		return -EINVAL;
	default:
		err_set(no->e, -ENETUNREACH, EXIT_RUN, WHAT, no->object,
			"there is no route: %s is set to be refused (blackhole, unreachable or prohibit)", route);
		err_hint(no->e, "another -i, or --dst-mac MAC to send through %s all the same", no->link);
		return -ENETUNREACH;
	}
}

static int refuse_split(const struct host *h, const struct host_route *r, const struct host_route *in,
			struct refusal *no)
{
	char outer[PREFIX_STRLEN];
	char inner[PREFIX_STRLEN];

	prefix_format(&r->dst, outer);
	prefix_format(&in->dst, inner);
	if (in->type == RTN_LOCAL || in->type == RTN_ANYCAST)
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object, "it contains this host's own address %s", inner);
	else
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object,
			"it has more than one next hop: the route %s (%s) is inside it beside %s (%s)", inner,
			host_link_name(h, in->link), outer, host_link_name(h, r->link));
	err_hint(no->e, "a smaller prefix, or --dst-mac MAC");
	return -EINVAL;
}

static int refuse_several_gateways(const struct host_route *r, const struct host_route *other, struct refusal *no)
{
	char route[PREFIX_STRLEN];
	char a[IP_STRLEN];
	char b[IP_STRLEN];

	prefix_format(&r->dst, route);
	err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object, "the route %s has several next hops on %s: %s and %s",
		route, no->link, r->gateway.family ? ip_format(&r->gateway, a) : "connected",
		other->gateway.family ? ip_format(&other->gateway, b) : "connected");
	err_hint(no->e, "--dst-mac MAC of the one that is meant, or another -i");
	return -EINVAL;
}

static int l3_link(const struct host *h, const struct host_target *t)
{
	for (size_t i = 0; t->vlan && i < h->n_links; i++) {
		const struct host_link *l = &h->links[i];

		if (strcmp(l->kind, "vlan") == 0 && l->parent == t->link->index && l->vlan_id == t->vlan &&
		    l->vlan_proto == 0x8100)
			return l->index;
	}
	return t->link->index;
}

/* Fills out->next_hop and *route for a unicast destination, or refuses. */
static int find_next_hop(const struct host *h, const struct host_target *t, struct host_path *out,
			 const struct host_route **route, struct refusal *no)
{
	const struct host_route *r = host_best_route(h, out->l3_link, &t->dst);
	const struct host_route *other;
	char ip[IP_STRLEN];

	if (!r) {
		err_set(no->e, -ENETUNREACH, EXIT_RUN, WHAT, no->object, "there is no route");
		err_hint(no->e, "`ip route add` one, another -i, or --dst-mac MAC to send through %s all the same",
			 no->link);
		return -ENETUNREACH;
	}
	if (r->type != RTN_UNICAST)
		return refuse_type(r, no);
	if (r->link != out->l3_link)
		return refuse_other_link(h, r, no);
	if (!r->gateway.family && t->dst.len < ip_bits(&t->dst.ip)) {
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object,
			"it is connected to %s, and each of its addresses has a MAC of its own", no->link);
		err_hint(no->e, "one address, or --dst-mac MAC for all of them");
		return -EINVAL;
	}
	other = host_splitting_route(h, out->l3_link, &t->dst, r);
	if (other)
		return refuse_split(h, r, other, no);
	other = host_rival_route(h, r);
	if (other)
		return refuse_several_gateways(r, other, no);
	out->next_hop = r->gateway.family ? r->gateway : t->dst.ip;
	ip_format(&out->next_hop, ip);
	if (r->gateway.family)
		snprintf(out->how, sizeof(out->how), "gateway %s", ip);
	else
		snprintf(out->how, sizeof(out->how), "%s is connected", ip);
	if (t->vlan && out->l3_link == t->link->index) {
		size_t n = strlen(out->how);

		snprintf(out->how + n, sizeof(out->how) - n, ", asked untagged (no VLAN %u link)", t->vlan);
	}
	*route = r;
	return 0;
}

/* A destination that no neighbour is asked for. 1: it is one, and out is filled. */
static int map_multicast(const struct host_target *t, struct host_path *out, struct refusal *no)
{
	static const struct prefix all[] = {{{4, {224}}, 4}, {{6, {0xff}}, 8}};
	const struct prefix *groups = &all[t->dst.ip.family == 6];

	if (t->dst.len == ip_bits(&t->dst.ip)) {
		if (!ip_is_multicast(&t->dst.ip))
			return 0;
		out->dst_mac = ip_multicast_mac(&t->dst.ip);
		out->have_mac = true;
		snprintf(out->how, sizeof(out->how), "multicast mapping");
		return 1;
	}
	if (!host_covers(groups, &t->dst) && !host_covers(&t->dst, groups))
		return 0;
	err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object,
		"it holds several multicast groups, each with a MAC of its own");
	err_hint(no->e, "one group, or --dst-mac MAC for all of them");
	return -EINVAL;
}

static int refuse_unusual(const struct host *h, const struct host_target *t, struct refusal *no)
{
	static const struct ip broadcast = {4, {255, 255, 255, 255}};
	bool own = ip_is_loopback(&t->dst.ip);

	if (t->dst.len < ip_bits(&t->dst.ip))
		return 0;
	for (size_t i = 0; i < h->n_addrs; i++)
		own |= ip_equal(&h->addrs[i].ip, &t->dst.ip);
	if (own)
		return refuse_type(&(struct host_route){.dst = t->dst, .type = RTN_LOCAL}, no);
	if (ip_equal(&t->dst.ip, &broadcast))
		return refuse_type(&(struct host_route){.dst = t->dst, .type = RTN_BROADCAST}, no);
	if (ip_is_unspecified(&t->dst.ip)) {
		err_set(no->e, -EINVAL, EXIT_USAGE, WHAT, no->object, "the unspecified address is nobody's");
		err_hint(no->e, "an address of the other end, or --dst-mac MAC");
		return -EINVAL;
	}
	return 0;
}

static int choose_source(const struct host *h, const struct host_target *t, const struct host_route *r,
			 struct host_path *out, struct refusal *no)
{
	const struct host_addr *a;

	if (t->src.family) {
		out->src = t->src;
		return 0;
	}
	if (r && r->prefsrc.family) {
		out->src = r->prefsrc;
		return 0;
	}
	a = host_source(h, out->l3_link, &t->dst.ip, r);
	if (a) {
		out->src = a->ip;
		return 0;
	}
	err_set(no->e, -EADDRNOTAVAIL, EXIT_USAGE, WHAT, no->object, "%s has no usable IPv%u source address",
		host_link_name(h, out->l3_link), t->dst.ip.family);
	err_hint(no->e, "--src-ip ADDRESS, or `ip address add` one");
	return -EADDRNOTAVAIL;
}

static void take_neighbour(const struct host *h, struct host_path *out)
{
	for (size_t i = 0; i < h->n_neighs; i++) {
		const struct host_neigh *n = &h->neighs[i];

		if (n->link != out->l3_link || !ip_equal(&n->ip, &out->next_hop))
			continue;
		out->neigh_state = n->state;
		if (!(n->state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)) || !n->has_mac || mac_is_zero(&n->mac))
			continue;
		out->dst_mac = n->mac;
		out->have_mac = true;
	}
}

int host_route_to(const struct host *h, const struct host_target *t, struct host_path *out, struct err *e)
{
	struct refusal no = {.link = t->link->name, .tagged = t->vlan != 0, .e = e};
	const struct host_route *route = NULL;
	char dst[PREFIX_STRLEN];
	int rc;

	*out = (struct host_path){.l3_link = l3_link(h, t)};
	snprintf(no.object, sizeof(no.object), "%s from %s", prefix_format(&t->dst, dst), no.link);
	if (t->src.family && t->src.family != t->dst.ip.family)
		return err_set(e, -EINVAL, EXIT_USAGE, WHAT, no.object,
			       "the source address is IPv%u, the destination IPv%u", t->src.family, t->dst.ip.family);
	if (t->have_dst_mac) {
		snprintf(out->how, sizeof(out->how), "--dst-mac");
		route = host_best_route(h, out->l3_link, &t->dst);
		if (route && (route->type != RTN_UNICAST || route->link != out->l3_link))
			route = NULL;
		return choose_source(h, t, route, out, &no);
	}
	rc = map_multicast(t, out, &no);
	if (rc == 0) {
		rc = refuse_unusual(h, t, &no);
		if (!rc)
			rc = find_next_hop(h, t, out, &route, &no);
	}
	if (rc < 0)
		return rc;
	if (out->next_hop.family)
		take_neighbour(h, out);
	return choose_source(h, t, route, out, &no);
}
