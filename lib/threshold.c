/* SPDX-License-Identifier: Apache-2.0 */
#include "threshold.h"

#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define P99 990000U

/* Kinds of thresholds: what their value is, and what it may be. */
enum unit { UNIT_RATIO, UNIT_NS, UNIT_PPS };

static enum unit unit_of(const char *name)
{
	if (strcmp(name, "max-latency-p99") == 0)
		return UNIT_NS;
	return strcmp(name, "min-rate") == 0 || strcmp(name, "strict-rate") == 0 ? UNIT_PPS : UNIT_RATIO;
}

static bool is_least(const char *name)
{
	return unit_of(name) == UNIT_PPS;
}

static void add(struct report_threshold *out, unsigned *n, const char *name, double limit, double value,
		const char *unknown)
{
	struct report_threshold *t = &out[(*n)++];

	*t = (struct report_threshold){.name = name, .limit = limit, .value = value, .unknown = unknown};
	/* A comparison with NAN is false: what is not known is not met. */
	t->ok = is_least(name) ? value >= limit : value <= limit;
}

/* What is known does not tell whether the limit was kept. Nothing happens to one that was not, or with why NULL. */
static void doubt(struct report_threshold *t, const char *why)
{
	if (!t->ok || !why)
		return;
	t->ok = false;
	t->value = NAN;
	t->unknown = why;
}

static double ratio(const struct ratio *r)
{
	return (double)r->pico / 1e12;
}

/* Why figures of what was measured do not tell of all that was to be measured; NULL: they do. */
static const char *part_only(const struct report_measure *m)
{
	if (m && m->books[0])
		return "the measurement's books do not close";
	if (m && (m->partly || m->total.counts.unfollowed))
		return "flows beyond --flow-limit were not measured";
	return NULL;
}

/* Late packets may have been of this kind, too: without them the limit is kept, with all of them it may not be. */
static const char *late_count(uint64_t n, const struct measure_counts *c, double limit)
{
	return c->late && (double)(n + c->late) > limit * (double)c->unique
		       ? "packets came too late to be told apart: a larger --window tells more"
		       : NULL;
}

/* Most packets cannot have needed no time. */
static const char *clocks_apart(const struct report_measure *m)
{
	return m && 2 * m->early > m->total.counts.unique ? "most packets came before they were sent, by these clocks"
							  : NULL;
}

/* Of the packets that came for the first time. */
static double share(uint64_t n, const struct measure_counts *c)
{
	return c->unique ? (double)n / (double)c->unique : NAN;
}

static void judge_measured(const struct config *cfg, const struct report_measure *m, struct report_threshold *out,
			   unsigned *n)
{
	static const struct measure_counts none;
	const struct measure_counts *c = m ? &m->total.counts : &none;
	const char *why = !m ? "nothing was measured" : "no stamped packet came";
	const char *no_clock = m && !m->clock ? m->no_clock : why;
	const unsigned first = *n;

	if (cfg->max_loss.set)
		add(out, n, "max-loss", ratio(&cfg->max_loss), m ? m->total.loss_ratio : NAN,
		    m ? "no packets were expected" : why);
	if (cfg->max_duplicates.set)
		add(out, n, "max-duplicates", ratio(&cfg->max_duplicates), share(c->duplicate, c), why);
	if (cfg->max_duplicates.set)
		doubt(&out[*n - 1], late_count(c->duplicate, c, ratio(&cfg->max_duplicates)));
	if (cfg->max_reordered.set)
		add(out, n, "max-reordered", ratio(&cfg->max_reordered), share(c->reordered, c), why);
	if (cfg->max_reordered.set)
		doubt(&out[*n - 1], late_count(c->reordered, c, ratio(&cfg->max_reordered)));
	if (cfg->max_latency_p99_ns)
		add(out, n, "max-latency-p99", (double)cfg->max_latency_p99_ns,
		    m && m->clock && m->total.latency && m->total.latency->total
			    ? (double)hist_quantile(m->total.latency, P99)
			    : NAN,
		    no_clock ? no_clock : why);
	if (cfg->max_latency_p99_ns)
		doubt(&out[*n - 1], clocks_apart(m));
	for (unsigned i = first; i < *n; i++)
		doubt(&out[i], part_only(m));
}

unsigned threshold_judge(const struct config *cfg, const struct threshold_values *v,
			 struct report_threshold out[REPORT_THRESHOLDS_MAX])
{
	unsigned n = 0;

	judge_measured(cfg, v->measure, out, &n);
	if (cfg->min_rate.kind == RATE_VALUE)
		add(out, &n, "min-rate", (double)cfg->min_rate.micro / 1e6, v->rx_pps, "fewer than two packets came");
	if (cfg->strict_rate && v->sent) {
		add(out, &n, "strict-rate", v->requested_pps < 0 ? NAN : v->requested_pps, v->tx_pps,
		    "nothing was sent");
		/* What counts is that every packet of the schedule left, not how its mean was rounded. */
		out[n - 1].ok = !v->rate_missed;
	}
	return n;
}

char *threshold_format(const struct report_threshold *t, double v, char *buf, size_t size)
{
	if (isnan(v))
		snprintf(buf, size, "unknown");
	else if (unit_of(t->name) == UNIT_NS)
		units_format_time((uint64_t)v, buf, size);
	else if (unit_of(t->name) == UNIT_PPS)
		units_format_with(v, "pps", buf, size);
	else if (v == 0)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%.6g %%", v * 100);
	return buf;
}

static const char *what_it_was(const char *name)
{
	static const struct {
		const char *name, *what;
	} list[] = {{"max-loss", "lost"},
		    {"max-duplicates", "duplicates"},
		    {"max-reordered", "reordered"},
		    {"max-latency-p99", "99 % of the packets took up to"},
		    {"min-rate", "received at"}};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].what;
	return name;
}

/* "lost 1.02 %, at most 0 was allowed (--max-loss)" */
static void sentence(const struct report_threshold *t, char *buf, size_t size)
{
	char value[48], limit[48];

	threshold_format(t, t->limit, limit, sizeof(limit));
	if (isnan(t->value))
		snprintf(buf, size, "--%s %s cannot be judged: %s", t->name, limit, t->unknown);
	else
		snprintf(buf, size, "%s %s, %s %s was allowed (--%s)", what_it_was(t->name),
			 threshold_format(t, t->value, value, sizeof(value)),
			 is_least(t->name) ? "no less than" : "at most", limit, t->name);
}

bool threshold_tell(const struct report_threshold *t, unsigned n, const char *object, const struct err *rate,
		    struct err *e)
{
	const bool too_slow = rate->code != EXIT_DONE;
	char all[sizeof(e->cause)] = "";
	char what[sizeof(e->what) + 64];
	size_t used = too_slow ? (size_t)snprintf(all, sizeof(all), "%s", rate->cause) : 0;
	unsigned unmet = 0;

	for (unsigned i = 0; i < n; i++) {
		char one[256];

		if (t[i].ok || strcmp(t[i].name, "strict-rate") == 0)
			continue;
		sentence(&t[i], one, sizeof(one));
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? "; " : "", one);
		used = used < sizeof(all) ? used : sizeof(all) - 1;
		unmet++;
	}
	if (!unmet && !too_slow)
		return false;
	snprintf(what, sizeof(what), "%s%s%s", too_slow ? rate->what : "", too_slow && unmet ? ", and " : "",
		 unmet > 1 ? "thresholds were not met"
		 : unmet   ? "a threshold was not met"
			   : "");
	err_set(e, -ERANGE, too_slow ? EXIT_RATE : EXIT_THRESHOLD, what, too_slow ? rate->object : object, "%s", all);
	if (too_slow)
		err_hint(e, "%s", rate->hint);
	return true;
}
