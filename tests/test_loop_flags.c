/* SPDX-License-Identifier: Apache-2.0 */
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(plain_udp_is_told)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
