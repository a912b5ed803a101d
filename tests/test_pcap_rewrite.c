/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a capture rewritten: addresses and tags are as asked, and every checksum is what a sum from nothing gives.
 */
#include "gen/pcap_rewrite.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 256

static char why[128];

/* RFC 1071 as it reads: 16-bit words in network order, an odd byte is a word's upper half. */
static uint32_t sum(const unsigned char *p, unsigned n, uint32_t s)
{
	for (unsigned i = 0; i < n; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

static void put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

/* What the sum over pseudo-header and packet is; 0xffff when its checksum is right. */
static uint32_t l4_sum(const unsigned char *ip, const unsigned char *l4, unsigned len, uint8_t protocol)
{
	bool v6 = ip[0] >> 4 == 6;
	uint32_t s = v6 ? sum(ip + 8, 32, 0) : sum(ip + 12, 8, 0);

	return sum(l4, len, s + protocol + len);
}

struct frame {
	unsigned char b[ROOM];
	uint32_t len;
	unsigned ip, l4, check; /* offsets */
	uint8_t protocol;
};

/* extension: bytes of a destination options header of IPv6, or IPv4 options. */
static struct frame make(bool v6, unsigned tags, uint8_t protocol, unsigned extension, unsigned payload)
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1};
	struct frame f = {.protocol = protocol};
	unsigned l4_len = (protocol == 6 ? 20 : 8) + payload;
	unsigned at = 12;
	unsigned char *ip;

	memcpy(f.b, macs, 12);
	for (unsigned i = 0; i < tags; i++, at += 4) {
		put16(f.b + at, i || tags == 1 ? 0x8100 : 0x88a8);
		put16(f.b + at + 2, 0x6000 | (100 + i));
	}
	put16(f.b + at, v6 ? 0x86dd : 0x0800);
	f.ip = at + 2;
	ip = f.b + f.ip;
	f.l4 = f.ip + (v6 ? 40 : 20) + extension;
	if (v6) {
		ip[0] = 0x60;
		put16(ip + 4, l4_len + extension);
		ip[6] = extension ? 60 : protocol;
		ip[7] = 64;
		memcpy(ip + 8, "\xfd\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1", 16);
		memcpy(ip + 24, "\xfd\0\0\2\0\0\0\0\0\0\0\0\0\0\0\2", 16);
		if (extension) {
			ip[40] = protocol;
			ip[41] = (unsigned char)(extension / 8 - 1);
			ip[42] = 1;
			ip[43] = (unsigned char)(extension - 4);
		}
	} else {
		ip[0] = (unsigned char)(0x45 + extension / 4);
		put16(ip + 2, 20 + extension + l4_len);
		ip[8] = 64;
		ip[9] = protocol;
		memcpy(ip + 12, "\x0a\1\2\3\x0a\4\5\6", 8);
		memset(ip + 20, 1, extension);
		put16(ip + 10, 0xffff - sum(ip, 20 + extension, 0));
	}
	for (unsigned i = 0; i < l4_len; i++)
		f.b[f.l4 + i] = (unsigned char)(i * 11 + 3);
	f.check = f.l4 + (protocol == 6 ? 16 : protocol == 17 ? 6 : 2);
	put16(f.b + f.check, 0);
	put16(f.b + f.check, 0xffff - l4_sum(ip, f.b + f.l4, l4_len, protocol));
	f.len = f.l4 + l4_len;
	return f;
}

static void assert_right(const struct frame *f)
{
	const unsigned char *ip = f->b + f->ip;

	if (ip[0] >> 4 == 4)
		assert_int_equal(sum(ip, (ip[0] & 0xfU) * 4, 0), 0xffff);
	assert_int_equal(l4_sum(ip, f->b + f->l4, f->len - f->l4, f->protocol), 0xffff);
}

static struct pcap_rewrite ips(const char *text)
{
	struct pcap_rewrite w = {0};

	assert_int_equal(pcap_rewrite_ip(&w, text, why, sizeof(why)), 0);
	return w;
}

static void addresses_and_their_checksums(void **state)
{
	static const uint8_t protocols[] = {6, 17, 58};
	const struct pcap_rewrite w =
		ips("10.1.0.0/16=192.168.0.0/16,10.4.5.6=1.2.3.4,fd00:1::/32=2001:db8::/32,fd00:2::2=2001::99");

	(void)state;
	for (unsigned i = 0; i < 3 * 3 * 4 * 2; i++) {
		bool v6 = i & 1;
		uint8_t protocol = protocols[i / 2 % 3];
		struct frame f = make(v6, i / 6 % 3, protocol, i / 18 % 2 ? 8 : 0, 20 + i / 36 % 2);

		if (!v6 && protocol == 58)
			continue;
		assert_right(&f);
		assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_IP);
		if (v6)
			assert_memory_equal(f.b + f.ip + 8,
					    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
					    "\x20\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x99",
					    32);
		else
			assert_memory_equal(f.b + f.ip + 12, "\xc0\xa8\2\3\1\2\3\4", 8);
		assert_right(&f);
	}
}

/* A prefix that ends within a byte keeps the bits behind it. */
static void odd_prefixes(void **state)
{
	const struct pcap_rewrite w = ips("10.0.0.0/12=172.16.0.0/12,10.0.0.0/8=11.0.0.0/8");
	struct frame f = make(false, 0, 17, 0, 10);

	(void)state;
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_IP);
	assert_memory_equal(f.b + f.ip + 12, "\xac\x11\2\3\xac\x14\5\6", 8);
	assert_right(&f);
}

static void udp_without_a_checksum_keeps_none(void **state)
{
	const struct pcap_rewrite w = ips("10.1.2.3=10.9.9.9");
	struct frame f = make(false, 0, 17, 0, 10);

	(void)state;
	put16(f.b + f.check, 0);
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_IP);
	assert_memory_equal(f.b + f.check, "\0\0", 2);
}

/* A checksum that comes out 0 is sent as 0xffff: of all values of one address byte pair, one must. */
static void udp_zero_is_sent_as_ffff(void **state)
{
	unsigned met = 0;

	(void)state;
	for (unsigned v = 0; v < 65536; v++) {
		struct pcap_rewrite w = {.n_ips = 1};
		struct frame f = make(false, 0, 17, 0, 10);

		prefix_parse("10.1.2.3", &w.ips[0].from);
		prefix_parse("10.1.0.0", &w.ips[0].to);
		put16(w.ips[0].to.ip.b + 2, v);
		pcap_rewrite_frame(&w, f.b, f.len, &f.len);
		assert_false(f.b[f.check] == 0 && f.b[f.check + 1] == 0);
		met += f.b[f.check] == 0xff && f.b[f.check + 1] == 0xff;
		assert_right(&f);
	}
	assert_int_equal(met, 1);
}

/* A wrong checksum is a finding of the capture: it stays as wrong as it was. */
static void wrong_stays_wrong(void **state)
{
	const struct pcap_rewrite w = ips("10.1.2.3=10.9.9.9");
	struct frame f = make(false, 0, 6, 0, 10);
	uint32_t before;

	(void)state;
	f.b[f.check] ^= 0x12;
	before = l4_sum(f.b + f.ip, f.b + f.l4, f.len - f.l4, 6);
	pcap_rewrite_frame(&w, f.b, f.len, &f.len);
	assert_int_equal(l4_sum(f.b + f.ip, f.b + f.l4, f.len - f.l4, 6), before);
}

/* The first fragment has the checksum of the whole, which the new addresses change; the later ones have none. */
static void fragments(void **state)
{
	const struct pcap_rewrite w = ips("10.1.2.3=10.9.9.9,fd00:1::1=fd00:9::9");

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool v6 = i & 1, later = i & 2;
		struct frame f = make(v6, 0, 17, v6 ? 8 : 0, 40);
		unsigned char *ip = f.b + f.ip;
		unsigned char old[ROOM];

		if (v6) {
			ip[6] = 44;
			put16(ip + 42, later ? 8 << 3 | 1 : 1);
		} else {
			put16(ip + 6, later ? 0x2008 : 0x2000);
			put16(ip + 10, 0);
			put16(ip + 10, 0xffff - sum(ip, 20, 0));
		}
		memcpy(old, f.b, ROOM);
		assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_IP);
		if (later)
			assert_memory_equal(f.b + f.l4, old + f.l4, f.len - f.l4);
		else
			assert_right(&f);
	}
}

/* What was not captured is not touched, however short the frame is. */
static void every_length(void **state)
{
	struct pcap_rewrite w = ips("10.1.2.3=10.9.9.9,fd00:1::1=fd00:9::9,10.4.5.6=10.8.8.8");

	(void)state;
	assert_int_equal(pcap_rewrite_vlan(&w, "none=7,100=none", why, sizeof(why)), 0);
	for (unsigned i = 0; i < 8; i++) {
		struct frame whole = make(i & 1, i / 4, i & 2 ? 6 : 17, i & 2 ? 8 : 0, 8);

		for (uint32_t n = 14; n <= whole.len; n++) {
			unsigned char *exact = malloc(n + PCAP_REWRITE_GROWTH);
			uint32_t len = n;

			assert_non_null(exact);
			memcpy(exact, whole.b, n);
			pcap_rewrite_frame(&w, exact, n, &len);
			assert_true(len <= n + PCAP_REWRITE_GROWTH);
			free(exact);
		}
	}
}

static void macs(void **state)
{
	struct frame f = make(false, 0, 17, 0, 10);
	struct pcap_rewrite w = {0};

	(void)state;
	assert_int_equal(pcap_rewrite_mac(&w, "02:00:00:00:00:01=02:00:00:00:00:77", why, sizeof(why)), 0);
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_MAC);
	assert_memory_equal(f.b, "\2\0\0\0\0\x09\2\0\0\0\0\x77", 12);
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), 0);
	assert_int_equal(pcap_rewrite_mac(&w, "dst=02:00:00:00:00:05", why, sizeof(why)), 0);
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), PCAP_REWROTE_MAC);
	assert_memory_equal(f.b, "\2\0\0\0\0\x05\2\0\0\0\0\x77", 12);
}

static void vlan(const char *text, unsigned tags, const char *behind_macs, size_t n, unsigned did)
{
	struct frame f = make(false, tags, 17, 0, 10);
	struct frame was = f;
	struct pcap_rewrite w = {0};

	assert_int_equal(pcap_rewrite_vlan(&w, text, why, sizeof(why)), 0);
	assert_int_equal(pcap_rewrite_frame(&w, f.b, f.len, &f.len), did);
	assert_memory_equal(f.b, was.b, 12);
	assert_memory_equal(f.b + 12, behind_macs, n);
	/* Everything behind the tags is as it was. */
	assert_int_equal(f.len, 12 + n + (was.len - was.ip));
	assert_memory_equal(f.b + 12 + n, was.b + was.ip, was.len - was.ip);
}

static void vlans(void **state)
{
	(void)state;
	vlan("7", 0, "\x81\0\0\7\x08\0", 6, PCAP_REWROTE_VLAN);
	vlan("7", 1, "\x81\0\x60\7\x08\0", 6, PCAP_REWROTE_VLAN);
	vlan("100", 1, "\x81\0\x60\x64\x08\0", 6, 0);
	vlan("7", 2, "\x88\xa8\x60\7\x81\0\x60\x65\x08\0", 10, PCAP_REWROTE_VLAN);
	vlan("none", 2, "\x81\0\x60\x65\x08\0", 6, PCAP_REWROTE_VLAN);
	vlan("none", 0, "\x08\0", 2, 0);
	vlan("100=200,none=5", 1, "\x81\0\x60\xc8\x08\0", 6, PCAP_REWROTE_VLAN);
	vlan("100=200,none=5", 0, "\x81\0\0\5\x08\0", 6, PCAP_REWROTE_VLAN);
	vlan("101=200", 1, "\x81\0\x60\x64\x08\0", 6, 0);
}

typedef int parse_fn(struct pcap_rewrite *w, const char *text, char *why, unsigned size);

static void texts_that_cannot_be(void **state)
{
	static const struct {
		parse_fn *fn;
		const char *text;
	} bad[] = {
		{pcap_rewrite_mac, "02:00:00:00:00:01"},
		{pcap_rewrite_mac, "src="},
		{pcap_rewrite_mac, "src=1,"},
		{pcap_rewrite_mac, "up=02:00:00:00:00:01"},
		{pcap_rewrite_mac, ","},
		{pcap_rewrite_ip, "10.0.0.0/8"},
		{pcap_rewrite_ip, "10.0.0.0/8=fd00::/8"},
		{pcap_rewrite_ip, "10.0.0.0/8=11.0.0.0/9"},
		{pcap_rewrite_ip, "10.0.0.1=11.0.0.1,"},
		{pcap_rewrite_ip, "=1.1.1.1"},
		{pcap_rewrite_vlan, "4095"},
		{pcap_rewrite_vlan, "1,2"},
		{pcap_rewrite_vlan, "-1"},
		{pcap_rewrite_vlan, "1=2,3"},
		{pcap_rewrite_vlan, "1=none=2"},
		{pcap_rewrite_vlan, "x"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pcap_rewrite w = {0};

		why[0] = '\0';
		assert_int_equal(bad[i].fn(&w, bad[i].text, why, sizeof(why)), -EINVAL);
		assert_string_not_equal(why, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_and_their_checksums),
		cmocka_unit_test(odd_prefixes),
		cmocka_unit_test(udp_without_a_checksum_keeps_none),
		cmocka_unit_test(udp_zero_is_sent_as_ffff),
		cmocka_unit_test(wrong_stays_wrong),
		cmocka_unit_test(fragments),
		cmocka_unit_test(every_length),
		cmocka_unit_test(macs),
		cmocka_unit_test(vlans),
		cmocka_unit_test(texts_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
