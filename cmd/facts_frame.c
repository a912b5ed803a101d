/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_frame.h"

#include "lib/option.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 512

/* Adds to a text, as much as fits. */
__attribute__((format(printf, 2, 3))) static void add(char text[TEXT_MAX], const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, TEXT_MAX - n, fmt, ap);
	va_end(ap);
}

/* Between two of a list. */
static const char *comma(const char *text)
{
	return text[0] ? ", " : "";
}

static void tags(const struct config *cfg, char text[TEXT_MAX])
{
	if (!cfg->vlan)
		return;
	add(text, "802.1Q id %u", cfg->vlan);
	if (cfg->outer_vlan)
		add(text, " in 0x%04x id %u", (unsigned)cfg->outer_type, cfg->outer_vlan);
	if (cfg->vlan_priority || cfg->vlan_dei)
		add(text, ", priority %u%s", cfg->vlan_priority, cfg->vlan_dei ? ", DEI" : "");
}

static void labels(const struct config *cfg, char text[TEXT_MAX])
{
	add(text, "%s", cfg->mpls);
}

static void tunnel(const struct config *cfg, char text[TEXT_MAX])
{
	add(text, "%s", cfg->tunnel);
}

static void ip_fields(const struct config *cfg, char text[TEXT_MAX])
{
	if (option_given(cfg, OPTION_DSCP))
		add(text, "DSCP %u", cfg->dscp);
	if (option_given(cfg, OPTION_ECN))
		add(text, "%sECN %u", comma(text), cfg->ecn);
	if (option_given(cfg, OPTION_TTL))
		add(text, "%s%s %u", comma(text), cfg->dst_ip.ip.family == 6 ? "hop limit" : "TTL", cfg->ttl);
	if (cfg->df)
		add(text, "%sDF", comma(text));
	if (option_given(cfg, OPTION_IP_ID))
		add(text, "%sid %u", comma(text), cfg->ip_id);
	if (option_given(cfg, OPTION_FLOW_LABEL))
		add(text, "%sflow label %u", comma(text), (unsigned)cfg->flow_label);
}

static void udp_checksum(const struct config *cfg, char text[TEXT_MAX])
{
	if (cfg->udp_checksum != CHECK_ON)
		add(text, "%s", cfg->udp_checksum == CHECK_OFF ? "off" : "bad");
}

static void payload(const struct config *cfg, char text[TEXT_MAX])
{
	static const char *const patterns[] = {[PATTERN_COUNT8] = "counts in bytes",
					       [PATTERN_COUNT16] = "counts in 16-bit words",
					       [PATTERN_COUNT32] = "counts in 32-bit words"};

	if (cfg->payload_pattern != PATTERN_NONE)
		add(text, "%s", patterns[cfg->payload_pattern]);
	else if (cfg->payload_text[0])
		add(text, "\"%s\" over and over", cfg->payload_text);
	else if (cfg->payload_hex[0])
		add(text, "hexadecimal %s over and over", cfg->payload_hex);
	else if (cfg->payload_file[0])
		add(text, "the bytes of %s over and over", cfg->payload_file);
	else if (option_given(cfg, OPTION_PAYLOAD_BYTE))
		add(text, "bytes 0x%02x", cfg->payload_byte);
}

/* What --vary asked for, as it was asked. */
static void varies(const struct config *cfg, char text[TEXT_MAX])
{
	for (unsigned i = 0; i < cfg->vary.n; i++)
		add(text, "%s%s", i ? "," : "", cfg->vary.text[i]);
}

static const struct {
	const char *key, *label;
	void (*tell)(const struct config *cfg, char text[TEXT_MAX]);
} kinds[] = {
	{"vlan", "VLAN", tags},
	{"mpls", "MPLS", labels},
	{"tunnel", "tunnel", tunnel},
	{"ip", "IP", ip_fields},
	{"udp_checksum", "UDP checksum", udp_checksum},
	{"payload", "payload", payload},
	{"vary", "varies", varies},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

void facts_frame(struct report_plan *facts, const struct config *cfg)
{
	for (unsigned i = 0; i < KINDS; i++) {
		char text[TEXT_MAX] = "";

		kinds[i].tell(cfg, text);
		if (text[0])
			report_fact_add(facts, kinds[i].key, kinds[i].label, "%s", text);
	}
}

char *facts_frame_line(const struct config *cfg, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < KINDS && n < size; i++) {
		char text[TEXT_MAX] = "";

		kinds[i].tell(cfg, text);
		if (text[0])
			n += (size_t)snprintf(buf + n, size - n, ", %s %s", kinds[i].label, text);
	}
	return buf;
}
