/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "lib/host.h"
#include "lib/pio/pio.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>

static json_t *backend_json(const struct pio_backend *b, const struct host_link *link)
{
	struct err e = {0};
	bool works = b->probe(link, &e) == 0;

	return json_pack("{s:s, s:b, s:s?, s:s?}", "backend", b->name, "works", works, "why_not",
			 works ? NULL : e.cause, "try", works || !e.hint[0] ? NULL : e.hint);
}

static json_t *addresses_json(const struct host *h, const struct host_link *link)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->n_addrs; i++) {
		char ip[IP_STRLEN];

		if (h->addrs[i].link == link->index)
			json_array_append_new(
				list, json_sprintf("%s/%u", ip_format(&h->addrs[i].ip, ip), h->addrs[i].prefix_len));
	}
	return list;
}

/* An empty text, and a number that is not known, are null. */
static json_t *text_or_null(const char *s)
{
	return s[0] ? json_string(s) : json_null();
}

static json_t *number_or_null(int64_t n, bool known)
{
	return known ? json_integer(n) : json_null();
}

/* What is not known is nothing. */
static struct host_xdp xdp_of(const struct host_link *link)
{
	struct host_xdp x;

	if (host_link_xdp(link->index, &x))
		x.known = false;
	return x;
}

static json_t *xdp_json(const struct host_link *link)
{
	struct host_xdp x = xdp_of(link);

	if (!x.known)
		return json_null();
	return json_pack("{s:b, s:b, s:b, s:b, s:b}", "native", x.native, "redirect", x.redirect, "zero_copy",
			 x.zero_copy, "multi_buffer", x.multi_buffer, "transmit", x.ndo_xmit);
}

static json_t *link_json(const struct host *h, const struct host_link *link)
{
	char mac[MAC_STRLEN];
	struct err e = {0};
	json_t *o = json_object();
	json_t *backends = json_array();

	json_object_set_new(o, "name", json_string(link->name));
	json_object_set_new(o, "mac", mac_is_zero(&link->mac) ? json_null() : json_string(mac_format(&link->mac, mac)));
	json_object_set_new(o, "mtu", json_integer(link->mtu));
	json_object_set_new(o, "driver", text_or_null(link->driver));
	json_object_set_new(o, "kind", text_or_null(link->kind));
	json_object_set_new(o, "bus", text_or_null(link->bus));
	json_object_set_new(o, "up", json_boolean(link->up));
	json_object_set_new(o, "carrier", json_boolean(link->carrier));
	json_object_set_new(o, "speed_mbps", number_or_null(link->speed_mbps, link->speed_mbps > 0));
	json_object_set_new(o, "numa_node", number_or_null(link->numa_node, link->numa_node >= 0));
	json_object_set_new(o, "tx_queues", json_integer(link->tx_queues));
	json_object_set_new(o, "rx_queues", json_integer(link->rx_queues));
	json_object_set_new(o, "tx_channels", number_or_null(link->channels_tx, link->channels_tx > 0));
	json_object_set_new(o, "rx_channels", number_or_null(link->channels_rx, link->channels_rx > 0));
	json_object_set_new(o, "xdp", xdp_json(link));
	json_object_set_new(o, "default_route", json_boolean(host_is_default_route(h, link->index)));
	json_object_set_new(o, "addresses", addresses_json(h, link));
	json_object_set_new(o, "usable", json_boolean(host_usable_link(h, link->name, &e) != NULL));
	json_object_set_new(o, "why_not", text_or_null(e.cause));
	json_object_set_new(o, "try", text_or_null(e.hint));
	for (const struct pio_backend *const *b = pio_backends; *b; b++)
		json_array_append_new(backends, backend_json(*b, link));
	json_object_set_new(o, "backends", backends);
	return o;
}

static json_t *as_json(const void *arg)
{
	const struct host *h = arg;
	json_t *list = json_array();

	for (size_t i = 0; i < h->n_links; i++)
		json_array_append_new(list, link_json(h, &h->links[i]));
	return list;
}

static const char *state_text(const struct host_link *link)
{
	return !link->up ? "down" : link->carrier ? "up" : "no carrier";
}

static void xdp_text(const struct host_link *link, FILE *out)
{
	struct host_xdp x = xdp_of(link);
	const struct {
		bool has;
		const char *name;
	} abilities[] = {
		{x.native, "native"},       {x.redirect, "redirect"},
		{x.zero_copy, "zero-copy"}, {x.multi_buffer, "multi-buffer"},
		{x.ndo_xmit, "transmit"},
	};
	const char *separator = " ";

	fputs("    XDP in the driver:", out);
	for (size_t i = 0; x.known && i < sizeof(abilities) / sizeof(abilities[0]); i++) {
		if (!abilities[i].has)
			continue;
		fprintf(out, "%s%s", separator, abilities[i].name);
		separator = ", ";
	}
	if (!x.known)
		fputs(" unknown (Linux tells since 6.3)", out);
	else if (*separator == ' ')
		fputs(" none", out);
	fputs("\n", out);
}

static void backend_text(const struct pio_backend *b, const struct host_link *link, FILE *out)
{
	struct err e = {0};

	if (b->probe(link, &e) == 0)
		fprintf(out, "    %-9s works: %s\n", b->name, b->summary);
	else
		fprintf(out, "    %-9s no: %s%s%s\n", b->name, e.cause, e.hint[0] ? "; try: " : "", e.hint);
}

static void link_text(const struct host *h, const struct host_link *link, FILE *out)
{
	char text[IP_STRLEN];
	struct err e = {0};

	fprintf(out, "%s  %s  MTU %u  %s", link->name, state_text(link), link->mtu, mac_format(&link->mac, text));
	if (link->driver[0])
		fprintf(out, "  %s", link->driver);
	if (link->bus[0])
		fprintf(out, " %s", link->bus);
	if (link->speed_mbps > 0)
		fprintf(out, "  %d Mbit/s", link->speed_mbps);
	if (link->numa_node >= 0)
		fprintf(out, "  NUMA node %d", link->numa_node);
	fprintf(out, "  queues %u tx %u rx%s\n", link->tx_queues, link->rx_queues,
		host_is_default_route(h, link->index) ? "  default route" : "");
	for (size_t i = 0; i < h->n_addrs; i++)
		if (h->addrs[i].link == link->index)
			fprintf(out, "    %s/%u\n", ip_format(&h->addrs[i].ip, text), h->addrs[i].prefix_len);
	if (!host_usable_link(h, link->name, &e)) {
		fprintf(out, "    not for sending or receiving: %s%s%s\n", e.cause, e.hint[0] ? "; try: " : "", e.hint);
		return;
	}
	xdp_text(link, out);
	for (const struct pio_backend *const *b = pio_backends; *b; b++)
		backend_text(*b, link, out);
}

static void as_text(const void *arg, FILE *out)
{
	const struct host *h = arg;

	for (size_t i = 0; i < h->n_links; i++)
		link_text(h, &h->links[i], out);
}

void devices_main(struct report *report, struct err *e)
{
	struct host host = {0};
	struct report_document doc = {.key = "devices", .json = as_json, .text = as_text, .arg = &host};

	host_load(&host, e);
	report_document(report, &doc, e, NULL);
	host_free(&host);
}
