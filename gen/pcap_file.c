/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_file.h"

#include "lib/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So that sums and differences of times stay far from the limits of 64 bits. */
#define SECONDS_MAX 9000000000LL

/* What one call reads of the file. */
#define BUFFER_SIZE (64UL << 10)

struct pcap_file {
	pcap_t *pcap;
	char *buffer; /* of its stream, as long as that is open */
	const char *path;
	uint64_t records;
	bool cut;
};

int pcap_file_err(struct err *e, int rc, const char *path, const char *fmt, ...)
{
	char name[80], cause[sizeof(e->cause)];
	size_t len = strlen(path);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	if (len < sizeof(name))
		snprintf(name, sizeof(name), "%s", path);
	else
		snprintf(name, sizeof(name), "...%s", path + len - (sizeof(name) - 4));
	return err_set(e, rc, EXIT_USAGE, "cannot replay the capture", name, "%s", cause);
}

static void release(struct pcap_file *f)
{
	free(f->buffer);
	free(f);
}

int pcap_file_open_stream(struct pcap_file **out, FILE *stream, const char *name, struct err *e)
{
	struct pcap_file *f = calloc(1, sizeof(*f));
	char why[PCAP_ERRBUF_SIZE] = "";
	int first;

	*out = NULL;
	if (f)
		f->buffer = malloc(BUFFER_SIZE);
	if (!f || !f->buffer) {
		fclose(stream);
		free(f);
		return pcap_file_err(e, -ENOMEM, name, "no memory");
	}
	setvbuf(stream, f->buffer, _IOFBF, BUFFER_SIZE);
	f->path = name;
	errno = 0;
	first = getc(stream);
	if (first == EOF) {
		int rc = ferror(stream) && errno ? -errno : -ENODATA;

		pcap_file_err(e, rc, name, "%s", rc == -ENODATA ? "the file is empty" : strerror(-rc));
		fclose(stream);
		release(f);
		return rc;
	}
	ungetc(first, stream);
	f->pcap = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!f->pcap) {
		pcap_file_err(e, -EBADMSG, name, "it is no capture that can be read: %s", why);
		err_hint(e, "a pcap or pcapng file");
		fclose(stream);
		release(f);
		return -EBADMSG;
	}
	*out = f;
	return 0;
}

bool pcap_file_is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

int pcap_file_open(struct pcap_file **out, const char *path, struct err *e)
{
	const int fd = pcap_file_is_stdin(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
	FILE *stream = pcap_file_is_stdin(path) ? fdopen(fd, "r") : fopen(path, "re");

	*out = NULL;
	if (!stream) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return pcap_file_err(e, rc, path, "%s", strerror(-rc));
	}
	return pcap_file_open_stream(out, stream, path, e);
}

void pcap_file_close(struct pcap_file *f)
{
	if (!f)
		return;
	pcap_close(f->pcap);
	release(f);
}

int pcap_file_stat(const struct pcap_file *f, struct stat *st)
{
	return fstat(fileno(pcap_file(f->pcap)), st) ? -errno : 0;
}

int pcap_file_link(const struct pcap_file *f)
{
	return pcap_datalink(f->pcap);
}

bool pcap_file_cut(const struct pcap_file *f)
{
	return f->cut;
}

/* With this precision the part below a second is in ns, whatever its name. A broken file may hold any number there. */
static uint64_t time_of(const struct timeval *t)
{
	int64_t s = t->tv_sec < 0 ? 0 : t->tv_sec > SECONDS_MAX ? SECONDS_MAX : t->tv_sec;
	int64_t ns = t->tv_usec < 0 ? 0 : t->tv_usec > UINT32_MAX ? UINT32_MAX : t->tv_usec;

	return (uint64_t)s * NS_PER_S + (uint64_t)ns;
}

int pcap_file_next(struct pcap_file *f, struct pcap_record *r, struct err *e)
{
	struct pcap_pkthdr *h;
	int rc = f->cut ? PCAP_ERROR_BREAK : pcap_next_ex(f->pcap, &h, &r->data);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	if (rc != 1) {
		/* The file ended while the record was being read. */
		if (feof(pcap_file(f->pcap))) {
			f->cut = true;
			return 0;
		}
		pcap_file_err(e, -EBADMSG, f->path, "broken after packet %llu: %s", (unsigned long long)f->records,
			      pcap_geterr(f->pcap));
		/* libpcap has one link type and one snapshot length for all interfaces of a pcapng file. */
		if (strstr(pcap_geterr(f->pcap), "first interface"))
			err_hint(e, "a capture of one interface; where only their snapshot lengths differ, "
				    "editcap -F nsecpcap IN OUT makes one of them");
		return -EBADMSG;
	}
	f->records++;
	r->time_ns = time_of(&h->ts);
	r->captured = h->caplen;
	r->len = h->len > h->caplen ? h->len : h->caplen;
	return 1;
}
