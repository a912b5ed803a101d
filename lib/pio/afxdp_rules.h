/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp_rules: turns a filter into the constants of a BPF program. Pure. */
#ifndef SQUALL_PIO_AFXDP_RULES_H
#define SQUALL_PIO_AFXDP_RULES_H

#include "bpf/rules.h"

/*
 * f has passed filter_check(); NULL: nothing is taken. Everything of the vocabulary can be expressed, with the meaning
 * of filter_matches(). fragmented is left 0.
 */
void afxdp_rules_compile(const struct filter *f, struct rules *out);

#endif
