/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of condition, sent for real: what matches arrives, what nearly matches does not. */
#include "tests/filters.h"

#include "rig.h"

#include <stdio.h>

#define TAG         PACKET_TAG
#define SERVICE_TAG PACKET_SERVICE_TAG
#define PAY         .payload = 46 /* long enough that nobody pads */

struct filter_case {
	const char *filter;
	struct packet yes[4];
	struct packet no[6];
};

/* A list ends with a packet of no type. */
static const struct filter_case cases[] = {
	{"dst-mac=02:00:00:00:00:02",
	 {{.family = 4, PAY}, {.family = 6, PAY}, {.type = 0x88b5, PAY, .tag = {TAG(7)}}},
	 {{.family = 4, .dst_mac = "\2\0\0\0\0\3", PAY}, {.family = 6, .dst_mac = "\3\0\0\0\0\2", PAY}}},
	{"vlan=100",
	 {{.family = 4, .tag = {TAG(100)}, PAY},
	  {.family = 6, .tag = {TAG(0xe064)}, PAY},
	  {.family = 4, .tag = {SERVICE_TAG(100), TAG(7)}, PAY},
	  {.type = 0x88b5, .tag = {TAG(100), TAG(7), TAG(8)}, PAY}},
	 {{.family = 4, PAY},
	  {.family = 4, .tag = {TAG(101)}, PAY},
	  {.family = 6, .tag = {SERVICE_TAG(7), TAG(100)}, PAY},
	  {.family = 6, .tag = {{0x9100, 100}}, PAY}}},
	{"vlan=100 vlan=0",
	 {{.family = 4, .tag = {TAG(0x6000)}, PAY}, {.family = 4, .tag = {TAG(100)}, PAY}},
	 {{.family = 4, PAY}}},
	{"ethertype=0x0806",
	 {{.type = 0x0806, PAY},
	  {.type = 0x0806, .tag = {TAG(3)}, PAY},
	  {.type = 0x0806, .tag = {SERVICE_TAG(3), TAG(4)}, PAY}},
	 {{.type = 0x0807, PAY}, {.family = 4, PAY}, {.type = 0x0806, .tag = {TAG(3), TAG(4), TAG(5)}, PAY}}},
	{"ethertype=0x86dd", {{.family = 6, PAY}, {.family = 6, .tag = {TAG(3), TAG(4)}, PAY}}, {{.family = 4, PAY}}},
	{"ethertype=0x8100",
	 {{.family = 4, .tag = {TAG(3), TAG(4), TAG(5)}, PAY}},
	 {{.family = 4, .tag = {TAG(3), TAG(4)}, PAY}}},
	{"proto=udp",
	 {{.family = 4, PAY},
	  {.family = 6, PAY},
	  {.family = 6, .ext = {{.first = true}, {.type = 60, .units = 1}}, PAY},
	  {.family = 4, .ihl = 7, PAY}},
	 {{.family = 4, .proto = 6, PAY},
	  {.family = 6, .proto = 6, PAY},
	  {.type = 0x88b5, PAY},
	  {.family = 6, .ext = {{.type = 50}}, PAY}}},
	{"proto=icmp proto=icmp6",
	 {{.family = 4, .proto = 1, PAY}, {.family = 6, .proto = 58, .icmp_type = 128, PAY}},
	 {{.family = 4, PAY}, {.family = 6, PAY}}},
	{"src=10.1.0.0/16",
	 {{.family = 4, .src = "10.1.255.255", PAY}, {.family = 4, .src = "10.1.0.0", .tag = {TAG(2), TAG(3)}, PAY}},
	 {{.family = 4, .src = "10.2.0.0", PAY},
	  {.family = 4, .src = "10.0.255.255", .dst = "10.1.0.1", PAY},
	  {.family = 6, .src = "a01::1", PAY}}},
	{"dst=10.0.0.7",
	 {{.family = 4, .dst = "10.0.0.7", .proto = 6, PAY}, {.family = 4, .dst = "10.0.0.7", .ihl = 15, PAY}},
	 {{.family = 4, .dst = "10.0.0.6", PAY}, {.family = 4, .src = "10.0.0.7", PAY}, {.type = 0x88b5, PAY}}},
	{"src=fd00::/61 src=10.0.0.1",
	 {{.family = 6, .src = "fd00:0:0:7::9", PAY}, {.family = 4, PAY}},
	 {{.family = 6, .src = "fd00:0:0:8::9", PAY}, {.family = 4, .src = "10.0.0.2", PAY}}},
	{"dst=fd00::2",
	 {{.family = 6, PAY}, {.family = 6, .tag = {TAG(0x3001)}, PAY}},
	 {{.family = 6, .dst = "fd00::3", PAY},
	  {.family = 6, .dst = "fd00:8000::2", PAY},
	  {.family = 6, .src = "fd00::2", .dst = "fd00::1", PAY}}},
	{"proto=udp dst-port=9000",
	 {{.family = 4, .dport = 9000, PAY},
	  {.family = 6, .dport = 9000, PAY},
	  {.family = 4, .dport = 9000, .ihl = 6, .tag = {TAG(1), TAG(2)}, PAY},
	  {.family = 6, .dport = 9000, .ext = {{.type = 44}}, PAY}},
	 {{.family = 4, .dport = 9001, .sport = 9000, PAY},
	  {.family = 6, .dport = 8999, PAY},
	  {.family = 4, .dport = 9000, .proto = 6, PAY},
	  {.family = 4, .dport = 9000, .frag = 1, PAY},
	  {.family = 6, .dport = 9000, .ext = {{.type = 44, .frag = 2}}, PAY},
	  {.family = 4, .dport = 9000, .tag = {TAG(1), TAG(2), TAG(3)}, PAY}}},
	{"proto=tcp src-port=100-200",
	 {{.family = 4, .proto = 6, .sport = 100, PAY},
	  {.family = 6, .proto = 6, .sport = 200, PAY},
	  {.family = 4, .proto = 6, .sport = 150, .more = true, PAY}},
	 {{.family = 4, .proto = 6, .sport = 99, .dport = 150, PAY},
	  {.family = 6, .proto = 6, .sport = 201, PAY},
	  {.family = 4, .sport = 150, PAY}}},
	{"proto=sctp dst-port=7 dst-port=9",
	 {{.family = 4, .proto = 132, .dport = 7, PAY}, {.family = 6, .proto = 132, .dport = 9, PAY}},
	 {{.family = 4, .proto = 132, .dport = 8, PAY}, {.family = 4, .dport = 7, PAY}}},
	{"vlan=5 proto=udp src=10.0.0.0/24 dst=10.0.0.2 src-port=1 dst-port=2 dst-mac=02:00:00:00:00:02 "
	 "ethertype=0x0800",
	 {{.family = 4, .tag = {TAG(5)}, .sport = 1, .dport = 2, PAY}},
	 {{.family = 4, .tag = {TAG(6)}, .sport = 1, .dport = 2, PAY},
	  {.family = 4, .tag = {TAG(5)}, .sport = 2, .dport = 2, PAY},
	  {.family = 4, .tag = {TAG(5)}, .sport = 1, .dport = 1, PAY},
	  {.family = 4, .tag = {TAG(5)}, .sport = 1, .dport = 2, .src = "10.0.1.1", PAY},
	  {.family = 4, .tag = {TAG(5)}, .sport = 1, .dport = 2, .dst_mac = "\2\0\0\0\0\6", PAY},
	  {.family = 4, .sport = 1, .dport = 2, PAY}}},
};

/* What PIO_UDP4 promises. */
static bool is_plain_udp(const unsigned char *packet, uint32_t len)
{
	return len >= 14 + 28 && memcmp(packet + 12, "\x08\x00\x45", 3) == 0 && !(packet[20] & 0x3f) && !packet[21] &&
	       packet[23] == 17;
}

static void send_case(struct pio_queue *tx, const struct packet *d, unsigned char *packet, uint32_t *len)
{
	*len = packet_build(d, packet);
	rig_send_packet(tx, packet, *len);
}

/* First what must not come, then what must: the order of the wire makes the first arrival the first match. */
static void check_case(const struct filter *f, const char *text, const struct packet *yes, unsigned n_yes,
		       const struct packet *no, unsigned n_no)
{
	unsigned char packet[PACKET_MAX];
	struct rig_wire w;
	struct pio_frame got;
	uint32_t len;

	rig_open(&w, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .filter = f});
	for (unsigned i = 0; i < n_no && (no[i].family || no[i].type); i++)
		send_case(w.tx->tx[0], &no[i], packet, &len);
	for (unsigned i = 0; i < n_yes && (yes[i].family || yes[i].type); i++) {
		send_case(w.tx->tx[0], &yes[i], packet, &len);
		got = rig_receive_one(w.rx->rx[0]);
		if (got.len != len || memcmp(got.data, packet, len) != 0)
			fail_msg("%s: %s", text,
				 filter_matches(f, got.data, got.len) ? "a match did not arrive"
								      : "what does not match arrived");
		if (got.flags & PIO_UDP4 && !is_plain_udp(packet, len))
			fail_msg("%s: told to be plain UDP", text);
		pio_put(w.rx->rx[0], &got, 1);
	}
	assert_int_equal(pio_rx(w.rx->rx[0], &got, 1), 0);
	rig_close(&w);
}

static void conditions_mean_the_same_on_the_wire(void **state)
{
	(void)state;
	rig_needs_receiver();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter f;

		filter_from(&f, cases[i].filter);
		check_case(&f, cases[i].filter, cases[i].yes, 4, cases[i].no, 6);
	}
}

static void management_stays_with_the_host(void **state)
{
	static const struct packet taken[] = {
		{.family = 4, .dst = "192.0.2.7", .dport = 9000, PAY},
		{.family = 4, .proto = 6, .dst = "192.0.2.8", .dport = 22, PAY},
		{.family = 6, .proto = 58, .icmp_type = 128, PAY},
		{.family = 4, .dst = "192.0.2.7", .dport = 53, PAY},
	};
	static const struct packet kept[] = {
		{.type = 0x0806, PAY},
		{.family = 6, .proto = 58, .icmp_type = 135, PAY},
		{.family = 4, .proto = 6, .dst = "192.0.2.7", .dport = 22, PAY},
		{.family = 6, .proto = 6, .src = "fd00::7", .sport = 22, .tag = {TAG(3)}, PAY},
		{.family = 4, .dst = "192.0.2.7", .sport = 53, PAY},
		{.family = 4, .proto = 6, .dst = "192.0.2.7", .sport = 53, PAY},
	};
	struct filter f = {.keep_management = true, .n_locals = 2};

	(void)state;
	rig_needs_receiver();
	assert_int_equal(ip_parse("192.0.2.7", &f.locals[0]) | ip_parse("fd00::7", &f.locals[1]), 0);
	check_case(&f, "keep_management", taken, 4, kept, 6);
}

/* A packet that is cut in its headers, which only a raw sender can make. */
static void the_broken_is_not_matched(void **state)
{
	static const struct packet whole = {.family = 4, .dport = 9000, .payload = 46};
	unsigned char packet[PACKET_MAX];
	struct filter f;
	struct rig_wire w;
	struct pio_frame got;
	uint32_t len;

	(void)state;
	rig_needs_receiver();
	filter_from(&f, "proto=udp dst-port=9000");
	rig_open(&w, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1, .filter = &f});
	len = packet_build(&whole, packet);
	packet[14] = 0x55; /* version */
	rig_send_packet(w.tx->tx[0], packet, len);
	packet[14] = 0x44; /* header length */
	rig_send_packet(w.tx->tx[0], packet, len);
	packet[14] = 0x4f; /* options up to the end, the ports beyond it */
	rig_send_packet(w.tx->tx[0], packet, 14 + 60);
	send_case(w.tx->tx[0], &whole, packet, &len);
	got = rig_receive_one(w.rx->rx[0]);
	assert_int_equal(got.len, len);
	assert_memory_equal(got.data, packet, len);
	/* AF_XDP's program tells which packets it takes, not what they are. */
	if (strcmp(w.rx->backend->name, "afxdp") != 0)
		assert_true(got.flags & PIO_UDP4);
	pio_put(w.rx->rx[0], &got, 1);
	rig_close(&w);
}

int conform_filters(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_mean_the_same_on_the_wire),
		cmocka_unit_test(management_stays_with_the_host),
		cmocka_unit_test(the_broken_is_not_matched),
	};

	return RIG_RUN("filters", tests);
}
