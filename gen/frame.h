/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame: builds the template of a plan header by header, and what follows from it: where lengths and checksums stand,
 * what flows change, what each size changes. Cold; main thread.
 *
 * Headers are put from the outermost inwards, then the payload, then frame_finish(). What does not fit, or stands where
 * it cannot, is not put, and frame_finish() says so.
 *
 * Any number of IP headers may stand in each other, but only the innermost transport header can carry a checksum of its
 * own: what is outside of it is put with FRAME_CHECK_OFF, as tunnels in UDP over IPv4 are (RFC 7348 section 5), or one
 * of them with FRAME_CHECK_OUTER.
 */
#ifndef SQUALL_GEN_FRAME_H
#define SQUALL_GEN_FRAME_H

#include "lib/addr.h"
#include "lib/core/plan.h"
#include "lib/err.h"

#include <stdbool.h>

/* A length field: the frame's bytes from `from` to its end. */
struct frame_length {
	uint16_t at;
	uint16_t from;
};

#define FRAME_REGIONS 3

/* What a checksum is over: the bytes from `from` to `to` (0: the frame's end), and a pseudo-header's. */
struct frame_sum {
	uint16_t from, to;
	uint16_t addresses, addresses_len; /* source and destination, side by side; len 0: no pseudo-header */
	uint16_t protocol;
	/*
	 * Of one around a packet whose own checksums are right: `to` is where that begins. Its IPv4 header adds up to
	 * 0xffff, which is nothing, and its transport to the complement of its pseudo-header. So that is taken off: an
	 * IPv4 header's addresses, the protocol and the length from less_from on. (An IPv6 header has its addresses
	 * itself: the two cancel each other out.) The other pseudo-header's length is that to the frame's end.
	 */
	bool outer;
	uint16_t less_addresses, less_addresses_len, less_protocol, less_from;
};

struct frame_vary {
	uint16_t end; /* in the frame: the byte after the field's last */
	struct tx_walk walk;
};

struct frame {
	struct tx_plan *plan;
	uint32_t at;       /* where the next header goes */
	const char *wrong; /* why frame_finish() will refuse, the first reason; NULL: nothing yet */
	bool ip6;          /* the innermost IP header; */
	uint16_t ip;       /* where it is, */
	uint16_t addresses, addresses_len;
	uint16_t protocol_at; /* and its protocol field */
	unsigned n_lengths, n_sums, n_varies;
	unsigned outer; /* of the sums: the one around a packet with a checksum; 0: none */
	struct frame_length lengths[TX_LENGTHS_MAX];
	struct frame_sum sums[TX_SUMS_MAX]; /* [0] is the innermost transport's, once there is one */
	struct frame_vary varies[TX_WALKS_MAX];
	bool has_l4_sum; /* nothing behind it may bring a checksum of its own */
};

/* Zeroes *plan and starts. */
void frame_begin(struct frame *f, struct tx_plan *plan);

/* frame_finish() will refuse with this sentence (not copied), unless there is one already. */
void frame_refuse(struct frame *f, const char *why);

void frame_put_ethernet(struct frame *f, const struct mac *dst, const struct mac *src);
/* In front of what comes next: a tag (0x8100 or 0x88a8), or the type of the payload. */
void frame_put_tag(struct frame *f, uint16_t tpid, uint16_t tci);
void frame_put_type(struct frame *f, uint16_t type);
/* One label stack entry: label 20 bits, class 3, bottom 1, TTL 8. */
void frame_put_mpls(struct frame *f, uint32_t label, uint8_t traffic_class, bool bottom, uint8_t ttl);

struct frame_ip {
	struct ip src, dst;
	uint8_t dscp_ecn; /* DSCP in the upper six bits */
	uint8_t ttl;
	bool df;
	uint16_t id;
	uint32_t flow_label;
};

/*
 * The protocol is filled in by the transport header that follows, or by frame_put_protocol(). flow_label: 20 bits, only
 * with IPv6; id and df only with IPv4.
 */
void frame_put_ip(struct frame *f, const struct frame_ip *ip);

/*
 * OFF: the checksum is 0, "none", and an inner transport header may have one. BAD: one that never is the right one.
 * OUTER: a right one around one more IP header and its transport header, which must have one, too, right or BAD.
 */
enum frame_check { FRAME_CHECK_ON, FRAME_CHECK_OFF, FRAME_CHECK_BAD, FRAME_CHECK_OUTER };

/* Transport headers, behind an IP header. */
void frame_put_udp(struct frame *f, uint16_t sport, uint16_t dport, enum frame_check check);
void frame_put_tcp(struct frame *f, uint16_t sport, uint16_t dport, uint8_t flags);
/* An echo request, ICMP or ICMPv6 as the IP header is. */
void frame_put_echo(struct frame *f, uint16_t id, uint16_t sequence);

/* Bytes as they are: tunnel headers, a payload's beginning. */
void frame_put_bytes(struct frame *f, const void *bytes, uint32_t len);
/* The protocol of the innermost IP header, for what frame_put_bytes() puts behind it. */
void frame_put_protocol(struct frame *f, uint8_t protocol);

/*
 * A field of `bits` bits (1..64) that goes from flow to flow; it ends `shift` bits (0..7) before the byte at `end` of
 * the frame. The walk's end, bits and shift are set here. A walk of one value that the template has needs none.
 *
 * Fields may share bytes; where they share bits the later one wins. They lie in front of the end of the smallest frame,
 * and on no length and no checksum.
 */
void frame_vary(struct frame *f, uint32_t end, unsigned bits, unsigned shift, const struct tx_walk *walk);

/*
 * Sets sizes (1..TX_SIZES_MAX frame lengths without FCS, each holding the headers), lengths, checksums and parts; the
 * order of sizes is the caller's. The payload up to the largest size has been written into plan->frame behind f->at by
 * then. payload_changes: something will be written into it packet by packet, over bytes that are 0 in the
 * template, or over the last bytes of each size (plan->stamped, set by then). -EINVAL with EXIT_USAGE: too many headers
 * or fields, or ones that cannot stand where they do; *plan is then of no use.
 */
int frame_finish(struct frame *f, const uint32_t *sizes, unsigned n, bool payload_changes, struct err *e);

#endif
