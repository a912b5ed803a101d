/* SPDX-License-Identifier: Apache-2.0 */
/* Captures loaded for replay: what becomes a frame, what is left out or refused, and when each frame departs. */
#include "gen/capture.h"
#include "gen/capture_clock.h"
#include "pcap_bytes.h"

#include <errno.h>
#include <pcap/dlt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ULL

static unsigned char packet[70000];
static struct capture capture;
static struct err error;

static struct capture_rules rules_default(void)
{
	return (struct capture_rules){
		.memory = 1 << 20,
		.mtu = 1500,
		.max_frame = 1522,
		.truncated = PCAP_UNFIT_REFUSE,
		.too_large = PCAP_UNFIT_REFUSE,
		.max_gap_ns = 3600 * SECOND,
		.speed = 1000000,
	};
}

static int load(struct bytes *b, const struct capture_rules *rules)
{
	FILE *stream = fmemopen(b->at, b->n, "r");
	struct pcap_file *f;
	int rc;

	memset(&error, 0, sizeof(error));
	capture_free(&capture);
	assert_non_null(stream);
	rc = pcap_file_open_stream(&f, stream, "name.pcap", &error);
	assert_int_equal(rc, 0);
	rc = capture_read(&capture, f, "name.pcap", rules, false, &error);
	pcap_file_close(f);
	bytes_free(b);
	if (rc) {
		assert_int_equal(error.code, EXIT_USAGE);
		assert_string_equal(error.object, "name.pcap");
	}
	return rc;
}

static void assert_frame(uint64_t i, const void *bytes, uint32_t len)
{
	assert_true(i < capture.n);
	assert_int_equal(capture.packets[i].len, len);
	assert_memory_equal(capture_frame(&capture, &capture.packets[i]), bytes, len);
}

static void frames_as_they_are(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};
	uint64_t bytes = 0;

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, 1);
	for (uint32_t i = 0; i < 1501; i++)
		pcap_record_put(&b, 10, i * 100, packet + i, 14 + i, 14 + i);
	rules.memory = 16 << 20;
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.n, 1501);
	for (uint32_t i = 0; i < 1501; i++) {
		assert_frame(i, packet + i, 14 + i);
		assert_int_equal(capture.packets[i].at_ns, i * 100);
		bytes += 14 + i;
	}
	assert_int_equal(capture.bytes, bytes);
	assert_int_equal(capture.l3_bytes, bytes - 14 * 1501);
	assert_int_equal(capture.max_len, 1514);
	assert_false(capture.converted);
}

static void put_cut(struct bytes *b)
{
	pcap_header(b, PCAP_NS, 65535, 1);
	pcap_record_put(b, 0, 0, packet, 64, 1514);
	pcap_record_put(b, 1, 0, packet, 60, 60);
}

static void cut_records(void **state)
{
	struct capture_rules rules = rules_default();
	static unsigned char padded[1514];
	struct bytes b = {0};

	(void)state;
	put_cut(&b);
	assert_int_equal(load(&b, &rules), -EINVAL);
	assert_non_null(strstr(error.cause, "packet 1 "));
	assert_non_null(strstr(error.cause, "64 of its 1514"));
	put_cut(&b);
	rules.truncated = PCAP_UNFIT_SKIP;
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.n, 1);
	assert_frame(0, packet, 60);
	assert_int_equal(capture.packets[0].at_ns, 0);
	assert_int_equal(capture.counts.truncated_skipped, 1);
	put_cut(&b);
	rules.truncated = PCAP_UNFIT_PAD;
	assert_int_equal(load(&b, &rules), 0);
	memcpy(padded, packet, 64);
	assert_int_equal(capture.n, 2);
	assert_frame(0, padded, sizeof(padded));
	assert_int_equal(capture.counts.truncated_padded, 1);
	assert_int_equal(capture.counts.packets, 2);
}

static void put_large(struct bytes *b)
{
	pcap_header(b, PCAP_NS, 262144, 1);
	pcap_record_put(b, 0, 0, packet, 1514, 1514);
	pcap_record_put(b, 1, 0, packet, 1515, 1515);
	pcap_record_put(b, 2, 0, packet, sizeof(packet), sizeof(packet));
	pcap_record_put(b, 3, 0, packet, 60, 60);
}

static void frames_beyond_the_mtu(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	put_large(&b);
	assert_int_equal(load(&b, &rules), -EMSGSIZE);
	assert_non_null(strstr(error.cause, "packet 2 "));
	assert_non_null(strstr(error.cause, "1501 bytes"));
	assert_non_null(strstr(error.hint, "mtu 1501"));
	rules.truncated = PCAP_UNFIT_PAD;
	pcap_header(&b, PCAP_NS, 262144, 1);
	pcap_record_put(&b, 0, 0, packet, 60, 0xffffffff);
	assert_int_equal(load(&b, &rules), -EMSGSIZE);
	assert_null(strstr(error.hint, "mtu"));
	put_large(&b);
	rules.too_large = PCAP_UNFIT_SKIP;
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.n, 2);
	assert_int_equal(capture.counts.too_large, 2);
	assert_int_equal(capture.packets[1].at_ns, 3 * SECOND);
}

/* Tags come on top of what the MTU counts. */
static void tagged_frames_of_the_mtu(void **state)
{
	struct capture_rules rules = rules_default();
	unsigned char tagged[1522];
	struct bytes b = {0};

	(void)state;
	memset(tagged, 1, sizeof(tagged));
	memcpy(tagged + 12, "\x88\xa8\0\5\x81\0\0\6\x08\0", 10);
	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, tagged, 1522, 1522);
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.l3_bytes, 1500);
}

static void frames_too_short(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, packet, 13, 13);
	pcap_record_put(&b, 0, 0, packet, 0, 0);
	pcap_record_put(&b, 0, 0, packet, 14, 14);
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.n, 1);
	assert_int_equal(capture.counts.too_short, 2);
	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, packet, 13, 13);
	assert_int_equal(load(&b, &rules), -ENODATA);
	assert_non_null(strstr(error.cause, "none of its 1 packets"));
}

static void nothing_in_it(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, 1);
	assert_int_equal(load(&b, &rules), -ENODATA);
	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, packet, 60, 60);
	b.n -= 10;
	assert_int_equal(load(&b, &rules), -ENODATA);
	assert_non_null(strstr(error.cause, "within its first packet"));
	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, packet, 60, 60);
	pcap_record_put(&b, 0, 0, packet, 60, 60);
	b.n -= 70;
	assert_int_equal(load(&b, &rules), 0);
	assert_true(capture.cut);
}

static void two_million(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, 1);
	for (uint32_t i = 0; i < 2000000; i++)
		pcap_record_put(&b, i / 1000, i % 1000, packet, 14, 14);
	rules.memory = 1 << 30;
	assert_int_equal(load(&b, &rules), 0);
	assert_int_equal(capture.n, 2000000);
	assert_int_equal(capture.packets[1999999].at_ns, 1999 * SECOND + 999);
}

static void beyond_the_memory(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, 1);
	for (uint32_t i = 0; i < 100; i++)
		pcap_record_put(&b, 0, i, packet, 1000, 1000);
	rules.memory = 50000;
	assert_int_equal(load(&b, &rules), -EFBIG);
	assert_non_null(strstr(error.cause, "--pcap-preload"));
}

/* Link types without Ethernet headers. header: what stands before the IP packet in the file. */
static void converted(int link, const char *header, uint32_t n, bool v6)
{
	static const struct mac src = {{2, 0, 0, 0, 0, 1}}, dst = {{2, 0, 0, 0, 0, 9}};
	struct capture_rules rules = rules_default();
	unsigned char in[100], out[14 + 40];
	struct bytes b = {0};

	memcpy(in, header, n);
	memset(in + n, v6 ? 0x60 : 0x45, 40);
	memcpy(out, "\2\0\0\0\0\x09\2\0\0\0\0\1", 12);
	memcpy(out + 12, v6 ? "\x86\xdd" : "\x08\0", 2);
	memcpy(out + 14, in + n, 40);
	pcap_header(&b, PCAP_NS, 65535, (uint32_t)link);
	pcap_record_put(&b, 0, 0, in, n + 40, n + 40);
	assert_int_equal(load(&b, &rules), 0);
	assert_true(capture.converted);
	assert_int_equal(capture.counts.converted, 1);
	capture_set_macs(&capture, &src, &dst);
	assert_frame(0, out, sizeof(out));
}

static void other_links(void **state)
{
	static const char sll4[] = "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0";
	static const char sll6[] = "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x86\xdd";
	static const char cooked4[] = "\x08\0\0\0\0\0\0\1\0\1\0\6\2\0\0\0\0\1\0\0";
	static const char cooked6[] = "\x86\xdd\0\0\0\0\0\1\0\1\0\6\2\0\0\0\0\1\0\0";

	(void)state;
	converted(101, "", 0, false);
	converted(101, "", 0, true);
	converted(228, "", 0, false);
	converted(229, "", 0, true);
	converted(113, sll4, 16, false);
	converted(113, sll6, 16, true);
	converted(276, cooked4, 20, false);
	converted(276, cooked6, 20, true);
	converted(0, "\2\0\0\0", 4, false);
	converted(0, "\0\0\0\2", 4, false);
	converted(0, "\x1e\0\0\0", 4, true);
	converted(108, "\0\0\0\x1c", 4, true);
}

static void refused_link(uint32_t link, const char *data, uint32_t n, const char *name)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	pcap_header(&b, PCAP_NS, 65535, link);
	pcap_record_put(&b, 0, 0, data, n, n);
	assert_int_equal(load(&b, &rules), -EPROTONOSUPPORT);
	assert_non_null(strstr(error.cause, "link type"));
	assert_non_null(strstr(error.cause, name));
}

static void links_that_cannot_be(void **state)
{
	(void)state;
	refused_link(105, "x", 1, "IEEE802_11");
	refused_link(127, "x", 1, "IEEE802_11_RADIO");
	refused_link(9, "x", 1, "PPP");
	refused_link(249, "x", 1, "USB");
	/* Nothing that an EtherType says: 802.2, netlink, IPv4 where only IPv6 can be, an address family of no IP. */
	refused_link(113, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\0\4", 16, "packet 1 ");
	refused_link(113, "\0\0\3\x38\0\6\2\0\0\0\0\1\0\0\x08\0", 16, "packet 1 ");
	refused_link(229, "\x45", 1, "packet 1 ");
	refused_link(101, "", 0, "packet 1 ");
	refused_link(0, "\7\0\0\0", 4, "packet 1 ");
	refused_link(276, "\x08\0\0\0\0\0\0\1\0\1\0\6\2\0\0\0\0\1\0", 19, "packet 1 ");
}

static void speeds(void **state)
{
	struct capture_rules rules = rules_default();
	struct bytes b = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		pcap_header(&b, PCAP_NS, 65535, 1);
		for (uint32_t k = 0; k < 4; k++)
			pcap_record_put(&b, k * 10, k, packet, 60, 60);
		rules.speed = i ? 500000 : 3000000;
		assert_int_equal(load(&b, &rules), 0);
		for (uint64_t k = 0; k < 4; k++)
			assert_int_equal(capture.packets[k].at_ns, (k * 10 * SECOND + k) * 1000000 / rules.speed);
	}
}

static void a_clock_that_jumps(void **state)
{
	struct capture_clock c = {.max_gap_ns = 100};

	(void)state;
	assert_int_equal(capture_clock_next(&c, 5000), 0);
	assert_int_equal(capture_clock_next(&c, 5010), 10);
	/* Out of order by a little: it leaves with the one before, and the next keeps its distance to that one. */
	assert_int_equal(capture_clock_next(&c, 5005), 10);
	assert_int_equal(capture_clock_next(&c, 5011), 11);
	assert_int_equal(c.backwards, 1);
	assert_int_equal(c.clamped, 0);
	/* A gap of the limit is none too many. */
	assert_int_equal(capture_clock_next(&c, 5111), 111);
	assert_int_equal(c.clamped, 0);
	assert_int_equal(capture_clock_next(&c, 900000), 211);
	assert_int_equal(capture_clock_next(&c, 900007), 218);
	assert_int_equal(c.clamped, 1);
	/* Set back: on from there. */
	assert_int_equal(capture_clock_next(&c, 5000), 218);
	assert_int_equal(capture_clock_next(&c, 5001), 219);
	assert_int_equal(c.backwards, 2);
	assert_int_equal(c.clamped, 2);
	c = (struct capture_clock){0};
	assert_int_equal(capture_clock_next(&c, 0), 0);
	assert_int_equal(capture_clock_next(&c, 9 * SECOND * SECOND), 9 * SECOND * SECOND);
	assert_int_equal(c.clamped, 0);
}

static int fill(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (unsigned char)(i * 7 + i / 256);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	capture_free(&capture);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_as_they_are),
		cmocka_unit_test(cut_records),
		cmocka_unit_test(frames_beyond_the_mtu),
		cmocka_unit_test(tagged_frames_of_the_mtu),
		cmocka_unit_test(frames_too_short),
		cmocka_unit_test(nothing_in_it),
		cmocka_unit_test(two_million),
		cmocka_unit_test(beyond_the_memory),
		cmocka_unit_test(other_links),
		cmocka_unit_test(links_that_cannot_be),
		cmocka_unit_test(speeds),
		cmocka_unit_test(a_clock_that_jumps),
	};

	return cmocka_run_group_tests(tests, fill, clean);
}
