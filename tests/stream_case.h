/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of streamed captures share: a capture several times as large as what is read ahead of it. */
#ifndef SQUALL_TESTS_STREAM_CASE_H
#define SQUALL_TESTS_STREAM_CASE_H

#include "gen/replay_stream.h"
#include "loops.h"
#include "pcap_bytes.h"

#include <errno.h>
#include <pcap/dlt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND  1000000000ULL
#define PACKETS 4001U /* 3 MB */
#define ROOM    2048

static char path[] = "/tmp/squall-stream-XXXXXX";
static struct replay streamed;
static struct config cfg;
static struct err error;
static unsigned char packet[ROOM];

/* Sizes and gaps of all kinds; the first packet and one in 16 were cut, one in 64 is out of order. */
static void write_capture(uint32_t link, unsigned n, bool cuts)
{
	struct bytes b = {0};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	pcap_header(&b, PCAP_NS, 65535, link);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = 40 + i * 37 % 1400;
		uint32_t ns = i % 64 ? i % 1000 * 1000000 + i % 7 : 0;

		memcpy(packet, &i, sizeof(i));
		if (link == DLT_RAW)
			packet[0] = 0x45;
		pcap_record_put(&b, i / 1000, ns, packet, cuts && (i % 16 == 5 || !i) ? len / 2 : len, len);
	}
	assert_int_equal(fwrite(b.at, 1, b.n, f), b.n);
	assert_int_equal(fclose(f), 0);
	bytes_free(&b);
}

static void load(struct replay *r, uint64_t memory)
{
	static struct tx_plan plan;
	const struct gen_ends ends = {.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}};

	replay_free(r);
	cfg.pcap_preload = memory;
	assert_int_equal(replay_load(r, &cfg, 1500, NULL, &error), 0);
	assert_int_equal(replay_plan(r, &cfg, &ends, &plan, &error), 0);
}

/* As a sender does. */
static void wait_ready(struct replay_cursor *c)
{
	while (!replay_ready(c) && !atomic_load(&c->ring->ended))
		cpu_relax();
}

static int fresh(void **state)
{
	(void)state;
	memset(&cfg, 0, sizeof(cfg));
	snprintf(cfg.pcap, sizeof(cfg.pcap), "%s", path);
	snprintf(cfg.pcap_speed, sizeof(cfg.pcap_speed), "1.7x");
	cfg.mode = MODE_PCAP;
	cfg.loop = 3;
	cfg.pcap_timing = PCAP_TIMING_ORIGINAL;
	cfg.pcap_max_gap_ns = SECOND / 3;
	cfg.pcap_truncated = PCAP_UNFIT_SKIP;
	cfg.burst = 32;
	return 0;
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (unsigned char)(i * 11 + i / 256);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	replay_free(&streamed);
	return unlink(path);
}

#endif
