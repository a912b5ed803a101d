/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_link: the link of each port while the run lasts: whether it is up, and what the device lost by its own
 * counters.
 */
#ifndef SQUALL_CMD_ENGINE_LINK_H
#define SQUALL_CMD_ENGINE_LINK_H

#include "lib/host.h"
#include "lib/pio/pio.h"

struct engine;

/* One open port. port NULL: there is none. */
struct engine_link {
	struct pio_port *port;
	const struct host_link *link; /* NULL: it has no Linux interface */
	uint64_t checked_ns;
	uint64_t down_ns; /* since when the link has been down; 0: it is up */
	bool went;        /* it was down at some time of the run */
	bool have_drops;  /* the device tells of its drops */
	struct host_drops drops_at_start;
	bool have_pauses;
	struct host_drops pauses_at_start;
};

/* Before anybody is told that packets are taken: a receiver counts from its opening on. */
void engine_link_begin(struct engine_link *l);
void engine_link_free(struct engine_link *l);

/* Every tick: warns when the link goes and comes, and ends the run when it is gone for good. */
void engine_link_check(struct engine *en, struct engine_link *l, uint64_t now_ns);

/*
 * What the devices of the run lost since engine_link_begin(), by their own counters; with two interfaces the name
 * stands in front of each counter. False when none tells. host_drops_free() releases *grew.
 */
bool engine_link_drops(const struct engine *en, struct host_drops *grew);

/* The same of pause frames. */
bool engine_link_pauses(const struct engine *en, struct host_drops *grew);

#endif
