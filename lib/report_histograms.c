/* SPDX-License-Identifier: Apache-2.0 */
#include "report_histograms.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name stands in quotes where it would be taken for several cells otherwise (RFC 4180 section 2). */
static void write_name(FILE *f, const char *name)
{
	if (!strpbrk(name, ",\"\r\n")) {
		fputs(name, f);
		return;
	}
	fputc('"', f);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', f);
		fputc(*name, f);
	}
	fputc('"', f);
}

static void write_hist(FILE *f, const char *what, const char *stream, const struct hist *h)
{
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		if (!h->n[i])
			continue;
		fprintf(f, "%s,", what);
		write_name(f, stream);
		fprintf(f, ",%" PRIu64 ",", hist_low(i));
		if (i + 1 < HIST_BUCKETS)
			fprintf(f, "%" PRIu64, hist_low(i + 1));
		fprintf(f, ",%" PRIu64 "\n", h->n[i]);
	}
}

static void write_measured(FILE *f, const struct report_measure *m, const struct report_measured *d)
{
	if (m->clock)
		write_hist(f, "latency_ns", d->name, d->latency);
	write_hist(f, "ipdv_ns", d->name, d->ipdv);
	write_hist(f, "gap_ns", d->name, d->gap);
	write_hist(f, "extent", d->name, d->extent);
}

static int refuse(const char *path, int rc, struct err *e)
{
	err_set(e, rc, EXIT_RUN, "cannot write the histograms", path, "%s",
		rc == -ENXIO ? "it is a named pipe that nobody reads" : strerror(-rc));
	err_hint(e, "%s",
		 rc == -ENXIO ? "start the reader first"
			      : "--histograms with a file in a folder that can be written to");
	return rc;
}

int report_histograms_open(const char *path, FILE **out, struct err *e)
{
	/* A pipe's reader is not waited for here, but later its pace is kept. */
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	int rc;

	*out = NULL;
	if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
		*out = fdopen(fd, "w");
	if (*out)
		return 0;
	rc = -errno;
	if (fd >= 0)
		close(fd);
	return refuse(path, rc, e);
}

int report_histograms_write(FILE *f, const char *path, const struct report_measure *m, struct err *e)
{
	struct stat st;
	int rc = 0;

	if (fstat(fileno(f), &st) || (S_ISREG(st.st_mode) && ftruncate(fileno(f), 0)))
		rc = -errno;
	fputs("what,stream,from,to,count\n", f);
	write_measured(f, m, &m->total);
	for (unsigned i = 0; i < m->n_streams; i++)
		write_measured(f, m, &m->streams[i]);
	errno = 0;
	if ((fflush(f) || ferror(f)) && !rc)
		rc = errno ? -errno : -EIO;
	if (fclose(f) && !rc)
		rc = -errno;
	return rc ? refuse(path, rc, e) : 0;
}
