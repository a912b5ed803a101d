/* SPDX-License-Identifier: Apache-2.0 */
#include "report_histograms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int report_histograms_write(const char *path, const struct report_measure *m, struct err *e)
{
	FILE *f = fopen(path, "we");
	int rc = f ? 0 : -errno;

	if (f) {
		fputs("what,stream,from,to,count\n", f);
		write_measured(f, m, &m->total);
		for (unsigned i = 0; i < m->n_streams; i++)
			write_measured(f, m, &m->streams[i]);
		if (fflush(f) || ferror(f))
			rc = errno ? -errno : -EIO;
		if (fclose(f) && !rc)
			rc = -errno;
	}
	if (!rc)
		return 0;
	err_set(e, rc, EXIT_RUN, "cannot write the histograms", path, "%s", strerror(-rc));
	err_hint(e, "--histograms with a file in a folder that can be written to");
	return rc;
}
