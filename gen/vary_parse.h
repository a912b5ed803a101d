/* SPDX-License-Identifier: Apache-2.0 */
/* vary_parse: one field and its values, by text or as a prefix; varies.c puts them together. */
#ifndef SQUALL_GEN_VARY_PARSE_H
#define SQUALL_GEN_VARY_PARSE_H

#include "vary.h"

const char *vary_name(enum vary_field field);

/* FIELD=RANGE, the list whole. -EINVAL with EXIT_USAGE. */
int vary_parse(const char *text, uint64_t seed, struct vary *v, struct err *e);

/* The usable hosts of a prefix. */
void vary_prefix(struct vary *v, const struct prefix *p);

/* The last 8 bytes of an IPv6 address, or an IPv4 address; the first 8 bytes. */
uint64_t vary_low_bits(const struct ip *ip);
uint64_t vary_high_bits(const struct ip *ip);

#endif
