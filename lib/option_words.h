/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_words: the words that an option takes where its value is one of a few, for CHOICES() in option_table.h.
 *
 * X(word, value)   value: of the enum that the option's field holds (config.h)
 */
#ifndef SQUALL_OPTION_WORDS_H
#define SQUALL_OPTION_WORDS_H

#define MODES(X) \
	X("udp", MODE_UDP) \
	X("tcp-syn", MODE_TCP_SYN) \
	X("icmp-echo", MODE_ICMP_ECHO) \
	X("imix", MODE_IMIX) \
	X("raw", MODE_RAW) \
	X("pcap", MODE_PCAP) \
	X("receive", MODE_RECEIVE)

#define CHECKS(X) \
	X("on", CHECK_ON) \
	X("off", CHECK_OFF) \
	X("bad", CHECK_BAD)

#define OUTER_TYPES(X) \
	X("0x88a8", 0x88a8) \
	X("0x8100", 0x8100)

#define PATTERNS(X) \
	X("none", PATTERN_NONE) \
	X("count8", PATTERN_COUNT8) \
	X("count16", PATTERN_COUNT16) \
	X("count32", PATTERN_COUNT32)

#define FLOW_WALKS(X) \
	X("step", FLOW_WALK_STEP) \
	X("cross", FLOW_WALK_CROSS)

#define FLOW_ORDERS(X) \
	X("sequential", FLOW_ORDER_SEQUENTIAL) \
	X("random", FLOW_ORDER_RANDOM)

#define RX_MODES(X) \
	X("none", RX_MODE_NONE) \
	X("generated-flow", RX_MODE_GENERATED_FLOW) \
	X("udp-port", RX_MODE_UDP_PORT) \
	X("tcp-port", RX_MODE_TCP_PORT) \
	X("cidr", RX_MODE_CIDR) \
	X("keep-management", RX_MODE_KEEP_MANAGEMENT) \
	X("all", RX_MODE_ALL)

#define PCAP_TRUNCATEDS(X) \
	X("refuse", PCAP_UNFIT_REFUSE) \
	X("skip", PCAP_UNFIT_SKIP) \
	X("pad", PCAP_UNFIT_PAD)

#define PCAP_TOO_LARGES(X) \
	X("refuse", PCAP_UNFIT_REFUSE) \
	X("skip", PCAP_UNFIT_SKIP)

#define XDP_MODES(X) \
	X("auto", XDP_CHOICE_AUTO) \
	X("native-zc", XDP_CHOICE_NATIVE_ZC) \
	X("native", XDP_CHOICE_NATIVE) \
	X("generic", XDP_CHOICE_GENERIC)

#define WHEN_HELPFULS(X) \
	X("auto", WHEN_HELPFUL) \
	X("on", WHEN_ON) \
	X("off", WHEN_OFF)

#define CLOCKS(X) \
	X("auto", CLOCK_CHOICE_AUTO) \
	X("same-host", CLOCK_CHOICE_SAME_HOST) \
	X("ptp", CLOCK_CHOICE_PTP)

#define SPACINGS(X) \
	X("constant", SPACING_CONSTANT) \
	X("poisson", SPACING_POISSON)

#define PACINGS(X) \
	X("precise", PACING_PRECISE) \
	X("sleep", PACING_SLEEP)

#define PCAP_TIMINGS(X) \
	X("rate", PCAP_TIMING_RATE) \
	X("original", PCAP_TIMING_ORIGINAL)

#endif
