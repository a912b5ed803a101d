/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include "clock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* As many as UINT64_MAX has; times the largest factor (1 Ti in millionths, 2^40 * 10^6) they still fit 128 bits. */
#define DIGITS_MAX   20
#define EXPONENT_MAX 4096

#define NS_PER_US UINT64_C(1000)

/* An unsigned decimal as it was typed: digits * 10^exponent. lost: digits beyond DIGITS_MAX were not all 0. */
struct decimal {
	u128 digits;
	int exponent;
	bool lost;
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_space(const char *s)
{
	while (is_space(*s))
		s++;
	return s;
}

/* Passes over word (given in lower case) at *s. */
static bool accept(const char **s, const char *word)
{
	const char *p = *s;

	for (; *word; word++, p++) {
		if (lower(*p) != *word)
			return false;
	}
	*s = p;
	return true;
}

static bool is_word(const char *s, const char *word)
{
	s = skip_space(s);
	return accept(&s, word) && !*skip_space(s);
}

static void decimal_digit(struct decimal *d, unsigned *used, char c, bool fraction)
{
	unsigned v = (unsigned)(c - '0');

	if (*used >= DIGITS_MAX) {
		d->lost |= v != 0;
		d->exponent += fraction ? 0 : 1;
		return;
	}
	d->digits = d->digits * 10 + v;
	*used += d->digits != 0;
	d->exponent -= fraction ? 1 : 0;
}

/* digits[.digits][e[+-]digits], at least one digit; an e that no digit follows is not part of it. */
static int decimal_read(const char **s, struct decimal *d)
{
	const char *p = *s;
	unsigned used = 0;
	bool any = false;

	*d = (struct decimal){0};
	for (; is_digit(*p); p++, any = true)
		decimal_digit(d, &used, *p, false);
	if (*p == '.') {
		for (p++; is_digit(*p); p++, any = true)
			decimal_digit(d, &used, *p, true);
	}
	if (!any)
		return -EINVAL;
	if (lower(*p) == 'e') {
		const char *q = p + 1;
		bool negative = *q == '-';
		int e = 0;

		q += *q == '-' || *q == '+';
		if (is_digit(*q)) {
			for (; is_digit(*q); q++)
				e = e < EXPONENT_MAX ? e * 10 + (*q - '0') : e;
			d->exponent += negative ? -e : e;
			p = q;
		}
	}
	*s = p;
	return 0;
}

enum rounding {
	ROUND_NEAREST, /* half up; not 0 but below 1: -ERANGE */
	ROUND_EXACT,   /* anything left over: -EINVAL */
};

/* *out = d * factor. */
static int decimal_scale(const struct decimal *d, uint64_t factor, enum rounding rounding, uint64_t *out)
{
	u128 v = d->digits;
	u128 divisor = 1;
	int e = d->exponent;

	*out = 0;
	if (v == 0)
		return 0;
	v *= factor;
	for (; e > 0; e--) {
		if (__builtin_mul_overflow(v, (u128)10, &v))
			return -ERANGE;
	}
	for (; e < 0; e++) {
		if (__builtin_mul_overflow(divisor, (u128)10, &divisor))
			return rounding == ROUND_EXACT ? -EINVAL : -ERANGE;
	}
	u128 whole = v / divisor;
	u128 rest = v % divisor;

	if (rounding == ROUND_EXACT && (rest || d->lost))
		return -EINVAL;
	if (whole == 0)
		return -ERANGE;
	whole += rest >= divisor - rest && rest ? 1 : 0;
	if (whole > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)whole;
	return 0;
}

/* k, M, G, T; with binary also Ki, Mi, Gi, Ti. */
static uint64_t accept_prefix(const char **s, bool binary)
{
	static const char letters[] = "kmgt";
	const char *letter = **s ? strchr(letters, lower(**s)) : NULL;
	uint64_t factor = 1;

	if (!letter)
		return 1;
	(*s)++;
	bool power_of_two = binary && accept(s, "i");

	for (const char *p = letters; p <= letter; p++)
		factor *= power_of_two ? 1024 : 1000;
	return factor;
}

static bool is_unlimited(const char *s)
{
	static const char *const words[] = {"unlimited", "none", "line-rate", "linerate", "max", "off"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(s, words[i]))
			return true;
	}
	return false;
}

/* What the rates share; units ends with NULL, longer words come before their beginnings. */
static int parse_rate(const char *s, const char *const *units, bool layers, struct rate *out)
{
	struct decimal d;
	struct rate r = {.kind = RATE_VALUE, .layer = layers ? RATE_L1 : (enum rate_layer)0};

	if (is_unlimited(s)) {
		r.kind = RATE_UNLIMITED;
		*out = r;
		return 0;
	}
	s = skip_space(s);
	if (decimal_read(&s, &d))
		return -EINVAL;
	s = skip_space(s);
	uint64_t factor = 1;

	if (accept(&s, "%")) {
		r.kind = RATE_PERCENT;
	} else {
		factor = accept_prefix(&s, true);
		s = skip_space(s);
		while (*units && !accept(&s, *units))
			units++;
		s = skip_space(s);
		if (layers && lower(s[0]) == 'l' && s[1] >= '1' && s[1] <= '3') {
			r.layer = (enum rate_layer)(s[1] - '0');
			s += 2;
		}
	}
	if (*skip_space(s))
		return -EINVAL;
	int rc = decimal_scale(&d, factor * RATE_MICRO, ROUND_NEAREST, &r.micro);

	if (rc)
		return rc;
	if (r.kind == RATE_PERCENT && (r.micro == 0 || r.micro > 100 * RATE_MICRO))
		return -ERANGE;
	if (r.micro == 0)
		r.kind = RATE_UNLIMITED;
	*out = r;
	return 0;
}

int units_parse_pps(const char *s, struct rate *out)
{
	static const char *const units[] = {"pps", "p/s", NULL};

	return parse_rate(s, units, false, out);
}

int units_parse_bps(const char *s, struct rate *out)
{
	static const char *const units[] = {"bps", "bit/s", "bits/s", "bits", "bit", "b/s", NULL};

	return parse_rate(s, units, true, out);
}

int units_parse_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {
		/* Micro sign and Greek mu, in UTF-8. */
		{"ns", 1},         {"us", NS_PER_US}, {"\xc2\xb5s", NS_PER_US}, {"\xce\xbcs", NS_PER_US},
		{"ms", NS_PER_MS}, {"s", NS_PER_S},   {"m", 60 * NS_PER_S},     {"h", 3600 * NS_PER_S},
	};
	const size_t n_units = sizeof(units) / sizeof(units[0]);
	uint64_t total = 0;
	bool first = true;

	s = skip_space(s);
	do {
		struct decimal d;
		uint64_t part;
		size_t u = 0;

		if (decimal_read(&s, &d))
			return -EINVAL;
		s = skip_space(s);
		if (!*s && first && d.digits == 0) {
			*ns = 0;
			return 0;
		}
		while (u < n_units && !accept(&s, units[u].word))
			u++;
		if (u == n_units)
			return -EINVAL;
		int rc = decimal_scale(&d, units[u].ns, ROUND_NEAREST, &part);

		if (rc)
			return rc;
		if (__builtin_add_overflow(total, part, &total))
			return -ERANGE;
		s = skip_space(s);
		first = false;
	} while (*s);
	*ns = total;
	return 0;
}

int units_parse_size(const char *s, uint64_t *bytes)
{
	uint64_t v = 0;

	s = skip_space(s);
	if (!is_digit(*s))
		return -EINVAL;
	bool overflow = false;

	for (; is_digit(*s); s++)
		overflow |= __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v);
	s = skip_space(s);
	accept(&s, "b");
	if (*skip_space(s))
		return -EINVAL;
	if (overflow)
		return -ERANGE;
	*bytes = v;
	return 0;
}

int units_parse_count(const char *s, uint64_t *n)
{
	struct decimal d;

	s = skip_space(s);
	if (decimal_read(&s, &d))
		return -EINVAL;
	s = skip_space(s);
	uint64_t factor = accept_prefix(&s, false);

	if (*skip_space(s))
		return -EINVAL;
	return decimal_scale(&d, factor, ROUND_EXACT, n);
}

#define RATIO_ONE 1000000000000ULL

int units_parse_ratio(const char *s, struct ratio *out)
{
	struct decimal d;
	uint64_t v;
	bool percent;
	int rc;

	s = skip_space(s);
	if (decimal_read(&s, &d))
		return -EINVAL;
	s = skip_space(s);
	percent = accept(&s, "%");
	if (*skip_space(s))
		return -EINVAL;
	rc = decimal_scale(&d, percent ? RATIO_ONE / 100 : RATIO_ONE, ROUND_NEAREST, &v);
	if (rc)
		return rc;
	if (v > RATIO_ONE)
		return -ERANGE;
	*out = (struct ratio){.set = true, .pico = v};
	return 0;
}
