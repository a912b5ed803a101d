/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vary: which fields distinguish flows, and how each goes from flow to flow. Pure, cold.
 *
 * One field's text is FIELD=[random:|dec:]RANGE, where RANGE is a value, A-B (both included), START:STOP:STEP for
 * numbers, a prefix for addresses (its usable hosts), or a list A,B,C. `dec:` goes from the end to the beginning,
 * `random:` in an order drawn by the seed; either way every value comes once before one comes again.
 */
#ifndef SQUALL_GEN_VARY_H
#define SQUALL_GEN_VARY_H

#include "frame.h"
#include "lib/config.h"

#define VARY_VALUES_MAX CONFIG_FILTERS_MAX /* of a list */

enum vary_field {
	VARY_SRC_MAC,
	VARY_DST_MAC,
	VARY_OUTER_VLAN,
	VARY_VLAN,
	VARY_DSCP,
	VARY_IP_ID,
	VARY_FLOW_LABEL,
	VARY_TTL,
	VARY_SRC_IP,
	VARY_DST_IP,
	VARY_SRC_PORT,
	VARY_DST_PORT,
	VARY_PAYLOAD,
	VARY_SIZE,
	VARY_FIELDS
};

struct vary {
	enum vary_field field;
	uint32_t offset, bytes; /* of VARY_PAYLOAD: where in the payload, and how wide (1 to 8) */
	struct tx_walk walk;    /* base, first, count, stride, order */
	uint8_t family;         /* of addresses */
	uint64_t high;          /* of IPv6 addresses: the upper half, which all have in common */
	bool asked;             /* by --vary: it is put even where it has one value */
	const char *why;        /* while it is read: why it is refused, where that is known better than "no range"; */
	bool beyond;            /* a number is none of the field's values */
	unsigned n;             /* of a list, whose values are distinct */
	uint64_t values[VARY_VALUES_MAX];
};

struct varies {
	unsigned n;
	struct vary vary[TX_WALKS_MAX];
};

/*
 * All that vary by cfg, in order: destination and source address, source port, destination port, then those of --vary,
 * each of which takes the place of one of its field that is not; a field comes once in --vary. Fields of one value are
 * left out, but for what lies between the others. src: the source address in use, family 0: not yet known. Problems are
 * added to *p (may be NULL).
 */
void varies_collect(const struct config *cfg, const struct ip *src, struct varies *out, struct problems *p);

/*
 * Whether those of --vary can be had in frames with these headers, the smallest of which has `size` bytes without FCS
 * and must have `least`: there is such a field, of the right family, inside the frame, and none lies over another. Adds
 * to *p.
 */
void varies_check(const struct varies *v, const struct config *cfg, const struct frame *f, uint32_t size,
		  uint32_t least, struct problems *p);

/* How many flows differ: the product of all counts (cross), or their least common multiple. At most 2^64 - 1. */
uint64_t varies_flows(const struct varies *v, bool cross);

/* Puts them into the frame, whose headers are there. With one flow it is what --vary gives one value. */
void varies_put(const struct varies *v, const struct config *cfg, struct frame *f);

/* The sizes that VARY_SIZE asks for, with FCS, in their order; at most max. 0: it is not there. */
unsigned varies_sizes(const struct varies *v, uint32_t *sizes, unsigned max);

#endif
