/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Exact, where units_format_time() rounds for people. */
static void format_time(uint64_t ns, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	unsigned u = 0;

	while (ns % units[u].ns)
		u++;
	snprintf(buf, size, "%" PRIu64 "%s", ns / units[u].ns, ns ? units[u].unit : "");
}

static void format_number(const struct option_row *row, uint64_t v, char *buf, size_t size)
{
	if (row->zero_word && v == 0)
		snprintf(buf, size, "%s", row->zero_word);
	else if (row->type == OPTION_TYPE_TIME)
		format_time(v, buf, size);
	else
		snprintf(buf, size, row->type == OPTION_TYPE_HEX16 ? "0x%" PRIx64 : "%" PRIu64, v);
}

static void format_choice(const struct option_row *row, int v, char *buf, size_t size)
{
	const struct option_choice *c = row->choices;

	while (c->name && c->value != v)
		c++;
	snprintf(buf, size, "%s", c->name ? c->name : "");
}

/* Appends one item of a comma-separated list and returns the new length. */
static size_t append_item(char *buf, size_t size, size_t used, const char *item)
{
	int n = used < size ? snprintf(buf + used, size - used, "%s%s", used ? "," : "", item) : 0;

	return used + (n > 0 ? (size_t)n : 0);
}

static void format_ports(const struct config_ports *list, char *buf, size_t size)
{
	size_t used = 0;
	char item[16];

	for (unsigned i = 0; i < list->n; i++) {
		snprintf(item, sizeof(item), "%u", list->port[i]);
		used = append_item(buf, size, used, item);
	}
}

/* Runs of neighbours as ranges. */
static void format_cpus(const struct config_cpus *list, char *buf, size_t size)
{
	size_t used = 0;
	char item[16];

	for (unsigned i = 0; i < list->n; i++) {
		unsigned first = list->cpu[i];

		while (i + 1U < list->n && list->cpu[i + 1] == list->cpu[i] + 1)
			i++;
		if (list->cpu[i] == first)
			snprintf(item, sizeof(item), "%u", first);
		else
			snprintf(item, sizeof(item), "%u-%u", first, list->cpu[i]);
		used = append_item(buf, size, used, item);
	}
}

static void format_filters(const struct config_filters *list, char *buf, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < list->n; i++)
		used = append_item(buf, size, used, list->text[i]);
}

char *option_format(const struct option_row *row, const void *field, char *buf, size_t size)
{
	buf[0] = '\0';
	switch (row->type) {
	case OPTION_TYPE_BOOL:
		snprintf(buf, size, "%s", *(const bool *)field ? "true" : "false");
		break;
	case OPTION_TYPE_U16:
	case OPTION_TYPE_HEX16:
		format_number(row, *(const uint16_t *)field, buf, size);
		break;
	case OPTION_TYPE_U32:
	case OPTION_TYPE_SIZE:
		format_number(row, *(const uint32_t *)field, buf, size);
		break;
	case OPTION_TYPE_COUNT:
	case OPTION_TYPE_TIME:
		format_number(row, *(const uint64_t *)field, buf, size);
		break;
	case OPTION_TYPE_PPS:
	case OPTION_TYPE_BPS:
		units_format_rate(field, buf, size);
		break;
	case OPTION_TYPE_RATIO:
		units_format_ratio(field, buf, size);
		break;
	case OPTION_TYPE_ENUM:
		format_choice(row, *(const int *)field, buf, size);
		break;
	case OPTION_TYPE_IP:
		if (((const struct ip *)field)->family && size >= IP_STRLEN)
			ip_format(field, buf);
		break;
	case OPTION_TYPE_PREFIX:
		if (((const struct prefix *)field)->ip.family && size >= PREFIX_STRLEN)
			prefix_format(field, buf);
		break;
	case OPTION_TYPE_MAC:
		if (!mac_is_zero(field) && size >= MAC_STRLEN)
			mac_format(field, buf);
		break;
	case OPTION_TYPE_CPUS:
		format_cpus(field, buf, size);
		break;
	case OPTION_TYPE_PORTS:
		format_ports(field, buf, size);
		break;
	case OPTION_TYPE_FILTERS:
		format_filters(field, buf, size);
		break;
	case OPTION_TYPE_STRING:
	case OPTION_TYPE_FILE:
		snprintf(buf, size, "%s", (const char *)field);
		break;
	}
	return buf;
}

static const char *type_max(const struct option_row *row)
{
	switch (row->type) {
	case OPTION_TYPE_U16:
	case OPTION_TYPE_HEX16:
		return "65535";
	case OPTION_TYPE_U32:
	case OPTION_TYPE_SIZE:
		return "4294967295";
	case OPTION_TYPE_TIME:
		return "292 years"; /* OPTION_TIME_MAX */
	default:
		return "18446744073709551615";
	}
}

char *option_range(const struct option_row *row, char *buf, size_t size)
{
	char lo[32];
	char hi[32];

	switch (row->type) {
	case OPTION_TYPE_PPS:
	case OPTION_TYPE_BPS:
		snprintf(buf, size, "0.000001 to 18.4T, or more than 0%% and at most 100%%");
		break;
	case OPTION_TYPE_RATIO:
		snprintf(buf, size, "0 to 1, or 0%% to 100%%");
		break;
	case OPTION_TYPE_PORTS:
		snprintf(buf, size, "1 to 65535");
		break;
	case OPTION_TYPE_CPUS:
		snprintf(buf, size, "0 to 65535, the smaller one first");
		break;
	case OPTION_TYPE_U16:
	case OPTION_TYPE_HEX16:
	case OPTION_TYPE_U32:
	case OPTION_TYPE_SIZE:
	case OPTION_TYPE_COUNT:
	case OPTION_TYPE_TIME:
		format_number(row, row->min, lo, sizeof(lo));
		format_number(row, row->max, hi, sizeof(hi));
		/* Where 0 is out of range, only its word is meant. */
		snprintf(buf, size, "%s to %s%s%s", lo, row->max ? hi : type_max(row),
			 row->min && row->zero_word ? ", or " : "", row->min && row->zero_word ? row->zero_word : "");
		break;
	default:
		buf[0] = '\0';
	}
	return buf;
}

char *option_choices(const struct option_row *row, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (const struct option_choice *c = row->choices; c && c->name; c++) {
		int n = snprintf(buf + used, size - used, "%s%s", used ? ", " : "", c->name);

		used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
	}
	return buf;
}
