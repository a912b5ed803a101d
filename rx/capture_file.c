/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_file.h"

#include "lib/clock.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WHAT "cannot write the capture"

/* For all rings together, and the least that one has. */
#define RINGS_BYTES    (64ULL << 20)
#define RING_BYTES_MIN (1ULL << 20)
#define WRITE_BUFFER   (1U << 20)
#define SNAPLEN_MAX    262144U
#define IDLE_NS        (2 * NS_PER_MS)
/* A file that takes nothing for so long after the end of the run has had its chance. */
#define END_NS  (2 * NS_PER_S)
#define POLL_MS 50
/* Packets between two looks at whether the file took them. */
#define BATCH 4096U
/* pcap-savefile(5) */
#define PCAP_HEADER_BYTES 24U
#define PCAP_RECORD_BYTES 16U

struct capture_file {
	const char *path;
	int fd;
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	struct capture_ring *rings;
	unsigned n_rings;
	struct capture_budget budget;
	const _Atomic bool *stop;
	uint64_t give_up_ns;    /* monotonic; 0: not yet */
	uint64_t packets, size; /* in the file for certain: whole packets, and its size with them */
	uint64_t unwritten;
	int error;
};

static int refuse(struct err *e, const char *path, int rc)
{
	err_set(e, rc, EXIT_RUN, WHAT, path, "%s",
		rc == -ENXIO ? "it is a named pipe that nobody reads" : strerror(-rc));
	if (rc == -ENXIO)
		err_hint(e, "start the reader first");
	else if (rc != -ENOMEM)
		err_hint(e, "--capture with a file in a folder that can be written to");
	return rc;
}

static bool out_of_time(struct capture_file *c)
{
	if (!atomic_load_explicit(c->stop, memory_order_acquire))
		return false;
	if (!c->give_up_ns)
		c->give_up_ns = clock_mono_ns() + END_NS;
	return clock_mono_ns() >= c->give_up_ns;
}

/* A pipe may be full for as long as its reader likes. */
static ssize_t write_waiting(void *cookie, const char *buf, size_t size)
{
	struct capture_file *c = cookie;
	size_t done = 0;

	while (done < size && !c->error) {
		ssize_t n = write(c->fd, buf + done, size - done);
		struct pollfd p = {.fd = c->fd, .events = POLLOUT};

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno != EAGAIN)
			c->error = errno;
		else if (c->stop && out_of_time(c))
			c->error = ETIMEDOUT;
		else
			poll(&p, 1, POLL_MS);
	}
	if (!c->error)
		return (ssize_t)size;
	errno = c->error;
	return 0;
}

static int close_fd(void *cookie)
{
	struct capture_file *c = cookie;
	int rc = close(c->fd);

	c->fd = -1;
	return rc;
}

/* The file's header is written at once: a file that takes nothing is found out before the run. */
static int open_dumper(struct capture_file *c, uint32_t snaplen)
{
	const cookie_io_functions_t io = {.write = write_waiting, .close = close_fd};
	FILE *f;

	c->fd = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (c->fd < 0)
		return -errno;
	c->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)snaplen, PCAP_TSTAMP_PRECISION_NANO);
	f = c->pcap ? fopencookie(c, "w", io) : NULL;
	if (!f)
		return -ENOMEM;
	setvbuf(f, NULL, _IOFBF, WRITE_BUFFER);
	c->dumper = pcap_dump_fopen(c->pcap, f);
	if (!c->dumper) {
		fclose(f);
		return -ENOMEM;
	}
	return pcap_dump_flush(c->dumper) ? -(c->error ? c->error : EIO) : 0;
}

static uint64_t ring_size(unsigned rings)
{
	uint64_t size = RINGS_BYTES;

	while (size > RING_BYTES_MIN && size * rings > RINGS_BYTES)
		size /= 2;
	return size;
}

int capture_file_open(struct capture_file **out, const struct capture_file_conf *conf, struct err *e)
{
	uint32_t snaplen = conf->snaplen && conf->snaplen < SNAPLEN_MAX ? conf->snaplen : SNAPLEN_MAX;
	struct capture_file *c = calloc(1, sizeof(*c));
	int rc = c ? 0 : -ENOMEM;

	*out = NULL;
	if (!rc) {
		c->path = conf->path;
		c->fd = -1;
		c->budget.limit = conf->limit;
		c->size = PCAP_HEADER_BYTES;
		c->rings = aligned_alloc(128, conf->threads * sizeof(*c->rings));
		rc = c->rings ? 0 : -ENOMEM;
	}
	for (unsigned i = 0; !rc && i < conf->threads; i++) {
		rc = capture_ring_init(&c->rings[i], ring_size(conf->threads), snaplen, &c->budget);
		c->n_rings += !rc;
	}
	if (!rc)
		rc = open_dumper(c, snaplen);
	if (rc) {
		capture_file_close(c);
		return refuse(e, conf->path, rc);
	}
	*out = c;
	return 0;
}

struct capture_ring *capture_file_ring(struct capture_file *c, unsigned i)
{
	return &c->rings[i];
}

/* The ring whose next packet came first; NULL: all are empty. */
static struct capture_ring *oldest(struct capture_file *c, const struct capture_record **rec)
{
	struct capture_ring *best = NULL;

	for (unsigned i = 0; i < c->n_rings; i++) {
		const struct capture_record *r = capture_ring_peek(&c->rings[i]);

		if (r && (!best || r->time_ns < (*rec)->time_ns)) {
			best = &c->rings[i];
			*rec = r;
		}
	}
	return best;
}

static void write_record(struct capture_file *c, const struct capture_record *rec)
{
	/* A reader of nanoseconds finds them in tv_usec (pcap-savefile(5)). */
	const struct pcap_pkthdr h = {
		.ts = {.tv_sec = (time_t)(rec->time_ns / NS_PER_S), .tv_usec = (suseconds_t)(rec->time_ns % NS_PER_S)},
		.caplen = rec->kept,
		.len = rec->len,
	};

	pcap_dump((unsigned char *)c->dumper, &h, (const unsigned char *)(rec + 1));
}

/*
 * Takes some records out of the rings, and has them in the file when it returns: what a failed write has cut off is
 * taken away again, as far as that can be. Returns how many records it took.
 */
static unsigned write_some(struct capture_file *c)
{
	const struct capture_record *rec = NULL;
	bool failed = c->error;
	struct capture_ring *ring;
	uint64_t bytes = 0;
	unsigned n = 0;

	while (n < BATCH && (ring = oldest(c, &rec))) {
		if (!c->error)
			write_record(c, rec);
		bytes += PCAP_RECORD_BYTES + rec->kept;
		capture_ring_pop(ring);
		n++;
	}
	if (n && !c->error)
		pcap_dump_flush(c->dumper);
	if (!c->error) {
		c->packets += n;
		c->size += bytes;
		return n;
	}
	c->unwritten += n;
	if (!failed && ftruncate(c->fd, (off_t)c->size))
		return n; /* a pipe */
	return n;
}

void capture_file_run(struct capture_file *c, const _Atomic bool *stop)
{
	const struct timespec idle = {.tv_nsec = (long)IDLE_NS};

	c->stop = stop;
	for (;;) {
		bool last = atomic_load_explicit(stop, memory_order_acquire);

		if (write_some(c))
			continue;
		if (last)
			break;
		nanosleep(&idle, NULL);
	}
}

int capture_file_result(const struct capture_file *c, struct report_capture *out)
{
	*out = (struct report_capture){.file = c->path, .packets = c->packets, .dropped = c->unwritten};
	for (unsigned i = 0; i < c->n_rings; i++)
		out->dropped += atomic_load_explicit(&c->rings[i].dropped, memory_order_relaxed);
	return c->error;
}

void capture_file_close(struct capture_file *c)
{
	if (!c)
		return;
	if (c->dumper)
		pcap_dump_close(c->dumper);
	else if (c->fd >= 0)
		close(c->fd);
	if (c->pcap)
		pcap_close(c->pcap);
	for (unsigned i = 0; i < c->n_rings; i++)
		capture_ring_free(&c->rings[i]);
	free(c->rings);
	free(c);
}
