/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_read: one pass through a capture: each record becomes an Ethernet frame ready to be sent and when it departs,
 * or is left out and counted. Nothing of it is kept. One thread.
 */
#ifndef SQUALL_GEN_CAPTURE_READ_H
#define SQUALL_GEN_CAPTURE_READ_H

#include "capture_clock.h"
#include "lib/config.h"
#include "lib/err.h"
#include "lib/stats.h"
#include "pcap_file.h"
#include "pcap_rewrite.h"

struct capture_rules {
	uint64_t memory;             /* bytes that the capture may take, its index included */
	uint32_t mtu;                /* the most bytes behind Ethernet header and tags */
	uint32_t max_frame;          /* the most without FCS */
	int truncated;               /* enum pcap_unfit */
	int too_large;               /* PCAP_UNFIT_SKIP or PCAP_UNFIT_REFUSE */
	uint64_t max_gap_ns;         /* 0: no limit */
	uint64_t speed;              /* in millionths: 2000000 halves every gap */
	struct pcap_rewrite rewrite; /* of MACs: not for a converted capture */
	const volatile int *stop;    /* not 0: end early (-EINTR); NULL: never */
};

struct capture_frame {
	const unsigned char *data; /* valid until the next call */
	uint32_t len;              /* without FCS */
	uint32_t l3;               /* of it, what is behind Ethernet header and tags */
	uint64_t at_ns;            /* after the capture's first record, at the rules' speed */
};

struct capture_reader {
	struct pcap_file *file; /* the caller's */
	const struct capture_rules *rules;
	const char *path;
	int link;            /* DLT_* of the file */
	bool converted;      /* frames are made Ethernet, */
	struct mac src, dst; /* with these addresses; zero unless set */
	uint64_t number;     /* of the record in the file, from 1 */
	struct capture_clock clock;
	struct pcap_rewrite rewrite;
	struct pcap_counts counts; /* of this pass so far; not all kinds */
	unsigned char *frame;
};

/*
 * Starts at the file's first record. rules and path must outlive it. -errno with EXIT_USAGE for a link type that cannot
 * be converted; -ENOMEM. capture_reader_end() releases it on every path.
 */
int capture_reader_begin(struct capture_reader *r, struct pcap_file *file, const char *path,
			 const struct capture_rules *rules, struct err *e);
void capture_reader_end(struct capture_reader *r);

/*
 * 1: *f is the next frame; 0: the end. -errno with EXIT_USAGE: what pcap_file says, or a packet that the rules refuse,
 * named by its number. -EINTR with EXIT_DONE: told to stop.
 */
int capture_reader_next(struct capture_reader *r, struct capture_frame *f, struct err *e);

#endif
