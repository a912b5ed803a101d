/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imix: a mix of frame sizes, and the order in which one cycle of it goes. Pure.
 */
#ifndef SQUALL_GEN_IMIX_H
#define SQUALL_GEN_IMIX_H

#include "lib/core/plan.h"
#include "lib/err.h"

#include <stdbool.h>
#include <stddef.h>

#define IMIX_WEIGHT_UNIT 100U

/* Sizes are whole frames with FCS, as users say them. */
struct imix {
	char name[32]; /* "simple", or the list as it was given, cut short */
	unsigned n;
	uint32_t size[TX_SIZES_MAX];
	uint32_t weight[TX_SIZES_MAX]; /* in hundredths */
};

/* The named mixes: what --imix takes, in order, each with its description. NULL-terminated by name. */
struct imix_preset {
	const char *name;
	const char *list;   /* "64:7,594:4,1518:1" */
	const char *source; /* where it comes from */
};
extern const struct imix_preset imix_presets[];

/*
 * A preset's name, a list "SIZE:WEIGHT,..." whose weights may have two decimals, or an RFC 6985 genome: the letters of
 * its table (a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, i 9000, z the MTU; j, 16000, is larger than any
 * frame here), each perhaps with a count in front: "7a4dg". mtu_size: the frame that z stands for. -EINVAL, -ERANGE (a
 * size or a weight), -E2BIG (too many sizes); the error tells what is wrong. Sizes are not judged against headers here.
 */
int imix_parse(const char *text, uint32_t mtu_size, struct imix *out, struct err *e);

/* Raises every size below `least`, and merges those that become equal. Returns how many were raised. */
unsigned imix_raise(struct imix *m, uint32_t least);

/* Mean frame with FCS. */
double imix_mean(const struct imix *m);

/*
 * One cycle: each size as often as its weight, spread as evenly as it goes (smooth weighted round robin). Returns the
 * cycle's length, weights divided by their common divisor, or 0 when it would be longer than `max`.
 */
unsigned imix_cycle(const struct imix *m, uint16_t *cycle, unsigned max);

#endif
