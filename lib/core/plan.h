/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: what one stream sends, as plain data that a user-space loop and the kernel engine read alike. Built in gen/
 * from the options. No pointers: it fits a BPF map.
 *
 * A packet is the template, the bytes that its flow puts into it, and the lengths and checksums that follow from its
 * flow and its size. What the flow puts in is prepared in an entry of a flow table (flow.h); what the size puts in is
 * in struct tx_size.
 */
#ifndef SQUALL_CORE_PLAN_H
#define SQUALL_CORE_PLAN_H

#include "pacer.h"

#define TX_TEMPLATE_MAX 9216U /* the largest frame, without FCS, rounded up */
#define TX_WALKS_MAX    16U
#define TX_PARTS_MAX    TX_WALKS_MAX /* a walk has 9 bytes at most: there are never more parts than walks */
#define TX_PART_MAX     16U          /* bytes */
#define TX_ENTRY_MAX    128U
#define TX_SUMS_MAX     4U
#define TX_COVERS_MAX   16U
#define TX_LENGTHS_MAX  8U
#define TX_SIZES_MAX    2048U
#define TX_CYCLE_MAX    16384U
#define TX_VALUES_MAX   512U

/* A run of bytes of the frame that flows change. An entry holds all parts, one after the other. */
struct tx_part {
	uint16_t at; /* in the frame */
	uint16_t len;
};

enum tx_order {
	TX_UP,
	TX_DOWN,
	TX_RANDOM, /* every value once, in an order drawn by the seed */
	TX_LIST,   /* the plan's values[base .. base + count - 1], strides of 1 */
};

/*
 * How one field goes from flow to flow: flow n takes step (first + n / every) mod count, whose value is base + step *
 * stride (TX_UP), base - step * stride (TX_DOWN), or what stands in its place in another order. With `every` 1 all
 * fields step together; fields of a cross product have the product of the counts before them.
 */
struct tx_walk {
	uint64_t base; /* host byte order */
	uint64_t first;
	uint64_t count; /* 1 or more; 0 stands for 2^64 */
	uint64_t stride;
	uint64_t every;
	uint64_t seed;
	uint16_t order; /* enum tx_order */
	uint8_t end;    /* of the field in the entry: the byte after its last */
	uint8_t bits;   /* its width, 1..64 */
	uint8_t shift;  /* bits of its last byte that are another field's */
	uint8_t reserved[3];
};

enum tx_follows { TX_FOLLOWS_SIZE = 1, TX_FOLLOWS_PAYLOAD = 2 };

/* A checksum of the frame. */
struct tx_sum {
	uint16_t at;     /* in the frame */
	uint8_t is_udp;  /* one that comes out 0 is sent as 0xffff */
	uint8_t follows; /* TX_FOLLOWS_*: what else than the flow changes it; 0: an entry holds the field itself */
	uint32_t fixed;  /* over everything that no flow and no size changes, folded */
};

/* Bytes of an entry that are in a checksum. */
struct tx_cover {
	uint8_t sum;
	uint8_t at; /* in the entry */
	uint8_t len;
	uint8_t odd;  /* they begin at an odd offset of what is summed */
	uint8_t less; /* they are taken off it instead */
};

/* One frame size. */
struct tx_size {
	uint32_t len;                    /* without FCS */
	uint16_t length[TX_LENGTHS_MAX]; /* what each length field says, network byte order */
	uint16_t sum[TX_SUMS_MAX];       /* what this size adds to each checksum: lengths and payload, folded */
};

/* The pace: one departure, of a packet or a group of them, every interval. A zero interval: as fast as the device takes
 * them. */
struct tx_pace {
	struct pacer_rate interval;
	uint32_t burst;   /* packets that may leave in one clump */
	uint32_t poisson; /* 1: the interval is the mean of random ones, drawn from seed */
	uint64_t seed;
	uint32_t group; /* packets of one departure, whatever burst says; 0 stands for 1 */
};

struct tx_plan {
	uint64_t flows; /* how many; flow n is a function of this struct and n */
	uint32_t n_parts, n_walks, n_sums, n_covers, n_lengths, n_sizes;
	uint32_t entry;      /* bytes of an entry: parts, then a word for each checksum, rounded up to 4 */
	uint32_t entry_sums; /* where in it the checksums begin */
	uint32_t n_cycle;    /* packets of one cycle of sizes */
	uint32_t l3;         /* offset of the outermost IP header, or of what follows the last tag */
	uint32_t l4;         /* offset of the innermost transport header */
	uint32_t min_len;    /* of all sizes */
	uint32_t max_len;
	uint32_t stamped;    /* 1: the last bytes of every packet are a stamp (stamp.h), */
	uint32_t run;        /* of this run; */
	uint32_t first_flow; /* in it this is the number of flow 0 */
	struct tx_part parts[TX_PARTS_MAX];
	struct tx_walk walks[TX_WALKS_MAX];
	struct tx_sum sums[TX_SUMS_MAX];
	struct tx_cover covers[TX_COVERS_MAX];
	uint16_t lengths[TX_LENGTHS_MAX]; /* where the length fields are */
	struct tx_size sizes[TX_SIZES_MAX];
	uint16_t cycle[TX_CYCLE_MAX]; /* of sizes */
	uint64_t values[TX_VALUES_MAX];
	struct tx_pace pace;
	unsigned char
		frame[TX_TEMPLATE_MAX]; /* the template at its largest size; checksums 0, of one size its lengths */
};

#endif
