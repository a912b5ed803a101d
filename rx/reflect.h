/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflect: sends received frames back where they came from: source and destination MAC, IP address and UDP or TCP port
 * exchanged, in place, and one taken from the TTL or hop limit, so that packets which two reflectors send each other
 * come to an end. All checksums stay right: each sums both of what is exchanged, and IPv4's is told of the TTL.
 */
#ifndef SQUALL_RX_REFLECT_H
#define SQUALL_RX_REFLECT_H

#include "lib/addr.h"
#include "lib/pio/pio.h"
#include "lib/stats.h"

#include <stdbool.h>
#include <stdint.h>

enum reflect_fate {
#define REFLECT_ENUM(key, help) REFLECT_##key,
	STATS_REFLECT(REFLECT_ENUM)
#undef REFLECT_ENUM
		REFLECT_COUNT
};

/*
 * Turns a whole packet (tags in the data, len without FCS), or its first piece with all headers, and says
 * REFLECT_reflected; or leaves it as it is and says why. Only what was sent to `own` goes back, and only to somebody:
 * not to a group, to nobody, or to ourselves, by MAC and by IP address; and only what may still be passed on (RFC 1812
 * section 5.3.1, RFC 8200 section 3). ARP is nobody's business here. What is no IP packet has its MACs exchanged, and
 * nothing that could be counted down; of SCTP the ports stay, since its checksum is not a sum. Pure.
 */
enum reflect_fate reflect_turn(unsigned char *data, uint32_t len, const struct mac *own);

/* Writes the UDP or TCP checksum that the sending host left to its device (PIO_CSUM_UNFINISHED). Pure. */
void reflect_finish_csum(unsigned char *data, uint32_t len);

/* Frames of one packet that wait for the rest of it. */
#define REFLECT_PIECES_MAX 32U

/* One receive queue's. Set up by the main thread, then its thread's; any thread reads the counts. */
struct reflector {
	struct pio_queue *tx; /* of the same port; nobody else's */
	struct mac own;
	struct stats_reflect counts;
	struct pio_frame held[REFLECT_PIECES_MAX];
	uint32_t n_held;
	bool skipping; /* until the end of a packet of more frames than that */
};

/*
 * Takes over n frames as pio_rx() returned them: sends back what may go back, and puts the rest. n <= REFLECT_BURST.
 * A transmit ring that stays full for a while costs the rest of the burst, counted.
 */
#define REFLECT_BURST 256U
void reflect_burst(struct reflector *r, struct pio_queue *rx, const struct pio_frame *frames, uint32_t n);

/* At the end of the run: what was handed over is sent, and what was begun is given back. */
void reflect_end(struct reflector *r, struct pio_queue *rx);

#endif
