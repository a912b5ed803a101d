/* SPDX-License-Identifier: Apache-2.0 */
/* The text of fields that vary. */
#include "vary_parse.h"

#include "lib/core/permute.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAC_BROADCAST  0xffffffffffffULL
#define MAC_FIRST_BYTE 40 /* the bits after it */
#define BACKWARDS      "it ends before it begins: the smaller value comes first, and dec: in front turns it round"

static const struct {
	const char *name;
	uint64_t max; /* 0: an address */
	uint64_t min;
} fields[VARY_FIELDS] = {
	[VARY_SRC_MAC] = {"src-mac", 0, 0},
	[VARY_DST_MAC] = {"dst-mac", 0, 0},
	[VARY_OUTER_VLAN] = {"outer-vlan", 4094, 1},
	[VARY_VLAN] = {"vlan", 4094, 1},
	[VARY_DSCP] = {"dscp", 63, 0},
	[VARY_IP_ID] = {"ip-id", 65535, 0},
	[VARY_FLOW_LABEL] = {"flow-label", 1048575, 0},
	[VARY_TTL] = {"ttl", 255, 1},
	[VARY_SRC_IP] = {"src-ip", 0, 0},
	[VARY_DST_IP] = {"dst-ip", 0, 0},
	[VARY_SRC_PORT] = {"src-port", 65535, 0},
	[VARY_DST_PORT] = {"dst-port", 65535, 0},
	[VARY_PAYLOAD] = {"payload", UINT64_MAX, 0},
	[VARY_SIZE] = {"size", 9018, 64},
};

uint64_t vary_low_bits(const struct ip *ip)
{
	const uint8_t *b = ip->b + (ip->family == 6 ? 8 : 0);
	uint64_t v = 0;

	for (unsigned i = 0; i < (ip->family == 6 ? 8U : 4U); i++)
		v = v << 8 | b[i];
	return v;
}

uint64_t vary_high_bits(const struct ip *ip)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v = v << 8 | ip->b[i];
	return v;
}

void vary_prefix(struct vary *v, const struct prefix *p)
{
	struct ip first;
	uint64_t hosts = prefix_hosts(p, &first);

	v->family = first.family;
	v->high = first.family == 6 ? vary_high_bits(&first) : 0;
	v->walk.base = vary_low_bits(&first);
	v->walk.count = hosts;
	v->walk.stride = 1;
}

const char *vary_name(enum vary_field field)
{
	return fields[field].name;
}

/* payload@OFFSET:BYTES */
static bool read_place(const char *s, struct vary *v)
{
	char *end;
	unsigned long offset, bytes;

	if (*s != '@' || !isdigit((unsigned char)s[1]))
		return false;
	offset = strtoul(s + 1, &end, 10);
	if (*end != ':' || !isdigit((unsigned char)end[1]))
		return false;
	bytes = strtoul(end + 1, &end, 10);
	v->offset = (uint32_t)offset;
	v->bytes = (uint32_t)bytes;
	return !*end && offset < TX_TEMPLATE_MAX && bytes >= 1 && bytes <= 8;
}

static bool read_field(const char *s, size_t len, struct vary *v)
{
	char name[64];

	if (len >= sizeof(name))
		return false;
	memcpy(name, s, len);
	name[len] = '\0';
	for (unsigned i = 0; i < VARY_FIELDS; i++) {
		size_t n = strlen(fields[i].name);

		if (strncmp(name, fields[i].name, n) != 0)
			continue;
		v->field = (enum vary_field)i;
		if (i == VARY_PAYLOAD)
			return read_place(name + n, v);
		if (!name[n])
			return true;
	}
	return false;
}

/* The largest value of a field of numbers. */
static uint64_t most(const struct vary *v)
{
	return v->field == VARY_PAYLOAD && v->bytes < 8 ? (1ULL << 8 * v->bytes) - 1 : fields[v->field].max;
}

/* Decimal, or hexadecimal behind 0x: a leading zero is no octal number. */
static bool read_number(const char *s, uint64_t *out)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isxdigit((unsigned char)s[2]);
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtoull(s, &end, hex ? 16 : 10);
	return !*end && !errno;
}

static bool read_mac(const char *s, struct vary *v, uint64_t *out)
{
	struct mac mac;

	if (mac_parse(s, &mac))
		return false;
	if (v->field == VARY_SRC_MAC && mac_is_multicast(&mac))
		v->why = "a multicast address cannot be a source";
	for (unsigned i = 0; i < 6; i++)
		*out = *out << 8 | mac.b[i];
	if (*out == MAC_BROADCAST)
		v->why = "every host on the network would take the load of ff:ff:ff:ff:ff:ff";
	return !v->why;
}

static bool read_ip(const char *s, struct vary *v, uint64_t *out)
{
	struct ip ip;

	if (ip_parse(s, &ip))
		return false;
	if (v->family && v->family != ip.family)
		v->why = "the addresses are of one family";
	else if (v->family == 6 && v->high != vary_high_bits(&ip))
		v->why = "the upper 64 bits of IPv6 addresses do not vary: they are the same in all";
	*out = vary_low_bits(&ip);
	v->family = ip.family;
	v->high = ip.family == 6 ? vary_high_bits(&ip) : 0;
	return !v->why;
}

/* A number, or the part of an address that can vary. */
static bool read_value(const char *s, struct vary *v, uint64_t *out)
{
	*out = 0;
	if (v->field == VARY_SRC_MAC || v->field == VARY_DST_MAC)
		return read_mac(s, v, out);
	if (v->field == VARY_SRC_IP || v->field == VARY_DST_IP)
		return read_ip(s, v, out);
	if (!read_number(s, out))
		return false;
	v->beyond = *out < fields[v->field].min || *out > most(v);
	return !v->beyond;
}

static bool read_prefix(const char *s, struct vary *v)
{
	struct prefix p;

	if (!strchr(s, '/') || (v->field != VARY_SRC_IP && v->field != VARY_DST_IP) || prefix_parse(s, &p))
		return false;
	vary_prefix(v, &p);
	return true;
}

/* A-B */
static bool read_span(char *s, struct vary *v)
{
	char *dash = strchr(s, '-');
	uint64_t a, b;

	if (!dash)
		return false;
	*dash = '\0';
	if (!read_value(s, v, &a) || !read_value(dash + 1, v, &b))
		return false;
	if (b < a)
		v->why = BACKWARDS;
	else if (v->field == VARY_SRC_MAC && a >> MAC_FIRST_BYTE != b >> MAC_FIRST_BYTE)
		v->why = "multicast addresses are in it: both ends begin with the same byte";
	if (v->why)
		return false;
	v->walk.base = a;
	v->walk.count = b - a + 1; /* 0: all of 64 bits */
	v->walk.stride = 1;
	return true;
}

/* START:STOP:STEP, of numbers */
static bool read_steps(char *s, struct vary *v)
{
	char *stop = strchr(s, ':');
	char *step = stop ? strchr(stop + 1, ':') : NULL;
	uint64_t a, b, by;

	if (!step || !fields[v->field].max)
		return false;
	*stop = *step = '\0';
	if (!read_value(s, v, &a) || !read_value(stop + 1, v, &b) || !read_number(step + 1, &by))
		return false;
	v->why = b < a ? BACKWARDS : !by ? "a step is 1 or more" : NULL;
	if (v->why)
		return false;
	v->walk.base = a;
	v->walk.count = (b - a) / by + 1;
	v->walk.stride = by;
	return true;
}

/* A value that comes twice would make two flows that are one. */
static bool is_new(const struct vary *v, uint64_t value)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->values[i] == value)
			return false;
	return true;
}

static bool read_list(char *s, struct vary *v)
{
	for (char *item = s; item; v->n++) {
		char *comma = strchr(item, ',');
		uint64_t value;

		if (comma)
			*comma = '\0';
		if (v->n == VARY_VALUES_MAX || !read_value(item, v, &value))
			return false;
		if (!is_new(v, value)) {
			v->why = "a value comes twice";
			return false;
		}
		v->values[v->n] = value;
		item = comma ? comma + 1 : NULL;
	}
	v->walk.count = v->n;
	v->walk.stride = 1;
	return true;
}

static bool read_range(const char *text, struct vary *v)
{
	char s[CONFIG_FILTERS_MAX * CONFIG_FILTER_STRLEN];

	snprintf(s, sizeof(s), "%s", text);
	if (strchr(s, ',')) {
		v->walk.order = TX_LIST;
		return read_list(s, v);
	}
	if (read_prefix(s, v))
		return true;
	if (strchr(s, '-'))
		return read_span(s, v);
	if (fields[v->field].max && strchr(s, ':'))
		return read_steps(s, v);
	v->walk.count = 1;
	return read_value(s, v, &v->walk.base);
}

/* dec: begins with the last value; a list is turned round. */
static void turn_round(struct vary *v)
{
	for (unsigned i = 0; i < v->n / 2; i++) {
		uint64_t other = v->values[v->n - 1 - i];

		v->values[v->n - 1 - i] = v->values[i];
		v->values[i] = other;
	}
	if (v->n)
		return;
	v->walk.base += (v->walk.count - 1) * v->walk.stride;
	v->walk.order = TX_DOWN;
}

static void scatter_values(struct vary *v, uint64_t seed)
{
	struct vary old = *v;

	for (unsigned i = 0; i < v->n; i++)
		v->values[i] = old.values[permute(i, v->n, seed)];
	if (v->n)
		return;
	v->walk.seed = seed;
	v->walk.order = TX_RANDOM;
}

int vary_parse(const char *text, uint64_t seed, struct vary *v, struct err *e)
{
	const char *is = strchr(text, '=');
	const char *range = is ? is + 1 : "";
	bool down = strncmp(range, "dec:", 4) == 0;
	bool scatter = strncmp(range, "random:", 7) == 0;
	char why[128];

	memset(v, 0, sizeof(*v));
	v->asked = true;
	if (!is || !read_field(text, (size_t)(is - text), v)) {
		err_set(e, -EINVAL, EXIT_USAGE, "cannot vary this field", text, "there is no such field");
		err_hint(e,
			 "src-mac, dst-mac, outer-vlan, vlan, dscp, ip-id, flow-label, ttl, src-ip, dst-ip, src-port, "
			 "dst-port, payload@OFFSET:BYTES (1 to 8 bytes) or size, and =RANGE");
		return -EINVAL;
	}
	range += down ? 4 : scatter ? 7 : 0;
	if (!read_range(range, v)) {
		if (v->beyond)
			snprintf(why, sizeof(why), "its values are %" PRIu64 " to %" PRIu64, fields[v->field].min,
				 most(v));
		else
			snprintf(why, sizeof(why), "%s", v->why ? v->why : "");
		err_set(e, -EINVAL, EXIT_USAGE, "cannot vary this field", text, "\"%s\" is no range of %s%s%s", range,
			fields[v->field].name, why[0] ? ": " : "", why);
		err_hint(e, "A-B, START:STOP:STEP for numbers, a prefix for addresses, or A,B,C");
		return -EINVAL;
	}
	if (down)
		turn_round(v);
	if (scatter)
		scatter_values(v, seed + ((uint64_t)v->field << 32 | v->offset) * 0x9e3779b97f4a7c15ULL);
	return 0;
}
