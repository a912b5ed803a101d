/* SPDX-License-Identifier: Apache-2.0 */
/* loops: opens a loop and sends numbered packets through it, for tests. */
#ifndef SQUALL_TESTS_LOOPS_H
#define SQUALL_TESTS_LOOPS_H

#include "lib/clock.h"
#include "lib/pio/loop.h"
#include "packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <stdio.h>

#define LOOP_BURST 64U

static const struct filter loop_take_all = {.all = true};

static inline struct pio_port *loop_open_ok(const char *name, uint32_t tx, uint32_t rx)
{
	const struct pio_conf conf = {.name = name, .tx_queues = tx, .rx_queues = rx, .filter = &loop_take_all};
	struct pio_port *port;
	struct err e;

	if (pio_open(&conf, &port, &e))
		fail_msg("%s: %s", name, e.cause);
	return port;
}

/* UDP/IPv4 of that flow (a source port) that carries a number. */
static inline uint32_t numbered_packet(unsigned char *data, uint16_t flow, uint32_t number)
{
	static _Thread_local unsigned char frame[PACKET_MAX];
	static _Thread_local uint32_t len;

	if (!len)
		len = packet_build(&(struct packet){.family = 4, .dport = 9000, .payload = 18}, frame);
	memcpy(data, frame, len);
	packet_put16(data + 34, flow);
	memcpy(data + 42, &number, sizeof(number));
	return len;
}

static inline uint16_t packet_flow(const unsigned char *data)
{
	return (uint16_t)(data[34] << 8 | data[35]);
}

static inline uint32_t packet_number(const unsigned char *data)
{
	uint32_t n;

	memcpy(&n, data + 42, sizeof(n));
	return n;
}

/* Sends packet `number` of the flow; false when the wire holds it. */
static inline bool send_one(struct pio_queue *q, uint16_t flow, uint32_t number)
{
	struct pio_frame f;

	assert_int_equal(pio_get(q, &f, 1), 1);
	f.len = numbered_packet(f.data, flow, number);
	if (pio_tx(q, &f, 1) == 1)
		return true;
	pio_put(q, &f, 1);
	return false;
}

#endif
