/* SPDX-License-Identifier: Apache-2.0 */
#include "json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Length of the well-formed sequence at s, 0 if there is none: the table of RFC 3629 section 4. The final NUL is no
 * continuation byte, so nothing behind it is read. */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80;
	unsigned char high = 0xBF;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xC2 || s[0] > 0xF4)
		return 0;
	length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
	if (s[0] == 0xE0)
		low = 0xA0; /* shorter forms exist */
	if (s[0] == 0xED)
		high = 0x9F; /* surrogates */
	if (s[0] == 0xF0)
		low = 0x90; /* shorter forms exist */
	if (s[0] == 0xF4)
		high = 0x8F; /* above U+10FFFF */
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	return length;
}

json_t *json_value_text(const char *s)
{
	size_t used = 0;
	json_t *value;
	char *clean;

	if (!s)
		return json_null();
	clean = malloc(strlen(s) * (sizeof(replacement) - 1) + 1);
	if (!clean)
		return NULL;
	while (*s) {
		size_t length = utf8_length((const unsigned char *)s);
		const char *from = length ? s : replacement;
		size_t n = length ? length : sizeof(replacement) - 1;

		memcpy(clean + used, from, n);
		used += n;
		s += length ? length : 1;
	}
	value = json_stringn_nocheck(clean, used);
	free(clean);
	return value;
}

json_t *json_value_count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *json_value_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}
