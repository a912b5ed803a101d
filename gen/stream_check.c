/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_check.h"

#include "lib/core/stamp.h"
#include "lib/option.h"
#include "pace.h"
#include "plan_build.h"
#include "stream_cycle.h"
#include "stream_set.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void forget(struct config *c, enum option_id id)
{
	c->given[id / 64] &= ~(1ULL << (id % 64));
}

/* A rate of its own is all that it says of rates. */
static void settle_own_rate(struct config *c)
{
	uint64_t packets, time_ns;

	if (!option_said(c, OPTION_PPS)) {
		c->pps = (struct rate){.kind = RATE_UNSET};
		forget(c, OPTION_PPS);
	}
	if (!option_said(c, OPTION_BPS)) {
		c->bps = (struct rate){.kind = RATE_UNSET};
		forget(c, OPTION_BPS);
	}
	if (!option_said(c, OPTION_BURST_PROFILE) && pace_profile(c, &packets, &time_ns) && time_ns) {
		snprintf(c->burst_profile, sizeof(c->burst_profile), "continuous");
		forget(c, OPTION_BURST_PROFILE);
	}
}

/* ---- problems, with the stream's name and place ---- */

static struct err *tell(const struct config *run, const struct config *c, const char *key, struct problems *p,
			const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static struct err *tell(const struct config *run, const struct config *c, const char *key, struct problems *p,
			const char *fmt, ...)
{
	char object[sizeof(p->e[0].object)];
	char cause[sizeof(p->e[0].cause)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	snprintf(object, sizeof(object), "stream %s: %s", c->name, key);
	return problem_add(p, object, "%s:%u: %s", run->config_file, c->line, cause);
}

/* Told of another stream. */
static bool known(const struct problems *p, const struct err *e)
{
	for (unsigned i = 0; i < p->n && i < PROBLEMS_MAX; i++)
		if (strcmp(p->e[i].object, e->object) == 0 && strncmp(p->e[i].cause, e->cause, strlen(e->cause)) == 0)
			return true;
	return false;
}

/* What a stream only has from the run's options is a problem of those, told once, with the first stream that has it. */
static bool is_runs(const struct config *run, const struct config *c, enum option_id id)
{
	return id < OPTION_TOTAL && option_given(run, id) && !option_said(c, id);
}

/* The option that a problem is with, or OPTION_TOTAL. */
static enum option_id option_of(const struct err *problem)
{
	unsigned i = strncmp(problem->object, "--", 2) == 0 ? 0 : OPTION_TOTAL;

	while (i < OPTION_TOTAL && strcmp(option_name(i), problem->object + 2) != 0)
		i++;
	return i;
}

static void check_one(const struct config *run, const struct config *c, struct problems *p)
{
	/* Starts as the reading of the options ended, for what is passed over where that met problems. */
	static struct problems its;
	const unsigned before = p->n < PROBLEMS_MAX ? p->n : PROBLEMS_MAX;

	its = *p;
	its.n = before;
	gen_check(c, &its);
	for (unsigned i = before; i < its.n && i < PROBLEMS_MAX; i++) {
		struct err *e = &its.e[i], *told;
		const enum option_id id = option_of(e);

		if (strncmp(e->object, "--", 2) == 0 && !is_runs(run, c, id)) {
			told = tell(run, c, e->object + 2, p, "%s", e->cause);
		} else {
			if (known(p, e))
				continue;
			told = problem_add(p, e->object, "%s (stream %s)", e->cause, c->name);
			if (id < OPTION_TOTAL && option_of_streams(id))
				err_hint(told, "it in those streams that can have it");
		}
		if (e->hint[0])
			err_hint(told, "%s", e->hint);
	}
}

/* ---- what streams say about each other ---- */

static bool is_capture(const struct config *c)
{
	return c->mode == MODE_PCAP || c->pcap[0];
}

static void check_part(const struct config *run, const struct config *c, struct problems *p)
{
	const bool own = stream_has_own_rate(c);

	if (is_capture(c))
		tell(run, c, "mode", p, "a capture is replayed alone: give --pcap without streams");
	if (c->mode == MODE_RECEIVE)
		tell(run, c, "mode", p, "a stream is sent: receive is squall recv");
	if (own && option_said(c, OPTION_SHARE) && !pace_is_unlimited(c))
		tell(run, c, "share", p, "it has a rate of its own: a share is of the rate that streams have together");
	if (!own && option_said(c, OPTION_SPACING))
		err_hint(
			tell(run, c, "spacing", p, "it has a share of the run's rate, whose packets are spaced as one"),
			"the run's --spacing, or a rate of its own for the stream");
	if (own && run->count)
		err_hint(tell(run, c, "pps", p,
			      "--count is dealt by shares, and this stream has a rate of its own instead"),
			 "burst-profile: N in each stream");
}

/* Of the streams that share the run's rate, or its lack of one, and of those of no limit. */
static void check_cycle(const struct config *run, bool unlimited, struct problems *p)
{
	uint32_t shares[CONFIG_STREAMS_MAX];
	unsigned n = 0;
	uint64_t len;

	for (unsigned i = 0; i < run->n_streams; i++) {
		const struct config *c = &run->streams[i];
		const bool own = stream_has_own_rate(c);
		const bool free = pace_is_unlimited(own ? c : run);

		if (free == unlimited && (free || !own))
			shares[n++] = c->share;
	}
	len = stream_cycle_len(shares, n);
	if (len > STREAM_CYCLE_MAX)
		problem_add(
			p, "share",
			"the shares of the streams make a round of %" PRIu64
			" packets, and no more than %u can be kept: use smaller numbers of about the same proportion",
			len, STREAM_CYCLE_MAX);
}

void stream_check(struct config *cfg, struct problems *p)
{
	uint64_t flows = 0;

	for (unsigned i = 0; i < cfg->n_streams; i++) {
		struct config *c = &cfg->streams[i];

		if (stream_has_own_rate(c)) {
			settle_own_rate(c);
		} else {
			c->pps = cfg->pps;
			c->bps = cfg->bps;
		}
		flows += c->flows;
	}
	for (unsigned i = 0; i < cfg->n_streams; i++) {
		const struct config *c = &cfg->streams[i];

		check_part(cfg, c, p);
		if (!is_capture(c) && c->mode != MODE_RECEIVE)
			check_one(cfg, c, p);
	}
	if (cfg->rx_mode == RX_MODE_GENERATED_FLOW && cfg->verb == VERB_SEND)
		problem_add(p, "--rx-mode",
			    "generated-flow is of one destination, and each stream has its own: say --filter, or use "
			    "squall pair");
	check_cycle(cfg, false, p);
	check_cycle(cfg, true, p);
	if (cfg->stamp && flows > STAMP_FLOWS)
		problem_add(p, "--stamp", "the streams have %" PRIu64 " flows together, and a stamp can number %u",
			    flows, STAMP_FLOWS);
	if (flows > GEN_FLOWS_MAX)
		problem_add(p, "flows",
			    "the streams have %" PRIu64 " together, which is more than the most of a run, %llu", flows,
			    GEN_FLOWS_MAX);
}

void stream_name_err(const struct config *stream, struct err *e)
{
	char object[sizeof(e->object)];

	snprintf(object, sizeof(object), "stream %s%s%.64s", stream->name, e->object[0] ? ": " : "", e->object);
	memcpy(e->object, object, sizeof(object));
}
