/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of every form, whole, cut and broken, as the reader tells them. */
#include "gen/pcap_file.h"
#include "pcap_bytes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LINK_ETHERNET 1

static unsigned char packet[70000];

static int open_bytes(const struct bytes *b, struct pcap_file **f, struct err *e)
{
	FILE *stream = b->n ? fmemopen(b->at, b->n, "r") : fopen("/dev/null", "r");

	assert_non_null(stream);
	return pcap_file_open_stream(f, stream, "name.pcap", e);
}

/* Reads a file to its end; the records must be `n`, the i-th at first_ns + i * step_ns. */
static void expect(struct bytes *b, unsigned n, uint64_t first_ns, uint64_t step_ns, bool cut)
{
	struct pcap_record r;
	struct pcap_file *f;
	struct err e = {0};

	assert_int_equal(open_bytes(b, &f, &e), 0);
	assert_int_equal(pcap_file_link(f), LINK_ETHERNET);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pcap_file_next(f, &r, &e), 1);
		assert_int_equal(r.time_ns, first_ns + i * step_ns);
		assert_int_equal(r.captured, 60);
		assert_int_equal(r.len, 60 + i);
		assert_memory_equal(r.data, packet, 60);
	}
	assert_int_equal(pcap_file_next(f, &r, &e), 0);
	assert_int_equal(pcap_file_next(f, &r, &e), 0);
	assert_int_equal(pcap_file_cut(f), cut);
	pcap_file_close(f);
}

static void put_three(struct bytes *b, uint32_t unit_ns)
{
	for (uint32_t i = 0; i < 3; i++)
		pcap_record_put(b, 1000, (1000 + i * 1000) / unit_ns, packet, 60, 60 + i);
}

static void every_magic(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct bytes b = {.big = i & 1};
		uint32_t unit = i & 2 ? 1 : 1000;

		pcap_header(&b, i & 2 ? PCAP_NS : PCAP_US, 65535, LINK_ETHERNET);
		put_three(&b, unit);
		expect(&b, 3, 1000000001000, 1000, false);
		bytes_free(&b);
	}
}

static void pcapng_resolutions(void **state)
{
	/* if_tsresol: a power of ten, or of two with the top bit. 0: microseconds. */
	static const struct {
		uint8_t resolution;
		uint64_t units, step;
	} cases[] = {
		{0, 1000000001, 1},
		{6, 1000000001, 1},
		{9, 1000000001000, 1000},
		{12, 1000000001000000, 1000000},
	};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct bytes b = {.big = i & 1};

		pcapng_header(&b, LINK_ETHERNET, cases[i / 2].resolution);
		for (uint32_t k = 0; k < 3; k++)
			pcapng_packet(&b, cases[i / 2].units + k * cases[i / 2].step, packet, 60, 60 + k);
		expect(&b, 3, 1000000001000, 1000, false);
		bytes_free(&b);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct bytes b = {.big = i & 1};

		pcapng_header(&b, LINK_ETHERNET, 0x80 | 10); /* 1/1024 s: 512 of them are half a second */
		for (uint32_t k = 0; k < 3; k++)
			pcapng_packet(&b, (1000ULL << 10) + k * 512, packet, 60, 60 + k);
		expect(&b, 3, 1000000000000, 500000000, false);
		bytes_free(&b);
	}
}

/* A file may end anywhere: what is whole is there, and the rest is told. */
static void cut_anywhere(void **state)
{
	struct bytes whole = {0};

	(void)state;
	pcap_header(&whole, PCAP_NS, 65535, LINK_ETHERNET);
	for (uint32_t i = 0; i < 3; i++)
		pcap_record_put(&whole, 1000, 1000 + i * 1000, packet, 60, 60 + i);
	for (size_t n = 24; n <= whole.n; n++) {
		struct bytes b = whole;

		b.n = n;
		expect(&b, (unsigned)((n - 24) / 76), 1000000001000, 1000, (n - 24) % 76 != 0);
	}
	bytes_free(&whole);
}

static void refused(const void *data, size_t n, const char *cause)
{
	struct bytes b = {0};
	struct pcap_file *f;
	struct err e = {0};

	bytes_put(&b, data, n);
	assert_true(open_bytes(&b, &f, &e) < 0);
	assert_null(f);
	assert_int_equal(e.code, EXIT_USAGE);
	assert_string_equal(e.object, "name.pcap");
	assert_non_null(strstr(e.cause, cause));
	bytes_free(&b);
}

static void no_captures(void **state)
{
	struct bytes b = {0};

	(void)state;
	refused("", 0, "empty");
	refused("\xd4\xc3\xb2\xa1", 4, "no capture");
	refused("hello, this is no capture at all", 32, "no capture");
	pcap_header(&b, PCAP_US, 65535, LINK_ETHERNET);
	refused(b.at, 23, "no capture");
	bytes_free(&b);
	pcapng_header(&b, LINK_ETHERNET, 9);
	refused(b.at, 28, "no capture"); /* no interface is described */
	bytes_free(&b);
}

/* libpcap reads several interfaces of one link type and one snapshot length; what else to do is told. */
static void interfaces_that_differ(void **state)
{
	struct bytes b = {0};
	struct pcap_record r;
	struct pcap_file *f;

	(void)state;
	for (unsigned differs = 0; differs < 2; differs++) {
		struct err e = {0};

		pcapng_header(&b, LINK_ETHERNET, 0);
		pcapng_packet(&b, 1, packet, 60, 60);
		bytes_put32(&b, 1);
		bytes_put32(&b, 20);
		bytes_put32(&b, differs ? LINK_ETHERNET : 101);
		bytes_put32(&b, differs ? 100 : 0); /* snapshot length */
		bytes_put32(&b, 20);
		assert_int_equal(open_bytes(&b, &f, &e), 0);
		assert_int_equal(pcap_file_next(f, &r, &e), 1);
		assert_int_equal(pcap_file_next(f, &r, &e), -EBADMSG);
		assert_non_null(strstr(e.hint, "one interface"));
		pcap_file_close(f);
		bytes_free(&b);
	}
}

/* A length that no record has is an error, and names how far the file could be read. */
static void broken_in_the_middle(void **state)
{
	struct bytes b = {0};
	struct pcap_record r;
	struct pcap_file *f;
	struct err e = {0};

	(void)state;
	pcap_header(&b, PCAP_US, 65535, LINK_ETHERNET);
	pcap_record_put(&b, 1, 0, packet, 60, 60);
	bytes_put32(&b, 1);
	bytes_put32(&b, 0);
	bytes_put32(&b, 0x7fffffff);
	bytes_put32(&b, 0x7fffffff);
	bytes_put(&b, packet, 60);
	assert_int_equal(open_bytes(&b, &f, &e), 0);
	assert_int_equal(pcap_file_next(f, &r, &e), 1);
	assert_int_equal(pcap_file_next(f, &r, &e), -EBADMSG);
	assert_non_null(strstr(e.cause, "after packet 1"));
	pcap_file_close(f);
	bytes_free(&b);
}

static void a_record_beyond_64_kib(void **state)
{
	struct bytes b = {0};
	struct pcap_record r;
	struct pcap_file *f;
	struct err e = {0};

	(void)state;
	pcap_header(&b, PCAP_US, 262144, LINK_ETHERNET);
	pcap_record_put(&b, 1, 0, packet, sizeof(packet), sizeof(packet));
	assert_int_equal(open_bytes(&b, &f, &e), 0);
	assert_int_equal(pcap_file_next(f, &r, &e), 1);
	assert_int_equal(r.captured, sizeof(packet));
	assert_memory_equal(r.data, packet, sizeof(packet));
	pcap_file_close(f);
	bytes_free(&b);
}

/* A part of a second beyond a second, and a length below what was captured: whatever stands there is taken. */
static void absurd_headers(void **state)
{
	struct bytes b = {0};
	struct pcap_record r;
	struct pcap_file *f;
	struct err e = {0};

	(void)state;
	pcap_header(&b, PCAP_NS, 65535, LINK_ETHERNET);
	pcap_record_put(&b, 0xffffffff, 0xffffffff, packet, 60, 14);
	assert_int_equal(open_bytes(&b, &f, &e), 0);
	assert_int_equal(pcap_file_next(f, &r, &e), 1);
	assert_int_equal(r.len, 60);
	pcap_file_close(f);
	bytes_free(&b);
}

static void files(void **state)
{
	char path[160] = "/tmp/squall-";
	struct pcap_file *f;
	struct err e = {0};

	(void)state;
	assert_int_equal(pcap_file_open(&f, "/nonexistent/x.pcap", &e), -ENOENT);
	assert_string_equal(e.object, "/nonexistent/x.pcap");
	assert_int_equal(pcap_file_open(&f, "/", &e), -EISDIR);
	/* Of a long path, the end is what tells files apart. */
	memset(path + strlen(path), 'x', 120);
	snprintf(path + 132, sizeof(path) - 132, "/end.pcap");
	assert_int_equal(pcap_file_open(&f, path, &e), -ENOENT);
	assert_non_null(strstr(e.object, "/end.pcap"));
	assert_memory_equal(e.object, "...", 3);
}

static int fill(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (unsigned char)(i * 7);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_magic),
		cmocka_unit_test(pcapng_resolutions),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(no_captures),
		cmocka_unit_test(interfaces_that_differ),
		cmocka_unit_test(broken_in_the_middle),
		cmocka_unit_test(a_record_beyond_64_kib),
		cmocka_unit_test(absurd_headers),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
