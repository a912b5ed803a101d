/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>

const struct subject *rig_subject;

static const struct filter everything = {.all = true};

int rig_init(const struct subject *s, struct err *e)
{
	rig_subject = s;
	return s->kind == WIRE_VETH ? rig_link_init(e) : 0;
}

void rig_skip(const char *why)
{
	print_message("%s: skipped: %s\n", rig_subject->name, why);
	skip();
}

void rig_needs_receiver(void)
{
	if (rig_subject->kind == WIRE_SINK)
		rig_skip("a sink delivers nothing");
}

struct pio_conf rig_conf(const struct rig_spec *spec, unsigned wire, unsigned end, char name[64])
{
	bool both = rig_subject->kind != WIRE_VETH;
	const char *colon = strchr(rig_subject->format, ':');

	if (both)
		snprintf(name, 64, "%s", rig_subject->format);
	else
		snprintf(name, 64, "%.*s:%s%s", (int)(colon - rig_subject->format), rig_subject->format,
			 rig_link_name(wire, end),
			 strchr(rig_subject->format, ',') ? strchr(rig_subject->format, ',') : "");
	return (struct pio_conf){
		.name = name,
		.host = rig_link_host(),
		.tx_queues = both || end == 0 ? spec->n_tx : 0,
		.rx_queues = both || end == 1 ? spec->n_rx : 0,
		.max_frame = spec->max_frame,
		.tx_frames = spec->tx_frames,
		.rx_frames = spec->rx_frames,
		.filter = spec->filter ? spec->filter : &everything,
		.pool = spec->pool,
		.qdisc = spec->qdisc,
	};
}

static struct pio_port *open_end(const struct rig_spec *spec, unsigned wire, unsigned end)
{
	char name[64];
	struct pio_conf conf = rig_conf(spec, wire, end, name);
	struct pio_port *port;
	struct err e;

	if (!conf.tx_queues && !conf.rx_queues)
		return NULL;
	if (pio_open(&conf, &port, &e))
		fail_msg("%s: %s: %s", name, e.what, e.cause);
	return port;
}

void rig_open(struct rig_wire *w, unsigned wire, const struct rig_spec *spec)
{
	if (rig_subject->kind == WIRE_VETH) {
		/* The receiver first, so that it is there when the first packet is. */
		w->rx = open_end(spec, wire, 1);
		w->tx = open_end(spec, wire, 0);
	} else {
		w->tx = open_end(spec, wire, 0);
		w->rx = w->tx;
	}
}

void rig_close(struct rig_wire *w)
{
	pio_close(w->tx);
	if (w->rx != w->tx)
		pio_close(w->rx);
}

void rig_send(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	unsigned sent = 0;

	while ((sent += pio_tx(q, f + sent, n - sent)) < n) {
		struct err e;

		pio_kick(q);
		if (pio_queue_error(q, &e))
			fail_msg("%s: %s", e.what, e.cause);
		if (clock_mono_ns() > deadline)
			fail_msg("%u of %u frames sent", sent, n);
	}
	pio_kick(q);
}

void rig_send_packet(struct pio_queue *q, const unsigned char *data, uint32_t len)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	struct pio_frame f;

	while (!pio_get(q, &f, 1)) {
		pio_kick(q);
		assert_true(clock_mono_ns() < deadline);
	}
	memcpy(f.data, data, len);
	f.len = len;
	rig_send(q, &f, 1);
}

void rig_receive(struct pio_port *port, unsigned want, rig_received_fn *fn, void *arg)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	unsigned got = 0;

	while (got < want) {
		unsigned before = got;

		for (unsigned i = 0; i < port->n_rx && got < want; i++) {
			struct pio_frame f[RIG_BURST];
			unsigned n = pio_rx(port->rx[i], f, want - got < RIG_BURST ? want - got : RIG_BURST);

			for (unsigned k = 0; k < n; k++) {
				assert_false(f[k].flags & PIO_MORE);
				fn(arg, port->rx[i], &f[k]);
			}
			pio_put(port->rx[i], f, n);
			got += n;
		}
		if (got == before && clock_mono_ns() > deadline)
			fail_msg("%u of %u packets received", got, want);
		if (got == before)
			pio_poll(port->rx[0], 1);
	}
}

struct pio_frame rig_receive_one(struct pio_queue *q)
{
	uint64_t deadline = clock_mono_ns() + RIG_WAIT_NS;
	struct pio_frame f;

	while (!pio_rx(q, &f, 1)) {
		if (clock_mono_ns() > deadline)
			fail_msg("nothing received");
		pio_poll(q, 1);
	}
	return f;
}

void rig_send_numbers(struct pio_queue *q, uint32_t first, uint32_t n, uint32_t len)
{
	unsigned char packet[PACKET_MAX];

	for (uint32_t i = 0; i < n; i++) {
		rig_fill(packet, len, 1, first + i);
		rig_send_packet(q, packet, len);
	}
}

void rig_wait_ms(unsigned ms)
{
	const struct timespec t = {.tv_nsec = (long)(ms * NS_PER_MS)};

	nanosleep(&t, NULL);
}

unsigned rig_gettable(struct pio_queue *q)
{
	struct pio_frame f[RIG_BURST * 256];
	unsigned total = 0;
	unsigned n;

	while ((n = pio_get(q, f + total, RIG_BURST)))
		total += n;
	pio_put(q, f, total);
	return total;
}

static unsigned char fill_byte(uint16_t flow, uint32_t number, uint32_t at)
{
	return (unsigned char)(flow * 7U + number * 31U + at * 13U + at / 256U);
}

#define FILL_AT 46U /* after the headers and the number */

void rig_fill(unsigned char *data, uint32_t len, uint16_t flow, uint32_t number)
{
	unsigned char headers[PACKET_MAX];

	assert_true(len >= RIG_MIN_LEN);
	packet_build(&(struct packet){.family = 4, .sport = flow, .dport = 9000}, headers);
	packet_put16(headers + 16, len - 14);
	packet_put16(headers + 38, len - 34);
	memcpy(headers + 42, &number, sizeof(number));
	memcpy(data, headers, FILL_AT);
	for (uint32_t i = FILL_AT; i < len; i++)
		data[i] = fill_byte(flow, number, i);
}

uint32_t rig_check(const unsigned char *data, uint32_t len, uint16_t *flow)
{
	unsigned char want[64];
	uint32_t number;

	assert_true(len >= RIG_MIN_LEN);
	*flow = (uint16_t)(data[34] << 8 | data[35]);
	memcpy(&number, data + 42, sizeof(number));
	rig_fill(want, RIG_MIN_LEN, *flow, number);
	packet_put16(want + 16, len - 14);
	packet_put16(want + 38, len - 34);
	assert_memory_equal(data, want, FILL_AT);
	for (uint32_t i = FILL_AT; i < len; i++)
		if (data[i] != fill_byte(*flow, number, i))
			fail_msg("packet %u of %u bytes: byte %u is not as it was sent", number, len, i);
	return number;
}
