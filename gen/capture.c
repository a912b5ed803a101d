/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FIRST_SIZE (1UL << 20)

/* Makes a mapping hold `need` bytes; sizes double, and stay within the bound together. */
static int grow(void **map, size_t *size, size_t need)
{
	size_t want = *size ? *size : FIRST_SIZE;
	void *bigger;

	while (want < need)
		want *= 2;
	if (want == *size)
		return 0;
	bigger = *size ? mremap(*map, *size, want, MREMAP_MAYMOVE)
		       : mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bigger == MAP_FAILED)
		return -ENOMEM;
	madvise(bigger, want, MADV_HUGEPAGE);
	*map = bigger;
	*size = want;
	return 0;
}

/* Room for one more frame. -EFBIG: beyond the bound. */
static int reserve(struct capture *c, uint32_t frame, uint64_t memory)
{
	size_t data = c->data_used + frame + CAPTURE_SLACK;
	size_t index = (c->n + 1) * sizeof(*c->packets);
	void *packets = c->packets;
	void *bytes = c->data;
	int rc;

	if (data + index > memory || data / CAPTURE_UNIT > UINT32_MAX)
		return -EFBIG;
	rc = grow(&bytes, &c->data_size, data);
	c->data = bytes;
	if (rc)
		return rc;
	rc = grow(&packets, &c->packets_size, index);
	c->packets = packets;
	return rc;
}

static void release(struct capture *c)
{
	if (c->data_size)
		munmap(c->data, c->data_size);
	if (c->packets_size)
		munmap(c->packets, c->packets_size);
	c->data = NULL;
	c->packets = NULL;
	c->data_size = c->data_used = c->packets_size = 0;
}

static int keep(struct capture *c, const struct capture_frame *f, uint64_t memory)
{
	int rc = reserve(c, f->len, memory);

	if (rc)
		return rc;
	memcpy(c->data + c->data_used, f->data, f->len);
	c->packets[c->n] = (struct capture_packet){
		.at_ns = f->at_ns - c->first_ns, .unit = (uint32_t)(c->data_used / CAPTURE_UNIT), .len = f->len};
	c->data_used += (f->len + CAPTURE_UNIT - 1) / CAPTURE_UNIT * CAPTURE_UNIT;
	return 0;
}

static int refuse_size(const char *path, uint64_t number, uint64_t memory, struct err *e)
{
	pcap_file_err(e, -EFBIG, path,
		      "packet %" PRIu64 " does not fit into the %" PRIu64
		      " bytes of --pcap-preload, and this is no file that can be read twice",
		      number, memory);
	err_hint(e, "a larger --pcap-preload, or a file of its own, which is streamed");
	return -EFBIG;
}

/* Takes the next frame into the account, and into memory while that lasts. */
static int take(struct capture *c, const struct capture_reader *r, const struct capture_frame *f, bool may_stream,
		struct err *e)
{
	int rc = 0;

	if (!c->n) /* packets that were left out in front do not delay it */
		c->first_ns = f->at_ns;
	if (!c->streamed)
		rc = keep(c, f, r->rules->memory);
	if (rc == -ENOMEM)
		return pcap_file_err(e, rc, r->path, "no memory after packet %" PRIu64, r->number);
	if (rc && !may_stream)
		return refuse_size(r->path, r->number, r->rules->memory, e);
	if (rc) {
		release(c);
		c->streamed = true;
	}
	c->n++;
	c->last_ns = f->at_ns - c->first_ns;
	c->bytes += f->len;
	c->l3_bytes += f->l3;
	c->small += f->len < CAPTURE_FRAME_MIN;
	c->max_len = f->len > c->max_len ? f->len : c->max_len;
	return 0;
}

int capture_read(struct capture *c, struct pcap_file *f, const char *path, const struct capture_rules *rules,
		 bool may_stream, struct err *e)
{
	struct capture_reader r;
	struct capture_frame frame;
	int rc;

	memset(c, 0, sizeof(*c));
	rc = capture_reader_begin(&r, f, path, rules, e);
	c->link = r.link;
	c->converted = r.converted;
	while (!rc && (rc = capture_reader_next(&r, &frame, e)) > 0)
		rc = take(c, &r, &frame, may_stream, e);
	c->counts = r.counts;
	c->cut = pcap_file_cut(f);
	capture_reader_end(&r);
	if (rc || c->n)
		return rc;
	if (c->counts.packets)
		return pcap_file_err(e, -ENODATA, path, "none of its %" PRIu64 " packets can be sent",
				     c->counts.packets);
	return pcap_file_err(e, -ENODATA, path,
			     c->cut ? "the file ends within its first packet" : "it holds no packet");
}

int capture_load(struct capture *c, const char *path, const struct capture_rules *rules, struct err *e)
{
	struct pcap_file *f;
	struct stat st = {0};
	int rc;

	memset(c, 0, sizeof(*c));
	rc = pcap_file_open(&f, path, e);
	if (rc)
		return rc;
	rc = pcap_file_stat(f, &st);
	rc = capture_read(c, f, path, rules, !rc && S_ISREG(st.st_mode) && !pcap_file_is_stdin(path), e);
	c->device = st.st_dev;
	c->inode = st.st_ino;
	pcap_file_close(f);
	return rc;
}

void capture_free(struct capture *c)
{
	release(c);
	memset(c, 0, sizeof(*c));
}

void capture_set_macs(struct capture *c, const struct mac *src, const struct mac *dst)
{
	for (uint64_t i = 0; i < c->n && !c->streamed; i++) {
		unsigned char *frame = c->data + (size_t)c->packets[i].unit * CAPTURE_UNIT;

		memcpy(frame, dst->b, sizeof(dst->b));
		memcpy(frame + sizeof(dst->b), src->b, sizeof(src->b));
	}
}
