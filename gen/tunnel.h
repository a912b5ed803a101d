/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel: outer headers around a stream's packets. Cold; main thread.
 *
 *     vxlan,dst=ADDRESS[,src=ADDRESS][,vni=N]     RFC 7348: UDP port 4789
 *     geneve,dst=ADDRESS[,src=ADDRESS][,vni=N]    RFC 8926: UDP port 6081, no options
 *     gre,dst=ADDRESS[,src=ADDRESS][,key=N]       RFC 2784, RFC 2890: the inner IP packet follows
 *
 * The outer UDP checksum is 0 over IPv4 (RFC 7348 section 5), and over IPv6 a right one, since receivers there drop
 * packets without one unless they are told otherwise (RFC 8200 section 8.1, RFC 6935), but for around a UDP packet that
 * has none itself; the outer UDP source port goes
 * with the flow, so that routers can spread the flows (49152 and up). The inner Ethernet header of vxlan and geneve has
 * fixed addresses.
 */
#ifndef SQUALL_GEN_TUNNEL_H
#define SQUALL_GEN_TUNNEL_H

#include "frame.h"
#include "lib/config.h"
#include "lib/err.h"

enum tunnel_kind { TUNNEL_NONE, TUNNEL_VXLAN, TUNNEL_GENEVE, TUNNEL_GRE };

struct tunnel {
	enum tunnel_kind kind;
	struct ip dst;
	struct ip src;   /* family 0: the one that the kernel would use */
	uint32_t number; /* VNI or key */
	bool has_key;
};

/* "" is TUNNEL_NONE. -EINVAL with EXIT_USAGE. */
int tunnel_parse(const char *text, struct tunnel *out, struct err *e);

/*
 * The outer IP header and what stands between it and the inner packet, up to the inner EtherType (vxlan, geneve), or up
 * to the inner IP header (gre). inner6: the inner packet is IPv6; checked: its transport has a checksum, or else there
 * is none outside either. Returns the place of the outer source port, 0: none.
 */
uint32_t tunnel_put(struct frame *f, const struct tunnel *t, const struct ip *src, uint8_t ttl, uint8_t dscp_ecn,
		    bool inner6, bool checked);

/* Lets the outer source port at that place (tunnel_put()) go with the flow. */
void tunnel_vary(struct frame *f, uint32_t sport_at);

#endif
