/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times: what the XDP program leaves in front of a packet that it hands to a socket: XDP metadata, which the kernel
 * copies with the packet, or leaves where it is with zero-copy. Its last byte is the one before the packet.
 */
#ifndef SQUALL_PIO_BPF_TIMES_H
#define SQUALL_PIO_BPF_TIMES_H

#include <stdint.h>

struct packet_time {
	uint64_t ns;    /* CLOCK_MONOTONIC, of the initial time namespace */
	uint64_t proof; /* ns ^ the key of the run: nothing else that may stand there has it */
};

/* No time has this bit (they are years since the boot), so that a proof of 0 is none. */
#define TIMES_KEY_BIT (1ULL << 63)

#endif
