/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a capture: whatever the reader takes, each frame must lie within the mapping, be of a length that may be
 * sent, and depart no earlier than the one before it; and what is read on the way, as of a capture that does not fit
 * into memory, must be the same. The first byte says by which rules.
 */
#include "gen/capture.h"
#include "lib/ether.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct capture *c, const struct capture_rules *rules)
{
	uint64_t at_ns = 0;
	uint64_t bytes = 0;

	must(c->n > 0 && c->packets[0].at_ns == 0);
	for (uint64_t i = 0; i < c->n; i++) {
		const struct capture_packet *p = &c->packets[i];

		must(p->len >= ETH_HEADER_LEN && p->len <= rules->max_frame && p->len <= c->max_len);
		must((size_t)p->unit * CAPTURE_UNIT + p->len + CAPTURE_SLACK <= c->data_size);
		must(p->at_ns >= at_ns);
		at_ns = p->at_ns;
		bytes += p->len;
	}
	must(bytes == c->bytes && c->l3_bytes < bytes);
	must(c->n <= c->counts.packets);
}

static void rewrites(struct pcap_rewrite *w)
{
	char why[128];

	must(!pcap_rewrite_mac(w, "dst=02:00:00:00:00:01", why, sizeof(why)));
	must(!pcap_rewrite_ip(w, "0.0.0.0/1=128.0.0.0/1,::/1=8000::/1", why, sizeof(why)));
	must(!pcap_rewrite_vlan(w, "none=7,0=none,1=2", why, sizeof(why)));
}

/* NULL: these bytes are no capture. */
static struct pcap_file *open_bytes(const uint8_t *data, size_t size)
{
	FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
	struct pcap_file *f;

	must(stream);
	return pcap_file_open_stream(&f, stream, "fuzz", NULL) ? NULL : f;
}

static void check_streamed(const struct capture *c, struct capture_rules *rules, const uint8_t *data, size_t size)
{
	struct pcap_file *f = open_bytes(data, size);
	struct capture streamed;

	must(f);
	rules->memory = 0;
	must(capture_read(&streamed, f, "fuzz", rules, true, NULL) == 0 && streamed.streamed && !streamed.data);
	must(streamed.n == c->n && streamed.bytes == c->bytes && streamed.l3_bytes == c->l3_bytes);
	must(streamed.last_ns == c->last_ns && streamed.first_ns == c->first_ns && streamed.max_len == c->max_len);
	must(memcmp(&streamed.counts, &c->counts, sizeof(c->counts)) == 0 && streamed.cut == c->cut);
	capture_free(&streamed);
	pcap_file_close(f);
}

static void check_pass(const struct capture *c, const struct capture_rules *rules, const uint8_t *data, size_t size,
		       const struct mac *mac)
{
	struct pcap_file *f = open_bytes(data, size);
	struct capture_reader r;
	struct capture_frame frame;

	must(f && capture_reader_begin(&r, f, "fuzz", rules, NULL) == 0);
	r.src = r.dst = *mac;
	for (uint64_t i = 0; i < c->n; i++) {
		const struct capture_packet *p = &c->packets[i];

		must(capture_reader_next(&r, &frame, NULL) == 1);
		must(frame.len == p->len && frame.at_ns - c->first_ns == p->at_ns);
		must(memcmp(frame.data, capture_frame(c, p), p->len) == 0);
	}
	must(capture_reader_next(&r, &frame, NULL) == 0);
	capture_reader_end(&r);
	pcap_file_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mac mac = {{2}};
	struct capture_rules rules = {.memory = 1 << 20, .mtu = 1500, .max_frame = 1522, .speed = 1000000};
	struct capture capture = {0};
	struct pcap_file *f;
	unsigned how;

	if (size < 2)
		return 0;
	how = *data++;
	size--;
	rules.truncated = how & 1 ? PCAP_UNFIT_PAD : PCAP_UNFIT_SKIP;
	rules.too_large = how & 2 ? PCAP_UNFIT_REFUSE : PCAP_UNFIT_SKIP;
	rules.max_gap_ns = how & 4 ? 1000000000 : 0;
	if (how & 8)
		rewrites(&rules.rewrite);
	if (how & 16)
		rules.speed = 1234567;
	f = open_bytes(data, size);
	if (f && capture_read(&capture, f, "fuzz", &rules, false, NULL) == 0) {
		if (capture.converted)
			capture_set_macs(&capture, &mac, &mac);
		check(&capture, &rules);
		check_pass(&capture, &rules, data, size, &mac);
		check_streamed(&capture, &rules, data, size);
	}
	pcap_file_close(f);
	capture_free(&capture);
	return 0;
}
