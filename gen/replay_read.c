/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int changed(const struct replay_reader *r, struct err *e, const char *what)
{
	pcap_file_err(e, -ESTALE, r->replay->path, "it changed while it was replayed: %s after packet %" PRIu64, what,
		      r->reader.number);
	err_hint(e, "a copy that nobody writes to");
	return -ESTALE;
}

/* What was found out about the file before the run is no longer so: it is the run that fails, not what was asked for.
 */
static int as_run(int rc, struct err *e)
{
	if (rc && e)
		e->code = EXIT_RUN;
	return rc;
}

static int begin_pass(struct replay_reader *r, struct err *e)
{
	const struct capture *c = &r->replay->capture;
	struct stat st;
	int rc;

	replay_reader_close(r);
	rc = pcap_file_open(&r->file, r->replay->path, e);
	if (!rc)
		rc = capture_reader_begin(&r->reader, r->file, r->replay->path, &r->replay->rules, e);
	if (!rc && (pcap_file_stat(r->file, &st) || st.st_dev != c->device || st.st_ino != c->inode))
		rc = changed(r, e, "another file has its name");
	r->reader.src = r->replay->src;
	r->reader.dst = r->replay->dst;
	r->n = 0;
	return rc;
}

int replay_reader_open(struct replay_reader *r, const struct replay *replay, struct err *e)
{
	*r = (struct replay_reader){.replay = replay};
	return as_run(begin_pass(r, e), e);
}

void replay_reader_close(struct replay_reader *r)
{
	capture_reader_end(&r->reader);
	pcap_file_close(r->file);
	r->file = NULL;
}

static int next(struct replay_reader *r, struct capture_frame *f, struct err *e)
{
	const struct capture *c = &r->replay->capture;
	int rc = 0;

	if (r->n == c->n) {
		rc = begin_pass(r, e);
		r->pass_ns += r->replay->pass_ns;
	}
	if (rc)
		return rc;
	rc = capture_reader_next(&r->reader, f, e);
	if (rc < 0)
		return rc;
	if (!rc)
		return changed(r, e, "it ends");
	if (f->len > c->max_len || f->at_ns - c->first_ns > c->last_ns)
		return changed(r, e, "other packets are in it");
	r->n++;
	f->at_ns += r->pass_ns - c->first_ns;
	return 0;
}

int replay_reader_next(struct replay_reader *r, struct capture_frame *f, struct err *e)
{
	return as_run(next(r, f, e), e);
}
