/* SPDX-License-Identifier: Apache-2.0 */
/* Filters as people write and read them, and what makes no sense as one. */
#include "filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHAT "cannot use the filter"

#define ETHERTYPE_MIN 0x600U /* IEEE 802.3 clause 3.2.6: less is a length */

static const char *const kind_names[FILTER_KINDS] = {"dst-mac", "vlan", "ethertype", "proto",
						     "src",     "dst",  "src-port",  "dst-port"};

static const struct {
	const char *name;
	uint8_t number;
	bool ports;
} protos[] = {
	{"udp", 17, true},   {"tcp", 6, true},   {"icmp", 1, false},     {"icmp6", 58, false},
	{"sctp", 132, true}, {"dccp", 33, true}, {"udplite", 136, true},
};

#define N_PROTOS (sizeof(protos) / sizeof(protos[0]))

/* The whole of s[0..n) is a number in base 10, or in base 16 after 0x. */
static int parse_number(const char *s, size_t n, unsigned long max, bool hex, unsigned long *out)
{
	char buf[16];
	char *end;
	int base = 10;

	if (n == 0 || n >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, s, n);
	buf[n] = '\0';
	if (hex && buf[0] == '0' && (buf[1] == 'x' || buf[1] == 'X'))
		base = 16;
	s = base == 16 ? buf + 2 : buf;
	if (!isxdigit((unsigned char)*s))
		return -EINVAL;
	*out = strtoul(s, &end, base);
	return *end || *out > max ? -EINVAL : 0;
}

static int parse_port_range(const char *s, struct filter_match *m)
{
	const char *dash = strchr(s, '-');
	size_t n = dash ? (size_t)(dash - s) : strlen(s);
	unsigned long lo;
	unsigned long hi;

	if (parse_number(s, n, UINT16_MAX, false, &lo))
		return -EINVAL;
	hi = lo;
	if (dash && parse_number(dash + 1, strlen(dash + 1), UINT16_MAX, false, &hi))
		return -EINVAL;
	m->port.lo = (uint16_t)lo;
	m->port.hi = (uint16_t)hi;
	return 0;
}

static int parse_proto(const char *s, struct filter_match *m)
{
	unsigned long n;

	for (size_t i = 0; i < N_PROTOS; i++) {
		if (strcasecmp(protos[i].name, s) == 0) {
			m->proto = protos[i].number;
			return 0;
		}
	}
	if (parse_number(s, strlen(s), UINT8_MAX, false, &n))
		return -EINVAL;
	m->proto = (uint8_t)n;
	return 0;
}

/* NULL, or what the value should have been. */
static const char *parse_value(const char *s, struct filter_match *m)
{
	unsigned long n;

	switch (m->kind) {
	case FILTER_DST_MAC:
		return mac_parse(s, &m->mac) ? "a MAC address like 02:00:00:00:00:01" : NULL;
	case FILTER_VLAN:
		if (parse_number(s, strlen(s), 4095, false, &n))
			return "a VLAN id, 0 to 4095";
		m->vlan = (uint16_t)n;
		return NULL;
	case FILTER_ETHERTYPE:
		if (parse_number(s, strlen(s), UINT16_MAX, true, &n))
			return "an EtherType like 0x0806 (or decimal)";
		m->ethertype = (uint16_t)n;
		return NULL;
	case FILTER_PROTO:
		return parse_proto(s, m) ? "udp, tcp, icmp, icmp6, sctp, dccp, udplite or a number up to 255" : NULL;
	case FILTER_SRC:
	case FILTER_DST:
		return prefix_parse(s, &m->prefix) ? "an IP address or prefix like 10.0.0.0/8" : NULL;
	case FILTER_SRC_PORT:
	case FILTER_DST_PORT:
		return parse_port_range(s, m) ? "a port or a range like 9000-9010" : NULL;
	case FILTER_KINDS:
		break;
	}
	return "";
}

int filter_add_text(struct filter *f, const char *text, struct err *e)
{
	const char *eq = strchr(text, '=');
	size_t n = eq ? (size_t)(eq - text) : strlen(text);
	struct filter_match m;
	const char *wanted;

	memset(&m, 0, sizeof(m));
	for (m.kind = 0; m.kind < FILTER_KINDS; m.kind++)
		if (strlen(kind_names[m.kind]) == n && strncasecmp(kind_names[m.kind], text, n) == 0)
			break;
	if (m.kind == FILTER_KINDS || !eq) {
		err_set(e, -EINVAL, EXIT_USAGE, WHAT, text,
			m.kind == FILTER_KINDS ? "there is no condition \"%.*s\"" : "\"%.*s\" needs a value", (int)n,
			text);
		err_hint(e, "dst-mac=, vlan=, ethertype=, proto=, src=, dst=, src-port= or dst-port=");
		return -EINVAL;
	}
	wanted = parse_value(eq + 1, &m);
	if (wanted) {
		err_set(e, -EINVAL, EXIT_USAGE, WHAT, text, "\"%s\" is not %s", eq + 1, wanted);
		return -EINVAL;
	}
	return filter_add(f, &m, e);
}

/* NULL, or what is wrong with the condition itself. */
static const char *match_flaw(const struct filter_match *m)
{
	switch (m->kind) {
	case FILTER_DST_MAC:
	case FILTER_PROTO:
		return NULL;
	case FILTER_VLAN:
		return m->vlan > 4095 ? "a VLAN id is 0 to 4095" : NULL;
	case FILTER_ETHERTYPE:
		return m->ethertype < ETHERTYPE_MIN ? "an EtherType is 0x0600 or more (less is a length)" : NULL;
	case FILTER_SRC:
	case FILTER_DST:
		if (m->prefix.ip.family != 4 && m->prefix.ip.family != 6)
			return "a prefix is IPv4 or IPv6";
		return m->prefix.len > ip_bits(&m->prefix.ip) ? "the prefix is longer than its address" : NULL;
	case FILTER_SRC_PORT:
	case FILTER_DST_PORT:
		return m->port.lo > m->port.hi ? "the range of ports runs backwards" : NULL;
	case FILTER_KINDS:
		break;
	}
	return "there is no such kind of condition";
}

int filter_add(struct filter *f, const struct filter_match *m, struct err *e)
{
	const char *flaw = match_flaw(m);
	const char *object = m->kind < FILTER_KINDS ? kind_names[m->kind] : NULL;

	if (!flaw && (f->all || f->keep_management))
		flaw = "a filter that takes everything has no conditions";
	if (flaw)
		return err_set(e, -EINVAL, EXIT_USAGE, WHAT, object, "%s", flaw);
	if (f->n == FILTER_MATCHES_MAX)
		return err_set(e, -ENOSPC, EXIT_USAGE, WHAT, object, "there are more than %d conditions",
			       FILTER_MATCHES_MAX);
	unsigned at = f->n++;

	for (; at > 0 && f->match[at - 1].kind > m->kind; at--)
		f->match[at] = f->match[at - 1];
	f->match[at] = *m;
	return 0;
}

static bool has_ports(uint8_t proto)
{
	for (size_t i = 0; i < N_PROTOS; i++)
		if (protos[i].number == proto)
			return protos[i].ports;
	return false;
}

#define FAMILY_4   1U
#define FAMILY_6   2U
#define FAMILY_ANY 3U

/* The IP families that the conditions of one kind leave possible. */
static unsigned families_left(const struct filter *f, enum filter_kind kind)
{
	unsigned left = 0;
	bool any = true;

	for (unsigned i = 0; i < f->n; i++) {
		const struct filter_match *m = &f->match[i];

		if (m->kind != kind)
			continue;
		any = false;
		if (kind == FILTER_ETHERTYPE)
			left |= m->ethertype == 0x0800 ? FAMILY_4 : m->ethertype == 0x86dd ? FAMILY_6 : 0;
		else
			left |= m->prefix.ip.family == 4 ? FAMILY_4 : FAMILY_6;
	}
	return any ? FAMILY_ANY : left;
}

int filter_check(const struct filter *f, struct err *e)
{
	unsigned kinds = 0;
	const char *flaw = NULL;

	if (f->n > FILTER_MATCHES_MAX || f->n_locals > FILTER_LOCALS_MAX)
		return err_set(e, -EINVAL, EXIT_USAGE, WHAT, NULL, "there are more conditions or addresses than fit");
	for (unsigned i = 0; i < f->n; i++) {
		flaw = match_flaw(&f->match[i]);
		if (flaw)
			return err_set(e, -EINVAL, EXIT_USAGE, WHAT, NULL, "condition %u: %s", i + 1, flaw);
		kinds |= 1U << f->match[i].kind;
	}
	bool ports = kinds & (1U << FILTER_SRC_PORT | 1U << FILTER_DST_PORT);
	bool ip = ports || kinds & (1U << FILTER_PROTO | 1U << FILTER_SRC | 1U << FILTER_DST);

	if (f->all && f->keep_management)
		flaw = "it takes everything, or everything but what the host needs: not both";
	else if ((f->all || f->keep_management) && f->n)
		flaw = "a filter that takes everything has no conditions";
	else if (!f->all && !f->keep_management && !f->n)
		flaw = "it has no condition";
	else if (ports && !(kinds & 1U << FILTER_PROTO))
		flaw = "a port needs a protocol (proto=udp, proto=tcp, …)";
	else if (ip &&
		 !(families_left(f, FILTER_ETHERTYPE) & families_left(f, FILTER_SRC) & families_left(f, FILTER_DST)))
		flaw = "no packet can match: the EtherType and the addresses do not go together";
	for (unsigned i = 0; i < f->n && ports && !flaw; i++)
		if (f->match[i].kind == FILTER_PROTO && !has_ports(f->match[i].proto))
			return err_set(e, -EINVAL, EXIT_USAGE, WHAT, NULL, "protocol %u has no ports",
				       f->match[i].proto);
	return flaw ? err_set(e, -EINVAL, EXIT_USAGE, WHAT, NULL, "%s", flaw) : 0;
}

static const char *proto_name(uint8_t number, char buf[16])
{
	for (size_t i = 0; i < N_PROTOS; i++)
		if (protos[i].number == number)
			return protos[i].name;
	snprintf(buf, 16, "protocol %u", number);
	return buf;
}

static void describe_value(const struct filter_match *m, char *buf, size_t size)
{
	char text[PREFIX_STRLEN];

	switch (m->kind) {
	case FILTER_DST_MAC:
		snprintf(buf, size, "%s", mac_format(&m->mac, text));
		break;
	case FILTER_VLAN:
		snprintf(buf, size, "%u", m->vlan);
		break;
	case FILTER_ETHERTYPE:
		snprintf(buf, size, "0x%04x", m->ethertype);
		break;
	case FILTER_PROTO:
		snprintf(buf, size, "%s", proto_name(m->proto, text));
		break;
	case FILTER_SRC:
	case FILTER_DST:
		snprintf(buf, size, "%s", prefix_format(&m->prefix, text));
		break;
	case FILTER_SRC_PORT:
	case FILTER_DST_PORT:
		if (m->port.lo == m->port.hi)
			snprintf(buf, size, "%u", m->port.lo);
		else
			snprintf(buf, size, "%u-%u", m->port.lo, m->port.hi);
		break;
	case FILTER_KINDS:
		snprintf(buf, size, "?");
		break;
	}
}

/* A protocol speaks for itself; the others are told with their kind. */
static const enum filter_kind told_order[FILTER_KINDS] = {FILTER_PROTO,    FILTER_SRC,      FILTER_DST,
							  FILTER_SRC_PORT, FILTER_DST_PORT, FILTER_DST_MAC,
							  FILTER_VLAN,     FILTER_ETHERTYPE};

char *filter_describe(const struct filter *f, char *buf, size_t size)
{
	size_t used = 0;

	if (!size)
		return buf;
	snprintf(buf, size, "%s",
		 f->all               ? "everything"
		 : f->keep_management ? "everything but ARP, neighbour discovery, SSH and DNS answers of this host"
		 : f->n               ? ""
				      : "nothing");
	for (unsigned k = 0; k < FILTER_KINDS; k++) {
		bool first = true;

		for (unsigned i = 0; i < f->n; i++) {
			char value[PREFIX_STRLEN];
			const struct filter_match *m = &f->match[i];

			if (m->kind != told_order[k])
				continue;
			describe_value(m, value, sizeof(value));
			int n = snprintf(buf + used, size - used, "%s%s%s%s",
					 !first ? " or "
					 : used ? ", "
						: "",
					 first && m->kind != FILTER_PROTO ? kind_names[m->kind] : "",
					 first && m->kind != FILTER_PROTO ? " " : "", value);

			first = false;
			if (n < 0 || (size_t)n >= size - used)
				return buf;
			used += (size_t)n;
		}
	}
	return buf;
}
