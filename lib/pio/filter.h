/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter: what a receiver takes. One vocabulary for all backends: conditions of the same kind are alternatives (or),
 * different kinds must all hold (and). Refuse, never widen: what a backend cannot express it refuses at open.
 *
 * Meaning, the same everywhere:
 * - VLAN: the id of the outermost tag (0x8100 or 0x88a8), priority bits ignored. Without a VLAN condition a packet may
 *   be untagged or behind up to two tags.
 * - EtherType: the type behind the tags (the third tag's own type when there are more than two).
 * - IP protocol: the IPv4 protocol, or the IPv6 next header after up to 8 extension headers (hop-by-hop, routing,
 *   destination options, fragment, authentication). In a later fragment it is what the fragment header names.
 * - A port names no protocol: a filter with ports must also have an IP protocol condition (TCP, UDP, SCTP, …). A
 *   fragment that carries no port (offset not 0) never matches a port; nor does a packet too short to hold both (4
 * bytes).
 * - The broken is not matched: a header that is cut short (extension headers too), or a wrong version or header length,
 *   meets no IP condition; a tag that is cut short meets no VLAN and, like a cut Ethernet header, no EtherType. The
 *   length that the IP header states is not looked at.
 * - keep_management takes everything but: ARP; ICMPv6 types 133-137 (router and neighbour discovery, redirect); TCP
 *   from or to port 22 with a local source or destination address; TCP and UDP from port 53 to a local address.
 */
#ifndef SQUALL_PIO_FILTER_H
#define SQUALL_PIO_FILTER_H

#include "lib/addr.h"
#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>

enum filter_kind {
	FILTER_DST_MAC,
	FILTER_VLAN,
	FILTER_ETHERTYPE,
	FILTER_PROTO,
	FILTER_SRC,
	FILTER_DST,
	FILTER_SRC_PORT,
	FILTER_DST_PORT,
	FILTER_KINDS
};

struct filter_match {
	enum filter_kind kind;
	union {
		struct mac mac;
		uint16_t vlan; /* 0..4095 */
		uint16_t ethertype;
		uint8_t proto;
		struct prefix prefix;
		struct {
			uint16_t lo, hi; /* both included */
		} port;
	};
};

#define FILTER_MATCHES_MAX 48
#define FILTER_LOCALS_MAX  16

struct filter {
	bool all;             /* everything; n is 0 */
	bool keep_management; /* everything but what the host needs to stay reachable; n is 0 */
	unsigned n;
	struct filter_match match[FILTER_MATCHES_MAX]; /* in the order of their kinds */
	unsigned n_locals;                             /* keep_management: the host's own addresses */
	struct ip locals[FILTER_LOCALS_MAX];
};

/*
 * Adds conditions from text: "dst-mac=02:…", "vlan=100", "ethertype=0x0806", "proto=udp|tcp|icmp|icmp6|sctp|N",
 * "src=10.0.0.0/8", "dst=fd00::/64", "src-port=53", "dst-port=9000-9010". One condition per call.
 */
int filter_add_text(struct filter *f, const char *text, struct err *e);
/* The same from a value. -EINVAL, or -ENOSPC when there are FILTER_MATCHES_MAX. */
int filter_add(struct filter *f, const struct filter_match *m, struct err *e);

/* Contradictions are refused: no condition at all, a port without protocol, a protocol that has no ports, … EXIT_USAGE.
 */
int filter_check(const struct filter *f, struct err *e);

/* The exact meaning, for one whole packet as it was on the wire (VLAN tags in the data), len without FCS. Pure. */
bool filter_matches(const struct filter *f, const unsigned char *data, uint32_t len);

/* For people: "udp, dst-port 9000". Returns buf. */
char *filter_describe(const struct filter *f, char *buf, size_t size);

#endif
