/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a capture: whatever the reader takes, each frame must lie within the mapping, be of a length that may be
 * sent, and depart no earlier than the one before it. The first byte says by which rules.
 */
#include "gen/capture.h"
#include "lib/ether.h"

#include <stdio.h>
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mac mac = {{2}};
	struct capture_rules rules = {.memory = 1 << 20, .mtu = 1500, .max_frame = 1522, .speed = 1000000};
	struct capture capture = {0};
	struct pcap_file *f;
	unsigned how;
	FILE *stream;

	if (size < 2)
		return 0;
	how = data[0];
	stream = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
	must(stream);
	rules.truncated = how & 1 ? PCAP_UNFIT_PAD : PCAP_UNFIT_SKIP;
	rules.too_large = how & 2 ? PCAP_UNFIT_REFUSE : PCAP_UNFIT_SKIP;
	rules.max_gap_ns = how & 4 ? 1000000000 : 0;
	if (how & 8)
		rewrites(&rules.rewrite);
	if (how & 16)
		rules.speed = 1234567;
	if (pcap_file_open_stream(&f, stream, "fuzz", NULL) == 0) {
		if (capture_read(&capture, f, "fuzz", &rules, NULL) == 0) {
			if (capture.converted)
				capture_set_macs(&capture, &mac, &mac);
			check(&capture, &rules);
		}
		pcap_file_close(f);
	}
	capture_free(&capture);
	return 0;
}
