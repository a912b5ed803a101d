/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include "capture_clock.h"
#include "lib/core/types.h"
#include "lib/ether.h"
#include "pcap_link.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_SIZE (1UL << 20)
/* Speeds are in millionths. */
#define SPEED_ONE 1000000U

__extension__ typedef unsigned __int128 uint128;

/* What one load needs beside its result. */
struct loader {
	struct capture *c;
	const struct capture_rules *rules;
	const char *path;
	uint64_t number; /* of the packet in the file, from 1 */
	struct capture_clock clock;
	struct pcap_rewrite rewrite;
	struct err *e;
};

static int no_memory(struct loader *l)
{
	return pcap_file_err(l->e, -ENOMEM, l->path, "no memory after packet %" PRIu64, l->number);
}

/* Makes a mapping hold `need` bytes; sizes double, and stay within the bound together. */
static int grow(struct loader *l, void **map, size_t *size, size_t need)
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
		return no_memory(l);
	madvise(bigger, want, MADV_HUGEPAGE);
	*map = bigger;
	*size = want;
	return 0;
}

static int reserve(struct loader *l, uint32_t frame)
{
	struct capture *c = l->c;
	size_t data = c->data_used + frame + PCAP_REWRITE_GROWTH + CAPTURE_SLACK;
	size_t index = (c->n + 1) * sizeof(*c->packets);
	void *packets = c->packets;
	void *bytes = c->data;
	int rc;

	if (data + index > l->rules->memory || data / CAPTURE_UNIT > UINT32_MAX) {
		pcap_file_err(l->e, -EFBIG, l->path,
			      "packet %" PRIu64 " does not fit into the %" PRIu64 " bytes of --pcap-preload", l->number,
			      l->rules->memory);
		err_hint(l->e, "a larger --pcap-preload, or a part of the capture (editcap -c)");
		return -EFBIG;
	}
	rc = grow(l, &bytes, &c->data_size, data);
	c->data = bytes;
	if (rc)
		return rc;
	rc = grow(l, &packets, &c->packets_size, index);
	c->packets = packets;
	return rc;
}

/* A packet that the rules let through (1), leave out (0) or refuse. */
static int judge_truncated(struct loader *l, const struct pcap_record *r)
{
	if (r->captured == r->len)
		return 1;
	switch (l->rules->truncated) {
	case PCAP_UNFIT_SKIP:
		l->c->counts.truncated_skipped++;
		return 0;
	case PCAP_UNFIT_PAD:
		return 1;
	default:
		pcap_file_err(l->e, -EINVAL, l->path,
			      "packet %" PRIu64 " was cut when it was captured: %u of its %u bytes are in the file",
			      l->number, r->captured, r->len);
		err_hint(l->e, "--pcap-truncated skip or pad, or a capture without a snapshot length (tcpdump -s 0)");
		return -EINVAL;
	}
}

static int judge_size(struct loader *l, uint32_t len, uint32_t l3)
{
	const struct capture_rules *rules = l->rules;

	if (l3 <= rules->mtu && len <= rules->max_frame)
		return 1;
	if (l->rules->too_large == PCAP_UNFIT_SKIP) {
		l->c->counts.too_large++;
		return 0;
	}
	pcap_file_err(l->e, -EMSGSIZE, l->path,
		      "packet %" PRIu64 " is too large to be sent: %u bytes behind its Ethernet header, the MTU is %u",
		      l->number, l3, rules->mtu);
	err_hint(l->e, "--pcap-too-large skip, or a larger MTU (ip link set DEV mtu %u)", l3);
	return -EMSGSIZE;
}

static int refuse_packet(struct loader *l)
{
	char name[96];

	pcap_file_err(l->e, -EPROTONOSUPPORT, l->path,
		      "packet %" PRIu64
		      " of link type %s is nothing that has an EtherType, so it cannot become Ethernet",
		      l->number, pcap_link_name(l->c->link, name, sizeof(name)));
	err_hint(l->e, "leave it out: tcpdump -r IN -w OUT 'ip or ip6'");
	return -EPROTONOSUPPORT;
}

static void count_rewrites(struct pcap_counts *counts, unsigned done)
{
	counts->rewritten_mac += done & PCAP_REWROTE_MAC ? 1 : 0;
	counts->rewritten_ip += done & PCAP_REWROTE_IP ? 1 : 0;
	counts->rewritten_vlan += done & PCAP_REWROTE_VLAN ? 1 : 0;
}

/* Every gap divided by the speed; the division is of the whole time, so that nothing adds up. */
static uint64_t scaled(uint64_t ns, uint64_t speed)
{
	return speed == SPEED_ONE ? ns : (uint64_t)((uint128)ns * SPEED_ONE / speed);
}

/* Puts one record behind the others, or leaves it out (0, too). */
static int add(struct loader *l, const struct pcap_record *r)
{
	struct capture *c = l->c;
	const uint64_t at_ns = capture_clock_next(&l->clock, r->time_ns);
	uint32_t header = c->converted ? ETH_HEADER_LEN : 0;
	uint32_t skip = 0;
	uint32_t len, captured, l3;
	uint16_t type = 0;
	unsigned char *frame;
	unsigned done;
	int rc;

	c->counts.packets++;
	rc = judge_truncated(l, r);
	if (rc <= 0)
		return rc;
	if (c->converted && pcap_link_parse(c->link, r->data, r->captured, &type, &skip))
		return refuse_packet(l);
	/* Before it is copied: a length in a file may be anything. Tags are looked at below. */
	if (r->len > l->rules->max_frame + PCAP_REWRITE_GROWTH)
		return judge_size(l, r->len, r->len);
	captured = r->captured - skip + header;
	len = r->len - skip + header;
	if (captured < ETH_HEADER_LEN) {
		c->counts.too_short++;
		return 0;
	}
	rc = reserve(l, len);
	if (rc)
		return rc;
	frame = c->data + c->data_used;
	if (c->converted) {
		memset(frame, 0, ETH_MACS_LEN);
		core_put16(frame + ETH_MACS_LEN, core_be16(type));
	}
	memcpy(frame + header, r->data + skip, r->captured - skip);
	memset(frame + captured, 0, len - captured);
	done = pcap_rewrite_frame(&l->rewrite, frame, captured, &len);
	l3 = len - pcap_l3_of(frame, len, &type);
	rc = judge_size(l, len, l3);
	if (rc <= 0)
		return rc;
	count_rewrites(&c->counts, done);
	c->counts.truncated_padded += r->captured < r->len;
	c->packets[c->n++] = (struct capture_packet){
		.at_ns = scaled(at_ns, l->rules->speed), .unit = (uint32_t)(c->data_used / CAPTURE_UNIT), .len = len};
	c->data_used += (len + CAPTURE_UNIT - 1) / CAPTURE_UNIT * CAPTURE_UNIT;
	c->bytes += len;
	c->l3_bytes += l3;
	c->max_len = len > c->max_len ? len : c->max_len;
	return 0;
}

/* Skipped packets at the front do not delay the first one that is sent. */
static void start_at_zero(struct capture *c)
{
	const uint64_t first = c->packets[0].at_ns;

	for (uint64_t i = 0; first && i < c->n; i++)
		c->packets[i].at_ns -= first;
}

static int refuse_link(struct loader *l)
{
	char name[96];

	pcap_file_err(l->e, -EPROTONOSUPPORT, l->path,
		      "its link type is %s, which is not Ethernet and cannot be made Ethernet exactly",
		      pcap_link_name(l->c->link, name, sizeof(name)));
	err_hint(l->e, "a capture of an Ethernet interface, or of raw IP");
	return -EPROTONOSUPPORT;
}

int capture_read(struct capture *c, struct pcap_file *f, const char *path, const struct capture_rules *rules,
		 struct err *e)
{
	struct loader l = {.c = c,
			   .rules = rules,
			   .path = path,
			   .clock.max_gap_ns = rules->max_gap_ns,
			   .rewrite = rules->rewrite,
			   .e = e};
	struct pcap_record r;
	int rc;

	memset(c, 0, sizeof(*c));
	c->link = pcap_file_link(f);
	switch (pcap_link_kind(c->link)) {
	case PCAP_LINK_REFUSED:
		return refuse_link(&l);
	case PCAP_LINK_CONVERTED:
		c->converted = true; /* there are no MACs yet */
		l.rewrite.set_src = l.rewrite.set_dst = false;
		l.rewrite.n_macs = 0;
		break;
	case PCAP_LINK_ETHERNET:
		break;
	}
	while ((rc = pcap_file_next(f, &r, e)) > 0) {
		l.number++;
		rc = add(&l, &r);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	c->cut = pcap_file_cut(f);
	c->counts.converted = c->converted ? c->n : 0;
	c->counts.backwards = l.clock.backwards;
	c->counts.gaps_clamped = l.clock.clamped;
	c->counts.replayed = c->n;
	if (!c->n) {
		if (c->counts.packets)
			return pcap_file_err(e, -ENODATA, path, "none of its %" PRIu64 " packets can be sent",
					     c->counts.packets);
		return pcap_file_err(e, -ENODATA, path,
				     c->cut ? "the file ends within its first packet" : "it holds no packet");
	}
	start_at_zero(c);
	return 0;
}

int capture_load(struct capture *c, const char *path, const struct capture_rules *rules, struct err *e)
{
	struct pcap_file *f;
	int rc;

	memset(c, 0, sizeof(*c));
	rc = pcap_file_open(&f, path, e);
	if (rc)
		return rc;
	rc = capture_read(c, f, path, rules, e);
	pcap_file_close(f);
	return rc;
}

void capture_free(struct capture *c)
{
	if (c->data_size)
		munmap(c->data, c->data_size);
	if (c->packets_size)
		munmap(c->packets, c->packets_size);
	memset(c, 0, sizeof(*c));
}

void capture_set_macs(struct capture *c, const struct mac *src, const struct mac *dst)
{
	for (uint64_t i = 0; i < c->n; i++) {
		unsigned char *frame = c->data + (size_t)c->packets[i].unit * CAPTURE_UNIT;

		memcpy(frame, dst->b, sizeof(dst->b));
		memcpy(frame + sizeof(dst->b), src->b, sizeof(src->b));
	}
}
