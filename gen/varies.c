/* SPDX-License-Identifier: Apache-2.0 */
/* All fields of a stream that vary: which, how many flows they make, and where they stand in the frame. */
#include "gcd.h"
#include "lib/core/flow.h"
#include "lib/core/stamp.h"
#include "lib/ether.h"
#include "lib/report.h"
#include "vary_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PORTS 65535U /* 1..65535: port 0 is not walked over, unless it is the first */

/* ---- collecting ---- */

static void set(struct varies *out, const struct vary *v, struct problems *p)
{
	for (unsigned i = 0; i < out->n && v->field != VARY_PAYLOAD; i++) {
		if (out->vary[i].field != v->field)
			continue;
		if (out->vary[i].asked && p)
			problem_add(p, "--vary", "%s comes twice: its values are one range or one list",
				    vary_name(v->field));
		out->vary[i] = *v;
		return;
	}
	if (out->n < TX_WALKS_MAX)
		out->vary[out->n++] = *v;
	else if (p)
		problem_add(p, "--vary", "at most %u fields can vary", TX_WALKS_MAX);
}

static void set_port(struct varies *out, enum vary_field field, uint16_t port, bool walks)
{
	struct vary v = {.field = field, .walk = {.base = port, .count = 1}};

	if (walks && port)
		v.walk = (struct tx_walk){.base = 1, .first = port - 1U, .count = PORTS, .stride = 1};
	else if (walks) /* it was asked for */
		v.walk = (struct tx_walk){.count = PORTS + 1, .stride = 1};
	set(out, &v, NULL);
}

static void set_addresses(const struct config *cfg, const struct ip *src, struct varies *out)
{
	struct vary v = {.field = VARY_DST_IP};

	vary_prefix(&v, &cfg->dst_ip);
	set(out, &v, NULL);
	v = (struct vary){.field = VARY_SRC_IP};
	if (cfg->src_ip.ip.family)
		vary_prefix(&v, &cfg->src_ip);
	else
		v.walk = (struct tx_walk){.base = vary_low_bits(src), .count = 1};
	v.family = cfg->dst_ip.ip.family;
	set(out, &v, NULL);
}

/* --vary FIELD=A,B,C comes in pieces: those without = go on with the one before. */
static void set_asked(const struct config *cfg, struct varies *out, struct problems *p)
{
	char text[CONFIG_FILTERS_MAX * CONFIG_FILTER_STRLEN];
	struct vary v;
	struct err e;

	for (unsigned i = 0; i < cfg->vary.n;) {
		int used = snprintf(text, sizeof(text), "%s", cfg->vary.text[i++]);

		while (i < cfg->vary.n && !strchr(cfg->vary.text[i], '='))
			used += snprintf(text + used, sizeof(text) - (size_t)used, ",%s", cfg->vary.text[i++]);
		if (vary_parse(text, cfg->seed, &v, &e) == 0)
			set(out, &v, p);
		else if (p)
			err_hint(problem_add(p, "--vary", "%s: %s", text, e.cause), "%s", e.hint);
	}
}

void varies_collect(const struct config *cfg, const struct ip *src, struct varies *out, struct problems *p)
{
	memset(out, 0, sizeof(*out));
	if (cfg->mode != MODE_RAW) {
		set_addresses(cfg, src, out);
		set_port(out, VARY_SRC_PORT, cfg->src_port, cfg->flows > 1);
		if (cfg->mode != MODE_ICMP_ECHO)
			set_port(out, VARY_DST_PORT, cfg->dst_port, cfg->vary_dst_port && cfg->flows > 1);
	}
	set_asked(cfg, out, p);
}

/* ---- counting ---- */

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static bool makes_flows(const struct vary *v)
{
	return v->field != VARY_SIZE;
}

static uint64_t count_of(const struct vary *v)
{
	return v->walk.count ? v->walk.count : UINT64_MAX;
}

uint64_t varies_flows(const struct varies *v, bool cross)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < v->n; i++) {
		uint64_t count = count_of(&v->vary[i]);

		if (makes_flows(&v->vary[i]))
			n = times(cross ? n : n / gcd(n, count), count);
	}
	return n;
}

/* ---- into the frame ---- */

/* Where a field stands: the byte after its last, its bits, and those of its last byte that are another's. */
struct place {
	uint32_t end;
	uint8_t bits, shift;
};

static bool place_of(const struct vary *v, const struct config *cfg, const struct frame *f, struct place *out)
{
	const uint32_t l4 = f->plan->l4;
	const uint32_t tag = ETH_MACS_LEN + (cfg->outer_vlan ? VLAN_TAG_LEN : 0);
	const bool echo = cfg->mode == MODE_ICMP_ECHO;

	switch (v->field) {
	case VARY_DST_MAC:
		*out = (struct place){.end = 6, .bits = 48};
		return true;
	case VARY_SRC_MAC:
		*out = (struct place){.end = 12, .bits = 48};
		return true;
	case VARY_OUTER_VLAN:
		*out = (struct place){.end = ETH_MACS_LEN + VLAN_TAG_LEN, .bits = 12};
		return cfg->outer_vlan;
	case VARY_VLAN:
		*out = (struct place){.end = tag + VLAN_TAG_LEN, .bits = 12};
		return cfg->vlan;
	case VARY_DSCP:
		*out = f->ip6 ? (struct place){.end = f->ip + 2U, .bits = 6, .shift = 6}
			      : (struct place){.end = f->ip + 2U, .bits = 6, .shift = 2};
		return f->addresses_len;
	case VARY_IP_ID:
		*out = (struct place){.end = f->ip + 6U, .bits = 16};
		return f->addresses_len && !f->ip6;
	case VARY_FLOW_LABEL:
		*out = (struct place){.end = f->ip + 4U, .bits = 20};
		return f->ip6;
	case VARY_TTL:
		*out = (struct place){.end = f->ip + (f->ip6 ? 8U : 9U), .bits = 8};
		return f->addresses_len;
	case VARY_SRC_IP:
		*out = (struct place){.end = f->addresses + f->addresses_len / 2U, .bits = f->ip6 ? 64 : 32};
		return f->addresses_len;
	case VARY_DST_IP:
		*out = (struct place){.end = f->addresses + (uint32_t)f->addresses_len, .bits = f->ip6 ? 64 : 32};
		return f->addresses_len;
	case VARY_SRC_PORT:
		*out = (struct place){.end = l4 + (echo ? 6 : 2), .bits = 16};
		return f->addresses_len;
	case VARY_DST_PORT:
		*out = (struct place){.end = l4 + 4, .bits = 16};
		return f->addresses_len && !echo;
	case VARY_PAYLOAD:
		*out = (struct place){.end = f->at + v->offset + v->bytes, .bits = (uint8_t)(8 * v->bytes)};
		return true;
	default:
		return false;
	}
}

/*
 * With one flow nothing varies. What does not vary is written with its neighbours only where that makes one move of 12
 * bytes of all: addresses and ports of UDP and TCP over IPv4, destination and ports over IPv6.
 */
static bool is_written(const struct vary *v, const struct frame *f, bool one_flow, bool ports)
{
	if (v->asked)
		return makes_flows(v);
	if (one_flow)
		return false;
	if (v->walk.count != 1)
		return makes_flows(v);
	switch (v->field) {
	case VARY_SRC_IP:
		return ports && !f->ip6;
	case VARY_DST_IP:
	case VARY_SRC_PORT:
	case VARY_DST_PORT:
		return ports;
	default:
		return false;
	}
}

/* An IPv6 address of --vary is another than the template's in its first 8 bytes too. */
static void put_upper_half(const struct vary *v, struct frame *f, const struct place *place)
{
	unsigned char *upper = f->plan->frame + place->end - 16;

	if (!v->asked || v->family != 6)
		return;
	core_put32(upper, core_be32(v->high >> 32));
	core_put32(upper + 4, core_be32(v->high));
}

void varies_put(const struct varies *v, const struct config *cfg, struct frame *f)
{
	const bool ports = cfg->mode == MODE_UDP || cfg->mode == MODE_IMIX || cfg->mode == MODE_TCP_SYN;
	const bool cross = cfg->flow_walk == FLOW_WALK_CROSS;
	uint64_t every = 1;
	uint32_t values = 0;

	for (unsigned i = 0; i < v->n; i++) {
		const struct vary *one = &v->vary[i];
		struct tx_walk walk = one->walk;
		struct place place;

		if (!is_written(one, f, cfg->flows == 1, ports) || !place_of(one, cfg, f, &place))
			continue;
		put_upper_half(one, f, &place);
		if (one->n) {
			if (values + one->n > TX_VALUES_MAX) {
				frame_refuse(f, "the lists of fields that vary have more values than a plan holds");
				return;
			}
			memcpy(f->plan->values + values, one->values, one->n * sizeof(one->values[0]));
			walk.base = values;
			values += one->n;
		}
		walk.every = cross ? every : 1;
		every = times(every, count_of(one));
		frame_vary(f, place.end, place.bits, place.shift, &walk);
	}
}

/* ---- checks ---- */

static const char *why_not_there(const struct vary *v, const struct config *cfg, const struct frame *f)
{
	switch (v->field) {
	case VARY_VLAN:
		return "needs a tag to be in: --vlan";
	case VARY_OUTER_VLAN:
		return "needs a tag to be in: --outer-vlan";
	case VARY_DST_PORT:
		return cfg->mode == MODE_ICMP_ECHO ? "an echo request has no such field"
						   : "frames of --mode raw have no such field";
	default:
		return !f->addresses_len ? "frames of --mode raw have no such field"
		       : f->ip6          ? "IPv6 has no such field"
					 : "IPv4 has no such field";
	}
}

static void check_payload(const struct varies *v, unsigned i, const struct frame *f, uint32_t size, uint32_t stamp,
			  struct problems *p)
{
	const struct vary *one = &v->vary[i];
	const uint32_t end = f->at + one->offset + one->bytes + stamp;

	if (end > size)
		problem_add(p, "--vary",
			    "payload@%u:%u ends beyond the smallest frame, which has %u bytes (FCS included)%s: it "
			    "takes one of %u",
			    one->offset, one->bytes, size + FCS_BYTES, stamp ? " and a stamp at its end" : "",
			    end + FCS_BYTES);
	for (unsigned k = 0; k < i; k++) {
		const struct vary *other = &v->vary[k];

		if (other->field == VARY_PAYLOAD && one->offset < other->offset + other->bytes &&
		    other->offset < one->offset + one->bytes)
			problem_add(p, "--vary", "payload@%u:%u and payload@%u:%u lie over each other", other->offset,
				    other->bytes, one->offset, one->bytes);
	}
}

static void check_sizes(const struct vary *v, const struct config *cfg, uint32_t least, struct problems *p)
{
	uint64_t smallest = UINT64_MAX;

	if (cfg->mode == MODE_IMIX)
		problem_add(p, "--vary", "size: --mode imix has its sizes from --imix");
	if (cfg->packet_size)
		problem_add(p, "--vary", "size: --packet-size gives all frames one size");
	if (v->walk.count > TX_SIZES_MAX) {
		problem_add(p, "--vary",
			    "size: %" PRIu64 " sizes are more than the %u of a run: size=START:STOP:STEP has fewer",
			    v->walk.count, TX_SIZES_MAX);
		return;
	}
	for (unsigned i = 0; i < v->walk.count; i++) {
		uint64_t size = v->n ? v->values[i] : tx_walk_value(&v->walk, tx_walk_step(&v->walk, i));

		smallest = size < smallest ? size : smallest;
	}
	if (smallest < least + FCS_BYTES)
		problem_add(p, "--vary",
			    "size: %" PRIu64
			    " bytes cannot hold this frame: the smallest with these headers%s is %u (FCS included)",
			    smallest, cfg->stamp ? " and a stamp" : "", least + FCS_BYTES);
}

void varies_check(const struct varies *v, const struct config *cfg, const struct frame *f, uint32_t size,
		  uint32_t least, struct problems *p)
{
	for (unsigned i = 0; i < v->n; i++) {
		const struct vary *one = &v->vary[i];
		struct place place;

		if (!one->asked)
			continue;
		if (one->field == VARY_SIZE)
			check_sizes(one, cfg, least, p);
		else if (!place_of(one, cfg, f, &place))
			problem_add(p, "--vary", "%s: %s", vary_name(one->field), why_not_there(one, cfg, f));
		else if (one->family && (one->family == 6) != f->ip6)
			problem_add(p, "--vary", "%s is IPv%u while --dst-ip is IPv%u", vary_name(one->field),
				    one->family, f->ip6 ? 6U : 4U);
		else if (one->field == VARY_PAYLOAD)
			check_payload(v, i, f, size, cfg->stamp ? STAMP_LEN : 0, p);
		if (cfg->flows == 1 && makes_flows(one) && one->walk.count != 1)
			problem_add(p, "--vary", "%s: with one flow nothing varies; --flows says how many there are",
				    vary_name(one->field));
	}
}

unsigned varies_sizes(const struct varies *v, uint32_t *sizes, unsigned max)
{
	for (unsigned i = 0; i < v->n; i++) {
		const struct vary *one = &v->vary[i];
		unsigned n = 0;

		if (one->field != VARY_SIZE)
			continue;
		/* The plan's values are for lists only, which are here. */
		for (; n < one->walk.count && n < max; n++)
			sizes[n] = (uint32_t)(one->n ? one->values[n]
						     : tx_walk_value(&one->walk, tx_walk_step(&one->walk, n)));
		return n;
	}
	return 0;
}
