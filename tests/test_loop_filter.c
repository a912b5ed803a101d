/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/rand.h"
#include "loops.h"

/* A receiver of UDP is told of each packet whether it is the plain kind, and of no other. */
static void plain_udp_is_told(void **state)
{
	static const struct {
		struct packet packet;
		uint32_t flags;
	} sent[] = {
		{{.family = 4, .dport = 9000, .payload = 18}, PIO_UDP4},
		{{.family = 6, .dport = 9000, .payload = 18}, 0},
		{{.family = 4, .tag = {PACKET_TAG(7)}, .dport = 9000, .payload = 18}, 0},
		{{.family = 4, .ihl = 6, .dport = 9000, .payload = 18}, 0},
		{{.family = 4, .more = true, .dport = 9000, .payload = 18}, 0},
		{{.family = 4, .dport = 9000, .payload = 1400}, PIO_UDP4},
	};
	struct filter filter = {0};
	struct pio_conf conf = {.name = "loop:", .tx_queues = 1, .rx_queues = 1, .filter = &filter};
	struct pio_frame f[sizeof(sent) / sizeof(sent[0]) + 1];
	const unsigned n = sizeof(sent) / sizeof(sent[0]);
	struct pio_port *port;

	(void)state;
	assert_int_equal(filter_add_text(&filter, "proto=udp", NULL), 0);
	assert_int_equal(filter_add_text(&filter, "dst-port=9000", NULL), 0);
	assert_int_equal(pio_open(&conf, &port, NULL), 0);
	assert_int_equal(pio_get(port->tx[0], f, n), n);
	for (unsigned i = 0; i < n; i++)
		f[i].len = packet_build(&sent[i].packet, f[i].data);
	assert_int_equal(pio_tx(port->tx[0], f, n), n);
	assert_int_equal(pio_rx(port->rx[0], f, n + 1), n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(f[i].flags, sent[i].flags);
	pio_put(port->rx[0], f, n);
	pio_close(port);
}

/* What is taken and what is passed over, in any order, more often round than the ring has slots. */
static void what_is_passed_over_is_counted(void **state)
{
	enum { RING = 64, BURST = 80 };
	struct filter filter = {0};
	struct pio_conf conf = {.name = "loop:ring=64", .tx_queues = 1, .rx_queues = 1, .filter = &filter};
	uint64_t seed = 7, passed_over = 0, taken = 0, due = 0;
	struct pio_port *port;

	(void)state;
	assert_int_equal(filter_add_text(&filter, "proto=udp", NULL), 0);
	assert_int_equal(filter_add_text(&filter, "dst-port=9000", NULL), 0);
	assert_int_equal(pio_open(&conf, &port, NULL), 0);
	for (unsigned round = 0; round < 2000; round++) {
		const unsigned n = (unsigned)(rand_next(&seed) % (RING + 1)),
			       want = 1 + (unsigned)(rand_next(&seed) % BURST);
		uint64_t on_wire = 0, likely = rand_next(&seed) % 4;
		struct pio_frame f[BURST];
		unsigned got;

		assert_int_equal(pio_get(port->tx[0], f, n), n);
		for (unsigned i = 0; i < n; i++) {
			const bool ours = rand_next(&seed) % 4 > likely;
			const struct packet d = {.family = 4, .dport = ours ? 9000 : 9001, .payload = 18};

			f[i].len = packet_build(&d, f[i].data);
			passed_over += !ours;
			on_wire += ours;
		}
		assert_int_equal(pio_tx(port->tx[0], f, n), n);
		for (; (got = pio_rx(port->rx[0], f, want)); on_wire -= got) {
			assert_true(got <= on_wire);
			for (unsigned i = 0; i < got; i++)
				due += f[i].len;
			taken += got;
			pio_put(port->rx[0], f, got);
		}
		assert_int_equal(on_wire, 0);
	}
	assert_true(taken > 1000 && passed_over > 1000);
	assert_int_equal(atomic_load(&port->rx[0]->stats.rx.packets), taken);
	assert_int_equal(atomic_load(&port->rx[0]->stats.rx.bytes), due);
	assert_int_equal(atomic_load(&port->rx[0]->stats.rx.filtered), passed_over);
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_udp_is_told),
		cmocka_unit_test(what_is_passed_over_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
