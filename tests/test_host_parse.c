/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host_messages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct messages recorded;

static int setup(void **state)
{
	(void)state;
	messages_recorded(&recorded);
	return recorded.len == 0;
}

static struct host parse_recorded(void)
{
	struct host h = {0};

	assert_int_equal(host_parse(&h, recorded.bytes, recorded.len), 0);
	return h;
}

static void check_mac(const struct mac *m, uint8_t fifth, uint8_t sixth)
{
	struct mac want = {{0x02, 0, 0, 0, fifth, sixth}};

	assert_true(mac_equal(m, &want));
}

static void links(void **state)
{
	struct host h = parse_recorded();
	const struct host_link *l;

	(void)state;
	assert_int_equal(h.n_links, 7);
	l = host_link_by_name(&h, "lo");
	assert_non_null(l);
	assert_true(l->loopback && l->up && l->carrier && !l->ethernet);
	assert_int_equal(l->mtu, 65536);
	l = host_link_by_name(&h, "va");
	assert_non_null(l);
	assert_ptr_equal(l, host_link_by_index(&h, 10));
	check_mac(&l->mac, 0, 0x0a);
	assert_string_equal(l->kind, "veth");
	assert_true(l->ethernet && l->up && l->carrier && !l->loopback);
	assert_int_equal(l->mtu, 1400);
	assert_int_equal(l->tx_queues, 3);
	assert_int_equal(l->rx_queues, 2);
	assert_int_equal(l->speed_mbps, -1);
	assert_int_equal(l->numa_node, -1);
	assert_int_equal(l->vlan_id, 0);
	/* Its peer is in another namespace, that of vb is here. */
	assert_int_equal(l->parent, 0);
	assert_int_equal(host_link_by_name(&h, "vb")->parent, 12);
	l = host_link_by_name(&h, "if0");
	assert_string_equal(l->kind, "ifb");
	assert_true(l->up && l->carrier);
	l = host_link_by_name(&h, "down0");
	assert_true(!l->up && !l->carrier);
	l = host_link_by_name(&h, "down1");
	assert_true(l->up && !l->carrier);
	assert_null(host_link_by_name(&h, "v"));
	assert_null(host_link_by_index(&h, 0));
	host_free(&h);
	assert_int_equal(h.n_links, 0);
}

static void vlan_links(void **state)
{
	static struct messages m;
	struct host h = {0};

	(void)state;
	messages_add_vlan(&m, 20, "va.100", 10, 100, 0x8100);
	messages_add_vlan(&m, 21, "va.q", 10, 4094, 0x88a8);
	assert_int_equal(host_parse(&h, m.bytes, m.len), 0);
	assert_int_equal(h.n_links, 2);
	assert_string_equal(h.links[0].kind, "vlan");
	assert_int_equal(h.links[0].vlan_id, 100);
	assert_int_equal(h.links[0].vlan_proto, 0x8100);
	assert_int_equal(h.links[0].parent, 10);
	assert_int_equal(h.links[0].mtu, 1496);
	assert_true(h.links[0].ethernet && h.links[0].up && h.links[0].carrier);
	assert_int_equal(h.links[1].vlan_id, 4094);
	assert_int_equal(h.links[1].vlan_proto, 0x88a8);
	host_free(&h);
}

static const struct host_addr *find_addr(const struct host *h, const char *text)
{
	struct ip ip;

	assert_int_equal(ip_parse(text, &ip), 0);
	for (size_t i = 0; i < h->n_addrs; i++)
		if (ip_equal(&h->addrs[i].ip, &ip))
			return &h->addrs[i];
	fail_msg("no address %s", text);
	return NULL;
}

static void addresses(void **state)
{
	struct host h = parse_recorded();
	const struct host_addr *a;

	(void)state;
	a = find_addr(&h, "10.0.0.1");
	assert_int_equal(a->link, 10);
	assert_int_equal(a->prefix_len, 24);
	assert_int_equal(a->scope, RT_SCOPE_UNIVERSE);
	assert_true(!a->tentative && !a->deprecated);
	assert_int_equal(find_addr(&h, "10.1.0.1")->link, 11);
	assert_int_equal(find_addr(&h, "169.254.7.7")->scope, RT_SCOPE_LINK);
	assert_int_equal(find_addr(&h, "127.0.0.1")->scope, RT_SCOPE_HOST);
	/* With a peer, ours is the local one. */
	assert_int_equal(find_addr(&h, "10.9.0.1")->prefix_len, 32);
	assert_int_equal(find_addr(&h, "fe80::a")->scope, RT_SCOPE_LINK);
	assert_true(find_addr(&h, "2001:db8:1::7")->tentative);
	assert_true(find_addr(&h, "2001:db8:1::dead")->deprecated);
	assert_false(find_addr(&h, "2001:db8:1::1")->tentative);
	for (size_t i = 0; i < h.n_addrs; i++) {
		char buf[IP_STRLEN];

		assert_string_not_equal(ip_format(&h.addrs[i].ip, buf), "10.9.0.2");
	}
	host_free(&h);
}

/* The n-th route to dst in the main table. */
static const struct host_route *find_route(const struct host *h, const char *text, unsigned n)
{
	struct prefix p;

	assert_int_equal(prefix_parse(text, &p), 0);
	for (size_t i = 0; i < h->n_routes; i++) {
		const struct host_route *r = &h->routes[i];

		if (r->dst.len == p.len && ip_equal(&r->dst.ip, &p.ip) && r->table == RT_TABLE_MAIN && n-- == 0)
			return r;
	}
	return NULL;
}

static void check_gateway(const struct host_route *r, int link, const char *gateway)
{
	char buf[IP_STRLEN];

	assert_non_null(r);
	assert_int_equal(r->link, link);
	assert_string_equal(ip_format(&r->gateway, buf), gateway);
}

static void routes(void **state)
{
	struct host h = parse_recorded();
	const struct host_route *r;
	char buf[IP_STRLEN];
	unsigned local = 0;

	(void)state;
	r = find_route(&h, "10.0.0.0/24", 0);
	check_gateway(r, 10, "-");
	assert_string_equal(ip_format(&r->prefsrc, buf), "10.0.0.1");
	assert_int_equal(r->type, RTN_UNICAST);
	assert_int_equal(r->metric, 0);
	r = find_route(&h, "0.0.0.0/0", 0);
	check_gateway(r, 11, "10.1.0.254");
	assert_int_equal(r->metric, 50);
	r = find_route(&h, "0.0.0.0/0", 1);
	check_gateway(r, 10, "10.0.0.254");
	assert_int_equal(r->metric, 100);
	check_gateway(find_route(&h, "100.64.0.0/24", 0), 10, "fe80::1");
	r = find_route(&h, "100.64.3.0/24", 0);
	check_gateway(r, 10, "100.64.9.9");
	assert_true(r->onlink && !r->multipath);
	assert_false(find_route(&h, "100.64.1.0/24", 0)->onlink);
	assert_string_equal(ip_format(&find_route(&h, "100.64.2.0/24", 0)->prefsrc, buf), "10.2.0.1");
	r = find_route(&h, "198.51.100.0/24", 0);
	check_gateway(r, 10, "10.0.0.5");
	assert_true(r->multipath);
	r = find_route(&h, "198.51.100.0/24", 1);
	check_gateway(r, 10, "10.0.0.6");
	assert_true(r->multipath);
	assert_null(find_route(&h, "198.51.100.0/24", 2));
	check_gateway(find_route(&h, "203.0.113.0/24", 1), 11, "10.1.0.5");
	assert_int_equal(find_route(&h, "203.0.114.0/24", 0)->type, RTN_BLACKHOLE);
	check_gateway(find_route(&h, "::/0", 0), 10, "fe80::fe");
	check_gateway(find_route(&h, "2001:db8:6::/48", 0), 10, "fe80::5");
	check_gateway(find_route(&h, "2001:db8:6::/48", 1), 10, "fe80::6");
	assert_int_equal(find_route(&h, "2001:db8:8::/48", 0)->type, RTN_UNREACHABLE);
	/* For other types of service only; in a table of its own. */
	assert_null(find_route(&h, "100.64.4.0/24", 0));
	assert_null(find_route(&h, "100.64.5.0/24", 0));
	for (size_t i = 0; i < h.n_routes; i++) {
		local += h.routes[i].type == RTN_LOCAL && h.routes[i].table == RT_TABLE_LOCAL;
		if (h.routes[i].table == 100)
			check_gateway(&h.routes[i], 10, "10.0.0.77");
	}
	assert_true(local >= 8);
	host_free(&h);
}

static const struct host_neigh *find_neigh(const struct host *h, const char *text)
{
	struct ip ip;

	assert_int_equal(ip_parse(text, &ip), 0);
	for (size_t i = 0; i < h->n_neighs; i++)
		if (ip_equal(&h->neighs[i].ip, &ip))
			return &h->neighs[i];
	return NULL;
}

static void neighbours(void **state)
{
	static const struct {
		const char *ip;
		uint16_t nud;
		uint8_t mac;
	} want[] = {
		{"10.0.0.2", NUD_PERMANENT, 0x02}, {"10.0.0.4", NUD_STALE, 0x04},    {"10.0.0.5", NUD_NOARP, 0x05},
		{"10.0.0.8", NUD_REACHABLE, 0x08}, {"fe80::5", NUD_REACHABLE, 0x55}, {"10.0.0.9", NUD_FAILED, 0},
		{"10.0.0.11", NUD_INCOMPLETE, 0},
	};
	struct host h = parse_recorded();

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct host_neigh *n = find_neigh(&h, want[i].ip);

		assert_non_null(n);
		assert_int_equal(n->link, 10);
		assert_int_equal(n->state, want[i].nud);
		assert_int_equal(n->has_mac, want[i].mac != 0);
		if (n->has_mac)
			check_mac(&n->mac, 0x01, want[i].mac);
	}
	assert_null(find_neigh(&h, "10.0.0.200"));
	host_free(&h);
}

static void parse_exact(const void *bytes, size_t len, uint32_t nlmsg_len)
{
	struct host h = {0};
	char *exact = malloc(len ? len : 1);
	int rc;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	if (nlmsg_len)
		memcpy(exact, &nlmsg_len, sizeof(nlmsg_len));
	rc = host_parse(&h, exact, len);
	assert_true(rc == 0 || rc == -EBADMSG);
	/* A message that says how long it is cannot be cut unnoticed. */
	if (!nlmsg_len && len)
		assert_int_equal(rc, -EBADMSG);
	host_free(&h);
	free(exact);
}

static void each_message(void (*check)(const struct nlmsghdr *nlh))
{
	static struct messages vlan;

	for (size_t at = 0; at < recorded.len;) {
		const struct nlmsghdr *nlh = (const void *)(recorded.bytes + at);

		check(nlh);
		at += (nlh->nlmsg_len + 3U) & ~3U;
	}
	vlan.len = 0;
	messages_add_vlan(&vlan, 20, "va.100", 10, 100, 0x8100);
	check((const void *)vlan.bytes);
}

static void cut(const struct nlmsghdr *nlh)
{
	for (uint32_t n = 0; n < nlh->nlmsg_len; n++) {
		parse_exact(nlh, n, 0);
		if (n >= sizeof(*nlh))
			parse_exact(nlh, n, n);
	}
}

static void truncated(void **state)
{
	(void)state;
	each_message(cut);
}

static void garble(const struct nlmsghdr *nlh)
{
	static const uint8_t with[] = {0x00, 0x01, 0x03, 0x05, 0x7f, 0xff};
	struct host h = {0};
	uint8_t *exact = malloc(nlh->nlmsg_len);

	assert_non_null(exact);
	for (uint32_t i = 0; i < nlh->nlmsg_len; i++) {
		for (size_t k = 0; k < sizeof(with); k++) {
			memcpy(exact, nlh, nlh->nlmsg_len);
			exact[i] = with[k];
			int rc = host_parse(&h, exact, nlh->nlmsg_len);

			assert_true(rc == 0 || rc == -EBADMSG);
			host_free(&h);
		}
	}
	free(exact);
}

static void garbage(void **state)
{
	uint32_t x = 0x9e3779b9;
	struct host h = {0};

	(void)state;
	each_message(garble);
	for (unsigned round = 0; round < 2000; round++) {
		static const uint16_t types[] = {RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEIGH};
		size_t len = sizeof(struct nlmsghdr) + round % 256;
		uint8_t *bytes = malloc(len);
		struct nlmsghdr nlh = {.nlmsg_len = (uint32_t)len, .nlmsg_type = types[round % 4]};

		assert_non_null(bytes);
		for (size_t i = 0; i < len; i++) {
			x = x * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(x >> 24);
		}
		memcpy(bytes, &nlh, sizeof(nlh));
		int rc = host_parse(&h, bytes, len);

		assert_true(rc == 0 || rc == -EBADMSG);
		host_free(&h);
		free(bytes);
	}
}

static void other_messages_are_passed_over(void **state)
{
	static struct messages m;
	struct host h = {0};

	(void)state;
	messages_begin(&m, RTM_DELLINK, 0);
	messages_end(&m);
	messages_begin(&m, NLMSG_DONE, sizeof(int));
	messages_end(&m);
	messages_add_addr(&m, 3, "192.0.2.7", 24, RT_SCOPE_UNIVERSE, 0);
	assert_int_equal(host_parse(&h, m.bytes, m.len), 0);
	assert_int_equal(h.n_links, 0);
	assert_int_equal(h.n_addrs, 1);
	host_free(&h);
	assert_int_equal(host_parse(&h, NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),      cmocka_unit_test(vlan_links),
		cmocka_unit_test(addresses),  cmocka_unit_test(routes),
		cmocka_unit_test(neighbours), cmocka_unit_test(truncated),
		cmocka_unit_test(garbage),    cmocka_unit_test(other_messages_are_passed_over),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
