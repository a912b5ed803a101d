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

/* Counters of a device that are looked at before the run and after it. */
enum engine_counters {
	ENGINE_DROPS,  /* packets that it lost */
	ENGINE_PAUSES, /* pause frames */
	ENGINE_COUNTERS,
};

/* One open port. port NULL: there is none. */
struct engine_link {
	struct pio_port *port;
	const struct host_link *link; /* NULL: it has no Linux interface */
	uint64_t checked_ns;
	uint64_t down_ns; /* since when the link has been down; 0: it is up */
	bool went;        /* it was down at some time of the run */
	struct {
		bool known; /* the device tells of them */
		struct host_drops at_start;
	} counters[ENGINE_COUNTERS];
};

/* Before anybody is told that packets are taken: a receiver counts from its opening on. */
void engine_link_begin(struct engine_link *l);
void engine_link_free(struct engine_link *l);

/* Every tick: warns when the link goes and comes, and ends the run when it is gone for good. */
void engine_link_check(struct engine *en, struct engine_link *l, uint64_t now_ns);

/*
 * What the devices of the run counted since engine_link_begin(); with two interfaces the name stands in front of each
 * counter. False when none tells. host_drops_free() releases *grew.
 */
bool engine_link_grew(const struct engine *en, enum engine_counters which, struct host_drops *grew);

#endif
