/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The code point at s, and its bytes; 0 bytes: it is no UTF-8 (RFC 3629). */
static unsigned code_point(const unsigned char *s, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fU >> n);

	*out = 0;
	for (unsigned i = 1; i < n; i++) {
		if (s[i] >> 6 != 2) /* the text's end as well */
			return 0;
		c = c << 6 | (s[i] & 0x3fU);
	}
	*out = c;
	return n && c >= least[n] && c <= 0x10ffff && c >> 11 != 0xd800 >> 11 ? n : 0;
}

static bool is_utf8(const unsigned char *s)
{
	uint32_t c;

	while (*s) {
		unsigned n = code_point(s, &c);

		if (!n)
			return false;
		s += n;
	}
	return true;
}

/* What a reader of YAML refuses, takes for the end of a line, or for a byte order mark. */
static bool needs_escape(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe ||
	       c == 0xffff;
}

static void write_quoted(const unsigned char *s, FILE *to)
{
	uint32_t c;

	putc('"', to);
	for (unsigned n; *s; s += n) {
		n = code_point(s, &c);
		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", (int)c);
		else if (needs_escape(c))
			fprintf(to, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
		else
			fwrite(s, 1, n, to);
	}
	putc('"', to);
}

static void write_binary(const unsigned char *s, size_t n, FILE *to)
{
	fputs("!!binary \"", to);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v =
			(uint32_t)s[i] << 16 | (i + 1 < n ? (uint32_t)s[i + 1] << 8 : 0) | (i + 2 < n ? s[i + 2] : 0);

		for (unsigned k = 0; k < 4; k++)
			putc(i + k <= n ? digits[v >> (18 - 6 * k) & 0x3f] : '=', to);
	}
	putc('"', to);
}

void yaml_text_write(const char *text, FILE *to)
{
	const unsigned char *s = (const unsigned char *)text;

	if (isalnum(s[0]) && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
						"0123456789._/%-")])
		fputs(text, to);
	else if (is_utf8(s))
		write_quoted(s, to);
	else
		write_binary(s, strlen(text), to);
}

int yaml_text_decode(const char *base64, char *out, size_t size)
{
	uint32_t bits = 0;
	unsigned n = 0; /* of digits */
	unsigned pads = 0;
	size_t used = 0;

	for (; *base64; base64++) {
		const char *digit = strchr(digits, *base64);

		if (isspace((unsigned char)*base64))
			continue;
		if (*base64 == '=' && ++pads <= 2)
			continue;
		if (!digit || pads)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)(digit - digits);
		if (n++ % 4 == 0) /* six bits are no byte yet */
			continue;
		if (used + 1 >= size)
			return -E2BIG;
		out[used] = (char)(bits >> (6 - 2 * ((n - 1) % 4)));
		if (!out[used++])
			return -EINVAL;
	}
	if ((n + pads) % 4 || n % 4 == 1)
		return -EINVAL;
	out[used] = '\0';
	return 0;
}
