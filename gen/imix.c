/* SPDX-License-Identifier: Apache-2.0 */
#include "imix.h"

#include "gcd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MAX_BYTES 9018U
#define WEIGHT_MAX     1000000U

const struct imix_preset imix_presets[] = {
	{"simple", "64:7,594:4,1518:1", "what most testers call IMIX"},
	{"simple-570", "64:7,570:4,1518:1", "the same with the older middle size"},
	{"otg-imix", "64:7,570:4,1518:1", "Open Traffic Generator, imix"},
	{"otg-ipsec", "90:58.67,92:2,594:23.66,1418:15.67", "Open Traffic Generator, ipsec_imix"},
	{"otg-ipv6", "60:58.67,496:2,594:23.66,1518:15.67", "Open Traffic Generator, ipv6_imix"},
	{"otg-standard", "58:58.67,62:2,594:23.66,1518:15.67", "Open Traffic Generator, standard_imix"},
	{"otg-tcp", "90:58.67,92:2,594:23.66,1518:15.67", "Open Traffic Generator, tcp_imix"},
	{"csit", "64:28,570:16,1518:4", "FD.io CSIT over IPv4; over IPv6 its small frames are 78 bytes"},
	{NULL, NULL, NULL},
};

static const struct {
	char letter;
	uint32_t size; /* 0: the MTU's */
} genome[] = {
	{'a', 64},   {'b', 128},  {'c', 256},  {'d', 512},   {'e', 1024}, {'f', 1280},
	{'g', 1518}, {'h', 2112}, {'i', 9000}, {'j', 16000}, {'z', 0},
};

static int refuse(struct err *e, int rc, const char *text, const char *cause)
{
	err_set(e, rc, EXIT_USAGE, "cannot use this mix of sizes", text, "%s", cause);
	err_hint(e, "a name (simple, csit, ...), SIZE:WEIGHT,... or a genome like aaaaaaaddddg (RFC 6985)");
	return rc;
}

static int add(struct imix *m, uint32_t size, uint32_t weight)
{
	for (unsigned i = 0; i < m->n; i++) {
		if (m->size[i] == size) {
			m->weight[i] += weight;
			return m->weight[i] > WEIGHT_MAX * IMIX_WEIGHT_UNIT ? -ERANGE : 0;
		}
	}
	if (m->n == TX_SIZES_MAX)
		return -E2BIG;
	m->size[m->n] = size;
	m->weight[m->n++] = weight;
	return 0;
}

/* A whole number, at most max. NULL: there is none. */
static const char *number(const char *s, uint32_t max, uint32_t *out)
{
	uint64_t v = 0;

	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s) && v <= max; s++)
		v = v * 10 + (unsigned)(*s - '0');
	*out = (uint32_t)v;
	return v <= max ? s : NULL;
}

/* "58.67" in hundredths. */
static const char *weight_of(const char *s, uint32_t *out)
{
	uint32_t whole;
	uint32_t cents = 0;

	s = number(s, WEIGHT_MAX, &whole);
	if (!s)
		return NULL;
	if (*s == '.') {
		if (!isdigit((unsigned char)s[1]))
			return NULL;
		cents = (uint32_t)(s[1] - '0') * 10;
		s += 2;
		if (isdigit((unsigned char)*s))
			cents += (uint32_t)(*s++ - '0');
	}
	*out = whole * IMIX_WEIGHT_UNIT + cents;
	return *out ? s : NULL;
}

static int parse_list(const char *text, struct imix *m, struct err *e)
{
	const char *s = text;

	for (;;) {
		uint32_t size, weight;
		int rc;

		s = number(s, SIZE_MAX_BYTES, &size);
		if (!s || !size || *s != ':')
			return refuse(e, -EINVAL, text, "each part is SIZE:WEIGHT, and no size is above 9018");
		s = weight_of(s + 1, &weight);
		if (!s || (*s && *s != ','))
			return refuse(e, -EINVAL, text,
				      "a weight is a number above 0 and up to 1000000, with at most two decimals");
		rc = add(m, size, weight);
		if (rc)
			return refuse(e, rc, text, rc == -E2BIG ? "there are too many sizes" : "a weight is too large");
		if (!*s++)
			return 0;
	}
}

static int parse_genome(const char *text, uint32_t mtu_size, struct imix *m, struct err *e)
{
	for (const char *s = text; *s;) {
		uint32_t times = 1;
		uint32_t size = 0;
		bool known = false;
		int rc;

		if (isdigit((unsigned char)*s)) {
			s = number(s, WEIGHT_MAX, &times);
			if (!s || !times)
				return refuse(e, -EINVAL, text, "a count is 1 to 1000000");
		}
		for (unsigned i = 0; i < sizeof(genome) / sizeof(genome[0]) && *s; i++) {
			if (genome[i].letter == *s) {
				known = true;
				size = genome[i].size ? genome[i].size : mtu_size;
			}
		}
		if (!known)
			return refuse(e, -EINVAL, text, "it is no name of a mix, no list, and no genome");
		if (size > SIZE_MAX_BYTES)
			return refuse(e, -ERANGE, text, "no frame is larger than 9018 bytes (letter j is 16000)");
		rc = add(m, size, times * IMIX_WEIGHT_UNIT);
		if (rc)
			return refuse(e, rc, text, "a weight is too large");
		s++;
	}
	return m->n ? 0 : refuse(e, -EINVAL, text, "it is empty");
}

int imix_parse(const char *text, uint32_t mtu_size, struct imix *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->name, sizeof(out->name), "%s", text);
	for (const struct imix_preset *p = imix_presets; p->name; p++)
		if (strcmp(p->name, text) == 0)
			return parse_list(p->list, out, e);
	return strchr(text, ':') ? parse_list(text, out, e) : parse_genome(text, mtu_size, out, e);
}

unsigned imix_raise(struct imix *m, uint32_t least)
{
	struct imix old = *m;
	unsigned raised = 0;

	m->n = 0;
	for (unsigned i = 0; i < old.n; i++) {
		raised += old.size[i] < least;
		add(m, old.size[i] < least ? least : old.size[i], old.weight[i]);
	}
	return raised;
}

double imix_mean(const struct imix *m)
{
	double bytes = 0;
	double packets = 0;

	for (unsigned i = 0; i < m->n; i++) {
		bytes += (double)m->size[i] * m->weight[i];
		packets += m->weight[i];
	}
	return packets > 0 ? bytes / packets : 0;
}

/*
 * Each round every size gains its weight; the one that has most goes next and pays the sum of all. After a cycle all
 * are where they began.
 */
unsigned imix_cycle(const struct imix *m, uint16_t *cycle, unsigned max)
{
	int64_t credit[TX_SIZES_MAX] = {0};
	uint64_t divisor = 0;
	uint64_t total = 0;

	for (unsigned i = 0; i < m->n; i++)
		divisor = gcd(m->weight[i], divisor);
	for (unsigned i = 0; i < m->n; i++)
		total += m->weight[i] / divisor;
	if (!m->n || total > max)
		return 0;
	for (unsigned k = 0; k < total; k++) {
		unsigned best = 0;

		for (unsigned i = 0; i < m->n; i++) {
			credit[i] += (int64_t)(m->weight[i] / divisor);
			if (credit[i] > credit[best])
				best = i;
		}
		credit[best] -= (int64_t)total;
		cycle[k] = (uint16_t)best;
	}
	return (unsigned)total;
}
