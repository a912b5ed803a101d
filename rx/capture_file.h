/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_file: what arrived, in a capture file (pcap, nanoseconds, VLAN tags in the data). Receiving threads put
 * packets into rings, a thread of its own writes them: a slow disk costs packets of the capture, which are counted, and
 * never the receivers' time.
 */
#ifndef SQUALL_RX_CAPTURE_FILE_H
#define SQUALL_RX_CAPTURE_FILE_H

#include "capture_ring.h"
#include "lib/err.h"
#include "lib/report.h"

#include <stdatomic.h>

struct capture_file_conf {
	const char *path; /* the caller's, as long as it is open */
	unsigned threads;
	uint64_t limit;   /* packets; 0: no limit */
	uint32_t snaplen; /* 0: whole packets */
};

struct capture_file;

/*
 * Makes the file, or empties it; the named pipe needs a reader. EXIT_RUN when it cannot be written, -ENOMEM. Main
 * thread.
 */
int capture_file_open(struct capture_file **out, const struct capture_file_conf *conf, struct err *e);

/* Thread i's. */
struct capture_ring *capture_file_ring(struct capture_file *c, unsigned i);

/*
 * Writes until *stop, and then what the rings hold, for 2 s at most. The receiving threads must have ended before *stop
 * is set. Its own thread.
 */
void capture_file_run(struct capture_file *c, const _Atomic bool *stop);

/*
 * After the thread has ended. Returns 0, or the errno of the write that ended the capture: ETIMEDOUT for a pipe that
 * took nothing more at the end. Main thread.
 */
int capture_file_result(const struct capture_file *c, struct report_capture *out);
void capture_file_close(struct capture_file *c); /* NULL is passed over */

#endif
