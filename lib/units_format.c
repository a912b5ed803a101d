/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include "clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_US UINT64_C(1000)

static uint64_t power10(unsigned n)
{
	uint64_t v = 1;

	while (n--)
		v *= 10;
	return v;
}

/* v / 10^decimals without zeros at its end. printf's %g would follow the locale. */
static void format_fixed(uint64_t v, unsigned decimals, char *buf, size_t size)
{
	uint64_t scale = power10(decimals);
	uint64_t fraction = v % scale;

	for (; decimals && fraction % 10 == 0; decimals--)
		fraction /= 10;
	if (decimals)
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64, v / scale, (int)decimals, fraction);
	else
		snprintf(buf, size, "%" PRIu64, v / scale);
}

char *units_format_si(double v, char *buf, size_t size)
{
	static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
	const unsigned last = sizeof(prefixes) / sizeof(prefixes[0]) - 1;
	char number[32];
	unsigned prefix = 0;

	if (!isfinite(v)) {
		snprintf(buf, size, "-");
		return buf;
	}
	double m = v < 0 ? -v : v;

	/* 999.95 would be rounded to 1000. */
	for (; m >= 999.95 && prefix < last; prefix++)
		m /= 1000;
	unsigned decimals = m >= 999.95 ? 0 : m >= 99.995 ? 1 : m >= 9.9995 ? 2 : m >= 0.99995 ? 3 : 6;

	if (m >= 1e12) { /* more than 10^30: no prefix is left, and no counter gets there */
		snprintf(buf, size, "-");
		return buf;
	}
	format_fixed((uint64_t)(m * (double)power10(decimals) + 0.5), decimals, number, sizeof(number));
	snprintf(buf, size, "%s%s%s", v < 0 && strcmp(number, "0") != 0 ? "-" : "", number, prefixes[prefix]);
	return buf;
}

char *units_format_with(double v, const char *unit, char *buf, size_t size)
{
	char si[UNITS_STR / 2];
	size_t n;

	units_format_si(v, si, sizeof(si));
	n = strlen(si);
	if (!isfinite(v))
		unit = "";
	snprintf(buf, size, "%s%s%s", si, *unit && isdigit((unsigned char)si[n - 1]) ? " " : "", unit);
	return buf;
}

char *units_format_clock(uint64_t ns, bool fine, char *buf, size_t size)
{
	uint64_t unit = fine ? NS_PER_MS : NS_PER_S;
	uint64_t at = (ns + unit / 2) / unit * unit;
	uint64_t s = at / NS_PER_S;
	unsigned m = (unsigned)(s / 60 % 60);
	char ms[8] = "";

	if (fine)
		snprintf(ms, sizeof(ms), ".%03u", (unsigned)(at % NS_PER_S / NS_PER_MS));
	if (s >= 3600)
		snprintf(buf, size, "%" PRIu64 ":%02u:%02u%s", s / 3600, m, (unsigned)(s % 60), ms);
	else
		snprintf(buf, size, "%u:%02u%s", m, (unsigned)(s % 60), ms);
	return buf;
}

char *units_format_time(uint64_t ns, char *buf, size_t size)
{
	char number[32];

	if (ns >= 60 * NS_PER_S) {
		uint64_t s = ns / NS_PER_S;
		char h[32] = "";
		char m[16] = "";
		char rest[16] = "";

		if (s >= 3600)
			snprintf(h, sizeof(h), "%" PRIu64 " h ", s / 3600);
		if (s / 60 % 60)
			snprintf(m, sizeof(m), "%u m ", (unsigned)(s / 60 % 60));
		if (s % 60)
			snprintf(rest, sizeof(rest), "%u s ", (unsigned)(s % 60));
		int n = snprintf(buf, size, "%s%s%s", h, m, rest);

		if (n > 0 && (size_t)n < size)
			buf[n - 1] = '\0';
	} else if (ns % NS_PER_S == 0) {
		snprintf(buf, size, "%u s", (unsigned)(ns / NS_PER_S));
	} else if (ns >= NS_PER_S) {
		snprintf(buf, size, "%u.%03u s", (unsigned)(ns / NS_PER_S), (unsigned)(ns % NS_PER_S / NS_PER_MS));
	} else if (ns >= NS_PER_MS) {
		format_fixed(ns / NS_PER_US, 3, number, sizeof(number));
		snprintf(buf, size, "%s ms", number);
	} else if (ns >= NS_PER_US) {
		format_fixed(ns, 3, number, sizeof(number));
		snprintf(buf, size, "%s us", number);
	} else {
		snprintf(buf, size, "%" PRIu64 " ns", ns);
	}
	return buf;
}

char *units_format_rate(const struct rate *r, char *buf, size_t size)
{
	static const char prefixes[] = "kMGT";
	char number[40];
	char prefix[2] = "";
	const char *unit = r->layer == RATE_L2 ? "bpsl2" : r->layer == RATE_L3 ? "bpsl3" : "";

	switch (r->kind) {
	case RATE_UNSET:
		snprintf(buf, size, "%s", "");
		break;
	case RATE_UNLIMITED:
		snprintf(buf, size, "unlimited");
		break;
	case RATE_PERCENT:
		format_fixed(r->micro, 6, number, sizeof(number));
		snprintf(buf, size, "%s%%", number);
		break;
	case RATE_VALUE: {
		unsigned decimals = 6;

		for (const char *p = prefixes; *p && r->micro / power10(decimals) >= 1000; p++, decimals += 3)
			prefix[0] = *p;
		format_fixed(r->micro, decimals, number, sizeof(number));
		snprintf(buf, size, "%s%s%s", number, prefix, unit);
		break;
	}
	}
	return buf;
}

char *units_format_ratio(const struct ratio *r, char *buf, size_t size)
{
	char digits[16];
	size_t n;

	if (!r->set)
		digits[0] = '\0';
	else if (r->pico >= 1000000000000ULL)
		snprintf(digits, sizeof(digits), "1");
	else
		snprintf(digits, sizeof(digits), "0.%012" PRIu64, r->pico);
	n = strlen(digits);
	while (n > 1 && r->pico < 1000000000000ULL && (digits[n - 1] == '0' || digits[n - 1] == '.'))
		digits[--n] = '\0';
	snprintf(buf, size, "%s", digits);
	return buf;
}
