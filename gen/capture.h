/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: a whole capture in memory as Ethernet frames ready to be sent, and when each departs. Loaded by the main
 * thread, then only read, by any thread.
 */
#ifndef SQUALL_GEN_CAPTURE_H
#define SQUALL_GEN_CAPTURE_H

#include "lib/config.h"
#include "lib/err.h"
#include "lib/stats.h"
#include "pcap_file.h"
#include "pcap_rewrite.h"

/* Frames begin at multiples of this, and this many bytes behind each can be read. */
#define CAPTURE_UNIT  16U
#define CAPTURE_SLACK 64U

struct capture_packet {
	uint64_t at_ns; /* after the first one */
	uint32_t unit;  /* where it begins, in CAPTURE_UNITs */
	uint32_t len;   /* without FCS */
};

struct capture {
	unsigned char *data;
	struct capture_packet *packets;
	size_t data_size, data_used, packets_size; /* bytes of the mappings */
	uint64_t n;
	uint64_t bytes, l3_bytes; /* of all frames, without FCS; without their Ethernet headers and tags */
	uint32_t max_len;
	int link;       /* DLT_* of the file */
	bool converted; /* its frames were made Ethernet: MACs are still to be set */
	bool cut;       /* the file's last record was not whole */
	struct pcap_counts counts;
};

struct capture_rules {
	uint64_t memory;             /* bytes that the capture may take, its index included */
	uint32_t mtu;                /* the most bytes behind Ethernet header and tags */
	uint32_t max_frame;          /* the most without FCS */
	int truncated;               /* enum pcap_unfit */
	int too_large;               /* PCAP_UNFIT_SKIP or PCAP_UNFIT_REFUSE */
	uint64_t max_gap_ns;         /* 0: no limit */
	uint64_t speed;              /* in millionths: 2000000 halves every gap */
	struct pcap_rewrite rewrite; /* of MACs: not for a converted capture */
};

/*
 * Loads the file. -errno with EXIT_USAGE: what pcap_file says; a link type that cannot be converted; a packet that the
 * rules refuse, named by its number; more than the memory; no packet left to send. capture_free() releases it on every
 * path.
 */
int capture_load(struct capture *c, const char *path, const struct capture_rules *rules, struct err *e);
/* The same from a reader, which stays the caller's. */
int capture_read(struct capture *c, struct pcap_file *f, const char *path, const struct capture_rules *rules,
		 struct err *e);
void capture_free(struct capture *c);

/* The addresses of the frames of a converted capture. */
void capture_set_macs(struct capture *c, const struct mac *src, const struct mac *dst);

static inline const unsigned char *capture_frame(const struct capture *c, const struct capture_packet *p)
{
	return c->data + (size_t)p->unit * CAPTURE_UNIT;
}

#endif
