/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers written down byte by byte from the RFCs; checksums verified in the plainest way. */
#include "rx/respond.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US              2, 0, 0, 0, 0, 2
#define THEM            2, 0, 0, 0, 0, 1
#define V6(last)        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (last)
#define SOLICITED(last) 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, (last)

static struct respond_set set;
static unsigned char frame[2048];

static int make(void **state)
{
	(void)state;
	set = (struct respond_set){.own = {{US}}, .n = 3};
	ip_parse("10.0.0.50", &set.ip[0]);
	ip_parse("fd00::50", &set.ip[1]);
	ip_parse("10.0.0.51", &set.ip[2]);
	return 0;
}

static unsigned long add(unsigned long sum, const unsigned char *p, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		sum += i % 2 ? p[i] : p[i] * 256U;
	return sum;
}

static unsigned fold(unsigned long sum)
{
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (unsigned)sum;
}

/* Writes an ICMP checksum; at: where the message is, len: its length; v6: behind a header without extensions. */
static void put_sum(unsigned char *data, unsigned at, unsigned len, bool v6)
{
	unsigned long sum = v6 ? add(58 + len, data + at - 32, 32) : 0;
	unsigned c;

	data[at + 2] = data[at + 3] = 0;
	c = ~fold(add(sum, data + at, len)) & 0xffff;
	data[at + 2] = (unsigned char)(c >> 8);
	data[at + 3] = (unsigned char)c;
}

/* The answer to a request, or none. A wrong answer shows both. */
static void expect(const unsigned char *request, uint32_t len, const unsigned char *answer, uint32_t answer_len,
		   enum respond_kind kind)
{
	enum respond_kind got = RESPOND_COUNT;
	uint32_t n;

	memset(frame, 0xee, sizeof(frame));
	memcpy(frame, request, len);
	n = respond_answer(&set, frame, len, &got);
	assert_int_equal(n, answer_len);
	if (answer) {
		assert_int_equal(got, kind);
		assert_memory_equal(frame, answer, answer_len);
	} else {
		assert_memory_equal(frame, request, len);
	}
	for (uint32_t i = (n > len ? n : len); i < sizeof(frame); i++)
		assert_int_equal(frame[i], 0xee);
}

#define expect_none(request, len) expect(request, len, NULL, 0, RESPOND_COUNT)

/* Writes an IPv4 header's checksum. */
static void put_ip_sum(unsigned char *data)
{
	unsigned c;

	data[24] = data[25] = 0;
	c = ~fold(add(0, data + 14, 20)) & 0xffff;
	data[24] = (unsigned char)(c >> 8);
	data[25] = (unsigned char)c;
}

static const unsigned char arp_request[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, THEM, 8, 6, 0, 1, 8, 0,  6, 4, 0,
					    1,    THEM, 10,   0,    0,    1,    0,    0, 0, 0, 0, 0, 10, 0, 0, 50};
static const unsigned char arp_answer[] = {THEM, US, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, US, 10, 0, 0, 50, THEM, 10, 0, 0, 1};

static void arp(void **state)
{
	unsigned char r[64], a[64];

	(void)state;
	expect(arp_request, 42, arp_answer, 42, RESPOND_arp);
	/* Padding stays; tags too. */
	memset(r, 0x11, sizeof(r));
	memset(a, 0x11, sizeof(a));
	memcpy(r, arp_request, 42);
	memcpy(a, arp_answer, 42);
	expect(r, 60, a, 60, RESPOND_arp);
	for (unsigned tags = 1; tags <= 2; tags++) {
		static const unsigned char tag[] = {0x88, 0xa8, 0x20, 7, 0x81, 0, 0, 100};

		memcpy(r, arp_request, 12);
		memcpy(a, arp_answer, 12);
		memcpy(r + 12, tag + (tags == 1 ? 4 : 0), 4 * tags);
		memcpy(a + 12, tag + (tags == 1 ? 4 : 0), 4 * tags);
		memcpy(r + 12 + 4 * tags, arp_request + 12, 30);
		memcpy(a + 12 + 4 * tags, arp_answer + 12, 30);
		expect(r, 42 + 4 * tags, a, 42 + 4 * tags, RESPOND_arp);
	}
	/* Sent to us alone, and a probe for a duplicate: the address is taken. */
	memcpy(r, arp_request, 42);
	memcpy(a, arp_answer, 42);
	memset(r + 28, 0, 4);
	memset(a + 38, 0, 4);
	memcpy(r, set.own.b, 6);
	expect(r, 42, a, 42, RESPOND_arp);
}

static void no_arp(void **state)
{
	/* offset, value: one byte changed, and nothing is to be said any more */
	static const unsigned char off[][2] = {{15, 2}, {16, 9},  {18, 5}, {19, 5},  {21, 2},
					       {22, 3}, {41, 52}, {41, 1}, {38, 11}, {0, 4}};
	unsigned char r[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		memcpy(r, arp_request, 42);
		r[off[i][0]] = off[i][1];
		expect_none(r, 42);
	}
	memcpy(r, arp_request, 42); /* an announcement of our address by somebody else */
	memcpy(r + 28, r + 38, 4);
	expect_none(r, 42);
	memcpy(r, arp_request, 42);
	memset(r + 22, 0, 6);
	expect_none(r, 42);
	for (uint32_t n = 0; n < 42; n++) {
		unsigned char *cut = malloc(n ? n : 1);
		enum respond_kind kind;

		assert_non_null(cut);
		memcpy(cut, arp_request, n);
		assert_int_equal(respond_answer(&set, cut, n, &kind), 0);
		free(cut);
	}
}

static uint32_t solicit(unsigned char *p, bool option, bool unsure)
{
	static const unsigned char ether[] = {0x33, 0x33, 0xff, 0, 0, 0x50, THEM, 0x86, 0xdd};
	static const unsigned char ip[] = {0x60, 0, 0, 0, 0, 32, 58, 255, V6(1), SOLICITED(0x50)};
	static const unsigned char icmp[] = {135, 0, 0, 0, 0, 0, 0, 0, V6(0x50), 1, 1, THEM};
	unsigned len = option ? 32 : 24;

	memcpy(p, ether, sizeof(ether));
	memcpy(p + 14, ip, sizeof(ip));
	memcpy(p + 54, icmp, sizeof(icmp));
	p[19] = (unsigned char)len;
	if (unsure)
		memset(p + 22, 0, 16);
	put_sum(p, 54, len, true);
	return 54 + len;
}

static void neighbours(void **state)
{
	static const unsigned char head[] = {THEM,  US,  0x86, 0xdd, 0x60, 0,    0, 0, 0, 32,       58, 255, V6(0x50),
					     V6(1), 136, 0,    0,    0,    0x60, 0, 0, 0, V6(0x50), 2,  1,   US};
	unsigned char r[128], a[sizeof(head)];

	(void)state;
	memcpy(a, head, sizeof(head));
	put_sum(a, 54, 32, true);
	expect(r, solicit(r, true, false), a, sizeof(a), RESPOND_nd);
	expect(r, solicit(r, false, false), a, sizeof(a), RESPOND_nd);
	/* Duplicate address detection: everybody is told, and it is no answer to anyone's question. */
	memcpy(a, ((const unsigned char[]){0x33, 0x33, 0, 0, 0, 1}), 6);
	memcpy(a + 38, ((const unsigned char[16]){0xff, 2, [15] = 1}), 16);
	a[58] = 0x20;
	put_sum(a, 54, 32, true);
	expect(r, solicit(r, false, true), a, sizeof(a), RESPOND_nd);
}

static void no_neighbours(void **state)
{
	unsigned char r[128];
	uint32_t len = solicit(r, true, false);

	(void)state;
	r[21] = 254; /* it has crossed a router */
	expect_none(r, len);
	solicit(r, true, false);
	r[80] ^= 1; /* the checksum is wrong */
	expect_none(r, len);
	solicit(r, true, false);
	r[77] = 0x51; /* not ours */
	put_sum(r, 54, 32, true);
	expect_none(r, len);
	solicit(r, true, false);
	r[54] = 136; /* an advertisement */
	put_sum(r, 54, 32, true);
	expect_none(r, len);
	solicit(r, true, false);
	r[22] = 0xff; /* from a group */
	put_sum(r, 54, 32, true);
	expect_none(r, len);
	solicit(r, true, false);
	r[19] = 33; /* longer than it is */
	expect_none(r, len);
	solicit(r, true, false);
	r[0] = 4; /* to another's MAC address */
	expect_none(r, len);
}

/* RFC 4861 section 7.1.1: who does not ask by the rules is passed over in silence. */
static void options_of_neighbours(void **state)
{
	/* offset, value: one byte of the request changed, that has the option of the sender's address */
	static const unsigned char off[][2] = {
		{79, 0}, /* no length */
		{79, 2}, /* longer than there is */
		{80, 3}, /* a group's address */
	};
	static const unsigned char other[] = {2, 0, 0, 0, 0, 7};
	unsigned char r[128];
	enum respond_kind kind;
	uint32_t len = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		len = solicit(r, true, false);
		r[off[i][0]] = off[i][1];
		put_sum(r, 54, 32, true);
		expect_none(r, len);
	}
	/* An option of which only the first byte is there. */
	solicit(r, true, false);
	r[19] = 25;
	put_sum(r, 54, 25, true);
	expect_none(r, 54 + 25);
	/* Another option is passed over; the answer goes where the right one says. */
	solicit(r, true, false);
	r[19] = 40;
	memcpy(r + 86, r + 78, 8);
	r[78] = 14; /* a nonce (RFC 3971) */
	memcpy(r + 88, other, 6);
	put_sum(r, 54, 40, true);
	assert_int_equal(respond_answer(&set, r, 54 + 40, &kind), 54 + 32);
	assert_memory_equal(r, other, 6);
	/* Who looks for a duplicate has no address to tell, and asks the group of the address. */
	len = solicit(r, true, true);
	expect_none(r, len);
	len = solicit(r, false, true);
	memcpy(r + 38, ((const unsigned char[16]){V6(0x50)}), 16);
	put_sum(r, 54, 24, true);
	expect_none(r, len);
}

/* An echo request with n bytes after its header; the payload is padded up to 60 bytes. */
static uint32_t echo(unsigned char *p, bool v6, unsigned n)
{
	static const unsigned char head4[] = {US, THEM, 8, 0, 0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0,
					      9,  1,    0, 0, 10,   0, 0, 1, 10,   0,    0,    50};
	static const unsigned char head6[] = {US, THEM, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 58, 9, V6(1), V6(0x50)};
	unsigned at = v6 ? 54 : 34;

	memcpy(p, v6 ? head6 : head4, at);
	memset(p + at, 0, 8);
	p[at] = v6 ? 128 : 8;
	p[at + 5] = 7; /* identifier */
	p[at + 7] = 3; /* sequence */
	for (unsigned i = 0; i < n; i++)
		p[at + 8 + i] = (unsigned char)(i * 31 + 5);
	p[v6 ? 18 : 16] = (unsigned char)((8 + n + (v6 ? 0 : 20)) >> 8);
	p[v6 ? 19 : 17] = (unsigned char)(8 + n + (v6 ? 0 : 20));
	put_sum(p, at, 8 + n, v6);
	if (!v6)
		put_ip_sum(p);
	if (at + 8 + n < 60) {
		memset(p + at + 8 + n, 0xab, 60 - (at + 8 + n));
		return 60;
	}
	return at + 8 + n;
}

static void answered_echo(unsigned char *a, const unsigned char *r, uint32_t len, bool v6, unsigned n)
{
	unsigned size = v6 ? 16 : 4, src = v6 ? 22 : 26, at = v6 ? 54 : 34;

	memcpy(a, r, len);
	memcpy(a, ((const unsigned char[]){THEM, US}), 12);
	memcpy(a + src, r + src + size, size);
	memcpy(a + src + size, r + src, size);
	a[v6 ? 21 : 22] = 64;
	a[at] = v6 ? 129 : 0;
	put_sum(a, at, 8 + n, v6);
	if (!v6)
		put_ip_sum(a);
}

static void echoes(void **state)
{
	unsigned char r[1600], a[1600];

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned n = 0; n < 1400; n += n < 60 ? 1 : 191) {
			uint32_t len = echo(r, v6, n);

			answered_echo(a, r, len, v6, n);
			expect(r, len, a, len, RESPOND_echo);
		}
}

static void no_echoes(void **state)
{
	/* v6, offset, value; the ICMP checksum is made right again. */
	static const unsigned char off[][3] = {{0, 0, 0xff}, {0, 33, 52},   {0, 34, 13},   {0, 35, 1}, {0, 26, 224},
					       {0, 26, 127}, {0, 26, 0},    {0, 20, 0x60}, {0, 21, 1}, {0, 23, 17},
					       {1, 53, 1},   {1, 22, 0xff}, {1, 5, 3},     {1, 20, 17}};
	unsigned char r[128];
	uint32_t len;

	(void)state;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		len = echo(r, off[i][0], 40);
		r[off[i][1]] = off[i][2];
		put_sum(r, off[i][0] ? 54 : 34, 48, off[i][0]);
		if (!off[i][0])
			put_ip_sum(r);
		expect_none(r, len);
	}
	len = echo(r, false, 40);
	r[60] ^= 1;
	expect_none(r, len);
	len = echo(r, true, 40);
	r[90] ^= 1;
	expect_none(r, len);
	len = echo(r, false, 40);
	r[22] ^= 1; /* the header's own checksum is wrong */
	expect_none(r, len);
	/* From ourselves, as they say. */
	len = echo(r, false, 40);
	memcpy(r + 26, r + 30, 4);
	put_ip_sum(r);
	expect_none(r, len);
}

/* No byte behind a packet is looked at (asan), wherever it is cut. */
static void cut_anywhere(void **state)
{
	unsigned char whole[128];

	(void)state;
	for (unsigned kind = 0; kind < 3; kind++) {
		uint32_t len = kind == 2 ? solicit(whole, true, false) : echo(whole, kind, 40);

		for (uint32_t n = 0; n < len; n++) {
			unsigned char *cut = malloc(n + RESPOND_GROWTH);
			enum respond_kind got;

			assert_non_null(cut);
			memcpy(cut, whole, n);
			assert_int_equal(respond_answer(&set, cut, n, &got), 0);
			free(cut);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arp),
		cmocka_unit_test(no_arp),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(no_neighbours),
		cmocka_unit_test(options_of_neighbours),
		cmocka_unit_test(echoes),
		cmocka_unit_test(no_echoes),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, make, NULL);
}
