/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats: the one list of what is counted. A list gives the live block, its snapshot, sum, difference, and the keys of
 * every report.
 *
 * A live block has one writer and its own cache lines; readers in other threads see whole values (relaxed atomics).
 * Nothing is ever reset: who wants an interval subtracts two snapshots.
 */
#ifndef SQUALL_STATS_H
#define SQUALL_STATS_H

#include "ether.h"

#include <stdatomic.h>
#include <stdint.h>

/* X(key, help). Packets unless the key says otherwise; bytes are without FCS. */
#define STATS_TX(X) \
	X(queued, "packets handed to the device or its ring") \
	X(completed, "packets that the device gave back as sent") \
	X(completed_bytes, "their bytes") \
	X(dropped_driver, "packets that the driver or the kernel refused for good") \
	X(dropped_end, "packets that still waited for the device when the run gave up: not sent") \
	X(undecided, \
	  "packets that the device still held when the run stopped waiting: neither known as sent nor as dropped") \
	X(errors, "transmit queues that failed for good") \
	X(ring_full, "calls that found the transmit ring full") \
	X(invalid, "descriptors that the kernel refused to send") \
	X(ring_empty, "times that the kernel found the transmit ring empty") \
	X(busy, "calls that the device answered with no buffer space: the packets stayed queued") \
	X(batches, "transmit calls that took something")

#define STATS_RX(X) \
	X(packets, "packets received") \
	X(bytes, "their bytes") \
	X(dropped_ring, "packets that the kernel dropped because the receive ring was full") \
	X(dropped_buffer, "packets that the kernel dropped for want of a free frame, or of one large enough") \
	X(fill_empty, "times that the kernel found no free frame: the packets of dropped_buffer, seen again") \
	X(invalid, "free frames that the kernel refused to take") \
	X(errors, "receive queues that failed for good") \
	X(filtered, "packets that reached the process and did not match the filter") \
	X(super_frames, "received packets that the kernel had merged (GRO) or not yet cut (GSO); in packets as one") \
	X(csum_unfinished, "received packets whose checksum the sending host left to its device") \
	X(untimed, \
	  "received packets that had no time of arrival with them where others would: they came when they were taken") \
	X(batches, "receive calls that returned something")

/* What was received, by what it is; one writer per receiving thread. */
#define STATS_CLASS(X) \
	X(ipv4_udp, "IPv4 UDP") \
	X(ipv4_tcp, "IPv4 TCP") \
	X(ipv4_other, "other IPv4") \
	X(ipv6_udp, "IPv6 UDP") \
	X(ipv6_tcp, "IPv6 TCP") \
	X(ipv6_other, "other IPv6") \
	X(arp, "ARP") \
	X(other, "anything else") \
	X(tagged, "of all these, with a VLAN tag")

/* What the loop backend's impairment did. */
#define STATS_LOOP(X) \
	X(lost, "packets lost") \
	X(duplicated, "packets delivered twice") \
	X(reordered, "packets that left behind later ones of their flow")

/* What became of packets that were received to be sent back. */
#define STATS_REFLECT(X) \
	X(reflected, "packets sent back") \
	X(group, "packets not sent back: they were sent to a multicast or broadcast address") \
	X(others, "packets not sent back: they were sent to another MAC address than this interface's") \
	X(own, "packets not sent back: they came from this interface, or from the address that they went to") \
	X(source, "packets not sent back: their source is no address of one host") \
	X(arp, "ARP packets, which are not sent back") \
	X(broken, "packets not sent back: their IP header is not whole") \
	X(expired, "packets not sent back: their TTL or hop limit was used up") \
	X(large, "packets not sent back: merged by the kernel, or larger than the interface sends") \
	X(ring_full, "packets not sent back: the transmit ring stayed full")

/* What a receiver's measurement makes of the packets; one writer per receiving thread and stream. */
#define STATS_MEASURE(X) \
	X(stamped, "packets with a stamp of the run, of flows that are followed: unique, duplicate and late ones") \
	X(bytes, "their bytes") \
	X(unique, "packets that came for the first time") \
	X(duplicate, "packets that had come before") \
	X(late, "packets that came so far behind that the window had moved on: unique or duplicate, nobody knows") \
	X(reordered, "unique packets that came after one of their flow that was sent later") \
	X(foreign, "packets without a stamp of the run") \
	X(other_run, "of them, packets with a stamp of another run") \
	X(unfollowed, "packets with a stamp of the run, of flows beyond --flow-limit: not in stamped") \
	X(unreadable, "packets whose stamp cannot be looked for: fragments, and several that the kernel made one of")

/* What was answered for the addresses of --respond. */
#define STATS_RESPOND(X) \
	X(arp, "ARP requests answered") \
	X(nd, "neighbour solicitations answered") \
	X(echo, "ICMP and ICMPv6 echo requests answered") \
	X(unanswered, "requests that were not answered: the interface had no room for the answer")

/* What became of a capture on its way to be replayed; nothing is counted live. */
#define STATS_PCAP(X) \
	X(packets, "packets in the capture") \
	X(replayed, "of them, packets of one pass") \
	X(truncated_skipped, "packets left out because the capture holds only their beginning") \
	X(truncated_padded, "such packets filled up with zeros") \
	X(too_large, "packets left out because they are larger than the MTU lets through") \
	X(too_short, "packets left out because they are no whole Ethernet header") \
	X(converted, "packets of another link type that were made Ethernet") \
	X(rewritten_mac, "packets with another MAC address than in the capture") \
	X(rewritten_ip, "packets with another IP address than in the capture") \
	X(rewritten_vlan, "packets with another VLAN tag than in the capture") \
	X(backwards, "packets stamped earlier than one before them: sent together with it") \
	X(gaps_clamped, \
	  "steps of the capture's clock beyond --pcap-max-gap: shortened to it, or to none where it goes back") \
	X(reader_late, "times that a packet was due and not yet read from the file") \
	X(passes, "whole passes that were sent")

#define STATS_LIVE_FIELD(key, help) _Atomic uint64_t key;
#define STATS_SNAP_FIELD(key, help) uint64_t key;
#define STATS_READ_FIELD(key, help) out->key = atomic_load_explicit(&live->key, memory_order_relaxed);
#define STATS_SUM_FIELD(key, help)  sum->key += part->key;
#define STATS_DIFF_FIELD(key, help) out->key = now->key - then->key;

/* struct stats_NAME (live), struct NAME_counts (snapshot), NAME_counts_read(), NAME_counts_add(), NAME_counts_sub(). */
#define STATS_BLOCK(name, LIST) \
	struct stats_##name { \
		_Alignas(128) LIST(STATS_LIVE_FIELD) \
	}; \
	struct name##_counts { \
		LIST(STATS_SNAP_FIELD) \
	}; \
	static inline void name##_counts_read(const struct stats_##name *live, struct name##_counts *out) \
	{ \
		LIST(STATS_READ_FIELD) \
	} \
	static inline void name##_counts_add(struct name##_counts *sum, const struct name##_counts *part) \
	{ \
		LIST(STATS_SUM_FIELD) \
	} \
	static inline void name##_counts_sub(struct name##_counts *out, const struct name##_counts *now, \
					     const struct name##_counts *then) \
	{ \
		LIST(STATS_DIFF_FIELD) \
	}

STATS_BLOCK(tx, STATS_TX)
STATS_BLOCK(rx, STATS_RX)
STATS_BLOCK(class, STATS_CLASS)
STATS_BLOCK(loop, STATS_LOOP)
STATS_BLOCK(reflect, STATS_REFLECT)
STATS_BLOCK(measure, STATS_MEASURE)
STATS_BLOCK(respond, STATS_RESPOND)

struct pcap_counts {
	STATS_PCAP(STATS_SNAP_FIELD)
};

/* The writer's add: no locked instruction, since there is only one writer. */
static inline void stats_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* For a counter that is kept elsewhere, and read from there. */
static inline void stats_set(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, n, memory_order_relaxed);
}

#endif
