/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_options.h"

#include "lib/option_row.h"
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A thousandth to a thousand times the captured speed, in millionths. */
#define SPEED_MIN 1000ULL
#define SPEED_MAX 1000000000ULL

/* "2x", "0.5x", "2": what stands before the x is read like a rate. */
static int speed_parse(const char *text, uint64_t *micro)
{
	char number[32];
	struct rate r;
	size_t len = strlen(text);

	if (len && (text[len - 1] == 'x' || text[len - 1] == 'X'))
		len--;
	if (!len || len >= sizeof(number) || strspn(text, "0123456789.") != len)
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';
	if (units_parse_pps(number, &r) || r.kind != RATE_VALUE || r.micro < SPEED_MIN || r.micro > SPEED_MAX)
		return -EINVAL;
	*micro = r.micro;
	return 0;
}

typedef int rewrite_fn(struct pcap_rewrite *w, const char *text, char *why, unsigned size);

static void read_rewrite(rewrite_fn *fn, struct pcap_rewrite *w, const char *option, const char *text,
			 struct problems *p)
{
	char why[128];

	if (text[0] && fn(w, text, why, sizeof(why)) && p)
		problem_add(p, option, "%s: %s", text, why);
}

void replay_options_read(const struct config *cfg, struct capture_rules *rules, struct problems *p)
{
	struct pcap_rewrite *w = &rules->rewrite;

	if (speed_parse(cfg->pcap_speed, &rules->speed) && p)
		problem_add(p, "--pcap-speed", "\"%s\" must be a number of times, 0.001x to 1000x", cfg->pcap_speed);
	read_rewrite(pcap_rewrite_mac, w, "--rewrite-mac", cfg->rewrite_mac, p);
	read_rewrite(pcap_rewrite_ip, w, "--rewrite-ip", cfg->rewrite_ip, p);
	read_rewrite(pcap_rewrite_vlan, w, "--rewrite-vlan", cfg->rewrite_vlan, p);
	if (!mac_is_zero(&cfg->src_mac)) {
		w->set_src = true;
		w->src = cfg->src_mac;
	}
	if (!mac_is_zero(&cfg->dst_mac)) {
		w->set_dst = true;
		w->dst = cfg->dst_mac;
	}
}

/* What stands in for a generated packet's option. */
static const char *instead_of(unsigned id)
{
	switch (id) {
	case OPTION_SRC_IP:
		return "; --rewrite-ip changes it";
	case OPTION_VLAN:
		return "; --rewrite-vlan changes it";
	default:
		return "";
	}
}

/* Whether an option describes packets that are generated. A converted capture needs MACs, or a way to find them. */
static bool is_generated(unsigned id)
{
	return option_rows[id].section == OPTION_SECTION_PACKETS && id != OPTION_MODE && id != OPTION_SRC_MAC &&
	       id != OPTION_DST_MAC && id != OPTION_DST_IP;
}

/* What was given must have an effect. */
static void check_given(const struct config *cfg, struct problems *p)
{
	const bool pcap = cfg->mode == MODE_PCAP;
	char name[64];

	for (unsigned id = 0; id < OPTION_TOTAL; id++) {
		if (!option_given(cfg, id))
			continue;
		snprintf(name, sizeof(name), "--%s", option_rows[id].name);
		if (pcap && is_generated(id))
			problem_add(p, name, "has no effect on a capture, which brings its own%s", instead_of(id));
		else if (!pcap && option_rows[id].section == OPTION_SECTION_PCAP)
			problem_add(p, name, id == OPTION_PCAP ? "goes with --mode pcap" : "goes with --pcap FILE");
	}
}

void replay_check(const struct config *cfg, struct problems *p)
{
	const bool original = cfg->pcap_timing == PCAP_TIMING_ORIGINAL;
	struct capture_rules rules = {0};

	check_given(cfg, p);
	if (cfg->mode != MODE_PCAP)
		return;
	if (!cfg->pcap[0])
		problem_missing(p, "--pcap", "missing: say which capture to replay");
	replay_options_read(cfg, &rules, p);
	if (original && (option_given(cfg, OPTION_PPS) || option_given(cfg, OPTION_BPS)))
		problem_add(p, "--pcap-timing",
			    "original goes without --pps and --bps: --pcap-speed makes it faster or slower");
	if (original && option_given(cfg, OPTION_SPACING))
		problem_add(p, "--spacing", "has no effect on --pcap-timing original");
	if (!original && option_given(cfg, OPTION_PCAP_SPEED))
		problem_add(p, "--pcap-speed", "goes with --pcap-timing original");
	if (cfg->loop && option_given(cfg, OPTION_PCAP_LOOP) && !cfg->pcap_loop && cfg->loop != 1)
		problem_add(p, "--loop", "more than one pass, but --no-pcap-loop asks for one");
	if (option_given(cfg, OPTION_REWRITE_MAC) && (!mac_is_zero(&cfg->src_mac) || !mac_is_zero(&cfg->dst_mac)))
		problem_add(p, "--rewrite-mac", "goes without --src-mac and --dst-mac, which set them in every frame");
}
