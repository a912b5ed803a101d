/* SPDX-License-Identifier: Apache-2.0 */
/* What is sent back is the packet with its two sides exchanged; what may not go back is left as it was. */
#include "rx/reflect.h"

#include "packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* packets.h sends from 02:00:00:00:00:01 to 02:00:00:00:00:02. */
static const struct mac own = {{2, 0, 0, 0, 0, 2}};
static const struct mac sender = {{2, 0, 0, 0, 0, 1}};
static const char to_sender[6] = {2, 0, 0, 0, 0, 1};
static unsigned char frame[PACKET_MAX], expected[PACKET_MAX];

/* The checksum by RFC 1071 in the plainest way. */
static unsigned plain_sum(unsigned long sum, const unsigned char *p, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		sum += i % 2 ? p[i] : p[i] * 256U;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (unsigned)sum;
}

/* Where the IP header of a packet is that packet_build() made. */
static unsigned char *ip_of(const struct packet *p, unsigned char *data)
{
	unsigned tags = 0;

	while (tags < 4 && p->tag[tags].tpid)
		tags++;
	return data + 14 + 4 * tags;
}

static void set_hops(const struct packet *p, unsigned char *data, unsigned hops)
{
	unsigned char *ip = ip_of(p, data);
	unsigned len = (ip[0] & 15U) * 4U;

	if (p->family == 6)
		ip[7] = (unsigned char)hops;
	if (p->family != 4)
		return;
	ip[8] = (unsigned char)hops;
	packet_put16(ip + 10, 0);
	packet_put16(ip + 10, plain_sum(0, ip, len) ^ 0xffff);
}

/* The same packet as the other side would have sent it, one hop later. */
static void goes_back(struct packet p, bool ports)
{
	const char *src = p.src ? p.src : p.family == 6 ? "fd00::1" : "10.0.0.1";
	const char *dst = p.dst ? p.dst : p.family == 6 ? "fd00::2" : "10.0.0.2";
	uint32_t len = packet_build(&p, frame);
	struct packet back = p;

	set_hops(&p, frame, 64);
	back.dst_mac = to_sender;
	back.src = p.family ? dst : NULL;
	back.dst = p.family ? src : NULL;
	if (ports) {
		back.sport = p.dport;
		back.dport = p.sport;
	}
	assert_int_equal(packet_build(&back, expected), len);
	set_hops(&back, expected, 63);
	memcpy(expected + 6, own.b, 6);
	assert_int_equal(reflect_turn(frame, len, &own), REFLECT_reflected);
	assert_memory_equal(frame, expected, len);
	/* Twice there and back is where it came from, two hops later. */
	assert_int_equal(reflect_turn(frame, len, &sender), REFLECT_reflected);
	packet_build(&p, expected);
	set_hops(&p, expected, 62);
	assert_memory_equal(frame, expected, len);
}

static void every_kind(void **state)
{
	(void)state;
	for (unsigned family = 4; family <= 6; family += 2) {
		struct packet p = {.family = (uint8_t)family, .sport = 1024, .dport = 9000, .payload = 30};

		goes_back(p, true);
		p.tag[0] = (struct packet_tag)PACKET_TAG(0xe064);
		goes_back(p, true);
		p.tag[0] = (struct packet_tag)PACKET_SERVICE_TAG(7);
		p.tag[1] = (struct packet_tag)PACKET_TAG(100);
		goes_back(p, true);
		p.proto = 6;
		goes_back(p, true);
		p.proto = family == 4 ? 1 : 58;
		goes_back(p, false);
		p.proto = 132; /* SCTP: its checksum knows the order of the ports */
		goes_back(p, false);
	}
	goes_back((struct packet){.type = 0x88b5, .payload = 46}, false);
}

static void fragments(void **state)
{
	(void)state;
	goes_back((struct packet){.family = 4, .more = true, .sport = 1, .dport = 2, .payload = 8}, true);
	/* Later ones have no ports: what stands there is payload. */
	goes_back((struct packet){.family = 4, .frag = 100, .sport = 1, .dport = 2, .payload = 8}, false);
	goes_back((struct packet){.family = 6, .ext = {{.type = 44, .frag = 9}}, .sport = 1, .dport = 2}, false);
	goes_back((struct packet){.family = 6, .ext = {{.type = 60, .units = 1}}, .sport = 1, .dport = 2}, true);
	goes_back((struct packet){.family = 4, .ihl = 8, .sport = 1, .dport = 2}, true);
}

static void stays(struct packet p, enum reflect_fate fate)
{
	uint32_t len = packet_build(&p, frame);

	memcpy(expected, frame, len);
	assert_int_equal(reflect_turn(frame, len, &own), fate);
	assert_memory_equal(frame, expected, len);
}

static void what_may_not_go_back(void **state)
{
	static const char *const groups[] = {"\xff\xff\xff\xff\xff\xff", "\x01\x00\x5e\x00\x00\x01",
					     "\x33\x33\0\0\0\1"};
	static const char *const nobody[] = {"0.0.0.0",   "0.1.2.3",   "127.0.0.1",
					     "224.0.0.1", "239.1.1.1", "255.255.255.255"};
	static const char *const nobody6[] = {"::", "::1", "ff02::1"};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		stays((struct packet){.family = 4, .dst_mac = groups[i]}, REFLECT_group);
	stays((struct packet){.family = 4, .dst_mac = "\2\0\0\0\0\3"}, REFLECT_others);
	for (unsigned i = 0; i < 6; i++)
		stays((struct packet){.family = 4, .src = nobody[i]}, REFLECT_source);
	for (unsigned i = 0; i < 3; i++)
		stays((struct packet){.family = 6, .src = nobody6[i]}, REFLECT_source);
	stays((struct packet){.family = 4, .dst = "224.0.0.251"}, REFLECT_group);
	stays((struct packet){.family = 4, .dst = "255.255.255.255"}, REFLECT_group);
	stays((struct packet){.family = 6, .dst = "ff02::fb"}, REFLECT_group);
	stays((struct packet){.family = 4, .src = "10.0.0.2"}, REFLECT_own);
	stays((struct packet){.family = 6, .src = "fd00::2"}, REFLECT_own);
	stays((struct packet){.type = 0x0806, .payload = 46}, REFLECT_arp);
	stays((struct packet){.type = 0x0800, .payload = 46}, REFLECT_broken);
	stays((struct packet){.type = 0x86dd, .payload = 46}, REFLECT_broken);
}

static void broken_sources(void **state)
{
	struct packet p = {.family = 4, .payload = 30};
	uint32_t len = packet_build(&p, frame);

	(void)state;
	memcpy(frame + 6, own.b, 6);
	assert_int_equal(reflect_turn(frame, len, &own), REFLECT_own);
	memset(frame + 6, 0, 6);
	assert_int_equal(reflect_turn(frame, len, &own), REFLECT_source);
	frame[6] = 1;
	assert_int_equal(reflect_turn(frame, len, &own), REFLECT_source);
}

/* At every length: no byte beyond is looked at (asan), and what is cut in its IP header stays. */
static void cut_anywhere(void **state)
{
	struct packet p = {.family = 4, .sport = 1, .dport = 2, .payload = 4, .tag = {PACKET_TAG(5)}};
	uint32_t len = packet_build(&p, expected);

	(void)state;
	for (uint32_t n = 0; n <= len; n++) {
		unsigned char *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, expected, n);
		assert_int_equal(reflect_turn(cut, n, &own), n < 18 + 20 ? REFLECT_broken : REFLECT_reflected);
		free(cut);
	}
}

/* Over pseudo header and segment: 0xffff when it is right. */
static unsigned verify(const unsigned char *addresses, unsigned n, unsigned proto, const unsigned char *l4,
		       unsigned len)
{
	return plain_sum(plain_sum(proto + len, addresses, n), l4, len);
}

/* Two reflectors face each other: of 64 hops 63 are made, and then the packet is left as it is. */
static void a_packet_between_two_reflectors_ends(void **state)
{
	(void)state;
	for (unsigned family = 4; family <= 6; family += 2)
		for (unsigned hops = 0; hops <= 255; hops += hops < 3 ? 1 : 63) {
			struct packet p = {
				.family = (uint8_t)family, .sport = 9000, .dport = 9000, .tag = {PACKET_TAG(3)}};
			uint32_t len = packet_build(&p, frame);
			unsigned turns = 0;

			set_hops(&p, frame, hops);
			while (turns < 300 && reflect_turn(frame, len, turns % 2 ? &sender : &own) == REFLECT_reflected)
				turns++;
			assert_int_equal(turns, hops ? hops - 1 : 0);
			memcpy(expected, frame, len);
			assert_int_equal(reflect_turn(frame, len, turns % 2 ? &sender : &own), REFLECT_expired);
			assert_memory_equal(frame, expected, len);
			assert_int_equal(ip_of(&p, frame)[family == 4 ? 8 : 7], hops ? 1 : 0);
		}
}

/* Whatever else is in the header: with every carry, and of every TTL. A wrong checksum is not made right. */
static void the_header_checksum_follows_the_hops(void **state)
{
	const struct packet p = {.family = 4, .sport = 1, .dport = 2};

	(void)state;
	for (unsigned id = 0; id <= 0xffff; id++) {
		uint32_t len = packet_build(&p, frame);

		packet_put16(frame + 14 + 4, id);
		set_hops(&p, frame, 2 + id % 254);
		assert_int_equal(reflect_turn(frame, len, &own), REFLECT_reflected);
		assert_int_equal(plain_sum(0, frame + 14, 20), 0xffff);
		assert_int_equal(frame[14 + 8], 1 + id % 254);
	}
	for (unsigned wrong = 1; wrong < 0xffff; wrong += 77) {
		uint32_t len = packet_build(&p, frame);
		unsigned was;

		set_hops(&p, frame, 64);
		packet_put16(frame + 14 + 10, (frame[14 + 10] * 256U + frame[14 + 11] + wrong) & 0xffff);
		was = plain_sum(0, frame + 14, 20);
		assert_int_equal(reflect_turn(frame, len, &own), REFLECT_reflected);
		assert_int_equal(plain_sum(0, frame + 14, 20), was);
	}
}

static void unfinished_checksums(void **state)
{
	(void)state;
	for (unsigned payload = 0; payload < 700; payload += 23)
		for (unsigned i = 0; i < 4; i++) {
			struct packet p = {.family = i & 1 ? 6 : 4,
					   .proto = i & 2 ? 6 : 17,
					   .sport = 7,
					   .dport = 9000,
					   .payload = payload};
			uint32_t len = packet_build(&p, frame);
			unsigned l3 = 14, head = i & 1 ? 40 : 20, size = i & 1 ? 16 : 4;
			unsigned at = i & 1 ? 8 : 12;

			for (unsigned k = 0; k < payload; k++)
				frame[len - 1 - k] = (unsigned char)(k * 77 + 3);
			memcpy(frame + len, "padding", 7);
			reflect_finish_csum(frame, len + 7);
			assert_int_equal(verify(frame + l3 + at, 2 * size, p.proto, frame + l3 + head, len - l3 - head),
					 0xffff);
			assert_memory_equal(frame + len, "padding", 7);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(fragments),
		cmocka_unit_test(what_may_not_go_back),
		cmocka_unit_test(broken_sources),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(unfinished_checksums),
		cmocka_unit_test(a_packet_between_two_reflectors_ends),
		cmocka_unit_test(the_header_checksum_follows_the_hops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
