/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_file: reads the records of a capture, pcap or pcapng, one after the other. Cold; one thread.
 *
 * Every error is EXIT_USAGE and names the file. A file that ends in the middle of a record has that record left out,
 * and tells.
 */
#ifndef SQUALL_GEN_PCAP_FILE_H
#define SQUALL_GEN_PCAP_FILE_H

#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

struct pcap_file;

struct pcap_record {
	uint64_t time_ns; /* Unix time; what lies outside 1970 to 2255 is moved to its border */
	const unsigned char *data;
	uint32_t captured; /* bytes at data, valid until the next call */
	uint32_t len;      /* bytes that the packet had; not less than captured */
};

/* Opens the file ("-": the standard input), reads its header. -errno. */
int pcap_file_open(struct pcap_file **out, const char *path, struct err *e);
/* The same from a stream, which belongs to *out from here on (on failure it is closed). */
int pcap_file_open_stream(struct pcap_file **out, FILE *stream, const char *name, struct err *e);
void pcap_file_close(struct pcap_file *f);

bool pcap_file_is_stdin(const char *path);
/* fstat(2) of it; -errno. */
int pcap_file_stat(const struct pcap_file *f, struct stat *st);

int pcap_file_link(const struct pcap_file *f); /* DLT_* */
bool pcap_file_cut(const struct pcap_file *f); /* the end of a record was missing */

/* 1: *r is the next record; 0: the end; -EBADMSG: what follows is no record. */
int pcap_file_next(struct pcap_file *f, struct pcap_record *r, struct err *e);

/* Fills *e about a file: its name is the object, with its end kept when it is too long. Returns rc. */
int pcap_file_err(struct err *e, int rc, const char *path, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
