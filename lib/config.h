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
	VERB_PAIR = 8, /* sends and receives */
	VERB_REFLECT = 16,
};

static inline bool verb_sends(enum verb verb)
{
	return verb & (VERB_SEND | VERB_PAIR);
}

enum mode { MODE_UDP, MODE_TCP_SYN, MODE_ICMP_ECHO, MODE_IMIX, MODE_RAW, MODE_PCAP, MODE_RECEIVE };
enum flow_walk { FLOW_WALK_STEP, FLOW_WALK_CROSS };
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
/* Whose times stamps carry. AUTO: the sender's own host's; a receiver does not know whether that is its own, too. */
enum clock_choice { CLOCK_CHOICE_AUTO, CLOCK_CHOICE_SAME_HOST, CLOCK_CHOICE_PTP };
enum spacing { SPACING_CONSTANT, SPACING_POISSON };
enum pacing { PACING_PRECISE, PACING_SLEEP };
enum pcap_timing { PCAP_TIMING_RATE, PCAP_TIMING_ORIGINAL };
/* What happens to a packet that cannot be sent as it was. */
enum pcap_unfit { PCAP_UNFIT_REFUSE, PCAP_UNFIT_SKIP, PCAP_UNFIT_PAD };

enum check_choice { CHECK_ON, CHECK_OFF, CHECK_BAD };
enum payload_pattern { PATTERN_NONE, PATTERN_COUNT8, PATTERN_COUNT16, PATTERN_COUNT32 };

#define CONFIG_CPUS_MAX      256
#define CONFIG_PORTS_MAX     16
#define CONFIG_FILTERS_MAX   32
#define CONFIG_FILTER_STRLEN 96 /* two IPv6 addresses and the words around them */
#define CONFIG_STR_MAX       256
#define CONFIG_STREAMS_MAX   64
#define CONFIG_NAME_MAX      22 /* of a stream */

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

/*
 * One run; and each of its streams as a run of its own, which has the run's options and over them what its item in the
 * file says.
 */
struct config {
	enum verb verb;

	/* Where. */
	char interface[CONFIG_STR_MAX];    /* "eth1", "afpacket:eth1", "loop:sink,queues=4" */
	char rx_interface[CONFIG_STR_MAX]; /* of a pair's receiver, where it is another */
	char backend[16];                  /* --backend; empty: by the name, or the best that works */
	uint32_t queues;                   /* 0: all that the interface has, or one for each of --cpus */
	uint32_t rx_queues;                /* of a pair's receiver; 0: all that its interface has */
	struct config_cpus cpus;
	bool qdisc;
	int xdp_mode;          /* enum xdp_choice */
	uint32_t rx_frames;    /* per receive queue; 0: the backend's choice */
	uint64_t busy_poll_ns; /* 0: interrupts */
	int napi_defer;        /* enum when_helpful */

	/* What. */
	int mode;             /* enum mode */
	struct prefix dst_ip; /* family 0: not given */
	struct prefix src_ip; /* family 0: choose */
	struct mac dst_mac;   /* zero: resolve */
	struct mac src_mac;   /* zero: the interface's */
	uint16_t src_port;
	uint16_t dst_port;
	bool vary_dst_port;
	uint64_t flows;
	int flow_order;             /* enum flow_order */
	int flow_walk;              /* enum flow_walk */
	struct config_filters vary; /* FIELD=RANGE; an item without = goes on with the list of the one before */
	uint64_t seed;
	uint32_t packet_size; /* with FCS; 0: the smallest legal frame for the headers */
	uint16_t vlan;        /* 0: untagged */
	uint16_t ethertype;
	uint16_t payload_byte;
	char imix[CONFIG_STR_MAX]; /* of --mode imix */
	uint16_t vlan_priority;    /* PCP */
	bool vlan_dei;
	uint16_t outer_vlan;         /* 0: none; in front of `vlan` */
	int outer_type;              /* its EtherType */
	char mpls[CONFIG_STR_MAX];   /* labels, outermost first */
	char tunnel[CONFIG_STR_MAX]; /* gen/tunnel.h has its syntax */
	uint16_t dscp;
	uint16_t ecn;
	uint16_t ttl;
	bool df;
	uint16_t ip_id;
	uint32_t flow_label;
	int udp_checksum; /* enum check_choice */
	char tcp_flags[32];
	char payload_text[CONFIG_STR_MAX];
	char payload_hex[CONFIG_STR_MAX];
	char payload_file[CONFIG_STR_MAX];
	int payload_pattern; /* enum payload_pattern */
	bool stamp;
	uint16_t run_id; /* good when given: else drawn, or learnt */
	int clock;       /* enum clock_choice */

	/* How fast, how long. */
	struct rate pps;
	struct rate bps;
	uint64_t duration_ns; /* 0: until stopped */
	uint64_t count;       /* 0: no limit */
	uint32_t burst;
	int pacing;  /* enum pacing */
	int spacing; /* enum spacing */
	char burst_profile[64];
	uint64_t catch_up_ns; /* 0: repay nothing */
	bool strict_rate;

	/* Receive. */
	int rx_mode; /* enum rx_mode */
	struct config_ports rx_ports;
	struct prefix rx_cidr;
	struct config_filters filters;
	/* What the run must keep. */
	struct ratio max_loss;
	struct ratio max_duplicates;
	struct ratio max_reordered;
	uint64_t max_latency_p99_ns; /* 0: none */
	struct rate min_rate;

	char capture[CONFIG_STR_MAX]; /* file; empty: none */
	uint64_t capture_limit;       /* packets; 0: no limit */
	uint32_t snaplen;             /* 0: whole packets */
	bool calibrate;
	bool subtract_floor;
	struct config_filters respond; /* addresses to answer for */
	uint64_t idle_ns;              /* 0: no idle limit */
	uint64_t linger_ns;            /* of a pair: how long nothing must have come before its receiver ends */
	bool measure;
	bool per_flow;
	uint64_t flow_report;            /* flows that are told of one by one */
	uint64_t flow_limit;             /* 0: those that are sent, or as many as are usual */
	char histograms[CONFIG_STR_MAX]; /* a file */
	uint64_t window;                 /* packets; 0: what the memory for it holds */
	bool host_times;                 /* arrivals by this host's clock, when they are taken */

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
	bool dry_run;
	char write_file[CONFIG_STR_MAX];
	bool dump_config;
	bool help;
	bool version;
	char config_file[CONFIG_STR_MAX];

	/* Replay of a capture. */
	char pcap[CONFIG_STR_MAX];
	int pcap_timing; /* enum pcap_timing */
	char pcap_speed[32];
	bool pcap_loop;
	uint64_t loop;            /* passes; 0: as pcap_loop says */
	int pcap_truncated;       /* enum pcap_unfit */
	int pcap_too_large;       /* enum pcap_unfit */
	uint64_t pcap_max_gap_ns; /* 0: no limit */
	uint64_t pcap_preload;    /* bytes */
	char rewrite_mac[CONFIG_STR_MAX];
	char rewrite_ip[CONFIG_STR_MAX];
	char rewrite_vlan[CONFIG_STR_MAX];

	/* Of a stream. */
	char name[CONFIG_NAME_MAX]; /* empty in a run */
	uint32_t share;
	uint64_t start_delay_ns;
	unsigned line;    /* where its item begins in config_file */
	uint64_t said[4]; /* bit per enum option_id: by its item */

	/* Of a run. */
	unsigned n_streams;     /* 0: the one that the options describe */
	struct config *streams; /* option_free() releases them */
	uint64_t ousted[4];     /* bit per enum option_id: on the command line, and every stream says otherwise */

	uint64_t given[4]; /* bit per enum option_id: set by the user (option_given()) */
};

#endif
