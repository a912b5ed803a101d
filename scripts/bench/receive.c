/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive FLOWS PACKETS own|shared|count: the receive path with full measurement, by itself. Fills a loop's wire with
 * stamped frames of 60 bytes, times how long the receive loop takes to empty it, and does so again until PACKETS came.
 * Filling is not timed. Prints ns a packet, and what was counted. `shared`: as if other threads received packets of the
 * same flows; `count`: without measurement.
 */
#include "lib/clock.h"
#include "lib/core/stamp.h"
#include "rx/rx_loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING  4096U
#define BURST 128U
#define LEN   60U
/* From a flow to the next one on the wire: neighbours are far apart in memory. Prime, so that all have their turn. */
#define STEP 618041U

static const unsigned char packet[LEN] = {
	0x02, 0,    0,    0,    0, 9,  0x02, 0, 0,  0,  0, 1, 0x08, 0x00,                     /* Ethernet */
	0x45, 0,    0,    46,   0, 0,  0,    0, 64, 17, 0, 0, 10,   77,   0, 1, 10, 77, 0, 2, /* IPv4 */
	0x04, 0x00, 0x23, 0x28, 0, 26, 0,    0};                                              /* UDP, 1024 to 9000 */

static const char *const conditions[] = {"proto=udp", "src=10.77.0.1", "dst=10.77.0.0/24", "src-port=1024-2047",
					 "dst-port=9000"};

/* Not inlined, so that callgrind finds it. */
static void (*volatile receive)(struct rx_worker *) = rx_worker_run;

static void die(const char *what, const struct err *e)
{
	fprintf(stderr, "receive: %s: %s\n", what, e ? e->cause : "");
	exit(1);
}

/* So many more packets of the flows, from packet `from` of the run on. A burst has one time, as senders write it. */
static void fill(struct pio_queue *q, uint64_t flows, uint64_t from, uint32_t n)
{
	struct pio_frame f[BURST];

	for (uint64_t at = from; at < from + n; at += BURST) {
		uint64_t now = clock_mono_ns();

		if (pio_get(q, f, BURST) != BURST)
			die("no frames", NULL);
		for (uint64_t i = 0; i < BURST; i++) {
			uint64_t flow = (at + i) % flows * STEP % flows;

			memcpy(f[i].data, packet, LEN);
			f[i].len = LEN;
			stamp_put(f[i].data + LEN - STAMP_LEN, 1, stamp_place((uint32_t)flow, now),
				  (uint32_t)((at + i) / flows));
		}
		if (pio_tx(q, f, BURST) != BURST)
			die("the wire is full", NULL);
	}
}

static struct measure *measurement(const char *how, uint64_t flows)
{
	struct measure_conf conf = {.run = 1,
				    .flows = flows,
				    .threads = strcmp(how, "shared") == 0 ? 2 : 1,
				    .clock = MEASURE_CLOCK_SAME_HOST,
				    .arrivals = PIO_CLOCK_MONOTONIC};
	struct measure *m = NULL;
	struct err e = {0};

	if (strcmp(how, "count") != 0 && measure_open(&m, &conf, &e))
		die("cannot measure", &e);
	return m;
}

int main(int argc, char **argv)
{
	uint64_t flows = argc == 4 ? strtoull(argv[1], NULL, 10) : 0,
		 packets = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	struct filter filter = {0};
	struct pio_conf conf = {
		.name = "loop:ring=4096", .tx_queues = 1, .rx_queues = 1, .max_frame = LEN, .filter = &filter};
	_Atomic bool stop = false;
	struct pio_port *port;
	struct measure *m;
	struct measure_counts counts = {0};
	uint64_t took = 0, from = 0;
	struct err e = {0};

	if (!flows || !packets)
		die("usage: receive FLOWS PACKETS own|shared|count", NULL);
	for (unsigned i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (filter_add_text(&filter, conditions[i], &e))
			die("filter", &e);
	if (pio_open(&conf, &port, &e))
		die("loop", &e);
	m = measurement(argv[3], flows);
	for (; from < packets; from += RING) {
		struct rx_shared shared = {.limit = RING, .stop = &stop};
		struct rx_worker w = {
			.queue = port->rx[0], .shared = &shared, .measure = m ? measure_worker(m, 0) : NULL};
		uint64_t began;

		fill(port->tx[0], flows, from, RING);
		began = clock_mono_ns();
		receive(&w);
		took += clock_mono_ns() - began;
	}
	if (m)
		measure_counts(m, &counts);
	printf("{\"packets\": %" PRIu64 ", \"ns\": %.3f, \"unique\": %" PRIu64 ", \"stamped\": %" PRIu64 "}\n", from,
	       (double)took / (double)from, counts.unique, counts.stamped);
	measure_close(m);
	pio_close(port);
	return 0;
}
