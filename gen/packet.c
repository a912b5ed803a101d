/* SPDX-License-Identifier: Apache-2.0 */
#include "packet.h"

#include "lib/ether.h"
#include "lib/option.h"
#include "tunnel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_VLAN   0x8100U
#define TYPE_IP4    0x0800U
#define TYPE_IP6    0x86ddU
#define TYPE_MPLS   0x8847U
#define TCP_SYN     2U
#define LABELS_MAX  8U
#define LABEL_MAX   0xfffffU
#define LABEL_NEVER 3U /* implicit null: told to neighbours, but never in a packet (RFC 3032 section 2.1) */

struct label {
	uint32_t label;
	uint8_t traffic_class;
	uint8_t ttl;
};

/* ---- MPLS: LABEL[:CLASS[:TTL]],... ---- */

static bool read_number(const char **s, unsigned long lo, unsigned long hi, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	*out = strtoul(*s, &end, 10);
	*s = end;
	return *out >= lo && *out <= hi;
}

/* Returns how many, or -1. */
static int read_labels(const char *s, struct label out[LABELS_MAX])
{
	int n = 0;

	while (*s) {
		unsigned long label, class = 0, ttl = 64;

		if (n == (int)LABELS_MAX || !read_number(&s, 0, LABEL_MAX, &label) || label == LABEL_NEVER)
			return -1;
		if (*s == ':' && (s++, !read_number(&s, 0, 7, &class)))
			return -1;
		if (*s == ':' && (s++, !read_number(&s, 1, 255, &ttl)))
			return -1;
		out[n++] = (struct label){(uint32_t)label, (uint8_t) class, (uint8_t)ttl};
		if (*s == ',' && s[1])
			s++;
		else if (*s)
			return -1;
	}
	return n;
}

/* ---- TCP flags by name ---- */

static int read_flags(const char *s)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
	int flags = 0;

	while (*s) {
		size_t len = strcspn(s, ",");
		unsigned i = 0;

		while (i < 8 && (strlen(names[i]) != len || strncmp(names[i], s, len) != 0))
			i++;
		if (i == 8 && (len != 4 || strncmp(s, "none", 4) != 0))
			return -1;
		flags |= i < 8 ? 1 << i : 0;
		s += len;
		if (*s == ',' && s[1])
			s++;
		else if (*s)
			return -1;
	}
	return flags;
}

/* ---- payload ---- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Blanks and colons between bytes are passed over. Returns the bytes, 0: it is no hexadecimal. */
static uint32_t read_hex(const char *s, unsigned char *out)
{
	uint32_t n = 0;

	for (; *s; s++) {
		if (*s == ' ' || *s == ':')
			continue;
		if (!isxdigit((unsigned char)s[0]) || !isxdigit((unsigned char)s[1]))
			return 0;
		out[n++] = (unsigned char)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
		s++;
	}
	return n;
}

/* At most max bytes: more is in no frame. 0 and *e when there are none. */
static uint32_t read_file(const char *path, unsigned char *out, uint32_t max, struct err *e)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(out, 1, max, f) : 0;

	if (!n) {
		err_set(e, -EINVAL, EXIT_USAGE, "cannot read the payload", path, "%s",
			!f || ferror(f) ? strerror(errno) : "it is empty");
		err_hint(e, "--payload-file with a file that has at least one byte");
	}
	if (f)
		fclose(f);
	return (uint32_t)n;
}

static void count_up(unsigned char *p, uint32_t len, unsigned width)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (unsigned char)((i / width) >> 8 * (width - 1 - i % width));
}

int packet_put_payload(struct frame *f, const struct config *cfg, uint32_t max_len, struct err *e)
{
	static const unsigned width[] = {[PATTERN_COUNT8] = 1, [PATTERN_COUNT16] = 2, [PATTERN_COUNT32] = 4};
	unsigned char *p = f->plan->frame + f->at;
	unsigned char unit[TX_TEMPLATE_MAX];
	uint32_t len = max_len > f->at ? max_len - f->at : 0;
	uint32_t n = 1;

	if (max_len > TX_TEMPLATE_MAX)
		return 0; /* frame_finish() refuses it */
	unit[0] = (unsigned char)cfg->payload_byte;
	if (cfg->payload_pattern) {
		count_up(p, len, width[cfg->payload_pattern]);
		return 0;
	}
	if (cfg->payload_text[0]) {
		n = (uint32_t)strlen(cfg->payload_text);
		memcpy(unit, cfg->payload_text, n);
	} else if (cfg->payload_hex[0]) {
		n = read_hex(cfg->payload_hex, unit);
	} else if (cfg->payload_file[0]) {
		n = read_file(cfg->payload_file, unit, sizeof(unit), e);
	}
	if (!n)
		return -EINVAL;
	for (uint32_t i = 0; i < len; i++)
		p[i] = unit[i % n];
	return 0;
}

/* ---- headers ---- */

static uint16_t tci(const struct config *cfg, uint16_t id)
{
	return (uint16_t)(cfg->vlan_priority << 13 | cfg->vlan_dei << 12 | id);
}

static void put_link_layer(struct frame *f, const struct config *cfg, const struct gen_ends *ends, uint16_t type)
{
	struct label labels[LABELS_MAX];
	int n = read_labels(cfg->mpls, labels);

	frame_put_ethernet(f, &ends->dst_mac, &ends->src_mac);
	if (cfg->outer_vlan)
		frame_put_tag(f, (uint16_t)cfg->outer_type, tci(cfg, cfg->outer_vlan));
	if (cfg->vlan)
		frame_put_tag(f, TYPE_VLAN, tci(cfg, cfg->vlan));
	frame_put_type(f, n > 0 ? TYPE_MPLS : type);
	for (int i = 0; i < n; i++)
		frame_put_mpls(f, labels[i].label, labels[i].traffic_class, i == n - 1, labels[i].ttl);
}

static void put_transport(struct frame *f, const struct config *cfg)
{
	static const enum frame_check checks[] = {
		[CHECK_ON] = FRAME_CHECK_ON, [CHECK_OFF] = FRAME_CHECK_OFF, [CHECK_BAD] = FRAME_CHECK_BAD};

	switch (cfg->mode) {
	case MODE_TCP_SYN:
		frame_put_tcp(f, cfg->src_port, cfg->dst_port,
			      cfg->tcp_flags[0] ? (uint8_t)read_flags(cfg->tcp_flags) : TCP_SYN);
		break;
	case MODE_ICMP_ECHO:
		frame_put_echo(f, cfg->src_port, 1);
		break;
	default:
		frame_put_udp(f, cfg->src_port, cfg->dst_port, checks[cfg->udp_checksum]);
	}
}

uint32_t packet_put_headers(struct frame *f, const struct config *cfg, const struct gen_ends *ends,
			    const struct ip *dst)
{
	const struct frame_ip ip = {
		.src = ends->src_ip,
		.dst = *dst,
		.dscp_ecn = (uint8_t)(cfg->dscp << 2 | cfg->ecn),
		.ttl = (uint8_t)cfg->ttl,
		.df = cfg->df,
		.id = cfg->ip_id,
		.flow_label = cfg->flow_label,
	};

	struct tunnel tunnel;
	uint32_t sport_at = 0;
	uint8_t outermost;

	if (cfg->mode == MODE_RAW) {
		put_link_layer(f, cfg, ends, cfg->ethertype);
		f->plan->l4 = f->at;
		return 0;
	}
	tunnel_parse(cfg->tunnel, &tunnel, NULL);
	outermost = tunnel.kind ? tunnel.dst.family : dst->family;
	put_link_layer(f, cfg, ends, outermost == 6 ? TYPE_IP6 : TYPE_IP4);
	if (tunnel.kind)
		sport_at = tunnel_put(f, &tunnel, &ends->outer_src, ip.ttl, ip.dscp_ecn, dst->family == 6,
				      cfg->udp_checksum != CHECK_OFF);
	frame_put_ip(f, &ip);
	put_transport(f, cfg);
	return sport_at;
}

void packet_outline(const struct config *cfg, struct frame *f)
{
	static struct tx_plan plan;
	const struct gen_ends ends = {.src_ip.family = cfg->dst_ip.ip.family};

	frame_begin(f, &plan);
	packet_put_headers(f, cfg, &ends, &cfg->dst_ip.ip);
}

void packet_measure(const struct config *cfg, uint32_t *l3, uint32_t *headers)
{
	struct frame f;

	packet_outline(cfg, &f);
	*l3 = f.plan->l3;
	*headers = f.at;
}

/* ---- checks ---- */

static void check_payload(const struct config *cfg, struct problems *p)
{
	unsigned char bytes[CONFIG_STR_MAX];
	int given = option_given(cfg, OPTION_PAYLOAD_BYTE) + (cfg->payload_text[0] != 0) + (cfg->payload_hex[0] != 0) +
		    (cfg->payload_file[0] != 0) + (cfg->payload_pattern != PATTERN_NONE);

	if (given > 1)
		problem_add(p,
			    cfg->payload_text[0]   ? "--payload-text"
			    : cfg->payload_hex[0]  ? "--payload-hex"
			    : cfg->payload_file[0] ? "--payload-file"
						   : "--payload-pattern",
			    "--payload-byte, -text, -hex, -file and -pattern exclude each other");
	if (cfg->payload_hex[0] && !read_hex(cfg->payload_hex, bytes))
		problem_add(p, "--payload-hex", "\"%s\" is no sequence of bytes of two hexadecimal digits",
			    cfg->payload_hex);
}

static void check_tunnel(const struct config *cfg, struct problems *p)
{
	struct tunnel t;
	struct err e;

	if (tunnel_parse(cfg->tunnel, &t, &e)) {
		err_hint(problem_add(p, "--tunnel", "%s: %s", cfg->tunnel, e.cause), "%s", e.hint);
		return;
	}
	if (t.kind && (cfg->mode == MODE_RAW || cfg->mode == MODE_PCAP))
		problem_add(p, "--tunnel", "goes around IP packets that squall makes, not --mode raw or pcap");
	else if (t.kind && !cfg->src_ip.ip.family)
		problem_missing(p, "--src-ip", "missing: the inner source address, since no route tells it");
}

/* Raw frames have no IP header. */
static void check_raw(const struct config *cfg, struct problems *p)
{
	static const struct {
		enum option_id id;
		const char *name;
	} of_ip[] = {{OPTION_DSCP, "--dscp"}, {OPTION_ECN, "--ecn"},     {OPTION_TTL, "--ttl"},
		     {OPTION_DF, "--df"},     {OPTION_IP_ID, "--ip-id"}, {OPTION_FLOW_LABEL, "--flow-label"}};

	for (unsigned i = 0; i < sizeof(of_ip) / sizeof(of_ip[0]); i++)
		if (option_given(cfg, of_ip[i].id))
			problem_add(p, of_ip[i].name, "raw frames have no IP header");
}

/* What was given must have an effect. */
static void check_belongs(const struct config *cfg, struct problems *p)
{
	if (option_given(cfg, OPTION_IMIX) && cfg->mode != MODE_IMIX)
		problem_add(p, "--imix", "goes with --mode imix");
	if (option_given(cfg, OPTION_ETHERTYPE) && cfg->mode != MODE_RAW)
		problem_add(p, "--ethertype", "goes with --mode raw");
	if (option_given(cfg, OPTION_OUTER_TYPE) && !cfg->outer_vlan)
		problem_missing(p, "--outer-vlan", "missing: --outer-type is its EtherType");
}

void packet_check(const struct config *cfg, struct problems *p)
{
	struct label labels[LABELS_MAX];

	if (cfg->mpls[0] && read_labels(cfg->mpls, labels) < 1)
		problem_add(p, "--mpls",
			    "\"%s\" is no list of up to %u labels of 0 to 1048575, without 3, as in 100,200:5:64",
			    cfg->mpls, LABELS_MAX);
	if (cfg->outer_vlan && !cfg->vlan)
		problem_missing(p, "--vlan", "missing: --outer-vlan stands in front of it");
	if ((cfg->vlan_priority || cfg->vlan_dei) && !cfg->vlan)
		problem_missing(p, "--vlan", "missing: a priority or DEI is a tag's");
	if (cfg->tcp_flags[0] && cfg->mode != MODE_TCP_SYN)
		problem_add(p, "--tcp-flags", "goes with --mode tcp-syn");
	else if (cfg->tcp_flags[0] && read_flags(cfg->tcp_flags) < 0)
		problem_add(p, "--tcp-flags", "\"%s\" is no list of fin, syn, rst, psh, ack, urg, ece, cwr, or none",
			    cfg->tcp_flags);
	if (cfg->udp_checksum == CHECK_OFF && cfg->dst_ip.ip.family == 6)
		problem_add(p, "--udp-checksum", "IPv6 does not allow UDP without a checksum (RFC 8200 section 8.1)");
	if (cfg->udp_checksum != CHECK_ON && cfg->mode != MODE_UDP && cfg->mode != MODE_IMIX)
		problem_add(p, "--udp-checksum", "goes with --mode udp or imix");
	if (cfg->df && cfg->dst_ip.ip.family == 6)
		problem_add(p, "--df", "IPv6 has no such field");
	if (cfg->ip_id && cfg->dst_ip.ip.family == 6)
		problem_add(p, "--ip-id", "IPv6 has no such field");
	if (cfg->flow_label && cfg->dst_ip.ip.family == 4)
		problem_add(p, "--flow-label", "IPv4 has no such field");
	if (cfg->mode == MODE_RAW)
		check_raw(cfg, p);
	if (cfg->mode != MODE_PCAP) /* a capture has them refused as a whole */
		check_belongs(cfg, p);
	check_payload(cfg, p);
	check_tunnel(cfg, p);
}
