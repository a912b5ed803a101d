/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_rewrite: what changes in the frames of a capture before they are sent: MAC addresses, the outermost VLAN tag,
 * the addresses of the outermost IP header. Cold; pure.
 *
 * Checksums are carried along by RFC 1624: one that was right stays right, one that was wrong stays wrong. That holds
 * for fragments too, whose first one has the checksum of all.
 */
#ifndef SQUALL_GEN_PCAP_REWRITE_H
#define SQUALL_GEN_PCAP_REWRITE_H

#include "lib/addr.h"

#include <stdbool.h>
#include <stdint.h>

#define PCAP_REWRITES_MAX   16
#define PCAP_REWRITE_GROWTH 4U /* bytes that a frame may grow by: a tag */
#define PCAP_VLAN_NONE      0xffff

struct pcap_rewrite {
	bool set_src, set_dst; /* in every frame */
	struct mac src, dst;
	unsigned n_macs, n_ips, n_vlans;
	struct {
		struct mac from, to; /* as source or destination */
	} macs[PCAP_REWRITES_MAX];
	struct {
		struct prefix from, to; /* of one length: the bits behind it stay */
	} ips[PCAP_REWRITES_MAX];
	bool vlan_all; /* vlan_to for every frame */
	uint16_t vlan_to;
	struct {
		uint16_t from, to; /* PCAP_VLAN_NONE: no tag */
	} vlans[PCAP_REWRITES_MAX];
};

/*
 * Add what a text asks for. -EINVAL with a sentence in why.
 *   mac   src=MAC, dst=MAC, OLD=NEW; several by commas
 *   ip    OLD/LEN=NEW/LEN, or two addresses; several by commas, the first that fits an address counts
 *   vlan  none (every outermost tag goes), ID (every frame has it), or OLD=NEW, where each may be none; several by
 * commas
 */
int pcap_rewrite_mac(struct pcap_rewrite *w, const char *text, char *why, unsigned size);
int pcap_rewrite_ip(struct pcap_rewrite *w, const char *text, char *why, unsigned size);
int pcap_rewrite_vlan(struct pcap_rewrite *w, const char *text, char *why, unsigned size);

enum pcap_rewrote { PCAP_REWROTE_MAC = 1, PCAP_REWROTE_IP = 2, PCAP_REWROTE_VLAN = 4 };

/*
 * Changes a frame of *len bytes (14 or more) in place; there is room for PCAP_REWRITE_GROWTH more. captured: bytes of
 * it that the capture holds, the rest is padding. Returns what was changed (enum pcap_rewrote).
 */
unsigned pcap_rewrite_frame(const struct pcap_rewrite *w, unsigned char *frame, uint32_t captured, uint32_t *len);

/* Where the frame's layer 3 begins, behind its tags; *type is its EtherType. */
uint32_t pcap_l3_of(const unsigned char *frame, uint32_t len, uint16_t *type);

#endif
