/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig: the wires that the conformance suite sends over. Wire 0 and wire 1 each join a transmitting and a receiving
 * port of the backend under test. Every call fails the running test when it cannot do what it says.
 */
#ifndef SQUALL_TESTS_RIG_H
#define SQUALL_TESTS_RIG_H

#include "lib/clock.h"
#include "lib/pio/pio.h"
#include "tests/packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#define RIG_WIRES   2U
#define RIG_BURST   64U
#define RIG_WAIT_NS (5 * NS_PER_S) /* for what must happen; nothing that works takes that long */

enum rig_kind {
	WIRE_INSIDE, /* one port is both ends; a wire that nobody reads becomes full */
	WIRE_SINK,   /* the same, but nothing arrives */
	WIRE_VETH,   /* the two ends of a veth pair in a network namespace of the suite's own; %s is the interface */
};

/* Which receive queue of a wire gets a packet. */
enum rig_spread {
	SPREAD_BY_FLOW,   /* always the same for a flow, and many flows go to many */
	SPREAD_BY_SENDER, /* that of the transmit queue's number, as a veth has it */
	SPREAD_UNSAID,    /* somehow, and always the same for a transmit queue */
};

struct subject {
	const char *name;
	enum rig_kind kind;
	enum rig_spread spread;
	const char *format;
};

/* How a wire is to be opened; what is 0 is the default. */
struct rig_spec {
	const struct subject *as; /* NULL: what is under test */
	uint32_t n_tx, n_rx;
	uint32_t tx_frames, rx_frames;
	uint32_t max_frame;
	const struct filter *filter; /* NULL: everything */
	struct pio_pool *pool;       /* for both ports */
	bool qdisc;                  /* send through the queueing discipline */
	bool times;                  /* ask for times of arrival */
	bool duplex;                 /* both ends send and receive; a port that is both ends does anyway */
};

struct rig_wire {
	struct pio_port *tx, *rx; /* maybe the same; rx is NULL without receive queues, tx without transmit queues */
};

extern const struct subject *rig_subject;

/* Makes the wires of the subject. 0, or -errno with the reason in *e. */
int rig_init(const struct subject *s, struct err *e);

/*
 * Runs a group. Whatever a test leaves behind, since it failed half way, is put right before the next: open ports, and
 * the state of the links. Returns the number of failed tests.
 */
int rig_run(const char *group, const struct CMUnitTest *tests, size_t n);
#define RIG_RUN(group, tests) rig_run(group, tests, sizeof(tests) / sizeof((tests)[0]))

void rig_open(struct rig_wire *w, unsigned wire, const struct rig_spec *spec);
void rig_close(struct rig_wire *w);

/* The configuration of one end, to open by hand: end 0 transmits, end 1 receives. name holds the port's name. */
struct pio_conf rig_conf(const struct rig_spec *spec, unsigned wire, unsigned end, char name[64]);
struct pio_port *rig_open_port(const struct pio_conf *conf);
void rig_close_port(struct pio_port *port);

/* Skips the running test where nothing arrives. */
void rig_needs_receiver(void);
/* Skips the running test and says why. */
void rig_skip(const char *why);

void rig_wait_ms(unsigned ms);

/* ---- the links under the wires; only of WIRE_VETH ---- */

int rig_link_init(struct err *e);
const struct host *rig_link_host(void);
const char *rig_link_name(unsigned wire, unsigned end);

/* Skips the running test where there are none. */
void rig_link_needed(void);

/* Of the transmitting end, by the kernel's own count; 0 where there are no links. Differences only are to be looked at.
 */
struct rig_link_counts {
	uint32_t sent, bytes, dropped;
};
struct rig_link_counts rig_link_counts(unsigned wire);
uint64_t rig_link_sent(unsigned wire);
/* Sent are n more than before, at the latest when the kernel has handed them over. True where there are no links. */
void rig_link_sent_is(unsigned wire, uint64_t before, uint64_t n);

/* Removes wire 1, and makes it again. */
void rig_link_break(void);
void rig_link_mend(void);

/* Sets one end up or down. While the receiving one is down, the transmitting one has no carrier. */
#define RIG_SENDER 0U
#define RIG_PEER   1U
void rig_link_set(unsigned wire, unsigned end, bool up);

/* Of both ends; for ports that are opened later. */
void rig_link_mtu(unsigned wire, unsigned mtu);

/* Whether this kernel is older than Linux major.minor. */
bool rig_kernel_before(unsigned major, unsigned minor);

/*
 * Whether packets of RIG_LARGE_LEN can be received. False, with a message, only where a kernel before Linux 6.6 makes a
 * port say that it cannot: these have no packets of several buffers for AF_XDP.
 */
bool rig_can_large(void);
/* Skips the running test where they cannot. */
void rig_large_needed(void);

/* A queueing discipline at the transmitting end: 1 Mbit/s, room for 2000 bytes. False: this kernel has none such. */
bool rig_link_slow(unsigned wire);
void rig_link_fast(unsigned wire);

/* Gives the receiving end an address ("192.0.2.1/24"), and takes all away; mac: its hardware address. */
void rig_link_address(unsigned wire, const char *address, unsigned char mac[6]);
void rig_link_no_address(unsigned wire);

/* Undoes all of the above that is not undone. */
void rig_link_restore(void);

/* ---- frames ---- */

/* Sends all n frames. */
void rig_send(struct pio_queue *q, const struct pio_frame *f, unsigned n);
/* Copies one packet into a frame and sends it. */
void rig_send_packet(struct pio_queue *q, const unsigned char *data, uint32_t len);

/* Sends n packets of one length and of flow 1, numbered from `first` on. */
void rig_send_numbers(struct pio_queue *q, uint32_t first, uint32_t n, uint32_t len);

/* Receives until `want` packets came, calling fn on each before it is put back. */
typedef void rig_received_fn(void *arg, struct pio_queue *q, const struct pio_frame *f);
void rig_receive(struct pio_port *port, unsigned want, rig_received_fn *fn, void *arg);

/* Takes one received frame, which is then the caller's. */
struct pio_frame rig_receive_one(struct pio_queue *q);

/* Takes one packet, of several frames perhaps, which must be whole and as rig_fill() made it. */
struct rig_packet {
	uint32_t len, number;
	uint16_t flow;
	unsigned frames;
};
struct rig_packet rig_receive_packet(struct pio_queue *q);
/* Takes nothing: nothing may come any more. */
void rig_receive_none(struct pio_queue *q);

/* How many frames can be had from a transmit queue at this moment; they are put back. */
unsigned rig_gettable(struct pio_queue *q);

/* A UDP/IPv4 packet of that length, flow (source port) and number, filled with bytes that follow from both. */
void rig_fill(unsigned char *data, uint32_t len, uint16_t flow, uint32_t number);
/* The whole of it is as rig_fill() made it; returns its number. */
uint32_t rig_check(const unsigned char *data, uint32_t len, uint16_t *flow);

#define RIG_MIN_LEN    60U
#define RIG_LARGE_MTU  9000U
#define RIG_LARGE_LEN  9014U
#define RIG_PACKET_MAX 9216U

/* ---- the groups of the suite; each returns the number of failed tests ---- */

int conform_books(void);
int conform_chains(void);
int conform_large(void);
int conform_keeping(void);
int conform_frames(void);
int conform_traffic(void);
int conform_forward(void);
int conform_within(void);
int conform_waiting(void);
int conform_capabilities(void);
int conform_ending(void);
int conform_opening(void);
int conform_filters(void);
int conform_checked(void);

#endif
