/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Text without the white space around it, in lower case where the type says so. */
struct token {
	char text[OPTION_TEXT_MAX];
};

static int token_take(struct token *t, const char *text, size_t n, bool lower)
{
	for (; n && isspace((unsigned char)*text); text++)
		n--;
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	if (n >= sizeof(t->text))
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		t->text[i] = lower ? (char)tolower((unsigned char)text[i]) : text[i];
	t->text[n] = '\0';
	return 0;
}

/* Decimal, or hexadecimal after 0x. */
static int read_whole(const char *text, uint64_t *v)
{
	unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	int rc = 0;

	text += base == 16 ? 2 : 0;
	if (!*text)
		return -EINVAL;
	for (*v = 0; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (base == 16 ? !isxdigit(c) : !isdigit(c))
			return -EINVAL;
		unsigned digit = isdigit(c) ? c - (unsigned)'0' : (unsigned)tolower(c) - 'a' + 10;

		if (__builtin_mul_overflow(*v, (uint64_t)base, v) || __builtin_add_overflow(*v, (uint64_t)digit, v))
			rc = -ERANGE;
	}
	return rc;
}

static int read_number(const struct option_row *row, const char *text, uint64_t *v)
{
	switch (row->type) {
	case OPTION_TYPE_SIZE:
		return units_parse_size(text, v);
	case OPTION_TYPE_COUNT:
		return units_parse_count(text, v);
	case OPTION_TYPE_TIME:
		return units_parse_time(text, v);
	default:
		return read_whole(text, v);
	}
}

static int read_in_range(const struct option_row *row, const char *text, uint64_t *v)
{
	uint64_t max = row->max ? row->max : row->size < sizeof(*v) ? (1ULL << (row->size * 8)) - 1 : UINT64_MAX;

	if (row->type == OPTION_TYPE_TIME && max > OPTION_TIME_MAX)
		max = OPTION_TIME_MAX;
	if (row->zero_word && strcmp(text, row->zero_word) == 0) {
		*v = 0;
		return 0;
	}

	int rc = read_number(row, text, v);

	return rc ? rc : *v < row->min || *v > max ? -ERANGE : 0;
}

static int read_bool(const char *text, bool *v)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i]) == 0) {
			*v = i % 2;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_choice(const struct option_row *row, const char *text, int *v)
{
	for (const struct option_choice *c = row->choices; c->name; c++) {
		if (strcmp(text, c->name) == 0) {
			*v = c->value;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_string(const struct option_row *row, const char *text, char *v)
{
	size_t n = strlen(text);

	if (n == 0)
		return -EINVAL;
	if (n >= row->size)
		return -E2BIG;
	memcpy(v, text, n + 1);
	return 0;
}

static int add_port(const char *item, void *field)
{
	struct config_ports *list = field;
	uint64_t v;
	int rc = read_whole(item, &v);

	if (rc)
		return rc;
	if (v < 1 || v > UINT16_MAX)
		return -ERANGE;
	if (list->n == CONFIG_PORTS_MAX)
		return -E2BIG;
	list->port[list->n++] = (uint16_t)v;
	return 0;
}

/* "5" or "0-3". */
static int add_cpus(const char *item, void *field)
{
	struct config_cpus *list = field;
	const char *dash = strchr(item, '-');
	struct token first = {0};
	uint64_t lo, hi;
	int rc = token_take(&first, item, dash ? (size_t)(dash - item) : strlen(item), false);

	if (!rc)
		rc = read_whole(first.text, &lo);
	if (rc)
		return rc;
	hi = lo;
	if (dash)
		rc = read_whole(dash + 1, &hi);
	if (rc)
		return rc;
	if (lo > hi || hi > UINT16_MAX)
		return -ERANGE;
	for (; lo <= hi; lo++) {
		if (list->n == CONFIG_CPUS_MAX)
			return -E2BIG;
		list->cpu[list->n++] = (uint16_t)lo;
	}
	return 0;
}

static int add_filter(const char *item, void *field)
{
	struct config_filters *list = field;
	size_t n = strlen(item);

	if (list->n == CONFIG_FILTERS_MAX || n >= CONFIG_FILTER_STRLEN)
		return -E2BIG;
	memcpy(list->text[list->n++], item, n + 1);
	return 0;
}

static int read_list(const char *text, int (*add)(const char *item, void *field), void *field)
{
	struct token item = {0};
	int rc;

	do {
		size_t n = strcspn(text, ",");

		rc = token_take(&item, text, n, false);
		if (!rc)
			rc = item.text[0] ? add(item.text, field) : -EINVAL;
		text += n;
	} while (!rc && *text++);
	return rc;
}

int option_read(const struct option_row *row, const char *text, void *field)
{
	bool word = row->type == OPTION_TYPE_ENUM || row->type == OPTION_TYPE_BOOL || row->zero_word;
	struct token t = {0};
	uint64_t v;
	int rc;

	if (row->type == OPTION_TYPE_STRING || row->type == OPTION_TYPE_FILE)
		return read_string(row, text, field);
	rc = token_take(&t, text, strlen(text), word);
	if (rc)
		return option_is_list(row) ? rc : -EINVAL;
	switch (row->type) {
	case OPTION_TYPE_BOOL:
		return read_bool(t.text, field);
	case OPTION_TYPE_U16:
	case OPTION_TYPE_HEX16:
		rc = read_in_range(row, t.text, &v);
		if (!rc)
			*(uint16_t *)field = (uint16_t)v;
		return rc;
	case OPTION_TYPE_U32:
	case OPTION_TYPE_SIZE:
		rc = read_in_range(row, t.text, &v);
		if (!rc)
			*(uint32_t *)field = (uint32_t)v;
		return rc;
	case OPTION_TYPE_COUNT:
	case OPTION_TYPE_TIME:
		rc = read_in_range(row, t.text, &v);
		if (!rc)
			*(uint64_t *)field = v;
		return rc;
	case OPTION_TYPE_PPS:
		return units_parse_pps(t.text, field);
	case OPTION_TYPE_RATIO:
		return units_parse_ratio(t.text, field);
	case OPTION_TYPE_BPS:
		return units_parse_bps(t.text, field);
	case OPTION_TYPE_ENUM:
		return read_choice(row, t.text, field);
	case OPTION_TYPE_IP:
		return ip_parse(t.text, field);
	case OPTION_TYPE_PREFIX:
		return prefix_parse(t.text, field);
	case OPTION_TYPE_MAC:
		return mac_parse(t.text, field);
	case OPTION_TYPE_CPUS:
		return read_list(t.text, add_cpus, field);
	case OPTION_TYPE_PORTS:
		return read_list(t.text, add_port, field);
	case OPTION_TYPE_FILTERS:
		return read_list(t.text, add_filter, field);
	default:
		return -EINVAL;
	}
}

const char *option_expects(const struct option_row *row)
{
	if (row->expects)
		return row->expects;
	switch (row->type) {
	case OPTION_TYPE_BOOL:
		return "true or false";
	case OPTION_TYPE_U16:
	case OPTION_TYPE_U32:
		return "a whole number";
	case OPTION_TYPE_HEX16:
		return "a whole number, decimal or as in 0x5a";
	case OPTION_TYPE_SIZE:
		return "a size in bytes";
	case OPTION_TYPE_COUNT:
		return "a whole number such as 1000, 20k or 1M";
	case OPTION_TYPE_TIME:
		return "a time with its unit, such as 30s, 5m, 1h30m or 200ms";
	case OPTION_TYPE_RATIO:
		return "a share such as 0.001, 0.1% or 0";
	case OPTION_TYPE_PPS:
		return "a rate such as 100k, 2.5M, 80% or unlimited";
	case OPTION_TYPE_BPS:
		return "a bit rate such as 10G, 2.5Gbit/s, 9.5Gbpsl2, 80% or unlimited";
	case OPTION_TYPE_ENUM:
		return "one of the words";
	case OPTION_TYPE_IP:
		return "an IPv4 or IPv6 address";
	case OPTION_TYPE_PREFIX:
		return "an IPv4 or IPv6 address or prefix such as 192.0.2.0/24";
	case OPTION_TYPE_MAC:
		return "a MAC address such as 02:00:00:00:00:01";
	case OPTION_TYPE_CPUS:
		return "a list of CPUs such as 0-3,5";
	case OPTION_TYPE_PORTS:
		return "a list of ports such as 53,9000";
	case OPTION_TYPE_FILTERS:
		return "a list with commas, as in proto=udp,dst-port=9000";
	case OPTION_TYPE_STRING:
		return "a name";
	case OPTION_TYPE_FILE:
		return "a file name";
	}
	return "";
}

char *option_limit(const struct option_row *row, char *buf, size_t size)
{
	switch (row->type) {
	case OPTION_TYPE_CPUS:
		snprintf(buf, size, "at most %d CPUs", CONFIG_CPUS_MAX);
		break;
	case OPTION_TYPE_PORTS:
		snprintf(buf, size, "at most %d ports", CONFIG_PORTS_MAX);
		break;
	case OPTION_TYPE_FILTERS:
		snprintf(buf, size, "at most %d items of at most %d characters", CONFIG_FILTERS_MAX,
			 CONFIG_FILTER_STRLEN - 1);
		break;
	default:
		snprintf(buf, size, "at most %zu characters", row->size - 1);
	}
	return buf;
}

bool option_is_list(const struct option_row *row)
{
	return row->type == OPTION_TYPE_CPUS || row->type == OPTION_TYPE_PORTS || row->type == OPTION_TYPE_FILTERS;
}
