/* SPDX-License-Identifier: Apache-2.0 */
#include "pace.h"

#include "lib/ether.h"
#include "lib/option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S_MICRO 1000000000000000ULL

/* Products of rates and nanoseconds need more than 64 bits. */
__extension__ typedef unsigned __int128 uint128;

/*
 * The time between packets, from a rate in micro units a second and units a packet. Rounded up to 2^-32 ns, so that
 * N / r seconds hold N packets and never one more.
 */
static int interval_of(uint128 micro, uint64_t units, struct pacer_rate *out)
{
	uint128 ns = (uint128)NS_PER_S_MICRO * units / micro;
	uint128 rest = (uint128)NS_PER_S_MICRO * units % micro;
	uint128 fixed = (ns << 32) + ((rest << 32) + micro - 1) / micro;

	if (ns > PACER_INTERVAL_MAX_NS)
		return -ERANGE;
	out->ns = (uint64_t)(fixed >> 32);
	out->frac = (uint32_t)fixed;
	return 0;
}

bool pace_profile(const struct config *cfg, uint64_t *packets, uint64_t *time_ns)
{
	const char *s = cfg->burst_profile;
	const char *slash = strchr(s, '/');
	char count[32];

	*packets = *time_ns = 0;
	if (!*s || strcmp(s, "continuous") == 0)
		return true;
	if (!slash)
		return units_parse_count(s, packets) == 0 && *packets > 0;
	if ((size_t)(slash - s) >= sizeof(count))
		return false;
	snprintf(count, sizeof(count), "%.*s", (int)(slash - s), s);
	return units_parse_count(count, packets) == 0 && units_parse_time(slash + 1, time_ns) == 0 && *packets > 0 &&
	       *packets <= PACE_BURST_MAX && *time_ns >= PACE_TIME_MIN_NS && *time_ns <= PACER_INTERVAL_MAX_NS;
}

static bool is_none(const struct rate *r)
{
	return r->kind == RATE_UNSET || r->kind == RATE_UNLIMITED;
}

bool pace_is_unlimited(const struct config *cfg)
{
	uint64_t packets, time_ns;

	return !(pace_profile(cfg, &packets, &time_ns) && time_ns) && is_none(&cfg->pps) && is_none(&cfg->bps);
}

uint64_t pace_count(const struct config *cfg)
{
	uint64_t packets, time_ns;

	if (!pace_profile(cfg, &packets, &time_ns) || !packets || time_ns)
		return cfg->count;
	return cfg->count && cfg->count < packets ? cfg->count : packets;
}

void pace_check(const struct config *cfg, struct problems *p)
{
	uint64_t packets, time_ns;

	if (!pace_profile(cfg, &packets, &time_ns)) {
		err_hint(problem_add(p, "--burst-profile",
				     "'%s' is neither continuous nor N packets, nor N/TIME with 1 to %u packets every "
				     "1us to 1h",
				     cfg->burst_profile, PACE_BURST_MAX),
			 "--burst-profile 64/10ms");
		return;
	}
	if (!time_ns)
		packets = 0; /* which says how many, and nothing of when */
	if (cfg->spacing == SPACING_POISSON && pace_is_unlimited(cfg))
		problem_add(p, "--spacing", "without a rate there is no time between packets: give --pps or --bps");
	if (!packets)
		return;
	if (cfg->spacing == SPACING_POISSON)
		problem_add(p, "--burst-profile", "bursts on time and --spacing poisson exclude each other");
	if (option_given(cfg, OPTION_PPS) || option_given(cfg, OPTION_BPS))
		problem_add(p, "--burst-profile", "N packets every TIME are a rate already: leave out --pps and --bps");
	if (cfg->pcap_timing == PCAP_TIMING_ORIGINAL)
		problem_add(p, "--burst-profile", "--pcap-timing original has the capture's own times instead");
}

double pace_pps(const struct tx_pace *pace)
{
	double ns = (double)pace->interval.ns + (double)pace->interval.frac / 4294967296.0;

	return ns > 0 ? 1e9 / ns * (pace->group ? pace->group : 1) : -1;
}

static bool slower(const struct pacer_rate *a, const struct pacer_rate *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->frac > b->frac);
}

static uint64_t bits_in_layer(const struct pace_load *load, enum rate_layer layer)
{
	uint64_t bytes = load->bytes + load->packets * FCS_BYTES;

	if (layer == RATE_L3)
		bytes = load->l3_bytes;
	else if (layer != RATE_L2)
		bytes += load->packets * L1_EXTRA_BYTES;
	return bytes * 8;
}

static int slow_down(struct tx_pace *pace, const struct rate *r, bool bits, const char *option,
		     const struct pace_load *load, uint64_t link_bps, struct err *e)
{
	struct pacer_rate interval;
	uint128 micro = r->micro;
	uint64_t units = 1;

	if (is_none(r))
		return 0;
	if (r->kind == RATE_PERCENT) {
		if (!link_bps) {
			err_set(e, -EINVAL, EXIT_USAGE, "cannot set the rate", option,
				"a percentage needs the link's speed, which the interface does not tell");
			err_hint(e, "give the rate as --pps or --bps");
			return -EINVAL;
		}
		micro = micro * link_bps / 100;
	}
	if (bits || r->kind == RATE_PERCENT) {
		units = bits_in_layer(load, r->kind == RATE_PERCENT ? RATE_L1 : r->layer);
		micro *= load->packets;
	}
	if (!micro || interval_of(micro, units, &interval))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot set the rate", option,
			       "less than one packet in an hour");
	if (slower(&interval, &pace->interval))
		pace->interval = interval;
	return 0;
}

struct pace_load pace_load_of(const struct tx_plan *plan)
{
	struct pace_load load = {.packets = plan->n_cycle};

	for (unsigned i = 0; i < plan->n_cycle; i++) {
		uint32_t len = plan->sizes[plan->cycle[i]].len;

		load.bytes += len;
		load.l3_bytes += len - plan->l3;
	}
	return load;
}

int pace_of(const struct config *cfg, uint64_t link_bps, const struct pace_load *load, struct tx_pace *pace,
	    struct err *e)
{
	uint64_t packets, time_ns;

	*pace = (struct tx_pace){.burst = cfg->burst, .seed = cfg->seed, .poisson = cfg->spacing == SPACING_POISSON};
	if (pace_profile(cfg, &packets, &time_ns) && time_ns) {
		pace->interval.ns = time_ns;
		pace->group = (uint32_t)packets;
		return 0;
	}
	if (slow_down(pace, &cfg->pps, false, "--pps", load, link_bps, e) ||
	    slow_down(pace, &cfg->bps, true, "--bps", load, link_bps, e))
		return -EINVAL;
	return 0;
}
