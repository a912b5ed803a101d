/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: what one run was asked to do, as typed fields. Filled by option.h from its table, then only read.
 */
#ifndef SQUALL_CONFIG_H
#define SQUALL_CONFIG_H

#include "addr.h"
#include "units.h"

#include <stdbool.h>
#include <stdint.h>

/* Bit mask: an option row says for which verbs it is. */
enum verb {
	VERB_SEND = 1,
	VERB_RECV = 2,
	VERB_DEVICES = 4,
};

enum mode { MODE_UDP, MODE_TCP_SYN, MODE_IMIX, MODE_RAW, MODE_PCAP, MODE_RECEIVE };
enum flow_order { FLOW_ORDER_SEQUENTIAL, FLOW_ORDER_RANDOM };
enum rx_mode {
	RX_MODE_NONE,
	RX_MODE_GENERATED_FLOW,
	RX_MODE_UDP_PORT,
	RX_MODE_TCP_PORT,
	RX_MODE_CIDR,
	RX_MODE_KEEP_MANAGEMENT,
	RX_MODE_ALL,
};

/* How the afxdp backend is to work; each but AUTO and what it names is refused when it cannot be had. */
enum xdp_choice { XDP_CHOICE_AUTO, XDP_CHOICE_NATIVE_ZC, XDP_CHOICE_NATIVE, XDP_CHOICE_GENERIC };
/* Something that helps in some places only. */
enum when_helpful { WHEN_HELPFUL, WHEN_ON, WHEN_OFF };
enum pcap_timing { PCAP_TIMING_RATE, PCAP_TIMING_ORIGINAL };

#define CONFIG_CPUS_MAX      256
#define CONFIG_PORTS_MAX     16
#define CONFIG_FILTERS_MAX   32
#define CONFIG_FILTER_STRLEN 64
#define CONFIG_STR_MAX       256

struct config_cpus {
	uint16_t n;
	uint16_t cpu[CONFIG_CPUS_MAX];
};

struct config_ports {
	uint16_t n;
	uint16_t port[CONFIG_PORTS_MAX];
};

/* --filter KIND=VALUE, repeated or comma-separated; syntax is checked by lib/pio/filter.h. */
struct config_filters {
	uint16_t n;
	char text[CONFIG_FILTERS_MAX][CONFIG_FILTER_STRLEN];
};

struct config {
	enum verb verb;

	/* Where. */
	char interface[CONFIG_STR_MAX]; /* "eth1", "afpacket:eth1", "loop:sink,queues=4" */
	char backend[16];               /* --backend; empty: by the name, or the best that works */
	uint32_t queues;                /* 0: all that the interface has, or one for each of --cpus */
	struct config_cpus cpus;
	bool qdisc;
	int xdp_mode;          /* enum xdp_choice */
	uint32_t rx_frames;    /* per receive queue; 0: the backend's choice */
	uint64_t busy_poll_ns; /* 0: interrupts */
	int napi_defer;        /* enum when_helpful */

	/* What. */
	int mode;             /* enum mode */
	struct prefix dst_ip; /* family 0: not given */
	struct ip src_ip;     /* family 0: choose */
	struct mac dst_mac;   /* zero: resolve */
	struct mac src_mac;   /* zero: the interface's */
	uint16_t src_port;
	uint16_t dst_port;
	bool vary_dst_port;
	uint64_t flows;
	int flow_order;       /* enum flow_order */
	uint32_t packet_size; /* with FCS; 0: the smallest legal frame for the headers */
	uint16_t vlan;        /* 0: untagged */
	uint16_t ethertype;
	uint16_t payload_byte;

	/* How fast, how long. */
	struct rate pps;
	struct rate bps;
	uint64_t duration_ns; /* 0: until stopped */
	uint64_t count;       /* 0: no limit */
	uint32_t burst;
	uint64_t catch_up_ns; /* 0: repay nothing */
	bool strict_rate;

	/* Receive. */
	int rx_mode; /* enum rx_mode */
	struct config_ports rx_ports;
	struct prefix rx_cidr;
	struct config_filters filters;
	uint64_t idle_ns; /* 0: no idle limit */

	/* Output and questions. */
	bool json;
	bool json_stream;
	bool csv;
	bool quiet;
	bool verbose;
	uint64_t interval_ns;
	bool no_tui;
	bool start;
	bool forget;
	bool yes;
	bool allow_match_all;
	bool dump_config;
	bool help;
	bool version;
	char config_file[CONFIG_STR_MAX];

	/* Accepted so that the answer is one clear sentence: features of later versions. */
	char pcap[CONFIG_STR_MAX];
	int pcap_timing; /* enum pcap_timing */
	bool pcap_loop;

	uint64_t given[4]; /* bit per enum option_id: set by the user (option_given()) */
};

#endif
