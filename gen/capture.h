/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: what a whole capture comes to, and its frames in memory, ready to be sent, where they fit into it. Loaded by
 * the main thread, then only read, by any thread.
 */
#ifndef SQUALL_GEN_CAPTURE_H
#define SQUALL_GEN_CAPTURE_H

#include "capture_read.h"

#include <sys/types.h>

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
	bool streamed;                             /* it does not fit: there are no packets here */
	uint64_t n;
	uint64_t bytes, l3_bytes; /* of all frames, without FCS; without their Ethernet headers and tags */
	uint64_t small;           /* frames that are shorter than hardware sends them */
	uint64_t first_ns;        /* when the first frame departs, after the capture's first record */
	uint64_t last_ns;         /* when the last one departs, after the first */
	uint32_t max_len;
	int link;       /* DLT_* of the file */
	bool converted; /* its frames were made Ethernet: MACs are still to be set */
	bool cut;       /* the file's last record was not whole */
	dev_t device;   /* of a streamed file, to know it again */
	ino_t inode;
	struct pcap_counts counts;
};

/* Frames that no hardware sends: it fills them up. */
#define CAPTURE_FRAME_MIN 60U

/*
 * Loads the file. One that does not fit into the memory is read all the same, for all that is said about it, and is
 * `streamed`; from a pipe, which can be read only once, it is refused. -errno with EXIT_USAGE: what capture_reader and
 * pcap_file say; no packet left to send. -EINTR with EXIT_DONE. capture_free() releases it on every path.
 */
int capture_load(struct capture *c, const char *path, const struct capture_rules *rules, struct err *e);
/* The same from a reader, which stays the caller's. may_stream: what does not fit is no error. */
int capture_read(struct capture *c, struct pcap_file *f, const char *path, const struct capture_rules *rules,
		 bool may_stream, struct err *e);
void capture_free(struct capture *c);

/* The addresses of the frames of a converted capture. */
void capture_set_macs(struct capture *c, const struct mac *src, const struct mac *dst);

static inline const unsigned char *capture_frame(const struct capture *c, const struct capture_packet *p)
{
	return c->data + (size_t)p->unit * CAPTURE_UNIT;
}

#endif
