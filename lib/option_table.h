/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_table: what can be configured, one row an option. Everything else about options is made from these rows.
 *
 * X(id, name, letters, type, field, text, arg, verbs, scope, section, help, ...)
 *
 *   id       OPTION_<id> in enum option_id
 *   name     long name on the command line, key in a file
 *   letters  short names, "" for none
 *   type     how its text is read: OPTION_TYPE_<type> (option_row.h)
 *   field    where it goes in struct config; its C type must be the one of the type, or this does not compile
 *   text     the default as one would type it; "" leaves the field zero: not given
 *   arg      what help calls the value; "" for flags
 *   verbs    SEND (and pair), RECV (and pair, reflect), PAIR, BOTH (SEND and RECV), ALL
 *   scope    RUN: one for the run; STREAM: each stream may have its own; STREAM_ONLY: a stream's, in a file
 *   section  the heading it is listed under
 *   help     one sentence; its full stop is added
 *   ...      more of struct option_row: RANGE(), CHOICES() of option_words.h, NEVER() and so on
 */
#ifndef SQUALL_OPTION_TABLE_H
#define SQUALL_OPTION_TABLE_H

#include "option_words.h"

#define RANGE(lo, hi)       .min = (lo), .max = (hi)
#define CHOICE(name, value) {name, value},
#define CHOICES(words) \
	.choices = (const struct option_choice[]) \
	{ \
		words(CHOICE) CHOICE(NULL, 0) \
	}
#define RECV_TEXT(text)  .recv_text = (text)
#define PAIR_TEXT(text)  .pair_text = (text)
#define ZERO_WORD(word)  .zero_word = (word)
#define NEVER(text, why) .never = (text), .never_why = (why)
#define COMMAND_LINE     .command_line_only = true

/* A build without the dashboard says how to get it. */
#ifdef WITH_TUI
#define DASHBOARD .never = NULL
#else
#define DASHBOARD \
	NEVER("true", "this build has no dashboard (WITH_TUI=OFF); leave it out, or build with -DWITH_TUI=ON, " \
		      "which needs libncurses-dev")
#endif

/* clang-format off */
#define OPTION_TABLE(X) \
	X(INTERFACE, "interface", "i", STRING, interface, "", "NAME", BOTH, RUN, INTERFACE, \
	  "interface to use: eth1, or with its backend afpacket:eth1, loop:queues=4") \
	X(RX_INTERFACE, "rx-interface", "r", STRING, rx_interface, "", "NAME", PAIR, RUN, INTERFACE, \
	  "interface on which the packets come back; the sender's own for round trips and looped cables; not needed with loop:") \
	X(BACKEND, "backend", "", STRING, backend, "", "NAME", BOTH, RUN, INTERFACE, \
	  "way to the interface; not given: by the interface's name, or the best one that works") \
	X(QUEUES, "queues", "", U32, queues, "0", "N", BOTH, RUN, INTERFACE, \
	  "queues to use, each with its own thread; 0: one for each of --cpus, or all that the interface has but no more than "\
	  "processors, and one to send at up to 250 kpps; afxdp receives on all queues that are in use", \
	  RANGE(0, 65535)) \
	X(RX_QUEUES, "rx-queues", "", U32, rx_queues, "0", "N", PAIR, RUN, INTERFACE, \
	  "queues to receive on; 0: all that the receiving interface has, however many send (--queues)", RANGE(0, 65535)) \
	X(CPUS, "cpus", "", CPUS, cpus, "", "LIST", BOTH, RUN, INTERFACE, \
	  "CPUs to run the threads on, as in 0-3,5; not given: beside the one that takes the queue's interrupt; where a " \
	  "queue has none, afpacket's senders stay where they began, and others are left to the kernel") \
	X(QDISC, "qdisc", "", BOOL, qdisc, "false", "", SEND, RUN, INTERFACE, \
	  "send through the kernel's queueing discipline, so that tcpdump and tc on this interface see the frames") \
	X(XDP_MODE, "xdp-mode", "", ENUM, xdp_mode, "auto", "MODE", BOTH, RUN, INTERFACE, \
	  "how the afxdp backend works: native-zc (the driver uses our memory), native (the driver copies), generic (every " \
	  "driver); auto: the first of these that works", CHOICES(XDP_MODES)) \
	X(RX_FRAMES, "rx-frames", "", U32, rx_frames, "0", "N", BOTH, RUN, INTERFACE, \
	  "packets that a receive queue holds while its thread is kept off its processor; with afxdp a packet counts once for " \
	  "each 3840 bytes that it has begun; 0: the backend's choice, 16384 for afxdp", \
	  RANGE(0, 1048576)) \
	X(BUSY_POLL, "busy-poll", "", TIME, busy_poll_ns, "0", "TIME", BOTH, RUN, INTERFACE, \
	  "afxdp: have the threads poll the device for so long at a time instead of taking interrupts, as in 20us; 0: do not", \
	  RANGE(0, 1000000)) \
	X(NAPI_DEFER, "napi-defer", "", ENUM, napi_defer, "auto", "WHEN", BOTH, RUN, INTERFACE, \
	  "afxdp: have the interface put off its interrupts while packets come (napi_defer_hard_irqs, gro_flush_timeout), until " \
	  "the run ends; auto: where a native program receives from hardware", CHOICES(WHEN_HELPFULS)) \
	\
	X(MODE, "mode", "m", ENUM, mode, "udp", "MODE", SEND, STREAM, PACKETS, \
	  "what to send; receive stands for squall recv", CHOICES(MODES)) \
	X(SRC_IP, "src-ip", "", PREFIX, src_ip, "", "ADDRESS[/LEN]", BOTH, STREAM, PACKETS, \
	  "source address, IPv4 or IPv6, or a prefix whose hosts the flows walk; not given: the one that the kernel would use") \
	X(DST_IP, "dst-ip", "", PREFIX, dst_ip, "", "ADDRESS[/LEN]", BOTH, STREAM, PACKETS, \
	  "destination address, or a prefix whose hosts the flows walk (its host bits are ignored)") \
	X(SRC_MAC, "src-mac", "", MAC, src_mac, "", "MAC", SEND, STREAM, PACKETS, \
	  "source MAC; not given: the interface's own") \
	X(DST_MAC, "dst-mac", "", MAC, dst_mac, "", "MAC", SEND, STREAM, PACKETS, \
	  "destination MAC; not given: the next hop's, found as the kernel would", \
	  NEVER("ff:ff:ff:ff:ff:ff", "every host on the network would take the load")) \
	X(SRC_PORT, "src-port", "", U16, src_port, "1024", "PORT", SEND, STREAM, PACKETS, \
	  "source port of the first flow; flow n uses the n-th port after it") \
	X(DST_PORT, "dst-port", "", U16, dst_port, "9000", "PORT", SEND, STREAM, PACKETS, "destination port") \
	X(VARY_DST_PORT, "vary-dst-port", "", BOOL, vary_dst_port, "false", "", SEND, STREAM, PACKETS, \
	  "let the destination port step with the flow too") \
	X(FLOWS, "flows", "", COUNT, flows, "1", "N", SEND, STREAM, PACKETS, "number of flows", RANGE(1, 0)) \
	X(FLOW_ORDER, "flow-order", "", ENUM, flow_order, "sequential", "ORDER", SEND, STREAM, PACKETS, \
	  "order in which the flows take turns", CHOICES(FLOW_ORDERS)) \
	X(FLOW_WALK, "flow-walk", "", ENUM, flow_walk, "step", "WALK", SEND, STREAM, PACKETS, \
	  "how several fields that vary go together: all step with each flow, or as a cross product, the first fastest", \
	  CHOICES(FLOW_WALKS)) \
	X(VARY, "vary", "", FILTERS, vary, "", "FIELD=RANGE,...", SEND, STREAM, PACKETS, \
	  "fields that vary from flow to flow: src-mac, dst-mac, outer-vlan, vlan, dscp, ip-id, flow-label, ttl, src-ip, dst-ip, "\
	  "src-port, dst-port, payload@OFFSET:BYTES, and size from packet to packet; RANGE is A-B, START:STOP:STEP, a prefix " \
	  "or A,B,C, with dec: or random: in front") \
	X(SEED, "seed", "", COUNT, seed, "1", "N", SEND, STREAM, PACKETS, "what all that is random starts from", RANGE(0, 0)) \
	X(PACKET_SIZE, "packet-size", "s", SIZE, packet_size, "0", "BYTES", SEND, STREAM, PACKETS, \
	  "whole Ethernet frame with its 4-byte FCS, as in RFC 2544; 0: the smallest that holds the headers", \
	  RANGE(0, 9018)) \
	X(IMIX, "imix", "", STRING, imix, "simple", "MIX", SEND, STREAM, PACKETS, \
	  "sizes of --mode imix, with FCS: simple, simple-570, csit, otg-imix, otg-ipsec, otg-ipv6, otg-standard, otg-tcp, a " \
	  "list 64:7,594:4,1518:1, or an RFC 6985 genome aaaddg") \
	X(VLAN, "vlan", "", U16, vlan, "0", "ID", SEND, STREAM, PACKETS, "802.1Q tag; 0: untagged", RANGE(0, 4094)) \
	X(VLAN_PRIORITY, "vlan-priority", "", U16, vlan_priority, "0", "PCP", SEND, STREAM, PACKETS, \
	  "priority (PCP) of the VLAN tags", RANGE(0, 7)) \
	X(VLAN_DEI, "vlan-dei", "", BOOL, vlan_dei, "false", "", SEND, STREAM, PACKETS, \
	  "mark the VLAN tags as eligible to be dropped (DEI)") \
	X(OUTER_VLAN, "outer-vlan", "", U16, outer_vlan, "0", "ID", SEND, STREAM, PACKETS, \
	  "a second tag in front of --vlan (QinQ, 802.1ad); 0: none", RANGE(0, 4094)) \
	X(OUTER_TYPE, "outer-type", "", ENUM, outer_type, "0x88a8", "TYPE", SEND, STREAM, PACKETS, \
	  "EtherType of --outer-vlan", CHOICES(OUTER_TYPES)) \
	X(MPLS, "mpls", "", STRING, mpls, "", "LABEL,...", SEND, STREAM, PACKETS, \
	  "MPLS label stack in front of the packet, outermost first; LABEL[:CLASS[:TTL]], 0 being explicit null") \
	X(TUNNEL, "tunnel", "", STRING, tunnel, "", "TUNNEL", SEND, STREAM, PACKETS, \
	  "outer headers around the packets: vxlan,dst=ADDRESS[,src=ADDRESS][,vni=N], the same with geneve, or " \
	  "gre,dst=ADDRESS[,src=ADDRESS][,key=N]; --src-ip and --dst-ip are then the inner ones") \
	X(DSCP, "dscp", "", U16, dscp, "0", "N", SEND, STREAM, PACKETS, "differentiated services code point", RANGE(0, 63)) \
	X(ECN, "ecn", "", U16, ecn, "0", "N", SEND, STREAM, PACKETS, \
	  "explicit congestion notification: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion", RANGE(0, 3)) \
	X(TTL, "ttl", "", U16, ttl, "64", "N", SEND, STREAM, PACKETS, "time to live, or hop limit", RANGE(1, 255)) \
	X(DF, "df", "", BOOL, df, "false", "", SEND, STREAM, PACKETS, "set IPv4's don't-fragment flag") \
	X(IP_ID, "ip-id", "", U16, ip_id, "0", "N", SEND, STREAM, PACKETS, "IPv4 identification") \
	X(FLOW_LABEL, "flow-label", "", U32, flow_label, "0", "N", SEND, STREAM, PACKETS, "IPv6 flow label", RANGE(0, 1048575)) \
	X(UDP_CHECKSUM, "udp-checksum", "", ENUM, udp_checksum, "on", "WHICH", SEND, STREAM, PACKETS, \
	  "off: none (IPv4 only); bad: one that is wrong, for receivers to be tried with", CHOICES(CHECKS)) \
	X(TCP_FLAGS, "tcp-flags", "", STRING, tcp_flags, "", "FLAGS", SEND, STREAM, PACKETS, \
	  "flags of --mode tcp-syn instead of SYN: names with commas (fin,syn,rst,psh,ack,urg,ece,cwr)") \
	X(ETHERTYPE, "ethertype", "", HEX16, ethertype, "0x88b5", "TYPE", SEND, STREAM, PACKETS, \
	  "EtherType of --mode raw, 0x and hexadecimal, or decimal") \
	X(PAYLOAD_BYTE, "payload-byte", "", HEX16, payload_byte, "0x5a", "BYTE", SEND, STREAM, PACKETS, \
	  "byte that fills the payload", RANGE(0, 255)) \
	X(PAYLOAD_TEXT, "payload-text", "", STRING, payload_text, "", "TEXT", SEND, STREAM, PACKETS, \
	  "text that the payload begins with and repeats") \
	X(PAYLOAD_HEX, "payload-hex", "", STRING, payload_hex, "", "HEX", SEND, STREAM, PACKETS, \
	  "bytes in hexadecimal that the payload begins with and repeats") \
	X(PAYLOAD_FILE, "payload-file", "", FILE, payload_file, "", "FILE", SEND, STREAM, PACKETS, \
	  "file whose bytes the payload begins with and repeats") \
	X(PAYLOAD_PATTERN, "payload-pattern", "", ENUM, payload_pattern, "none", "PATTERN", SEND, STREAM, PACKETS, \
	  "a payload that counts, in bytes or big-endian words", CHOICES(PATTERNS)) \
	X(STAMP, "stamp", "", BOOL, stamp, "false", "", SEND, RUN, PACKETS, \
	  "put a stamp into the last 18 bytes of every payload, by which a receiver measures loss, order and latency", \
	  PAIR_TEXT("true")) \
	X(RUN_ID, "run-id", "", U16, run_id, "0", "N", STAMPS, RUN, PACKETS, \
	  "number of the run in the stamps; not given: drawn by the sender, and for recv that of the first stamp that comes") \
	X(CLOCK, "clock", "", ENUM, clock, "auto", "CLOCK", STAMPS, RUN, PACKETS, \
	  "clock of the stamps' times: same-host (CLOCK_MONOTONIC; send and pair use it unless told otherwise) or ptp (CLOCK_TAI, " \
	  "kept together by PTP); recv measures latency only if it is told one", CHOICES(CLOCKS)) \
	\
	X(PPS, "pps", "", PPS, pps, "100k", "RATE", SEND, STREAM, RATE, \
	  "packets a second: 1M, 2.5k, 0.5, 80% of the link, unlimited; --bps alone lifts the default; while it runs SIGUSR1 " \
	  "multiplies the rate by 1.1 and SIGUSR2 divides it") \
	X(BPS, "bps", "", BPS, bps, "", "RATE", SEND, STREAM, RATE, \
	  "bits a second, counted on the wire (L1) unless l2 or l3 follows: 10G, 2.5Gbit/s, 9.5Gbpsl2, 80%; with --pps the " \
	  "slower one counts") \
	X(DURATION, "duration", "d", TIME, duration_ns, "30s", "TIME", BOTH, RUN, RATE, \
	  "how long to run: 30s, 5m, 1h30m; 0: until stopped; for send, --count alone lifts the default", RECV_TEXT("0")) \
	X(COUNT, "count", "n", COUNT, count, "0", "N", BOTH, RUN, RATE, "packets to send or receive; 0: no limit") \
	X(BURST, "burst", "", U32, burst, "32", "N", SEND, RUN, RATE, \
	  "packets that may leave back to back when a rate is set", RANGE(1, 256)) \
	X(SPACING, "spacing", "", ENUM, spacing, "constant", "HOW", SEND, STREAM, RATE, \
	  "time between packets: the same, or at random as in a Poisson process, drawn from --seed", CHOICES(SPACINGS)) \
	X(BURST_PROFILE, "burst-profile", "", STRING, burst_profile, "continuous", "PROFILE", SEND, STREAM, RATE, \
	  "continuous; N: so many packets and then no more; or N/TIME, as in 64/10ms: bursts of N packets back to back every " \
	  "TIME, instead of --pps and --bps") \
	X(PACING, "pacing", "", ENUM, pacing, "precise", "HOW", SEND, RUN, RATE, \
	  "precise: each packet at its time, with a processor kept busy for the last moments; sleep: none is, each thread " \
	  "wakes at most 1000 times a second and sends what is due by then, in clumps of at most --burst", CHOICES(PACINGS)) \
	X(CATCH_UP, "catch-up", "", TIME, catch_up_ns, "100ms", "TIME", SEND, RUN, RATE, \
	  "how much of the schedule to make up for after a stall; none: nothing", ZERO_WORD("none")) \
	X(STRICT_RATE, "strict-rate", "", BOOL, strict_rate, "false", "", SEND, RUN, RATE, \
	  "end with exit code 5 when the rate that was asked for was not reached") \
	\
	X(STREAM_NAME, "name", "", STRING, name, "", "NAME", SEND, STREAM_ONLY, STREAMS, \
	  "what reports call the stream, in letters, digits, dots, dashes and underscores; not given: its number") \
	X(SHARE, "share", "", U32, share, "1", "N", SEND, STREAM_ONLY, STREAMS, \
	  "how many packets it sends for each one of a stream with share 1, where streams have the rate together", \
	  RANGE(1, 1000000)) \
	X(START_DELAY, "start-delay", "", TIME, start_delay_ns, "0", "TIME", SEND, STREAM_ONLY, STREAMS, \
	  "time from the start of the run to the stream's own") \
	\
	X(MAX_LOSS, "max-loss", "", RATIO, max_loss, "", "RATIO", MEASURE, RUN, LIMITS, \
	  "packets that may be lost, of those that were sent: 0, 0.001, 0.1%") \
	X(MAX_DUPLICATES, "max-duplicates", "", RATIO, max_duplicates, "", "RATIO", MEASURE, RUN, LIMITS, \
	  "packets that may come again, for each that comes") \
	X(MAX_REORDERED, "max-reordered", "", RATIO, max_reordered, "", "RATIO", MEASURE, RUN, LIMITS, \
	  "packets that may come behind later ones of their flow, of those that come") \
	X(MAX_LATENCY_P99, "max-latency-p99", "", TIME, max_latency_p99_ns, "none", "TIME", MEASURE, RUN, LIMITS, \
	  "time that 99 of 100 packets must be there within", ZERO_WORD("none"), RANGE(1, 0)) \
	X(MIN_RATE, "min-rate", "", PPS, min_rate, "", "RATE", RECV, RUN, LIMITS, \
	  "packets a second that must be received, from the first to the last") \
	\
	X(RX_MODE, "rx-mode", "", ENUM, rx_mode, "none", "MODE", BOTH, RUN, RECEIVE, \
	  "what to take from the kernel; without it and without --filter recv and reflect take UDP to port 9000, and pair " \
	  "what it sends", \
	  CHOICES(RX_MODES)) \
	X(RX_PORT, "rx-port", "", PORTS, rx_ports, "", "PORT,...", BOTH, RUN, RECEIVE, \
	  "ports of --rx-mode udp-port and tcp-port; may be repeated") \
	X(RX_CIDR, "rx-cidr", "", PREFIX, rx_cidr, "", "ADDRESS/LEN", BOTH, RUN, RECEIVE, \
	  "source prefix of --rx-mode cidr") \
	X(FILTER, "filter", "", FILTERS, filters, "", "KIND=VALUE,...", BOTH, RUN, RECEIVE, \
	  "what to take from the kernel, in detail; may be repeated: filters of one kind are alternatives, those of " \
	  "different kinds must all match") \
	X(IDLE, "idle", "", TIME, idle_ns, "0", "TIME", RECV, RUN, RECEIVE, \
	  "end when nothing has come for this long, before the first packet too; 0: never") \
	X(RESPOND, "respond", "", FILTERS, respond, "", "ADDRESS,...", RECV, RUN, RECEIVE, \
	  "addresses to answer ARP, neighbour solicitation and ICMP echo for on the receiving interface, with its MAC, so that " \
	  "routers find them; not those that this machine has", .expects = "a list of addresses, as in 192.0.2.50,fd00::50") \
	X(CAPTURE, "capture", "", FILE, capture, "", "FILE", RECV, RUN, RECEIVE, \
	  "write what is received to a capture file (pcap, nanoseconds); packets that come faster than they can be written are " \
	  "left out of it, and counted") \
	X(CAPTURE_LIMIT, "capture-limit", "", COUNT, capture_limit, "0", "N", RECV, RUN, RECEIVE, \
	  "packets that the file of --capture gets; 0: no limit") \
	X(SNAPLEN, "snaplen", "", U32, snaplen, "0", "BYTES", RECV, RUN, RECEIVE, \
	  "bytes of each packet that --capture keeps; 0: all", RANGE(0, 262144)) \
	X(CALIBRATE, "calibrate", "", BOOL, calibrate, "false", "", PAIR, RUN, RECEIVE, \
	  "before the run send 1000 packets, 1 ms apart, to know the latency of the idle path, this tool's own part with it; it " \
	  "is shown beside that of the run") \
	X(SUBTRACT_FLOOR, "subtract-floor", "", BOOL, subtract_floor, "false", "", PAIR, RUN, RECEIVE, \
	  "take the least latency of --calibrate off every latency of the run") \
	X(LINGER, "linger", "", TIME, linger_ns, "100ms", "TIME", PAIR, RUN, RECEIVE, \
	  "how long nothing must have come, after the last packet was sent, before the receiver ends; where packets go on " \
	  "coming it waits 10 times as long at most", RANGE(0, 60000000000)) \
	X(MEASURE, "measure", "", BOOL, measure, "false", "", MEASURE, RUN, RECEIVE, \
	  "measure what came by its stamps (send --stamp): loss, order, latency", PAIR_TEXT("true")) \
	X(PER_FLOW, "per-flow", "", BOOL, per_flow, "false", "", MEASURE, RUN, RECEIVE, \
	  "measure each flow for itself, too") \
	X(FLOW_REPORT, "flow-report", "", COUNT, flow_report, "10000", "N", MEASURE, RUN, RECEIVE, \
	  "flows that --per-flow tells of one by one, the worst first; the others are added up", RANGE(0, 0)) \
	X(FLOW_LIMIT, "flow-limit", "", COUNT, flow_limit, "0", "N", MEASURE, RUN, RECEIVE, \
	  "flows that are measured; packets of others are only counted; 0: all for pair, 1048576 for recv", RANGE(0, 16777216)) \
	X(HISTOGRAMS, "histograms", "", FILE, histograms, "", "FILE", MEASURE, RUN, RECEIVE, \
	  "write the histograms of the measurement to a file of comma-separated values, too") \
	X(WINDOW, "window", "", COUNT, window, "0", "PACKETS", MEASURE, RUN, RECEIVE, \
	  "packets of a flow that one may come behind the newest and still be told from a lost one; 0: as many as 4 MiB hold " \
	  "for all flows, 96 at least", RANGE(0, 131040)) \
	X(HOST_TIMES, "host-times", "", BOOL, host_times, "false", "", MEASURE, RUN, RECEIVE, \
	  "measure when packets reached this process, also where the device or the kernel tells when they came") \
	X(ALLOW_MATCH_ALL, "allow-match-all", "", BOOL, allow_match_all, "false", "", BOTH, RUN, RECEIVE, \
	  "agree to take all traffic from the kernel, your own login's too") \
	\
	X(JSON, "json", "", BOOL, json, "false", "", ALL, RUN, OUTPUT, "write one JSON document to the standard output") \
	X(JSON_STREAM, "json-stream", "", BOOL, json_stream, "false", "", ALL, RUN, OUTPUT, \
	  "write one JSON object a line, each as it happens") \
	X(CSV, "csv", "", BOOL, csv, "false", "", BOTH, RUN, OUTPUT, "write comma-separated values, a line an interval") \
	X(INTERVAL, "interval", "", TIME, interval_ns, "1s", "TIME", BOTH, RUN, OUTPUT, "time between two reports", \
	  RANGE(10000000, 0)) \
	X(QUIET, "quiet", "q", BOOL, quiet, "false", "", BOTH, RUN, OUTPUT, "write the result only") \
	X(VERBOSE, "verbose", "", BOOL, verbose, "false", "", ALL, RUN, OUTPUT, "tell more of what is being done") \
	X(NO_TUI, "no-tui", "", BOOL, no_tui, "false", "", ALL, RUN, OUTPUT, \
	  "run without the terminal dashboard, which a run has on a terminal unless another form is asked for") \
	X(START, "start", "", BOOL, start, "false", "", BOTH, RUN, OUTPUT, \
	  "go straight to the live dashboard, as without it, and say why when the terminal cannot show it", DASHBOARD) \
	\
	X(PCAP, "pcap", "", FILE, pcap, "", "FILE", SEND, STREAM, PCAP, \
	  "capture to replay, pcap or pcapng, - for the standard input; it stands for --mode pcap, and for one queue unless " \
	  "--queues says otherwise") \
	X(PCAP_TIMING, "pcap-timing", "", ENUM, pcap_timing, "rate", "TIMING", SEND, STREAM, PCAP, \
	  "whether --pps and --bps or the capture's own times pace the replay", CHOICES(PCAP_TIMINGS)) \
	X(PCAP_SPEED, "pcap-speed", "", STRING, pcap_speed, "1x", "TIMES", SEND, STREAM, PCAP, \
	  "with original timing: how many times as fast as it was captured, as in 2x or 0.5x") \
	X(PCAP_LOOP, "pcap-loop", "", BOOL, pcap_loop, "true", "", SEND, STREAM, PCAP, \
	  "start the capture over at its end; --no-pcap-loop alone lifts the default duration") \
	X(LOOP, "loop", "", COUNT, loop, "0", "N", SEND, STREAM, PCAP, \
	  "play the capture exactly N times; 0: as --pcap-loop says; it alone lifts the default duration") \
	X(PCAP_TRUNCATED, "pcap-truncated", "", ENUM, pcap_truncated, "refuse", "WHAT", SEND, STREAM, PCAP, \
	  "what to do with packets that were cut when captured: refuse the capture, skip them, or pad them with zeros", \
	  CHOICES(PCAP_TRUNCATEDS)) \
	X(PCAP_TOO_LARGE, "pcap-too-large", "", ENUM, pcap_too_large, "refuse", "WHAT", SEND, STREAM, PCAP, \
	  "what to do with packets that are larger than the interface's MTU: refuse the capture, or skip them", \
	  CHOICES(PCAP_TOO_LARGES)) \
	X(PCAP_MAX_GAP, "pcap-max-gap", "", TIME, pcap_max_gap_ns, "3600s", "TIME", SEND, STREAM, PCAP, \
	  "longest time between two packets of a capture: a clock that jumps farther, either way, is taken as set anew; none " \
	  "or 0: no limit", ZERO_WORD("none")) \
	X(PCAP_PRELOAD, "pcap-preload", "", COUNT, pcap_preload, "1073741824", "BYTES", SEND, RUN, PCAP, \
	  "memory that a capture may take, 1 GiB unless said; a larger file is read once for its sizes and times and then " \
	  "streamed, up to so much of it ahead (1 MiB for each queue at least, 64 MiB in all at most)", RANGE(4096, 0)) \
	X(REWRITE_MAC, "rewrite-mac", "", STRING, rewrite_mac, "", "LIST", SEND, STREAM, PCAP, \
	  "MAC addresses to change in every frame of a capture: src=MAC, dst=MAC, OLD=NEW, with commas") \
	X(REWRITE_IP, "rewrite-ip", "", STRING, rewrite_ip, "", "LIST", SEND, STREAM, PCAP, \
	  "addresses to change in the outermost IP header, checksums with them: OLD/LEN=NEW/LEN, with commas; the first that " \
	  "fits counts") \
	X(REWRITE_VLAN, "rewrite-vlan", "", STRING, rewrite_vlan, "", "LIST", SEND, STREAM, PCAP, \
	  "outermost VLAN tag of every frame: an id, none (untagged), or OLD=NEW with commas, where either may be none") \
	\
	X(CONFIG, "config", "c", FILE, config_file, "", "FILE", BOTH, RUN, GENERAL, \
	  "read options from a YAML file of long names and values; the command line overrides it", COMMAND_LINE) \
	X(DUMP_CONFIG, "dump-config", "", BOOL, dump_config, "false", "", BOTH, RUN, GENERAL, \
	  "write the configuration as such a file and end", COMMAND_LINE) \
	X(DRY_RUN, "dry-run", "", BOOL, dry_run, "false", "", SEND, RUN, GENERAL, \
	  "tell what would be sent, addresses resolved, and end") \
	X(WRITE, "write", "", FILE, write_file, "", "FILE", SEND, RUN, GENERAL, \
	  "write the frames to a capture file instead of sending them, --count of them or 1000, and none behind the end of a " \
	  "--duration that is given; -: the standard output") \
	X(YES, "yes", "y", BOOL, yes, "false", "", ALL, RUN, GENERAL, "answer every safety question with yes") \
	X(FORGET, "forget", "", BOOL, forget, "false", "", BOTH, RUN, GENERAL, \
	  "forget saved settings; squall saves none, so this changes nothing") \
	X(SHOW_HELP, "help", "h", BOOL, help, "false", "", ALL, RUN, GENERAL, "show this help", COMMAND_LINE) \
	X(SHOW_VERSION, "version", "vV", BOOL, version, "false", "", ALL, RUN, GENERAL, "show the version", COMMAND_LINE)

#define OPTION_SECTIONS(X) \
	X(INTERFACE, "Interface") \
	X(PACKETS, "Packets") \
	X(RATE, "Rate and length") \
	X(STREAMS, "Streams, in a file only") \
	X(RECEIVE, "Receiving") \
	X(LIMITS, "Thresholds") \
	X(PCAP, "Capture replay") \
	X(OUTPUT, "Output") \
	X(GENERAL, "General")
/* clang-format on */

#endif
