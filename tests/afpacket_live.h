/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afpacket_live: ports on a veth pair between two namespaces without names. va is here, vb is there; both are up and
 * silent (no IPv6, no ARP). Everything is torn down with the process.
 */
#ifndef SQUALL_TESTS_AFPACKET_LIVE_H
#define SQUALL_TESTS_AFPACKET_LIVE_H

#include "lib/clock.h"
#include "lib/host.h"
#include "lib/pio/pio.h"

#include "tests/host_namespaces.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BURST    64U
#define WAIT_NS  (2000 * NS_PER_MS)
#define POLL_MS  10
#define TEST_LEN 60U

static struct err err;

static inline int live_setup(void **state)
{
	(void)state;
	if (namespaces_make())
		return -1;
	run(here,
	    "set -e; ip link add va numtxqueues 2 numrxqueues 2 type veth peer name vb numtxqueues 2 "
	    "numrxqueues 2; for d in va vb; do ip link set $d addrgenmode none arp off; done; "
	    "ip link set vb netns /proc/%d/fd/%d; ip link set va up",
	    getpid(), there);
	run(there, "ip link set vb up");
	return 0;
}

/* The namespace of the ports that are opened and of the links that are looked at. */
static inline void enter(int ns)
{
	assert_int_equal(setns(ns, CLONE_NEWNET), 0);
}

/* 0 or the error, which is in err. */
static inline int try_open(int ns, struct pio_conf conf, struct pio_port **port)
{
	struct host h;

	enter(ns);
	assert_int_equal(host_load(&h, &err), 0);
	conf.host = &h;
	int rc = pio_open(&conf, port, &err);

	host_free(&h);
	enter(here);
	return rc;
}

static inline struct pio_port *must_open(int ns, struct pio_conf conf)
{
	struct pio_port *port;
	char text[1600];

	if (try_open(ns, conf, &port))
		fail_msg("%s", err_format(&err, text, sizeof(text)));
	return port;
}

static inline struct pio_port *open_tx(const char *name, uint32_t max_frame, bool qdisc)
{
	return must_open(here, (struct pio_conf){.name = name, .tx_queues = 1, .max_frame = max_frame, .qdisc = qdisc});
}

static const struct filter take_all = {.all = true};

static inline struct pio_port *open_rx(int ns, const char *name, uint32_t queues, const struct filter *filter)
{
	return must_open(ns, (struct pio_conf){.name = name, .rx_queues = queues, .filter = filter});
}

static inline int index_of(int ns, const char *link)
{
	enter(ns);
	int index = (int)if_nametoindex(link);

	enter(here);
	assert_int_not_equal(index, 0);
	return index;
}

static inline struct host_counters counters_of(const char *link)
{
	struct host_counters c;

	assert_int_equal(host_link_counters(index_of(here, link), &c), 0);
	return c;
}

/* Until the carrier of a link here is what it should be. */
static inline void await_carrier(const char *link, bool want)
{
	uint64_t deadline = clock_mono_ns() + WAIT_NS;
	struct host_link_state s;

	do {
		assert_int_equal(host_link_state(index_of(here, link), &s), 0);
	} while (s.carrier != want && clock_mono_ns() < deadline);
	assert_int_equal(s.carrier, want);
}

/* A frame whose content follows from its number: an experimental EtherType, the number, a pattern. */
static inline void frame_fill(unsigned char *data, uint32_t len, uint32_t number)
{
	static const unsigned char head[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};

	memcpy(data, head, sizeof(head));
	memcpy(data + sizeof(head), &number, sizeof(number));
	for (uint32_t i = sizeof(head) + sizeof(number); i < len; i++)
		data[i] = (unsigned char)(number * 7 + i);
}

static inline void frame_check(const unsigned char *data, uint32_t len, uint32_t want_len, uint32_t number)
{
	unsigned char want[2048];

	assert_int_equal(len, want_len);
	frame_fill(want, want_len, number);
	if (memcmp(data, want, want_len) != 0)
		fail_msg("frame %u has another content", number);
}

static inline struct tx_counts tx_counts_of(const struct pio_port *port)
{
	struct tx_counts c;

	tx_counts_read(&port->tx[0]->stats.tx, &c);
	return c;
}

static inline struct rx_counts rx_counts_of(const struct pio_port *port)
{
	struct rx_counts sum = {0};

	for (uint32_t i = 0; i < port->n_rx; i++) {
		struct rx_counts c;

		pio_sync(port->rx[i]);
		rx_counts_read(&port->rx[i]->stats.rx, &c);
		rx_counts_add(&sum, &c);
	}
	return sum;
}

/* Sends frames first .. first + n - 1; gives up when the queue takes nothing for `patience`. Returns how many it took.
 */
static inline uint32_t send_frames(struct pio_port *port, uint32_t first, uint32_t n, uint32_t len, uint64_t patience)
{
	struct pio_queue *q = port->tx[0];
	uint64_t deadline = clock_mono_ns() + patience;
	uint32_t sent = 0;

	while (sent < n && clock_mono_ns() < deadline && !pio_queue_error(q, NULL)) {
		struct pio_frame f[BURST];
		uint32_t got = pio_get(q, f, n - sent < BURST ? n - sent : BURST);

		for (uint32_t i = 0; i < got; i++) {
			frame_fill(f[i].data, len, first + sent + i);
			f[i].len = len;
		}
		uint32_t done = pio_tx(q, f, got);

		pio_put(q, f + done, got - done);
		if (done)
			deadline = clock_mono_ns() + patience;
		else
			pio_kick(q);
		sent += done;
	}
	return sent;
}

static inline void send_all(struct pio_port *port, uint32_t first, uint32_t n, uint32_t len)
{
	assert_int_equal(send_frames(port, first, n, len, WAIT_NS), n);
	pio_drain(port->tx[0], clock_mono_ns() + WAIT_NS);
}

#endif
