/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>

#define PORTS_MAX 16U
#define TESTS_MAX 32U

const struct subject *rig_subject;

static const struct filter everything = {.all = true};
static struct pio_port *open_ports[PORTS_MAX];

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

/* ---- ports ---- */

static enum rig_kind kind_of(const struct rig_spec *spec)
{
	return (spec->as ? spec->as : rig_subject)->kind;
}

struct pio_conf rig_conf(const struct rig_spec *spec, unsigned wire, unsigned end, char name[64])
{
	const char *format = (spec->as ? spec->as : rig_subject)->format;
	const char *hole = strstr(format, "%s");
	bool both = kind_of(spec) != WIRE_VETH;

	if (hole)
		snprintf(name, 64, "%.*s%s%s", (int)(hole - format), format, rig_link_name(wire, end), hole + 2);
	else
		snprintf(name, 64, "%s", format);
	return (struct pio_conf){
		.name = name,
		.host = rig_link_host(),
		.tx_queues = both || spec->duplex || end == 0 ? spec->n_tx : 0,
		.rx_queues = both || spec->duplex || end == 1 ? spec->n_rx : 0,
		.max_frame = spec->max_frame,
		.tx_frames = spec->tx_frames,
		.rx_frames = spec->rx_frames,
		.filter = spec->filter ? spec->filter : &everything,
		.pool = spec->pool,
		.qdisc = spec->qdisc,
		.times = spec->times,
	};
}

struct pio_port *rig_open_port(const struct pio_conf *conf)
{
	struct pio_port *port;
	unsigned i = 0;
	struct err e;

	while (i < PORTS_MAX && open_ports[i])
		i++;
	assert_true(i < PORTS_MAX);
	if (pio_open(conf, &port, &e))
		fail_msg("%s: %s: %s", conf->name, e.what, e.cause);
	open_ports[i] = port;
	return port;
}

void rig_close_port(struct pio_port *port)
{
	for (unsigned i = 0; i < PORTS_MAX; i++)
		if (open_ports[i] == port)
			open_ports[i] = NULL;
	pio_close(port);
}

static struct pio_port *open_end(const struct rig_spec *spec, unsigned wire, unsigned end)
{
	char name[64];
	struct pio_conf conf = rig_conf(spec, wire, end, name);

	return conf.tx_queues || conf.rx_queues ? rig_open_port(&conf) : NULL;
}

void rig_open(struct rig_wire *w, unsigned wire, const struct rig_spec *spec)
{
	if (kind_of(spec) == WIRE_VETH) {
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
	rig_close_port(w->tx);
	if (w->rx != w->tx)
		rig_close_port(w->rx);
}

/* ---- groups ---- */

static int clean_up(void **state)
{
	const struct CMUnitTest *test = *state;
	int rc = test->teardown_func ? test->teardown_func(state) : 0;

	for (unsigned i = 0; i < PORTS_MAX; i++)
		if (open_ports[i])
			rig_close_port(open_ports[i]);
	if (rig_subject->kind == WIRE_VETH)
		rig_link_restore();
	return rc;
}

int rig_run(const char *group, const struct CMUnitTest *tests, size_t n)
{
	struct CMUnitTest run[TESTS_MAX];

	assert_true(n <= TESTS_MAX);
	for (size_t i = 0; i < n; i++) {
		run[i] = tests[i];
		run[i].teardown_func = clean_up;
		run[i].initial_state = (void *)(uintptr_t)&tests[i];
	}
	return _cmocka_run_group_tests(group, run, n, NULL, NULL);
}

/* ---- packets ---- */

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

/* Before a packet's first frame and after its last one, inside the slot. */
static void assert_room_around(const struct pio_port *port, const struct pio_frame *f, bool first)
{
	uint32_t before = first ? port->caps.headroom : 0;
	uint32_t after = f->flags & PIO_MORE ? 0 : port->caps.tailroom;

	assert_int_not_equal(pio_slot_of(port->pool, f->data - before, before + f->len + after), UINT32_MAX);
}

struct rig_packet rig_receive_packet(struct pio_queue *q)
{
	unsigned char packet[RIG_PACKET_MAX];
	struct rig_packet p = {0};
	struct pio_frame f;

	do {
		f = rig_receive_one(q);
		assert_room_around(q->port, &f, p.frames == 0);
		assert_true(f.len <= sizeof(packet) - p.len);
		memcpy(packet + p.len, f.data, f.len);
		p.len += f.len;
		p.frames++;
		pio_put(q, &f, 1);
	} while (f.flags & PIO_MORE);
	p.number = rig_check(packet, p.len, &p.flow);
	return p;
}

void rig_receive_none(struct pio_queue *q)
{
	struct pio_frame f;

	rig_wait_ms(PIO_SETTLE_MS);
	assert_int_equal(pio_rx(q, &f, 1), 0);
}

void rig_send_numbers(struct pio_queue *q, uint32_t first, uint32_t n, uint32_t len)
{
	unsigned char packet[RIG_PACKET_MAX];

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
