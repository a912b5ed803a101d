/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_read.h"

#include "lib/core/types.h"
#include "lib/ether.h"
#include "pcap_link.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Speeds are in millionths. */
#define SPEED_ONE 1000000U
/* How many records are read between two looks at the stop. */
#define STOP_RECORDS 1024U
/* Linux gives no interface more. */
#define MTU_MAX 65535U

__extension__ typedef unsigned __int128 uint128;

static int refuse_link(struct capture_reader *r, struct err *e)
{
	char name[96];

	pcap_file_err(e, -EPROTONOSUPPORT, r->path,
		      "its link type is %s, which is not Ethernet and cannot be made Ethernet exactly",
		      pcap_link_name(r->link, name, sizeof(name)));
	err_hint(e, "a capture of an Ethernet interface, or of raw IP");
	return -EPROTONOSUPPORT;
}

int capture_reader_begin(struct capture_reader *r, struct pcap_file *file, const char *path,
			 const struct capture_rules *rules, struct err *e)
{
	*r = (struct capture_reader){
		.file = file,
		.rules = rules,
		.path = path,
		.link = pcap_file_link(file),
		.clock.max_gap_ns = rules->max_gap_ns,
		.rewrite = rules->rewrite,
	};
	switch (pcap_link_kind(r->link)) {
	case PCAP_LINK_REFUSED:
		return refuse_link(r, e);
	case PCAP_LINK_CONVERTED:
		r->converted = true; /* there are no MACs to be rewritten */
		r->rewrite.set_src = r->rewrite.set_dst = false;
		r->rewrite.n_macs = 0;
		break;
	case PCAP_LINK_ETHERNET:
		break;
	}
	/* A record is looked at when it may become a frame that fits: by its header, and by a tag that goes. */
	r->frame = malloc(rules->max_frame + ETH_HEADER_LEN + 2 * PCAP_REWRITE_GROWTH);
	return r->frame ? 0 : pcap_file_err(e, -ENOMEM, path, "no memory");
}

void capture_reader_end(struct capture_reader *r)
{
	free(r->frame);
	r->frame = NULL;
}

/* A packet that the rules let through (1), leave out (0) or refuse. */
static int judge_truncated(struct capture_reader *r, const struct pcap_record *record, struct err *e)
{
	if (record->captured == record->len)
		return 1;
	switch (r->rules->truncated) {
	case PCAP_UNFIT_SKIP:
		r->counts.truncated_skipped++;
		return 0;
	case PCAP_UNFIT_PAD:
		return 1;
	default:
		pcap_file_err(e, -EINVAL, r->path,
			      "packet %" PRIu64 " was cut when it was captured: %u of its %u bytes are in the file",
			      r->number, record->captured, record->len);
		err_hint(e, "--pcap-truncated skip or pad, or a capture without a snapshot length (tcpdump -s 0)");
		return -EINVAL;
	}
}

static int judge_size(struct capture_reader *r, uint32_t len, uint32_t l3, struct err *e)
{
	const struct capture_rules *rules = r->rules;

	if (l3 <= rules->mtu && len <= rules->max_frame)
		return 1;
	if (rules->too_large == PCAP_UNFIT_SKIP) {
		r->counts.too_large++;
		return 0;
	}
	pcap_file_err(e, -EMSGSIZE, r->path,
		      "packet %" PRIu64 " is too large to be sent: %u bytes behind its Ethernet header, the MTU is %u",
		      r->number, l3, rules->mtu);
	if (l3 <= MTU_MAX)
		err_hint(e, "--pcap-too-large skip, or a larger MTU (ip link set DEV mtu %u)", l3);
	else
		err_hint(e, "--pcap-too-large skip: no interface has so large an MTU");
	return -EMSGSIZE;
}

static int refuse_packet(struct capture_reader *r, struct err *e)
{
	char name[96];

	pcap_file_err(e, -EPROTONOSUPPORT, r->path,
		      "packet %" PRIu64
		      " of link type %s is nothing that has an EtherType, so it cannot become Ethernet",
		      r->number, pcap_link_name(r->link, name, sizeof(name)));
	err_hint(e, "leave it out: tcpdump -r IN -w OUT 'ip or ip6'");
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

static void put_header(struct capture_reader *r, uint16_t type)
{
	memcpy(r->frame, r->dst.b, sizeof(r->dst.b));
	memcpy(r->frame + sizeof(r->dst.b), r->src.b, sizeof(r->src.b));
	core_put16(r->frame + ETH_MACS_LEN, core_be16(type));
}

/* 1: *f is the record's frame; 0: it is left out. */
static int make_frame(struct capture_reader *r, const struct pcap_record *record, struct capture_frame *f,
		      struct err *e)
{
	const uint32_t header = r->converted ? ETH_HEADER_LEN : 0;
	const uint64_t at_ns = capture_clock_next(&r->clock, record->time_ns);
	uint32_t skip = 0;
	uint32_t len, captured;
	uint16_t type = 0;
	unsigned done;
	int rc;

	r->counts.packets++;
	rc = judge_truncated(r, record, e);
	if (rc <= 0)
		return rc;
	if (r->converted && pcap_link_parse(r->link, record->data, record->captured, &type, &skip))
		return refuse_packet(r, e);
	/* Before it is copied: a length in a file may be anything. Tags are looked at below. */
	if (record->len > r->rules->max_frame + PCAP_REWRITE_GROWTH)
		return judge_size(r, record->len, record->len, e);
	captured = record->captured - skip + header;
	len = record->len - skip + header;
	if (captured < ETH_HEADER_LEN) {
		r->counts.too_short++;
		return 0;
	}
	if (r->converted)
		put_header(r, type);
	memcpy(r->frame + header, record->data + skip, record->captured - skip);
	memset(r->frame + captured, 0, len - captured);
	done = pcap_rewrite_frame(&r->rewrite, r->frame, captured, &len);
	*f = (struct capture_frame){
		.data = r->frame,
		.len = len,
		.l3 = len - pcap_l3_of(r->frame, len, &type),
		.at_ns = scaled(at_ns, r->rules->speed),
	};
	rc = judge_size(r, len, f->l3, e);
	if (rc <= 0)
		return rc;
	count_rewrites(&r->counts, done);
	r->counts.truncated_padded += record->captured < record->len;
	r->counts.converted += r->converted;
	r->counts.replayed++;
	return 1;
}

int capture_reader_next(struct capture_reader *r, struct capture_frame *f, struct err *e)
{
	const volatile int *stop = r->rules->stop;
	struct pcap_record record;
	int rc;

	do {
		rc = pcap_file_next(r->file, &record, e);
		if (stop && *stop && (rc <= 0 || r->number % STOP_RECORDS == 0))
			return err_set(e, -EINTR, EXIT_DONE, "stopped", r->path, "while reading the capture");
		if (rc <= 0)
			break;
		r->number++;
		rc = make_frame(r, &record, f, e);
	} while (!rc);
	r->counts.backwards = r->clock.backwards;
	r->counts.gaps_clamped = r->clock.clamped;
	return rc;
}
