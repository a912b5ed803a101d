/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/clock.h"
#include "lib/nearest.h"
#include "lib/units.h"
#include "loop.h"
#include "loop_wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#define RING_MIN       32U /* a frame, its copy, and those of its flow that it releases */
#define RING_MAX       (1U << 20)
#define RING_DEFAULT   1024U
#define RING_DELAYED   16384U /* what a delay keeps on the wire must fit */
#define DELAY_MAX      (10ULL * 1000000000)
#define OPTION_MAX     64U
#define PERCENT_DIGITS 9U
#define PERCENT_UNIT   1000000000ULL

enum option_kind { SINK, QUEUES, RATE, DELAY, LOSS, DUPLICATE, REORDER, SEED, RING, FAIL, RX_FAIL, OPTIONS };

static const struct {
	const char *name;
	const char *takes; /* NULL: nothing */
} options[OPTIONS] = {
	[SINK] = {"sink", NULL},
	[QUEUES] = {"queues", "a number, 1 to 64"},
	[RATE] = {"rate", "frames a second, like 10M (0.001 or more), or unlimited"},
	[DELAY] = {"delay", "a time up to 10s, like 50us"},
	[LOSS] = {"loss", "a percentage, like 1%"},
	[DUPLICATE] = {"duplicate", "a percentage, like 0.5%"},
	[REORDER] = {"reorder", "a percentage, like 2%"},
	[SEED] = {"seed", "a whole number"},
	[RING] = {"ring", "a number of slots, 32 to 1048576"},
	[FAIL] = {"fail", "a queue and a number of packets, like 2@1000"},
	[RX_FAIL] = {"rx-fail", "a queue and a number of packets, like 2@1000"},
};

/* "0.5%" to a probability in 2^-64, exact down to 10^-9 percent. */
static int parse_percent(const char *s, uint64_t *out)
{
	const uint64_t whole = 100 * PERCENT_UNIT;
	uint64_t n = 0;
	unsigned digits = 0;
	unsigned decimals = 0;

	for (; isdigit((unsigned char)*s); s++, digits++) {
		n = n * 10 + (uint64_t)(*s - '0');
		if (n > 100)
			return -ERANGE;
	}
	n *= PERCENT_UNIT;
	if (*s == '.') {
		uint64_t unit = PERCENT_UNIT / 10;

		for (s++; isdigit((unsigned char)*s); s++, decimals++, unit /= 10)
			n += unit * (uint64_t)(*s - '0');
	}
	if (!(digits + decimals) || decimals > PERCENT_DIGITS || strcmp(s, "%") != 0 || n > whole)
		return -EINVAL;
	*out = 0;
	if (n == whole)
		*out = UINT64_MAX;
	for (unsigned bit = 0; bit < 64 && n < whole; bit++) {
		n *= 2;
		*out = *out << 1 | (n >= whole);
		n -= n >= whole ? whole : 0;
	}
	return 0;
}

static int parse_count(const char *s, uint64_t lo, uint64_t hi, uint64_t *out)
{
	int rc = units_parse_count(s, out);

	return rc ? rc : *out < lo || *out > hi ? -ERANGE : 0;
}

/* "2@1000": queue 2 fails after 1000 packets. */
static int parse_fail(const char *s, uint64_t *fail)
{
	const char *at = strchr(s, '@');
	char queue[OPTION_MAX];
	uint64_t index;
	uint64_t packets;
	int rc;

	if (!at)
		return -EINVAL;
	snprintf(queue, sizeof(queue), "%.*s", (int)(at - s), s);
	rc = parse_count(queue, 0, LOOP_QUEUES_MAX - 1, &index);
	if (!rc)
		rc = parse_count(at + 1, 0, LOOP_FAIL_NEVER - 1, &packets);
	if (!rc)
		fail[index] = packets;
	return rc;
}

/* 10^9 ns << shift, over micro / 10^6 frames; rounded to the nearest. */
static int parse_rate(const char *s, uint64_t *interval)
{
	struct rate r;
	int rc = units_parse_pps(s, &r);

	if (rc)
		return rc;
	*interval = 0;
	if (r.kind == RATE_UNLIMITED)
		return 0;
	if (r.kind != RATE_VALUE || r.micro < RATE_MICRO / 1000)
		return -EINVAL;
	*interval = ((NS_PER_S * RATE_MICRO << LOOP_TIME_SHIFT) + r.micro / 2) / r.micro;
	return *interval ? 0 : -ERANGE;
}

static int set_option(struct loop_options *o, enum option_kind kind, const char *value)
{
	uint64_t n = 0;
	int rc;

	switch (kind) {
	case SINK:
		o->sink = true;
		return 0;
	case QUEUES:
		rc = parse_count(value, 1, LOOP_QUEUES_MAX, &n);
		o->queues = (uint32_t)n;
		return rc;
	case RATE:
		return parse_rate(value, &o->interval);
	case DELAY:
		rc = units_parse_time(value, &o->delay_ns);
		return rc ? rc : o->delay_ns > DELAY_MAX ? -ERANGE : 0;
	case LOSS:
		return parse_percent(value, &o->loss);
	case DUPLICATE:
		return parse_percent(value, &o->duplicate);
	case REORDER:
		return parse_percent(value, &o->reorder);
	case SEED:
		return parse_count(value, 0, UINT64_MAX, &o->seed);
	case RING:
		rc = parse_count(value, RING_MIN, RING_MAX, &n);
		o->ring = (uint32_t)n;
		return rc;
	case FAIL:
		return parse_fail(value, o->fail);
	case RX_FAIL:
		return parse_fail(value, o->rx_fail);
	case OPTIONS:
		break;
	}
	return -EINVAL;
}

static int refuse_unknown(const char *device, const char *name, struct err *e)
{
	struct nearest near;

	nearest_start(&near, name);
	for (unsigned i = 0; i < OPTIONS; i++)
		nearest_try(&near, options[i].name);
	err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device, "it has no option \"%s\"%s%s%s", name,
		near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
	err_hint(e, "sink, queues=, rate=, delay=, loss=, duplicate=, reorder=, seed=, ring=, fail=, rx-fail=");
	return -EINVAL;
}

/* text is one option, name or name=value, and is cut in two. */
static int parse_option(struct loop_options *o, char *text, const char *device, struct err *e)
{
	char *value = strchr(text, '=');
	unsigned i;

	if (value)
		*value++ = '\0';
	for (i = 0; i < OPTIONS && strcmp(options[i].name, text) != 0; i++)
		;
	if (i == OPTIONS)
		return refuse_unknown(device, text, e);
	if (!options[i].takes && value)
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device, "%s takes no value", text);
	if (options[i].takes && (!value || set_option(o, (enum option_kind)i, value)))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device, "%s=%s: it takes %s", text,
			       value ? value : "", options[i].takes);
	return options[i].takes ? 0 : set_option(o, (enum option_kind)i, NULL);
}

static int refuse_absent_queues(const char *device, const struct loop_options *o, struct err *e)
{
	for (unsigned i = o->queues; i < LOOP_QUEUES_MAX; i++)
		if (o->fail[i] != LOOP_FAIL_NEVER || o->rx_fail[i] != LOOP_FAIL_NEVER)
			return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device,
				       "queue %u cannot fail: the loop has %u, and the first is number 0", i,
				       o->queues);
	return 0;
}

int loop_parse(const char *device, struct loop_options *o, struct err *e)
{
	const char *at = device;

	*o = (struct loop_options){.queues = 1, .seed = 1};
	for (unsigned i = 0; i < LOOP_QUEUES_MAX; i++)
		o->fail[i] = o->rx_fail[i] = LOOP_FAIL_NEVER;
	while (*at) {
		char text[OPTION_MAX];
		size_t n = strcspn(at, ",");
		int rc;

		if (n >= sizeof(text))
			return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device,
				       "an option is longer than %u characters", OPTION_MAX - 1);
		memcpy(text, at, n);
		text[n] = '\0';
		rc = parse_option(o, text, device, e);
		if (rc)
			return rc;
		at += n;
		if (*at == ',' && !at[1])
			return refuse_unknown(device, "", e);
		at += *at == ',';
	}
	if (!o->ring)
		o->ring = o->delay_ns ? RING_DELAYED : RING_DEFAULT;
	if (o->sink && (o->delay_ns || o->loss || o->duplicate || o->reorder))
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device,
			       "a sink delivers nothing: delay, loss, duplicate and reorder have no meaning there");
	return refuse_absent_queues(device, o, e);
}
