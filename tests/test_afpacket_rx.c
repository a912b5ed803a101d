/* SPDX-License-Identifier: Apache-2.0 */
/* Receive of the afpacket backend against the running kernel. Needs root. */
#include "tests/afpacket_live.h"
#include "tests/filters.h"
#include "tests/packets.h"

#include <pthread.h>

#define SETTLE_MS 200 /* longer than a block waits to be handed over (1 ms), by what a busy machine may add */

/* Reads until nothing comes for SETTLE_MS. fn gets every frame. Returns the frames. */
typedef void on_frame(void *arg, const struct pio_frame *f, unsigned queue);

static uint32_t receive(struct pio_port *port, on_frame *fn, void *arg)
{
	uint32_t seen = 0;

	for (uint32_t q = 0; q < port->n_rx; q++) {
		while (pio_poll(port->rx[q], SETTLE_MS) == 1) {
			struct pio_frame f[BURST];
			uint32_t got = pio_rx(port->rx[q], f, BURST);

			for (uint32_t i = 0; i < got; i++)
				fn(arg, &f[i], q);
			pio_put(port->rx[q], f, got);
			seen += got;
		}
	}
	return seen;
}

static void ignore(void *arg, const struct pio_frame *f, unsigned queue)
{
	(void)arg;
	(void)f;
	(void)queue;
}

static void send_packet(struct pio_port *port, const struct packet *d)
{
	unsigned char buf[PACKET_MAX];
	struct pio_frame f;

	assert_int_equal(pio_get(port->tx[0], &f, 1), 1);
	f.len = packet_build(d, buf);
	memcpy(f.data, buf, f.len);
	assert_int_equal(pio_tx(port->tx[0], &f, 1), 1);
	pio_drain(port->tx[0], clock_mono_ns() + WAIT_NS);
}

struct sequence {
	const struct packet *want;
	unsigned at;
};

static void expect_packet(void *arg, const struct pio_frame *f, unsigned queue)
{
	struct sequence *s = arg;
	unsigned char buf[PACKET_MAX];
	uint32_t len = packet_build(&s->want[s->at++], buf);

	(void)queue;
	assert_int_equal(f->flags, 0);
	assert_int_equal(f->len, len);
	assert_memory_equal(f->data, buf, len);
}

/* Tags come back where they were, with their TPID, priority and drop bits. */
static void tags_restored(void **state)
{
	static const struct packet packets[] = {
		{.family = 4, .tag = {PACKET_TAG(0xe064)}, .payload = 30},
		{.family = 4, .tag = {PACKET_TAG(0x1001)}, .payload = 30},
		{.family = 6, .tag = {PACKET_SERVICE_TAG(0xb7d0)}, .payload = 30},
		{.family = 4, .tag = {PACKET_SERVICE_TAG(0x2005), PACKET_TAG(0x4006)}, .payload = 30},
		{.family = 4, .tag = {PACKET_TAG(0), PACKET_TAG(7), PACKET_TAG(8)}, .payload = 30},
		{.family = 4, .payload = 30},
		{.type = 0x88b5, .tag = {PACKET_TAG(0xffff)}, .payload = 1500},
	};
	struct sequence s = {.want = packets};
	struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &take_all);
	struct pio_port *tx = open_tx("afpacket:va", 1518, false);
	const unsigned n = sizeof(packets) / sizeof(packets[0]);

	(void)state;
	for (unsigned i = 0; i < n; i++)
		send_packet(tx, &packets[i]);
	assert_int_equal(receive(rx, expect_packet, &s), n);
	pio_close(tx);
	pio_close(rx);
}

/* Through the qdisc, since what bypasses it is shown to nobody on the sending side. */
static void own_frames_ignored(void **state)
{
	(void)state;
	for (uint32_t queues = 1; queues <= 2; queues++) {
		struct pio_port *rx = open_rx(here, "afpacket:va", queues, &take_all);
		struct pio_port *tx = open_tx("afpacket:va", TEST_LEN, true);

		send_all(tx, 0, 100, TEST_LEN);
		assert_int_equal(receive(rx, ignore, NULL), 0);
		assert_int_equal(rx_counts_of(rx).packets, 0);
		pio_close(tx);
		pio_close(rx);
	}
}

#define FLOWS      20U
#define NUMBERS    2000000U /* more than are sent while a busy machine opens a port */
#define NUMBER_AT  42U
#define AFTER_OPEN 3000U

struct spread {
	unsigned char times[NUMBERS];
	uint32_t per_queue[2];
	int queue_of_flow[FLOWS];
};

static void note_spread(void *arg, const struct pio_frame *f, unsigned queue)
{
	struct spread *s = arg;
	uint32_t k;

	memcpy(&k, f->data + NUMBER_AT, sizeof(k));
	assert_in_range(k, 0, NUMBERS - 1);
	s->times[k]++;
	s->per_queue[queue]++;
	if (s->queue_of_flow[k % FLOWS] < 0)
		s->queue_of_flow[k % FLOWS] = (int)queue;
	assert_int_equal(s->queue_of_flow[k % FLOWS], queue);
}

struct sender {
	struct pio_port *port;
	_Atomic uint32_t next;
	_Atomic uint32_t end;
};

/* Sends packets of all flows in turn, numbered. */
static void *keep_sending(void *arg)
{
	struct sender *s = arg;
	unsigned char buf[PACKET_MAX];

	for (uint32_t k = 0; k < atomic_load(&s->end); k++) {
		struct packet d = {.family = 4, .sport = (uint16_t)(1000 + k % FLOWS), .dport = 9000, .payload = 18};
		struct pio_frame f;

		if (!pio_get(s->port->tx[0], &f, 1))
			break;
		f.len = packet_build(&d, buf);
		memcpy(f.data, buf, f.len);
		memcpy(f.data + NUMBER_AT, &k, sizeof(k));
		atomic_store(&s->next, k + 1);
		if (!pio_tx(s->port->tx[0], &f, 1))
			break;
	}
	pio_drain(s->port->tx[0], clock_mono_ns() + WAIT_NS);
	return NULL;
}

/*
 * Queues are opened while traffic runs: a flow goes to one queue only, no packet is seen twice, and none that was sent
 * after the opening is missed.
 */
static void queues_share(void **state)
{
	struct sender sender = {.port = open_tx("afpacket:va", 128, false), .end = NUMBERS};
	static struct spread s;
	pthread_t thread;

	(void)state;
	memset(s.queue_of_flow, 0xff, sizeof(s.queue_of_flow));
	assert_int_equal(pthread_create(&thread, NULL, keep_sending, &sender), 0);
	while (atomic_load(&sender.next) < 100)
		sched_yield();
	struct pio_port *rx = open_rx(there, "afpacket:vb", 2, &take_all);
	uint32_t first = atomic_load(&sender.next);
	uint32_t end = first + AFTER_OPEN;

	assert_in_range(end, 0, NUMBERS);
	atomic_store(&sender.end, end);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&sender.next), end);
	assert_true(receive(rx, note_spread, &s) >= AFTER_OPEN);
	for (uint32_t k = 0; k < NUMBERS; k++)
		if (s.times[k] > 1 || (k >= first && k < end && !s.times[k]))
			fail_msg("packet %u, with %u before the opening, came %u times", k, first, s.times[k]);
	assert_true(s.per_queue[0] && s.per_queue[1]);
	pio_close(sender.port);
	pio_close(rx);
}

/* What the classic BPF cannot tell, the process sorts out and counts; what it can tell never gets here. */
static void filters(void **state)
{
	static const struct packet yes = {.family = 6, .ext = {{.type = 60}}, .dport = 9000, .payload = 20};
	static const struct packet sorted_out = {.family = 6, .ext = {{.type = 60}}, .dport = 9001, .payload = 20};
	static const struct packet never_here = {.family = 6, .dport = 9001, .payload = 20};
	struct sequence s = {.want = &yes};
	struct filter f;

	(void)state;
	filter_from(&f, "proto=udp dst-port=9000");
	struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &f);
	struct pio_port *tx = open_tx("afpacket:va", 256, false);

	send_packet(tx, &never_here);
	send_packet(tx, &sorted_out);
	send_packet(tx, &yes);
	send_packet(tx, &never_here);
	assert_int_equal(receive(rx, expect_packet, &s), 1);
	struct rx_counts c = rx_counts_of(rx);

	assert_int_equal(c.packets, 1);
	assert_int_equal(c.filtered, 1);
	assert_int_equal(c.dropped_ring, 0);
	pio_close(tx);
	pio_close(rx);
}

/* Nobody reads while a small ring runs over: every packet is either received later or counted as dropped. */
static void overrun_adds_up(void **state)
{
	const uint32_t n = 30000;
	struct pio_port *tx = open_tx("afpacket:va", TEST_LEN, false);
	struct pio_port *rx = must_open(
		there, (struct pio_conf){.name = "afpacket:vb", .rx_queues = 1, .rx_frames = 64, .filter = &take_all});

	(void)state;
	send_all(tx, 0, n, TEST_LEN);
	pio_sync(rx->rx[0]);
	uint32_t got = receive(rx, ignore, NULL);
	struct rx_counts c = rx_counts_of(rx);

	assert_int_equal(got, c.packets);
	assert_true(c.dropped_ring > 0);
	assert_int_equal(c.packets + c.dropped_ring, n);
	pio_close(tx);
	pio_close(rx);
}

/* Without free frames the packets wait in the ring. */
static void no_free_frame(void **state)
{
	struct pio_port *tx = open_tx("afpacket:va", TEST_LEN, false);
	struct pio_port *rx = must_open(
		there, (struct pio_conf){.name = "afpacket:vb", .rx_queues = 1, .rx_frames = 16, .filter = &take_all});
	struct pio_frame f[BURST];
	uint32_t seen = 0;

	(void)state;
	send_all(tx, 0, 100, TEST_LEN);
	for (uint32_t got = 0; seen < 100; seen += got) {
		assert_int_equal(pio_poll(rx->rx[0], 1000), 1);
		got = pio_rx(rx->rx[0], f, BURST);
		assert_in_range(got, 1, 16);
		if (got == 16)
			assert_int_equal(pio_rx(rx->rx[0], f + 16, BURST - 16), 0);
		for (uint32_t i = 0; i < got; i++)
			frame_check(f[i].data, f[i].len, TEST_LEN, seen + i);
		pio_put(rx->rx[0], f, got);
	}
	pio_close(tx);
	pio_close(rx);
}

/* A port may be opened on a link that is down, and a link may go down and come back: it goes on receiving. */
static void link_comes_back(void **state)
{
	(void)state;
	run(there, "ip link set vb down");
	for (uint32_t queues = 1; queues <= 2; queues++) {
		struct pio_port *rx = open_rx(there, "afpacket:vb", queues, &take_all);
		struct pio_port *tx = open_tx("afpacket:va", TEST_LEN, false);

		assert_int_equal(receive(rx, ignore, NULL), 0);
		for (uint32_t round = 0; round < 2; round++) {
			run(there, "ip link set vb up");
			await_carrier("va", true);
			send_all(tx, 0, 10, TEST_LEN);
			assert_int_equal(receive(rx, ignore, NULL), 10);
			run(there, "ip link set vb down");
			assert_int_equal(receive(rx, ignore, NULL), 0);
		}
		assert_int_equal(rx_counts_of(rx).packets, 20);
		assert_int_equal(pio_queue_error(rx->rx[0], NULL), 0);
		pio_close(tx);
		pio_close(rx);
	}
	run(there, "ip link set vb up");
	await_carrier("va", true);
}

/* Noticed by poll, and by sync for who never polls; also after the link was down before. */
static void vanished_interface(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		run(here, "ip link add vc type veth peer name vd && ip link set vc up");
		struct pio_port *port = open_rx(here, "afpacket:vc", 2, &take_all);

		if (way == 1) {
			run(here, "ip link set vc down");
			assert_int_equal(pio_poll(port->rx[1], 10), 0);
		}
		run(here, "ip link del vc");
		if (way == 2)
			pio_sync(port->rx[1]);
		else
			assert_int_equal(pio_poll(port->rx[1], 1000), -ENODEV);
		assert_int_equal(pio_queue_error(port->rx[1], &err), -ENODEV);
		assert_int_equal(err.code, EXIT_RUN);
		assert_non_null(strstr(err.object, "afpacket:vc queue 1"));
		pio_close(port);
	}
}

/* The membership that lets strangers' addresses in ends with the port. */
static void promiscuous_while_open(void **state)
{
	(void)state;
	struct pio_port *port = open_rx(there, "afpacket:vb", 2, &take_all);

	run(there, "ip -d link show vb | grep -q 'promiscuity 1 '");
	pio_close(port);
	run(there, "ip -d link show vb | grep -q 'promiscuity 0 '");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_restored),          cmocka_unit_test(own_frames_ignored),
		cmocka_unit_test(queues_share),           cmocka_unit_test(filters),
		cmocka_unit_test(overrun_adds_up),        cmocka_unit_test(no_free_frame),
		cmocka_unit_test(link_comes_back),        cmocka_unit_test(vanished_interface),
		cmocka_unit_test(promiscuous_while_open),
	};

	if (geteuid() != 0) {
		puts("skipped: packet sockets and network namespaces need root");
		return 0;
	}
	return cmocka_run_group_tests(tests, live_setup, NULL);
}
