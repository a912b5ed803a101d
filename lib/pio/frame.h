/* SPDX-License-Identifier: Apache-2.0 */
/* frame: what queues take and give, and what is told of it. */
#ifndef SQUALL_PIO_FRAME_H
#define SQUALL_PIO_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* One frame, by value. 16 bytes. */
struct pio_frame {
	unsigned char *data; /* first byte of the Ethernet header; may be moved within head- and tailroom */
	uint32_t len;        /* bytes here, without FCS */
	uint32_t flags;      /* PIO_MORE and what a receiver was told; tx looks at PIO_MORE only */
};

_Static_assert(sizeof(struct pio_frame) == 16, "frames are passed by value in arrays");

enum pio_frame_flags {
	PIO_MORE = 1,            /* the packet goes on in the next frame, which may be the next call's */
	PIO_SUPER = 2,           /* the kernel merged several packets into this one, or has not yet cut it (GRO, GSO) */
	PIO_CSUM_UNFINISHED = 4, /* the sending host left the checksum to its device: not wrong, not there */
	PIO_CSUM_OK = 8,         /* the device verified the L4 checksum */
	/* Untagged IPv4 without options, whole and in one frame, with UDP: looked at once, and not by who comes next.
	 */
	PIO_UDP4 = 16,
};

/* All of n frames are PIO_UDP4. */
static inline bool pio_all_udp4(const struct pio_frame *f, uint32_t n)
{
	uint32_t flags = PIO_UDP4;

	for (uint32_t i = 0; i < n; i++)
		flags &= f[i].flags;
	return flags;
}

#endif
