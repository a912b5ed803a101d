/* SPDX-License-Identifier: Apache-2.0 */
#include "tunnel.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_IP4        0x0800U
#define TYPE_IP6        0x86ddU
#define TYPE_BRIDGE     0x6558U /* transparent Ethernet bridging */
#define PORT_VXLAN      4789U
#define PORT_GENEVE     6081U
#define SPORT_FIRST     49152U /* the dynamic ports of RFC 6335 */
#define SPORTS          16384U
#define VNI_MAX         0xffffffUL
#define VXLAN_VNI_VALID 0x08U
#define GRE_KEY         0x2000U

static const char *const names[] = {[TUNNEL_VXLAN] = "vxlan", [TUNNEL_GENEVE] = "geneve", [TUNNEL_GRE] = "gre"};

/* The hosts that the inner Ethernet header names. */
static const struct mac inner_dst = {{2, 0, 0, 0, 0, 2}};
static const struct mac inner_src = {{2, 0, 0, 0, 0, 1}};

static int refuse(struct err *e, const char *text, const char *cause)
{
	err_set(e, -EINVAL, EXIT_USAGE, "cannot put the packets into this tunnel", text, "%s", cause);
	err_hint(e, "vxlan,dst=192.0.2.9,vni=100 or geneve,dst=...,vni=... or gre,dst=...,key=...");
	return -EINVAL;
}

static bool read_number(const char *s, unsigned long max, uint32_t *out)
{
	char *end;
	unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 0) : (end = (char *)(uintptr_t)s, 0UL);

	*out = (uint32_t)v;
	return end != s && !*end && v <= max;
}

/* One option, each at most once. NULL, or what is wrong with it. */
static const char *read_option(const char *item, struct tunnel *t, unsigned *seen)
{
	static const char *const options[] = {"dst=", "src=", "vni=", "key="};
	unsigned i = 0;

	while (i < 4 && strncmp(item, options[i], 4) != 0)
		i++;
	if (i == 4 || (i == 2 && t->kind == TUNNEL_GRE) || (i == 3 && t->kind != TUNNEL_GRE))
		return "its options are dst, src, and vni or (gre) key";
	if (*seen & 1U << i)
		return "an option comes twice";
	*seen |= 1U << i;
	switch (i) {
	case 0:
		return ip_parse(item + 4, &t->dst) ? "dst is an IPv4 or IPv6 address" : NULL;
	case 1:
		return ip_parse(item + 4, &t->src) ? "src is an IPv4 or IPv6 address" : NULL;
	case 2:
		return read_number(item + 4, VNI_MAX, &t->number) ? NULL : "vni is 0 to 16777215";
	default:
		t->has_key = true;
		return read_number(item + 4, UINT32_MAX, &t->number) ? NULL : "key is 0 to 4294967295";
	}
}

int tunnel_parse(const char *text, struct tunnel *out, struct err *e)
{
	char s[CONFIG_STR_MAX];
	char *rest = s;
	unsigned seen = 0;

	memset(out, 0, sizeof(*out));
	if (!text[0])
		return 0;
	snprintf(s, sizeof(s), "%s", text);
	const char *kind = strsep(&rest, ",");

	for (unsigned i = TUNNEL_VXLAN; i <= TUNNEL_GRE; i++)
		if (strcmp(kind, names[i]) == 0)
			out->kind = (enum tunnel_kind)i;
	if (!out->kind)
		return refuse(e, text, "it is vxlan, geneve or gre");
	for (const char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
		const char *wrong = read_option(item, out, &seen);

		if (wrong)
			return refuse(e, text, wrong);
	}
	if (!out->dst.family)
		return refuse(e, text, "dst is missing: the other end of the tunnel");
	if (out->src.family && out->src.family != out->dst.family)
		return refuse(e, text, "src and dst are of different families");
	return 0;
}

static void put_gre(struct frame *f, const struct tunnel *t, bool inner6)
{
	unsigned char gre[8] = {0};

	core_put16(gre, core_be16(t->has_key ? GRE_KEY : 0));
	core_put16(gre + 2, core_be16(inner6 ? TYPE_IP6 : TYPE_IP4));
	core_put32(gre + 4, core_be32(t->number));
	frame_put_protocol(f, IPPROTO_GRE);
	frame_put_bytes(f, gre, t->has_key ? 8 : 4);
}

static void put_vni(struct frame *f, const struct tunnel *t, bool inner6)
{
	unsigned char h[8] = {0};

	if (t->kind == TUNNEL_VXLAN)
		h[0] = VXLAN_VNI_VALID;
	else
		core_put16(h + 2, core_be16(TYPE_BRIDGE));
	core_put32(h + 4, core_be32(t->number << 8));
	frame_put_bytes(f, h, sizeof(h));
	frame_put_ethernet(f, &inner_dst, &inner_src);
	frame_put_type(f, inner6 ? TYPE_IP6 : TYPE_IP4);
}

uint32_t tunnel_put(struct frame *f, const struct tunnel *t, const struct ip *src, uint8_t ttl, uint8_t dscp_ecn,
		    bool inner6, bool checked)
{
	const enum frame_check check = t->dst.family == 6 && checked ? FRAME_CHECK_OUTER : FRAME_CHECK_OFF;
	const struct frame_ip ip = {.src = *src, .dst = t->dst, .ttl = ttl, .dscp_ecn = dscp_ecn};
	uint32_t sport_at = 0;

	frame_put_ip(f, &ip);
	if (t->kind == TUNNEL_GRE) {
		put_gre(f, t, inner6);
		return 0;
	}
	sport_at = f->at;
	frame_put_udp(f, SPORT_FIRST, t->kind == TUNNEL_VXLAN ? PORT_VXLAN : PORT_GENEVE, check);
	put_vni(f, t, inner6);
	return sport_at;
}

void tunnel_vary(struct frame *f, uint32_t sport_at)
{
	const struct tx_walk walk = {.base = SPORT_FIRST, .count = SPORTS, .stride = 1};

	if (sport_at)
		frame_vary(f, sport_at + 2, 16, 0, &walk);
}
