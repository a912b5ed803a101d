/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_build: from options to struct tx_plan: the frame template, its flows, its pace. Cold; main thread.
 */
#ifndef SQUALL_GEN_PLAN_BUILD_H
#define SQUALL_GEN_PLAN_BUILD_H

#include "imix.h"
#include "lib/config.h"
#include "lib/core/plan.h"
#include "lib/err.h"

/* The most flows one run may have: their table takes 16 bytes each. */
#define GEN_FLOWS_MAX (1ULL << 26)

/* Frame lengths without FCS. */
#define GEN_FRAME_MIN 60U
#define GEN_FRAME_MAX 9014U

/* What the options leave open and the host, or the user, answers. */
struct gen_ends {
	struct mac src_mac;
	struct mac dst_mac;
	struct ip src_ip;    /* not looked at in raw mode */
	struct ip outer_src; /* of a tunnel */
	uint64_t link_bps;   /* for rates in percent; 0: unknown */
	uint32_t mtu;        /* of the link; 0: unknown */
	uint16_t run;        /* that stamps name */
};

/* What can be judged before any interface is looked at: sizes, families, flows, modes. Adds to *p. */
void gen_check(const struct config *cfg, struct problems *p);

/*
 * The mix that --imix asks for, its sizes raised to the smallest legal frame where they are below it; *raised: how many
 * were. mtu: what the genome's z stands for; 0: 1500. The errors of imix_parse().
 */
int gen_mix(const struct config *cfg, uint32_t mtu, struct imix *mix, unsigned *raised, struct err *e);

/* The frame's length without FCS that cfg asks for (or the smallest), given that gen_check() found nothing. */
uint32_t gen_frame_len(const struct config *cfg);

/*
 * Fills *plan (every byte). cfg has passed gen_check(). -EINVAL with EXIT_USAGE when the ends do not fit together, a
 * percentage of an unknown speed, or a rate too slow to be kept (one packet in more than an hour).
 */
int gen_plan_build(const struct config *cfg, const struct gen_ends *ends, struct tx_plan *plan, struct err *e);

/* How many distinct flows the ranges of cfg hold, stepping together or as a cross product as cfg says. */
uint64_t gen_flows_possible(const struct config *cfg);

#endif
