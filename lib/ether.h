/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ether: the lengths of an Ethernet frame's parts, in bytes (IEEE 802.3, 802.1Q). Buffers hold no FCS: "without FCS" is
 * what they hold, L2 is with it, L1 with preamble, start delimiter and inter-frame gap besides.
 */
#ifndef SQUALL_ETHER_H
#define SQUALL_ETHER_H

#define ETH_MACS_LEN   12U
#define ETH_HEADER_LEN 14U
#define VLAN_TAG_LEN   4U
#define FCS_BYTES      4U
#define L1_EXTRA_BYTES 20U

#endif
